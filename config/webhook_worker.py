"""Runs the webhook worker as a separate process beside the web server of ``manage.py up``."""

import contextlib
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

log = logging.getLogger(__name__)

MANAGE_SCRIPT = Path(__file__).resolve().parent.parent / "manage.py"
CHECK_INTERVAL_SECONDS = 2.0  # seconds
STOP_TIMEOUT_SECONDS = 15.0  # seconds for deliveries in progress


@contextlib.contextmanager
def run_webhook_worker() -> Iterator[None]:
    """Run the webhook worker within the context; it is restarted within two seconds if it exits."""
    owner_pid, stop_event = os.getpid(), threading.Event()
    thread = threading.Thread(target=_supervise_worker, args=(owner_pid, stop_event), name="webhooks", daemon=True)
    thread.start()
    try:
        yield
    finally:
        if os.getpid() == owner_pid:  # forked workers get here too
            stop_event.set()
            thread.join(STOP_TIMEOUT_SECONDS + CHECK_INTERVAL_SECONDS)


def _supervise_worker(owner_pid: int, stop_event: threading.Event) -> None:
    process = _start_worker(owner_pid)
    while not stop_event.wait(CHECK_INTERVAL_SECONDS):
        if process.poll() is not None:
            log.warning("The webhook worker stopped and was restarted.")
            process = _start_worker(owner_pid)
    process.terminate()
    try:
        process.wait(STOP_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _start_worker(owner_pid: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, str(MANAGE_SCRIPT), "deliver_webhooks", "--parent", str(owner_pid)])  # noqa: S603
