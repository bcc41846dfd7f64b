"""Rows of recurring revenue as the API returns them, closed and rounded from stored months."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from django.db import connection

from analytics.calc.mrr import MOVEMENTS, MonthlyRow, MovementTotals, round_monthly_row
from companies.api.fields import to_json_number
from companies.models import Company
from ledger.calc.months import format_month, list_months
from ledger.models import RecurringRevenueMonth
from ledger.money.calc.money import MONEY_CONTEXT

TYPES = {"mrr": ("mrr", False), "cmrr": ("cmrr", False), "arr": ("mrr", True), "carr": ("cmrr", True)}
ROW_FIELDS = ("start", *MOVEMENTS, "end")
ZERO = Decimal(0)


def build_monthly_rows(months: dict[date, MovementTotals], *, first: date, last: date, base: str) -> list[MonthlyRow]:
    """Close the rows of the window; months before it add up to the start of the first row."""
    start, start_count = ZERO, 0
    for month, totals in months.items():
        if month < first:
            start = MONEY_CONTEXT.add(start, sum_mrr_change(totals))
            start_count += count_customer_change(totals)
    rows = []
    empty_month = MovementTotals()
    for month in list_months(first, last):
        totals = months.get(month, empty_month)
        end = MONEY_CONTEXT.add(start, sum_mrr_change(totals))
        row = round_monthly_row(
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


def sum_mrr_change(totals: MovementTotals) -> Decimal:
    """Return by how much recurring revenue changed."""
    change = ZERO
    for amount in totals.amounts.values():
        change = MONEY_CONTEXT.add(change, amount)
    return change


def count_customer_change(totals: MovementTotals) -> int:
    """Return by how many the customers changed."""
    return totals.counts["new"] + totals.counts["reactivate"] - totals.counts["cancel"]


MOVEMENT_COLUMNS = [column for name in MOVEMENTS for column in (name, f"{name}_count")]
_SUMS = ", ".join(f"sum(m.{column})" for column in MOVEMENT_COLUMNS)
# Raw SQL: one statement tells stale months, which give no row, from a company without months, which gives one.
_STORED_MONTHS = f"""
    SELECT CASE WHEN m.month >= %(first)s THEN m.month END AS month, {_SUMS}
      FROM ledger_recurringbook AS b
      LEFT JOIN ledger_recurringmonth AS m
        ON m.company_id = b.company_id AND m.basis = %(basis)s AND m.month <= %(last)s
     WHERE b.company_id = %(company)s AND NOT b.stale AND b.base_currency = %(base)s
       AND b.rates_version = (SELECT coalesce(max(id), 0) FROM ledger_rateload)
     GROUP BY 1
"""  # noqa: S608 - names of columns


def find_stored_months(*, company: Company, basis: str, first: date, last: date) -> dict[date, MovementTotals] | None:
    """Return month -> movements up to `last`; all before `first` is under the calendar's first day.

    None if the stored months are stale.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            _STORED_MONTHS,
            {"company": company.id, "base": company.base_currency, "basis": basis, "first": first, "last": last},
        )
        rows = cursor.fetchall()
    if not rows:
        return None
    return {month or date.min: build_movement_totals(values) for month, *values in rows if values[0] is not None}


def list_stored_months(company: Company, basis: str) -> dict[date, MovementTotals]:
    """Return month -> movements of every stored month in order, stale or not."""
    rows = RecurringRevenueMonth.objects.for_company(company.id).filter(basis=basis).order_by("month")
    return {month: build_movement_totals(values) for month, *values in rows.values_list("month", *MOVEMENT_COLUMNS)}


def build_movement_totals(values: Sequence[Any]) -> MovementTotals:
    """Build totals from columns in the order of MOVEMENT_COLUMNS."""
    amounts, counts = values[::2], values[1::2]
    return MovementTotals(dict(zip(MOVEMENTS, amounts, strict=True)), dict(zip(MOVEMENTS, counts, strict=True)))


def monthly_row_to_dict(row: MonthlyRow) -> dict[str, Any]:
    """Return a row as the API answers it."""
    fields: dict[str, Any] = {"month": format_month(row.month)}
    for name in ROW_FIELDS:
        fields[name] = to_json_number(getattr(row, name))
        fields[f"{name}Count"] = getattr(row, f"{name}_count")
    return fields
