"""Command that waits until a running ``up`` responds."""

import http.client
import time
import urllib.request
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError


class Command(BaseCommand):
    help = "Wait until the service answers /readyz of BASE_URL; exit code 1 on timeout."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--timeout", type=float, default=60, help="seconds (default: 60)")

    def handle(self, *, timeout: float, **_: Any) -> None:
        address = f"{settings.BASE_URL}/readyz"
        deadline = time.monotonic() + timeout
        while not _is_ready(address):
            if time.monotonic() > deadline:
                raise CommandError(f"{address} was not ready within {timeout:g} s.")
            time.sleep(0.1)
        self.stdout.write(f"{address} is ready.")


def _is_ready(address: str) -> bool:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(address, timeout=5) as answer:
            return bool(answer.status == 200)
    except (OSError, http.client.HTTPException):  # refused, timed out, 503, cut off
        return False
