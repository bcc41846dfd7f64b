"""Allocate an amount by percentages and fixed amounts without losing a cent."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from ledger.money.calc.money import MONEY_CONTEXT, has_too_many_decimals, round_half_up


class SharesExceedAmount(ValueError):
    """The shares are more than the amount, or not an amount of its currency."""


class Share(NamedTuple):
    """A share of an amount: a percentage of it, or a fixed amount without sign. One of both is None."""

    percent: Decimal | None
    amount: Decimal | None


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


def split_by_shares(amount: Decimal, shares: Sequence[Share], currency: str) -> tuple[list[Decimal], Decimal]:
    """Return (the shares of an amount, the remainder), all with its sign; they add up to it.

    Percentages are of the whole amount.

    Raises:
        SharesExceedAmount.
        UnknownCurrency.

    >>> split_by_shares(Decimal("-100.01"), [Share(Decimal("33.3"), None), Share(None, Decimal(20))], "EUR")
    ([Decimal('-33.30'), Decimal('-20')], Decimal('-46.71'))
    """
    percents = {position: share.percent for position, share in enumerate(shares) if share.percent is not None}
    parts = {position: share.amount.copy_sign(amount) for position, share in enumerate(shares) if share.amount}
    if any(has_too_many_decimals(part, currency) for part in parts.values()):
        raise SharesExceedAmount
    parts |= allocate_by_percent(amount, percents, currency)
    remainder = amount - sum(parts.values(), Decimal(0))
    if remainder * amount < 0 or (parts and not amount):
        raise SharesExceedAmount
    return [parts[position] for position in range(len(shares))], remainder
