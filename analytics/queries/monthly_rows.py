"""Rows of recurring revenue as they are answered: closed and rounded from the months that are kept."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from django.db import connection

from analytics.calc.movements import Totals
from analytics.calc.mrr import MOVEMENTS, MonthlyRow, close_row
from companies.api.fields import number
from companies.models import Company
from ledger.calc.money import WIDE
from ledger.calc.months import format_month, months_from
from ledger.models import RecurringMonth

TYPES = {"mrr": ("mrr", False), "cmrr": ("cmrr", False), "arr": ("mrr", True), "carr": ("cmrr", True)}
WORDS = ("start", *MOVEMENTS, "end")
ZERO = Decimal(0)


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
