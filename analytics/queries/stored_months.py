"""Write the stored months of recurring revenue, and compare them with computed ones."""

from decimal import Decimal
from typing import Any

from django.db import connection

from analytics.calc.mrr import MOVEMENTS, MovementTotals, from_month_number, to_month_number
from analytics.queries.monthly_rows import MOVEMENT_COLUMNS, list_stored_months
from companies.models import Company
from ledger.models import RecurringRevenueMonth
from ledger.money.calc.money import MONEY_CONTEXT
from ledger.subscriptions.calc.monthly_value import drop_rounding_noise

ByBasis = dict[str, dict[int, MovementTotals]]
"""Basis -> number of the month -> its movements."""


_PLACES = ", ".join(["%s"] * (3 + len(MOVEMENT_COLUMNS)))
# Raw SQL: the ORM cannot add to the stored value on conflict. Replacing shares the statement.
_INSERT = f"""
    INSERT INTO ledger_recurringmonth AS m (company_id, basis, month, {", ".join(MOVEMENT_COLUMNS)}) VALUES ({_PLACES})
    ON CONFLICT (company_id, basis, month) DO UPDATE SET """  # noqa: S608 - names of columns
_ADD = _INSERT + ", ".join(f"{column} = m.{column} + excluded.{column}" for column in MOVEMENT_COLUMNS)
_REPLACE = _INSERT + ", ".join(f"{column} = excluded.{column}" for column in MOVEMENT_COLUMNS)


def add_to_stored_months(company: Company, months_by_basis: ByBasis) -> None:
    """Add movements to the stored months; empty ones are left out."""
    rows = [
        build_month_row(company, basis, number, totals)
        for basis, months in months_by_basis.items()
        for number, totals in months.items()
        if totals
    ]
    with connection.cursor() as cursor:
        cursor.executemany(_ADD, rows)


def replace_stored_months(company: Company, months_by_basis: ByBasis) -> None:
    """Store the movements in the place of the stored months. Months without a difference are not written.

    Raises:
        django.db.IntegrityError: a closed month differs, and not by newer exchange rates.
    """
    differing_months = list_differing_months(company, months_by_basis)
    rows = [build_month_row(company, basis, number, totals) for basis, number, totals in differing_months if totals]
    with connection.cursor() as cursor:
        cursor.executemany(_REPLACE, rows)
    for basis, number, totals in differing_months:
        if not totals:
            month = from_month_number(number)
            RecurringRevenueMonth.objects.for_company(company.id).filter(basis=basis, month=month).delete()


def build_month_row(company: Company, basis: str, number: int, totals: MovementTotals) -> tuple[Any, ...]:
    amounts_and_counts = (value for name in MOVEMENTS for value in get_amount_and_count(totals, name))
    return company.id, basis, from_month_number(number), *amounts_and_counts


def get_amount_and_count(totals: MovementTotals, name: str) -> tuple[Decimal, int]:
    return totals.amounts[name], totals.counts[name]


def list_differing_months(company: Company, computed_months: ByBasis) -> list[tuple[str, int, MovementTotals]]:
    """Return (basis, number of the month, computed movements) of each month whose stored movements differ."""
    stored_months = {
        (basis, to_month_number(month)): totals
        for basis in RecurringRevenueMonth.BASES
        for month, totals in list_stored_months(company, basis).items()
    }
    computed = {
        (basis, number): totals for basis, months in computed_months.items() for number, totals in months.items()
    }
    empty_month = MovementTotals()
    return [
        (*key, computed.get(key, empty_month))
        for key in sorted({*stored_months, *computed})
        if has_difference(stored_months.get(key, empty_month), computed.get(key, empty_month))
    ]


def has_difference(first: MovementTotals, second: MovementTotals) -> bool:
    """Return whether two months differ by more than noise below the twelfth decimal."""
    return first.counts != second.counts or any(
        drop_rounding_noise(MONEY_CONTEXT.subtract(first.amounts[name], second.amounts[name])) for name in MOVEMENTS
    )
