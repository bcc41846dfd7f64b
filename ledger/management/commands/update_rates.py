"""Loads euro reference rates."""

import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from ledger import rates, revaluing


class Command(BaseCommand):
    help = "Load the European Central Bank's rates: from a file or address, or the packaged history. Idempotent."

    def add_arguments(self, parser: Any) -> None:
        where = parser.add_mutually_exclusive_group()
        where.add_argument("--file", help="a CSV, or the zip as the bank publishes it")
        where.add_argument("--url", help="an https address of one")

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        try:
            if options["file"]:
                data = Path(options["file"]).read_bytes()
                since = rates.load_rates(data=data, source=Path(options["file"]).name, now=now)
            elif options["url"]:
                since = rates.load_rates(data=fetched(options["url"]), source=options["url"], now=now)
            else:
                since = rates.load_packaged_rates(now=now)
        except (OSError, urllib.error.URLError, rates.UnreadableRates) as error:
            raise CommandError(f"The rates could not be loaded: {error}") from None
        if since is None:
            self.stdout.write("All rates were known.")
            return
        count = revaluing.revalue(since=since)
        self.stdout.write(f"Rates were stored; the results of {count} transactions were converted anew.")


def fetched(url: str) -> bytes:
    if not url.startswith("https://"):
        raise CommandError("--url must be an https address.")
    with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310 - https only
        return answer.read()
