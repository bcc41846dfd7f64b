"""Strict parsing of form-encoded parameters."""

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, quote, urlencode

from django.utils.translation import gettext_noop

REPEATED_MESSAGE = gettext_noop("A parameter was sent more than once.")
UNREADABLE_MESSAGE = gettext_noop("The parameters are not valid percent-encoded UTF-8.")
UNREADABLE_PATTERN = re.compile(r"%(?![0-9A-Fa-f]{2})|%00|[^\x01-\x7f]")


class MalformedParameters(ValueError):
    """The parameters cannot be parsed; the message says why."""


def parse_parameters(raw: str) -> dict[str, str]:
    """Parse `application/x-www-form-urlencoded` text; empty values count as absent (RFC 6749, 3.1).

    Raises:
        MalformedParameters: broken encoding, NUL, or a repeated name.
    """
    try:
        pairs = [] if UNREADABLE_PATTERN.search(raw) else parse_qsl(raw, keep_blank_values=True, errors="strict")
    except UnicodeDecodeError:
        pairs = []
    if raw.strip("&") and not pairs:
        raise MalformedParameters(UNREADABLE_MESSAGE)
    values = dict(pairs)
    if len(values) < len(pairs):
        raise MalformedParameters(REPEATED_MESSAGE)
    return {name: value for name, value in values.items() if value}


def encode_parameters(values: Mapping[str, str]) -> str:
    return urlencode(values, quote_via=quote)
