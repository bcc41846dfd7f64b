"""Parameters as they came over the wire, taken strictly."""

import re
from urllib.parse import unquote_to_bytes

BROKEN = re.compile(r"%(?![0-9A-Fa-f]{2})")


class Malformed(ValueError):
    """The parameters cannot be read; the message says why."""


def parse(raw: str) -> dict[str, str]:
    """The values of ``application/x-www-form-urlencoded`` text; an empty value counts as left out (RFC 6749, 3.1).

    Raises Malformed for broken encodings, NUL and a name that comes twice.
    """
    values: dict[str, str] = {}
    for pair in raw.split("&"):
        if not pair:
            continue
        name, _, value = (decoded(part) for part in pair.partition("="))
        if name in values:
            raise Malformed(f"The parameter {name[:40]!r} is repeated.")
        values[name] = value
    return {name: value for name, value in values.items() if value}


def decoded(text: str) -> str:
    if BROKEN.search(text) or not text.isascii():
        raise Malformed("The parameters are not percent-encoded correctly.")
    try:
        value = unquote_to_bytes(text.replace("+", " ")).decode()
    except UnicodeDecodeError:
        raise Malformed("The parameters are not UTF-8.") from None
    if "\0" in value:
        raise Malformed("The parameters have a NUL character.")
    return value
