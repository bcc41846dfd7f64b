"""Progress bar for commands; silent if the output is not a terminal."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.core.management.base import OutputWrapper

Each = TypeVar("Each")
ProgressCallback = Callable[[str, float], None]
"""Says what is under way, and which share of all was done before it, 0 to 1."""

BAR_WIDTH = 28
FULL_BLOCK, EMPTY_BLOCK = "█", "░"
CLEAR_LINE = "\r\x1b[K"


def ignore_progress(task: str, share: float) -> None:
    """Ignore the progress."""


@contextmanager
def draw_progress_bar(output: OutputWrapper, *, is_quiet: bool = False) -> Iterator[ProgressCallback]:
    """Draw a progress bar on one line, removed at the end; silent if the stream is not a terminal, or with
    `is_quiet`.
    """
    if is_quiet or not output.isatty():
        yield ignore_progress
        return

    def draw_progress(doing: str, share: float) -> None:
        room = max(shutil.get_terminal_size().columns - BAR_WIDTH - 8, 0)
        output.write(f"{CLEAR_LINE}{format_progress_bar(share)} {share:4.0%}  {doing[:room]}", str, ending="")
        output.flush()

    try:
        yield draw_progress
    finally:
        output.write(CLEAR_LINE, str, ending="")
        output.flush()


def format_progress_bar(share: float) -> str:
    """Format a progress bar of fixed width.

    >>> format_progress_bar(0.5) == FULL_BLOCK * 14 + EMPTY_BLOCK * 14
    True
    """
    full = round(min(max(share, 0.0), 1.0) * BAR_WIDTH)
    return FULL_BLOCK * full + EMPTY_BLOCK * (BAR_WIDTH - full)


def track_progress(
    items: Iterable[Each], *, total: int, report_progress: ProgressCallback, task: str
) -> Iterator[Each]:
    """Yield the items and report the progress of each."""
    for number, item in enumerate(items):
        report_progress(f"{task} {number + 1} of {total}", number / total)
        yield item
