"""Loads euro reference rates."""

import urllib.error
import urllib.request
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from companies.running import progress
from ledger.money import rates
from ledger.recognition import revaluing


class Command(BaseCommand):
    help = "Load the European Central Bank's rates: from a file or address, or the packaged history. Idempotent."

    def add_arguments(self, parser: Any) -> None:
        where = parser.add_mutually_exclusive_group()
        where.add_argument("--file", help="a CSV, or the zip as the bank publishes it")
        where.add_argument("--url", help="an https address of one")

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        try:
            with progress.bar(self.stderr) as tell:
                tell("Loading rates", 0.0)
                load(options, now=now)
        except (OSError, urllib.error.URLError, rates.UnreadableRates) as error:
            raise CommandError(f"The rates could not be loaded: {error}") from None
        with progress.bar(self.stderr) as tell:
            count = revaluing.catch_up(now=now, tell=tell)
        if count is None:
            self.stdout.write("All rates were known.")
            return
        self.stdout.write(f"Rates were stored; the results of {count} transactions were converted anew.")


def load(options: dict[str, Any], *, now: datetime) -> None:
    """From where the options say."""
    if options["file"]:
        path = Path(options["file"])
        rates.load_rates(data=path.read_bytes(), source=path.name, now=now)
    elif options["url"]:
        rates.load_rates(data=fetched(options["url"]), source=options["url"], now=now)
    else:
        rates.load_packaged_rates(now=now)


def fetched(url: str) -> bytes:
    if not url.startswith("https://"):
        raise CommandError("--url must be an https address.")
    with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310 - https only
        return answer.read()
