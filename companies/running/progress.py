"""How far long work on the command line has come: a bar on a terminal, nothing where nobody looks."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.core.management.base import OutputWrapper

Each = TypeVar("Each")
Tell = Callable[[str, float], None]
"""Says what is under way, and which share of all was done before it, 0 to 1."""

WIDTH = 28
FULL, EMPTY = "█", "░"
CLEAR_LINE = "\r\x1b[K"


def silent(doing: str, share: float) -> None:
    """Says nothing."""


@contextmanager
def bar(stream: OutputWrapper, *, quiet: bool = False) -> Iterator[Tell]:
    """Draws on the stream, in one line that is gone in the end; silent where it is no terminal, or ``quiet``."""
    if quiet or not stream.isatty():
        yield silent
        return

    def tell(doing: str, share: float) -> None:
        room = max(shutil.get_terminal_size().columns - WIDTH - 8, 0)
        stream.write(f"{CLEAR_LINE}{drawn(share)} {share:4.0%}  {doing[:room]}", str, ending="")
        stream.flush()

    try:
        yield tell
    finally:
        stream.write(CLEAR_LINE, str, ending="")
        stream.flush()


def drawn(share: float) -> str:
    """A bar of fixed width.

    >>> drawn(0.5) == FULL * 14 + EMPTY * 14
    True
    """
    full = round(min(max(share, 0.0), 1.0) * WIDTH)
    return FULL * full + EMPTY * (WIDTH - full)


def counted(items: Iterable[Each], *, total: int, tell: Tell, doing: str) -> Iterator[Each]:
    """The items, each told as it comes."""
    for number, item in enumerate(items):
        tell(f"{doing} {number + 1} of {total}", number / total)
        yield item
