"""Parameters as they came over the wire, taken strictly."""

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, quote, urlencode

from django.utils.translation import gettext_noop

REPEATED = gettext_noop("A parameter is repeated.")
UNREADABLE_TOLD = gettext_noop("The parameters are not percent-encoded UTF-8, or have a NUL character.")
UNREADABLE = re.compile(r"%(?![0-9A-Fa-f]{2})|%00|[^\x01-\x7f]")


class Malformed(ValueError):
    """The parameters cannot be read; the message says why."""


def parse(raw: str) -> dict[str, str]:
    """The values of ``application/x-www-form-urlencoded`` text; an empty value counts as left out (RFC 6749, 3.1).

    Raises Malformed for broken encodings, NUL and a name that comes twice.
    """
    try:
        pairs = [] if UNREADABLE.search(raw) else parse_qsl(raw, keep_blank_values=True, errors="strict")
    except UnicodeDecodeError:
        pairs = []
    if raw.strip("&") and not pairs:
        raise Malformed(UNREADABLE_TOLD)
    values = dict(pairs)
    if len(values) < len(pairs):
        raise Malformed(REPEATED)
    return {name: value for name, value in values.items() if value}


def written(values: Mapping[str, str]) -> str:
    return urlencode(values, quote_via=quote)
