"""One running service for all that is done to it, and a count of what it survived."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.faults.service import Service, new_service

SURVIVED: Counter[tuple[str, str]] = Counter()
CUT_OFF: Counter[tuple[str, str]] = Counter()
TOLD: list[str] = []


@pytest.fixture(scope="package")
def service() -> Iterator[Service]:
    with new_service() as found:
        yield found


@pytest.fixture
def tell() -> Any:
    """Adds a line to what is said at the end of the run."""
    return TOLD.append


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if SURVIVED:
        terminalreporter.section("kills survived")
        for case, kills in SURVIVED.items():
            victim, activity = case
            terminalreporter.write_line(
                f"{victim:10} during {activity:16} {kills:4} kills, {CUT_OFF[case]:4} requests cut off"
            )
        terminalreporter.write_line(
            f"{SURVIVED.total()} kills survived, {CUT_OFF.total()} requests cut off in the middle"
        )
    if TOLD:
        terminalreporter.section("faults")
        for line in TOLD:
            terminalreporter.write_line(line)
