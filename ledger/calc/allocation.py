"""Allocate an amount by percentages without losing a cent."""

from collections.abc import Mapping
from decimal import Decimal

from ledger.money.calc.money import MONEY_CONTEXT, round_half_up


def allocate_by_percent(amount: Decimal, percents: Mapping[int, Decimal], currency: str) -> dict[int, Decimal]:
    """Return each percentage of an amount by the same keys, rounded to the currency's decimals.

    The parts are differences of rounded running totals: percentages that add up to 100 add up to the amount.
    Raises UnknownCurrency.

    >>> allocate_by_percent(Decimal("-4.55"), {0: Decimal(50), 1: Decimal(50)}, "EUR")
    {0: Decimal('-2.28'), 1: Decimal('-2.27')}
    >>> sum(allocate_by_percent(Decimal("100.00"), dict.fromkeys(range(3), Decimal(100) / 3), "EUR").values())
    Decimal('100.00')
    """
    parts, total_percent, previous_total = {}, Decimal(0), Decimal(0)
    for key, part_percent in percents.items():
        total_percent += part_percent
        total = round_half_up(
            MONEY_CONTEXT.divide(MONEY_CONTEXT.multiply(amount, total_percent), Decimal(100)), currency
        )
        parts[key], previous_total = total - previous_total, total
    return parts
