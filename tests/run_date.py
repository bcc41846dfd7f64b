"""The date of a test run, and a clock that keeps it when a run passes midnight."""

import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import time_machine

TODAY = datetime.now(tz=UTC).date()
MAX_TEST_DURATION = timedelta(minutes=10)


@contextlib.contextmanager
def keep_date(module: Any) -> Iterator[None]:
    """Travel twelve hours back near midnight for modules that use ``TODAY``."""
    now = datetime.now(tz=UTC)
    if getattr(module, "TODAY", None) is not TODAY or (now + MAX_TEST_DURATION).date() == TODAY:
        yield
        return
    with time_machine.travel(now - timedelta(hours=12)):
        yield
