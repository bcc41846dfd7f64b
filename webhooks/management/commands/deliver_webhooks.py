"""Sends webhooks; `up` runs one beside the server, and any number may run."""

import os
import signal
import threading
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from webhooks.running import run

LOOKED_AFTER = 1.0  # seconds


class Command(BaseCommand):
    help = "Send what waits for webhook endpoints, until Ctrl-C. `up` runs it; several may run at once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="end when nothing waits any more")
        parser.add_argument("--parent", type=int, help="end when this process is gone")

    def handle(self, *, once: bool, parent: int | None, **_: Any) -> None:
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        if parent is not None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches both; the parent ends what it began
            threading.Thread(target=outlive_nobody, args=(parent, stop), daemon=True).start()
        called = run(clock=timezone.now, stop=stop, once=once)
        if once:
            self.stdout.write(f"{called} calls were made.")


def outlive_nobody(parent: int, stop: threading.Event) -> None:
    """Stops where the process that started this one was killed."""
    while not stop.wait(LOOKED_AFTER):
        if os.getppid() != parent:
            stop.set()
