"""Measures that boards ask for: burn multiple, gross margin, CAC payback, share of the largest customers."""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal, NamedTuple

from ledger.money.calc.money import MONEY_CONTEXT

ZERO = Decimal(0)
HUNDREDTH, TENTH = Decimal("0.01"), Decimal("0.1")

UnavailableReason = Literal[
    "no_months", "no_burn", "no_growth", "no_revenue", "no_margin", "no_marketing", "no_new_customers"
]


class Measure(NamedTuple):
    """A measure, or why it cannot be computed."""

    value: Decimal | None
    unavailable_reason: UnavailableReason | None = None


def compute_burn_multiple(*, burn: Decimal, net_new_arr: Decimal) -> Measure:
    """Return the cash burned for each unit of net new annual recurring revenue, half up to two decimals.

    >>> compute_burn_multiple(burn=Decimal(300), net_new_arr=Decimal(240)).value
    Decimal('1.25')
    >>> compute_burn_multiple(burn=Decimal(300), net_new_arr=Decimal(0)).unavailable_reason
    'no_growth'
    """
    if burn <= 0:
        return Measure(None, "no_burn")
    if net_new_arr <= 0:
        return Measure(None, "no_growth")
    return Measure(divide_and_round(burn, net_new_arr, HUNDREDTH))


def compute_gross_margin(*, revenue: Decimal, cost_of_revenue: Decimal) -> Measure:
    """Return gross profit as a percentage of revenue, half up to two decimals.

    >>> compute_gross_margin(revenue=Decimal(200), cost_of_revenue=Decimal(50)).value
    Decimal('75.00')
    """
    if revenue <= 0:
        return Measure(None, "no_revenue")
    return Measure(divide_and_round((revenue - cost_of_revenue) * 100, revenue, HUNDREDTH))


def compute_cac_payback(*, marketing: Decimal, new_mrr: Decimal, revenue: Decimal, cost_of_revenue: Decimal) -> Measure:
    """Return after how many months the gross profit of new customers has paid for winning them, half up to a tenth.

    ``marketing`` is what sales and marketing cost in the months in which ``new_mrr`` was won.

    >>> compute_cac_payback(
    ...     marketing=Decimal(900), new_mrr=Decimal(100), revenue=Decimal(200), cost_of_revenue=Decimal(50)
    ... ).value
    Decimal('12.0')
    """
    if marketing <= 0:
        return Measure(None, "no_marketing")
    if new_mrr <= 0:
        return Measure(None, "no_new_customers")
    if revenue <= 0:
        return Measure(None, "no_revenue")
    if revenue <= cost_of_revenue:
        return Measure(None, "no_margin")
    return Measure(divide_and_round(marketing * revenue, new_mrr * (revenue - cost_of_revenue), TENTH))


def compute_share(parts: Sequence[Decimal], total: Decimal) -> Measure:
    """Return the sum of the parts as a percentage of the total, half up to two decimals.

    >>> compute_share([Decimal(1), Decimal(2)], Decimal(4)).value
    Decimal('75.00')
    """
    if total <= 0:
        return Measure(None, "no_revenue")
    return Measure(divide_and_round(sum(parts, start=ZERO) * 100, total, HUNDREDTH))


def divide_and_round(part: Decimal, total: Decimal, unit: Decimal) -> Decimal:
    """Divide, and round half up to a multiple of the unit."""
    return MONEY_CONTEXT.divide(part, total).quantize(unit, rounding=ROUND_HALF_UP, context=MONEY_CONTEXT)
