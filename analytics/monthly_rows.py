"""Rows of recurring revenue as they are answered, kept ready for every month: serving them adds nothing up.

They follow from the months that ``analytics.recurring`` keeps and are written anew whenever those are.
"""

from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

import orjson
from django.db import connection

from analytics.calc.movements import Totals, month_of, number_of
from analytics.calc.mrr import MOVEMENTS, MonthlyRow, annual, close_row
from companies.api.fields import number
from companies.models import Company
from ledger.calc.money import WIDE
from ledger.calc.months import format_month, months_from
from ledger.models import RecurringMonth, RecurringSeries

TYPES = {"mrr": ("mrr", False), "cmrr": ("cmrr", False), "arr": ("mrr", True), "carr": ("cmrr", True)}
WORDS = ("start", *MOVEMENTS, "end")
ZERO = Decimal(0)
MOST_MONTHS = 600  # events centuries apart keep no rows ready; they are closed when they are asked for


def closed(months: dict[date, Totals], *, first: date, last: date, base: str) -> list[MonthlyRow]:
    """The rows of the window; whatever lies before it is where the first row starts."""
    start, start_count = ZERO, 0
    for month, totals in months.items():
        if month < first:
            start = WIDE.add(start, moved(totals))
            start_count += gained(totals)
    rows = []
    nothing = Totals()
    for month in months_from(first, last):
        totals = months.get(month, nothing)
        end = WIDE.add(start, moved(totals))
        row = close_row(
            month=month,
            base=base,
            start=start,
            start_count=start_count,
            end=end,
            amounts=totals.amounts,
            counts=totals.counts,
        )
        rows.append(row)
        start, start_count = end, row.end_count
    return rows


def moved(totals: Totals) -> Decimal:
    """By how much recurring revenue changed."""
    change = ZERO
    for amount in totals.amounts.values():
        change = WIDE.add(change, amount)
    return change


def gained(totals: Totals) -> int:
    """By how many the customers changed."""
    return totals.counts["new"] + totals.counts["reactivate"] - totals.counts["cancel"]


COLUMNS = [column for name in MOVEMENTS for column in (name, f"{name}_count")]
_SUMS = ", ".join(f"sum(m.{column})" for column in COLUMNS)
_STORED = f"""
    SELECT CASE WHEN m.month >= %(first)s THEN m.month END AS month, {_SUMS}
      FROM ledger_recurringbook AS b
      LEFT JOIN ledger_recurringmonth AS m
        ON m.company_id = b.company_id AND m.basis = %(basis)s AND m.month <= %(last)s
     WHERE b.company_id = %(company)s AND NOT b.stale AND b.base_currency = %(base)s
       AND b.rates_version = (SELECT coalesce(max(id), 0) FROM ledger_rateload)
     GROUP BY 1
"""  # noqa: S608 - names of columns


def stored(*, company: Company, basis: str, first: date, last: date) -> dict[date, Totals] | None:
    """Month -> its movements, up to ``last``; all that lies before ``first`` is under the calendar's first day.

    None where the book does not hold.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            _STORED,
            {"company": company.id, "base": company.base_currency, "basis": basis, "first": first, "last": last},
        )
        found = cursor.fetchall()
    if not found:
        return None
    return {month or date.min: totals_of(values) for month, *values in found if values[0] is not None}


def kept(company: Company, basis: str) -> dict[date, Totals]:
    """Month -> its movements, of every month that has any, in order; whether they hold or not."""
    rows = RecurringMonth.objects.of(company.id).filter(basis=basis).order_by("month")
    return {month: totals_of(values) for month, *values in rows.values_list("month", *COLUMNS)}


def totals_of(values: Sequence[Any]) -> Totals:
    """From columns in the order of ``COLUMNS``."""
    amounts, counts = values[::2], values[1::2]
    return Totals(dict(zip(MOVEMENTS, amounts, strict=True)), dict(zip(MOVEMENTS, counts, strict=True)))


def told(row: MonthlyRow) -> dict[str, Any]:
    """A row as it is answered."""
    shown: dict[str, Any] = {"month": format_month(row.month)}
    for word in WORDS:
        shown[word] = number(getattr(row, word))
        shown[f"{word}Count"] = getattr(row, f"{word}_count")
    return shown


def keep(company: Company) -> None:
    """Closes all the company's months and keeps their rows, for each mrrType."""
    RecurringSeries.objects.of(company.id).delete()
    closed_rows = {basis: rows_of(company, kept(company, basis)) for basis in RecurringMonth.BASES}
    RecurringSeries.objects.bulk_create(
        RecurringSeries(
            company_id=company.id,
            mrr_type=mrr_type,
            first_number=number_of(rows[0].month) if rows else 0,
            rows=fragments(rows, yearly=yearly),
        )
        for mrr_type, (basis, yearly) in TYPES.items()
        if (rows := closed_rows[basis]) is not None
    )


