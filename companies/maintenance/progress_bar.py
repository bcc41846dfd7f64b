"""Progress bar for commands; silent if standard error is not a terminal."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from tqdm import tqdm

Each = TypeVar("Each")
ProgressCallback = Callable[[str, float], None]
"""Says what is under way, and which share of all was done before it, 0 to 1."""

BAR_FORMAT = "{percentage:3.0f}% |{bar:28}| {desc}"


class CommandProgressBar(tqdm):
    monitor_interval = 0  # no thread that redraws the bar: `up` forks


def ignore_progress(task: str, share: float) -> None:
    """Ignore the progress."""


@contextmanager
def draw_progress_bar(*, is_quiet: bool = False) -> Iterator[ProgressCallback]:
    """Draw a progress bar on one line of standard error, removed at the end."""
    disable = True if is_quiet else None  # None: tqdm draws on terminals only
    with CommandProgressBar(total=1.0, bar_format=BAR_FORMAT, leave=False, dynamic_ncols=True, disable=disable) as bar:

        def draw_progress(task: str, share: float) -> None:
            bar.n = share
            bar.set_description_str(task)

        yield draw_progress


def track_progress(
    items: Iterable[Each], *, total: int, report_progress: ProgressCallback, task: str
) -> Iterator[Each]:
    """Yield the items and report the progress of each."""
    for number, item in enumerate(items):
        report_progress(f"{task} {number + 1} of {total}", number / total)
        yield item
