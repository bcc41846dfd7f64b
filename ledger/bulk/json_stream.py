"""Iterate over the values of a large JSON text without decoding all of it.

The text has been checked to be JSON: the patterns only find where values end. They are possessive (`*+`),
so they run in linear time and without backtracking memory.
"""

import codecs
import re
from collections.abc import Iterator

import msgspec

MAX_DEPTH = 16  # levels; no request body of ours has more than five
STRING_PATTERN = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'


def build_value_pattern(depth: int) -> bytes:
    """Return the pattern of a JSON value with at most `depth` levels."""
    inner_pattern = rb'[^"{}\[\]]++|' + STRING_PATTERN + (rb"|" + build_value_pattern(depth - 1) if depth > 1 else b"")
    return rb"[{\[](?:" + inner_pattern + rb")*+[}\]]"


VALUE_PATTERN = STRING_PATTERN + rb"|" + build_value_pattern(MAX_DEPTH) + rb'|[^\s"{}\[\],:]++'
MEMBER_PATTERN = re.compile(rb"\s*(" + STRING_PATTERN + rb")\s*:\s*(" + VALUE_PATTERN + rb")\s*[,}]", re.DOTALL)
ITEM_PATTERN = re.compile(rb"\s*(" + VALUE_PATTERN + rb")\s*[,\]]", re.DOTALL)
OPENING_BRACKET, CLOSING_BRACKET = re.compile(rb"\s*[{\[]"), re.compile(rb"\s*[}\]]")
CHUNK_BYTES = 64 * 1024


def check_json(body: bytes) -> None:
    """Check that a body is JSON in UTF-8, without keeping any of it. Raises ValueError, RecursionError."""
    msgspec.json.decode(body, type=msgspec.Raw)
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(body), CHUNK_BYTES):
        decoder.decode(body[start : start + CHUNK_BYTES], start + CHUNK_BYTES >= len(body))


def iterate_members(body: bytes) -> Iterator[tuple[str, int, int]]:
    """Yield (name, start of the value, end of the value) of each member of an object. Raises ValueError."""
    for match in iterate_matches(MEMBER_PATTERN, body, 0, len(body)):
        yield msgspec.json.decode(match[1]), match.start(2), match.end(2)


def iterate_items(body: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each item of the array in [start, end). Raises ValueError."""
    return (each.span(1) for each in iterate_matches(ITEM_PATTERN, body, start, end))


def iterate_matches(pattern: re.Pattern[bytes], body: bytes, start: int, end: int) -> Iterator[re.Match[bytes]]:
    """Yield consecutive matches up to the closing bracket.

    Raises:
        ValueError: values are nested too deeply.
    """
    opening = OPENING_BRACKET.match(body, start, end)
    position = opening.end() if opening else start
    while match := pattern.match(body, position, end):
        yield match
        position = match.end()
        if body[position - 1] in b"]}":
            return
    if not CLOSING_BRACKET.match(body, position, end):
        raise ValueError(f"More than {MAX_DEPTH} levels.")
