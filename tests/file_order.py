"""Run the files that took longest in the last run first, so that no worker is left with a long one at the end.

Their durations are kept in pytest's cache. Without them, files that start servers or a browser come first, then those
of most tests.
"""

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

CACHE_KEY = "tidebook/file_durations"  # seconds by file
WORKER_KEY = "file_durations"
MAX_WORKERS = 4


def read_durations(config: pytest.Config) -> dict[str, float]:
    """Return file → seconds of the last run; a worker of xdist has them from its controller, as all workers do."""
    if hasattr(config, "workerinput"):
        return config.workerinput[WORKER_KEY]  # type: ignore[no-any-return]
    cache = getattr(config, "cache", None)
    return cache.get(CACHE_KEY, {}) if cache else {}


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput[WORKER_KEY] = read_durations(node.config)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    test_counts = Counter(item.path for item in items)
    starts_process = {
        item.path for item in items if item.get_closest_marker("server") or item.get_closest_marker("browser")
    }
    durations = read_durations(config)

    def get_rank(path: Path) -> tuple[float, bool, int, Path]:
        seconds = durations.get(str(path.relative_to(config.rootpath)), 0)
        return -seconds, path not in starts_process, -test_counts[path], path

    ranks = {path: get_rank(path) for path in test_counts}
    items.sort(key=lambda item: ranks[item.path])


class FileDurations:
    """Adds up the time of each file, and keeps it for the next run."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid.partition("::")[0]] += report.duration  # type: ignore[assignment]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        cache = getattr(session.config, "cache", None)
        if cache and not session.config.option.collectonly:
            durations = read_durations(session.config)
            durations |= {path: round(seconds, 1) for path, seconds in self.seconds.items()}
            cache.set(CACHE_KEY, durations)


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # a worker of xdist runs a part
        config.pluginmanager.register(FileDurations(), "file_durations")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: tests with servers wait for them much of their time."""
    return min(len(os.sched_getaffinity(0)) + 1, MAX_WORKERS)
