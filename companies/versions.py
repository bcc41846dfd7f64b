"""Optimistic locking: which version of a row the caller has seen."""

import hashlib
from typing import Any

from companies.errors import ConflictError

ExpectedVersions = frozenset[str] | None  # acceptable versions; None: any, including no row
ANY_VERSION = "*"  # any version, but the row must exist
NO_VERSION = "absent"  # the row must not exist
WEAK = "weak"  # the only expected one: nothing but weak tags was sent, and they fit no row

WEAK_TAGS = 'If-Match does not accept weak tags (W/"…"). Send the ETag as you received it.'


class PreconditionFailed(ConflictError):
    """This record was changed in the meantime. Reload it and try again."""

    code = "precondition_failed"

    def __init__(self, row: Any, detail: str = ""):
        self.row = row  # current row; None if missing
        super().__init__(detail)


def compute_version(row: Any) -> str:
    """Return a short text that changes with every change of the row."""
    return compute_short_digest(f"{row.pk}:{row.last_updated_time.timestamp():.6f}")


def check_version(row: Any, expected: ExpectedVersions) -> None:
    """Raise PreconditionFailed if the row is not one of the expected versions. Call it with the row locked."""
    if expected == {NO_VERSION} and row is None:
        return
    if expected == {WEAK}:
        raise PreconditionFailed(row, WEAK_TAGS)
    if expected is not None and (row is None or not expected & {ANY_VERSION, compute_version(row)}):
        raise PreconditionFailed(row)


def compute_short_digest(text: str) -> str:
    """Return a short digest of a text."""
    return hashlib.blake2s(text.encode(), digest_size=12).hexdigest()


def parse_etags(header: str) -> set[str]:
    """Return the tags of an If-Match or If-None-Match header."""
    return {tag.strip() for tag in header.split(",") if tag.strip()}


def read_if_match(header: str | None) -> ExpectedVersions:
    """Return the versions that an If-Match header names.

    It is compared strongly (RFC 9110, 13.1.1): a weak tag fits nothing. What an answer shows beside the row's own data
    stands in nobody's way. An empty header is not left out: it fits nothing either.
    """
    if header is None:
        return None
    tags = parse_etags(header)
    if tags and all(tag.startswith("W/") for tag in tags):
        return frozenset({WEAK})
    return frozenset(tag.strip('"').partition(".")[0] for tag in tags if tag == ANY_VERSION or tag.startswith('"'))
