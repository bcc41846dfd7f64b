"""Which state of a row a caller has seen, so that nobody overwrites what they have not."""

import hashlib
from typing import Any

from companies.errors import Conflict

Expected = frozenset[str] | None  # the versions that will do; None: any, and a row that is not there yet
ANY = "*"  # among the expected: whatever it is, but there must be one
ABSENT = "absent"  # the only expected one: there must be no row yet
WEAK = "weak"  # the only expected one: nothing but weak tags was sent, and they fit no row

WEAK_TAGS = 'If-Match takes no weak tags (W/"…"). Send the ETag as it was answered.'


class Stale(Conflict):
    """The resource has changed since you read it."""

    code = "precondition_failed"

    def __init__(self, row: Any, detail: str = ""):
        self.row = row  # as it is now; None where it is gone or not yet
        super().__init__(detail)


def version_of(row: Any) -> str:
    """A short text that changes with every change of the row."""
    return short_digest(f"{row.pk}:{row.last_updated_time.timestamp():.6f}")


def unless_stale(row: Any, expected: Expected) -> None:
    """Raises Stale where none of the expected versions is the row's. Call with the row locked."""
    if expected == {ABSENT} and row is None:
        return
    if expected == {WEAK}:
        raise Stale(row, WEAK_TAGS)
    if expected is not None and (row is None or not expected & {ANY, version_of(row)}):
        raise Stale(row)


def short_digest(text: str) -> str:
    return hashlib.blake2s(text.encode(), digest_size=12).hexdigest()


def list_tags(header: str) -> set[str]:
    """Return the tags of an If-Match or If-None-Match header as they are written."""
    return {tag.strip() for tag in header.split(",") if tag.strip()}


def read_if_match(header: str | None) -> Expected:
    """Return the versions that an If-Match header names.

    It is compared strongly (RFC 9110, 13.1.1): a weak tag fits nothing. What an answer shows beside the row's own data
    stands in nobody's way. An empty header is not left out: it fits nothing either.
    """
    if header is None:
        return None
    tags = list_tags(header)
    if tags and all(tag.startswith("W/") for tag in tags):
        return frozenset({WEAK})
    return frozenset(tag.strip('"').partition(".")[0] for tag in tags if tag == ANY or tag.startswith('"'))
