"""The customers behind a figure of recurring revenue, with the amount of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from analytics.calc.mrr import (
    MOVEMENTS,
    Contracts,
    MonthlyRow,
    classify_customer_month,
    compute_contract_value,
    to_annual_row,
    to_month_number,
)
from analytics.queries import monthly_rows
from analytics.queries.cached_revenue import get_or_compute
from analytics.queries.recurring_revenue import build_month_end_factors_lookup
from analytics.queries.recurring_revenue_summary import (
    CUSTOMER_ENDS_SQL,
    list_customer_ends,
    measure_span,
    sum_monthly_contracts,
)
from companies.models import Company
from ledger.calc.months import MONTHS_PER_YEAR
from ledger.money.calc.fx import RateTable
from ledger.money.calc.money import round_half_up
from ledger.subscriptions.calc.monthly_value import drop_rounding_noise

FIGURES = ("start", *MOVEMENTS, "end")
ZERO = Decimal(0)
# Raw SQL: goes on from CUSTOMER_ENDS_SQL.
_CUSTOMER_MOVEMENTS_SQL = f"""{CUSTOMER_ENDS_SQL}
    SELECT customer_id, before, now, seen FROM ends WHERE before IS NOT NULL OR now IS NOT NULL
"""  # noqa: S608 - built from constants


class CustomerMovement(NamedTuple):
    """A customer's recurring revenue before and after some months, and what they add to a figure; base currency."""

    customer_id: UUID
    before: Decimal
    after: Decimal
    amount: Decimal


@dataclass(frozen=True, slots=True)
class MovementList:
    """The customers behind a figure, the largest amounts first.

    `rounding` is what the rounding of each customer's amount leaves over: amounts + rounding = total.
    """

    customers: list[CustomerMovement]
    rounding: Decimal
    total: Decimal


def list_customer_movements(
    *,
    company: Company,
    mrr_type: str,
    figure: str,
    first: date,
    last: date,
    rates: RateTable,
    products: Sequence[UUID] = (),
) -> MovementList:
    """Return the customers behind a figure of the months from `first` to `last`, each customer compared at both ends.

    Cached until events or rates change, unless it is of some products.

    Args:
        mrr_type: as in the API.
        figure: one of FIGURES.
        first, last: first days of months.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    basis, is_annual = monthly_rows.TYPES[mrr_type]

    def compute() -> list[CustomerMovement]:
        return compute_movements(
            company=company, basis=basis, figure=figure, first=first, last=last, rates=rates, products=products
        )

    row = measure_span(company=company, first=first, last=last, rates=rates, basis=basis, products=products).row
    parameters = ("movements", basis, figure, first, last)
    movements = compute() if products else get_or_compute(compute, company=company, rates=rates, parameters=parameters)
    if is_annual:
        movements = [
            CustomerMovement(customer_id, *(amount * MONTHS_PER_YEAR for amount in amounts))
            for customer_id, *amounts in movements
        ]
    total = get_figure(to_annual_row(row) if is_annual else row, figure)
    return MovementList(movements, total - sum((each.amount for each in movements), ZERO), total)


def get_figure(row: MonthlyRow, figure: str) -> Decimal:
    amount: Decimal = getattr(row, figure)
    return amount


def compute_movements(
    *,
    company: Company,
    basis: str,
    figure: str,
    first: date,
    last: date,
    rates: RateTable,
    products: Sequence[UUID],
) -> list[CustomerMovement]:
    """Compute the movements of a figure from all events; one statement. Raises MissingRate."""
    ends: list[tuple[UUID, Contracts, Contracts, bool]] = [
        (customer_id, sum_monthly_contracts(before or ()), sum_monthly_contracts(after or ()), was_active_before)
        for customer_id, before, after, was_active_before in list_customer_ends(
            _CUSTOMER_MOVEMENTS_SQL, company=company, first=first, last=last, basis=basis, products=products
        )
    ]
    base = company.base_currency
    currencies = {base, *(currency for _, before, after, _ in ends for currency in (*before, *after))}
    get_factors = build_month_end_factors_lookup(rates, base=base, currencies=currencies)
    factors_before = get_factors(to_month_number(first) - 1) if any(before for _, before, _, _ in ends) else {}
    factors_at_end = get_factors(to_month_number(last))
    movements = []
    for customer_id, before, after, was_active_before in ends:
        reported = compute_contract_value(before, factors_before)
        change = classify_customer_month(
            previous=before,
            current=after,
            reported=reported,
            factors=factors_at_end,
            was_active_before=was_active_before,
        )
        amounts = {"start": reported, "end": change.value, "currency": change.currency}
        if change.kind:
            amounts[change.kind] = change.amount
        exact_amounts = (reported, change.value, amounts.get(figure, ZERO))
        rounded = [round_half_up(drop_rounding_noise(amount), base) for amount in exact_amounts]
        if rounded[-1] or change.kind == figure:
            movements.append(CustomerMovement(customer_id, *rounded))
    return sorted(movements, key=lambda each: (-abs(each.amount), each.customer_id))
