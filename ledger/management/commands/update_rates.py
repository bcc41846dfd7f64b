"""Load euro reference rates and convert stored results at them."""

import urllib.error
import urllib.request
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from companies.maintenance import progress_bar
from ledger.money import rates
from ledger.recognition.actions import rate_updates


class Command(BaseCommand):
    help = "Load exchange rates of the European Central Bank from a file, a URL or the bundled history."

    def add_arguments(self, parser: Any) -> None:
        sources = parser.add_mutually_exclusive_group()
        sources.add_argument("--file", help="CSV file, or the ZIP file published by the bank")
        sources.add_argument("--url", help="HTTPS URL of such a file")

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        try:
            with progress_bar.draw_progress_bar() as show_progress:
                show_progress("Loading rates", 0.0)
                load_requested_rates(options, now=now)
        except (OSError, urllib.error.URLError, rates.UnreadableRates) as error:
            raise CommandError(f"Could not load exchange rates: {error}") from None
        with progress_bar.draw_progress_bar() as show_progress:
            count = rate_updates.convert_results_to_new_rates(now=now, report_progress=show_progress)
        if count is None:
            self.stdout.write("No new rates.")
            return
        self.stdout.write(f"Rates loaded. Transactions converted again: {count}.")


def load_requested_rates(options: dict[str, Any], *, now: datetime) -> None:
    """Load the rates from the file or address in the options, else the packaged history."""
    if options["file"]:
        path = Path(options["file"])
        rates.load_rates(data=path.read_bytes(), source=path.name, now=now)
    elif options["url"]:
        rates.load_rates(data=fetch_rates_file(options["url"]), source=options["url"], now=now)
    else:
        rates.load_packaged_rates(now=now)


def fetch_rates_file(url: str) -> bytes:
    """Return the content of an https address. Raises CommandError for other addresses."""
    if not url.startswith("https://"):
        raise CommandError("--url must be an HTTPS URL.")
    with urllib.request.urlopen(url, timeout=60) as response:  # noqa: S310 - https only
        return response.read()
