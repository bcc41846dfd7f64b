"""Run all tests in one chunk of Python's data stack.

Python keeps the frames of a thread's calls in chunks of 16 KiB. Where the calls of a loop cross the end of a chunk,
Python 3.11 maps and unmaps memory for each of them, which later versions avoid. The frames of tests lie deep: that took
a quarter of their processor time. A chunk is at least as large as the frame that it is allocated for.
"""

from collections.abc import Callable
from typing import Any

import pytest

FRAME_WORDS = 140_000  # 1.1 MB: the chunk has 2 MiB, and the frames of all calls fit into the remaining part
_started = pytest.StashKey[bool]()


def call_with_large_frame(function: Callable[..., Any], **arguments: Any) -> Any:
    return function(**arguments)


call_with_large_frame.__code__ = call_with_large_frame.__code__.replace(co_stacksize=FRAME_WORDS)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> Any:
    """Call this hook once more, from a large frame; then leave the loop to pytest or xdist."""
    if session.stash.get(_started, False):
        return None
    session.stash[_started] = True
    return call_with_large_frame(session.config.hook.pytest_runtestloop, session=session)
