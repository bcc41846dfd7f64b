"""A run fails if it did not run every test that it collected.

Under xdist the controller counts. Tests that share a node id are one test for xdist, so that hundreds might never run
in a green run: they are refused when they are collected.
"""

from collections import Counter
from typing import Any

import pytest

FINISHED = ("teardown", "???")  # xdist reports the test during which a worker died with "???"


class RunCount:
    """Counts the tests that finished, by node id."""

    def __init__(self) -> None:
        self.finished: Counter[str] = Counter()
        self.message = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when in FINISHED:
            self.finished[report.nodeid] += 1

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.exitstatus != pytest.ExitCode.OK or session.config.option.collectonly:
            return  # it failed or was stopped already
        if self.finished.total() != session.testscollected:
            self.message = f"{session.testscollected} tests were collected, {self.finished.total()} were run."
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.message:
            terminalreporter.write_line(f"ERROR: {self.message}", red=True)


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # a worker of xdist runs a part
        config.pluginmanager.register(RunCount(), "run_count")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse tests that share a node id."""
    (nodeid, count), *_ = Counter(item.nodeid for item in items).most_common(1) or [("", 0)]
    if count > 1:
        raise pytest.UsageError(f"{count} tests have the node id {nodeid}; xdist would run one of them.")