def rows_of(company: Company, months: dict[date, Totals]) -> list[MonthlyRow] | None:
    """The rows from the first to the last month; None where they are too many to keep."""
    if not months:
        return []
    first, last = min(months), max(months)
    if number_of(last) - number_of(first) >= MOST_MONTHS:
        return None
    return closed(months, first=first, last=last, base=company.base_currency)


def fragments(rows: list[MonthlyRow], *, yearly: bool) -> list[str]:
    """Each row as it is answered, as a text of JSON."""
    return [orjson.dumps(told(annual(row) if yearly else row)).decode() for row in rows]


_READY = """
    SELECT s.first_number, cardinality(s.rows), s.rows[cardinality(s.rows)],
           array_to_string(s.rows[%(first)s - s.first_number + 1 : %(last)s - s.first_number + 1], ',')
      FROM ledger_recurringbook AS b
      JOIN ledger_recurringseries AS s ON s.company_id = b.company_id AND s.mrr_type = %(type)s
     WHERE b.company_id = %(company)s AND NOT b.stale AND b.base_currency = %(base)s
       AND b.rates_version = (SELECT coalesce(max(id), 0) FROM ledger_rateload)
"""


def ready(*, company: Company, mrr_type: str, first: date, last: date) -> bytes | None:
    """The rows of the window as a JSON array; None where the book does not hold or keeps no rows."""
    first_number, last_number = number_of(first), number_of(last)
    with connection.cursor() as cursor:
        cursor.execute(
            _READY,
            {
                "company": company.id,
                "base": company.base_currency,
                "type": mrr_type,
                "first": first_number,
                "last": last_number,
            },
        )
        found = cursor.fetchone()
    if found is None:
        return None
    start, length, latest, within = found
    before = range(first_number, min(start, last_number + 1))
    after = range(max(start + length, first_number), last_number + 1)
    parts = [*unmoved(before, None), *([within] if within else ()), *unmoved(after, latest)]
    return f"[{','.join(parts)}]".encode()


def unmoved(numbers: Iterable[int], latest: str | None) -> Iterable[str]:
    """Rows of months in which nothing moved, all at what the latest row ended with."""
    row = orjson.loads(latest) if latest else dict.fromkeys(("end", "endCount"), 0)
    still = {name: 0 for word in WORDS for name in (word, f"{word}Count")}
    still |= {"start": row["end"], "startCount": row["endCount"], "end": row["end"], "endCount": row["endCount"]}
    for each in numbers:
        yield orjson.dumps({"month": format_month(month_of(each)), **still}).decode()


def differences(company: Company) -> list[str]:
    """Which kept rows are not those of the kept months."""
    found = []
    months = {basis: kept(company, basis) for basis in RecurringMonth.BASES}
    for series in RecurringSeries.objects.of(company.id).order_by("mrr_type"):
        basis, yearly = TYPES[series.mrr_type]
        if fragments(rows_of(company, months[basis]) or [], yearly=yearly) != series.rows:
            found.append(f"ledger_recurringseries: {series.mrr_type}")
    return found
