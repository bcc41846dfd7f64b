"""The day of a run. What tests work out from it when they are collected holds for as long as they run."""

import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import time_machine

TODAY = datetime.now(tz=UTC).date()
LONGEST = timedelta(minutes=10)  # that one test takes


@contextlib.contextmanager
def kept(module: Any) -> Iterator[None]:
    """Where midnight comes before the tests have ended, those that know the day go on twelve hours back."""
    now = datetime.now(tz=UTC)
    if getattr(module, "TODAY", None) is not TODAY or (now + LONGEST).date() == TODAY:
        yield
        return
    with time_machine.travel(now - timedelta(hours=12)):
        yield
