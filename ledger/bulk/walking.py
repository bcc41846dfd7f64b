"""Walking through JSON value by value, so that nobody has to hold all of a large body at once.

What is walked through is known to be JSON: the patterns only look for where its values end. They run in linear time and
without memory of their own, for nothing that is taken is given back (``*+``).
"""

import codecs
import re
from collections.abc import Iterator

import msgspec

DEEPEST = 16  # levels of a body; none of ours has more than five
TEXT = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'


def value_of(depth: int) -> bytes:
    """The pattern of a value with at most so many levels."""
    inside = rb'[^"{}\[\]]++|' + TEXT + (rb"|" + value_of(depth - 1) if depth > 1 else b"")
    return rb"[{\[](?:" + inside + rb")*+[}\]]"


VALUE = TEXT + rb"|" + value_of(DEEPEST) + rb'|[^\s"{}\[\],:]++'
MEMBER = re.compile(rb"\s*(" + TEXT + rb")\s*:\s*(" + VALUE + rb")\s*[,}]", re.DOTALL)
ITEM = re.compile(rb"\s*(" + VALUE + rb")\s*[,\]]", re.DOTALL)
OPENED, CLOSED = re.compile(rb"\s*[{\[]"), re.compile(rb"\s*[}\]]")
AT_ONCE = 64 * 1024


def check(body: bytes) -> None:
    """Raises ValueError or RecursionError where the body is not JSON in UTF-8; keeps nothing of it."""
    msgspec.json.decode(body, type=msgspec.Raw)
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(body), AT_ONCE):
        decoder.decode(body[start : start + AT_ONCE], start + AT_ONCE >= len(body))


def members(body: bytes) -> Iterator[tuple[str, int, int]]:
    """(name, where its value begins, where it ends) of each member of an object. Raises ValueError."""
    for each in matches(MEMBER, body, 0, len(body)):
        yield msgspec.json.decode(each[1]), each.start(2), each.end(2)


def items(body: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """(where it begins, where it ends) of each item of the array that stands there. Raises ValueError."""
    return (each.span(1) for each in matches(ITEM, body, start, end))


def matches(pattern: re.Pattern[bytes], body: bytes, start: int, end: int) -> Iterator[re.Match[bytes]]:
    """One behind the other up to the closing bracket. Raises ValueError where they are nested too deeply."""
    opened = OPENED.match(body, start, end)
    place = opened.end() if opened else start
    while each := pattern.match(body, place, end):
        yield each
        place = each.end()
        if body[place - 1] in b"]}":
            return
    if not CLOSED.match(body, place, end):
        raise ValueError(f"More than {DEEPEST} levels.")
