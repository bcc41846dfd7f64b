"""The adjustment item that makes a cell of the plan show a given amount."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from ledger.money.calc.money import MONEY_CONTEXT, get_smallest_unit, round_half_up


def compute_adjustment(target: Decimal, *, other_items: Decimal, currency: str) -> Decimal:
    """Compute the amount to add to `other_items` so that both together round to `target`, in units of the currency.

    >>> compute_adjustment(Decimal("150.00"), other_items=Decimal("121.005"), currency="EUR")
    Decimal('28.99')
    >>> compute_adjustment(Decimal("0.00"), other_items=Decimal("121.00"), currency="EUR")
    Decimal('-121.00')
    """
    missing = MONEY_CONTEXT.subtract(target, other_items)
    candidates = (
        missing.quantize(get_smallest_unit(currency), way, MONEY_CONTEXT) for way in (ROUND_FLOOR, ROUND_CEILING)
    )
    return next(each for each in candidates if round_half_up(MONEY_CONTEXT.add(other_items, each), currency) == target)
