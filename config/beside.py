"""What runs beside the web server of ``manage.py up``: the deliverer of webhooks, as a process of its own."""

import contextlib
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

log = logging.getLogger(__name__)

MANAGE = Path(__file__).resolve().parent.parent / "manage.py"
EVERY = 2.0  # seconds
LEAVING = 15.0  # seconds for calls that are under way


@contextlib.contextmanager
def delivering() -> Iterator[None]:
    """Webhooks are sent for as long as this lasts; a deliverer that is gone is started again within two seconds."""
    holder, done = os.getpid(), threading.Event()
    thread = threading.Thread(target=_keep, args=(holder, done), name="webhooks", daemon=True)
    thread.start()
    try:
        yield
    finally:
        if os.getpid() == holder:  # forked workers leave through here too
            done.set()
            thread.join(LEAVING + EVERY)


def _keep(holder: int, done: threading.Event) -> None:
    process = _start(holder)
    while not done.wait(EVERY):
        if process.poll() is not None:
            log.warning("The deliverer of webhooks was gone and has been started again.")
            process = _start(holder)
    process.terminate()
    try:
        process.wait(LEAVING)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _start(holder: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, str(MANAGE), "deliver_webhooks", "--parent", str(holder)])  # noqa: S603
