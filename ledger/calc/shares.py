"""Sharing an amount out: by percentages, and the part that is left. Every cent is in one part."""

from collections.abc import Mapping
from decimal import Decimal

from ledger.calc.money import WIDE, round_half_up


def shares(amount: Decimal, percents: Mapping[int, Decimal], currency: str) -> dict[int, Decimal]:
    """What each percentage of the amount is, by the same keys, in the currency's decimals.

    They are differences of rounded running totals: percentages that add up to 100 add up to the amount. Raises
    UnknownCurrency.

    >>> shares(Decimal("-4.55"), {0: Decimal(50), 1: Decimal(50)}, "EUR")
    {0: Decimal('-2.28'), 1: Decimal('-2.27')}
    >>> sum(shares(Decimal("100.00"), dict.fromkeys(range(3), Decimal(100) / 3), "EUR").values())
    Decimal('100.00')
    """
    found, percent, before = {}, Decimal(0), Decimal(0)
    for key, each in percents.items():
        percent += each
        total = round_half_up(WIDE.divide(WIDE.multiply(amount, percent), Decimal(100)), currency)
        found[key], before = total - before, total
    return found
