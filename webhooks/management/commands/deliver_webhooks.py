"""Deliver webhooks; `up` runs one worker beside the server, and several may run."""

import os
import signal
import threading
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from webhooks.worker import run_delivery_worker

PARENT_CHECK_SECONDS = 1.0  # seconds


class Command(BaseCommand):
    help = "Send queued webhook events until Ctrl-C. `up` starts it; you can run several."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="exit when the queue is empty")
        parser.add_argument("--parent", type=int, help="exit when this process ends")

    def handle(self, *, once: bool, parent: int | None, **_: Any) -> None:
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        if parent is not None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches both processes; the parent stops this one
            threading.Thread(target=stop_when_parent_exits, args=(parent, stop), daemon=True).start()
        call_count = run_delivery_worker(clock=timezone.now, stop=stop, once=once)
        if once:
            self.stdout.write(f"{call_count} webhook requests sent.")


def stop_when_parent_exits(parent: int, stop: threading.Event) -> None:
    """Set `stop` once the parent process is gone."""
    while not stop.wait(PARENT_CHECK_SECONDS):
        if os.getppid() != parent:
            stop.set()
