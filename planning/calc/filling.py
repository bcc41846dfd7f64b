"""What an amount of one month alone must be, so that a cell of the plan reads as it was typed."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from ledger.calc.money import WIDE, round_half_up, smallest_unit


def making(typed: Decimal, *, others: Decimal, currency: str) -> Decimal:
    """What is to be added to ``others``, in whole units of the currency, so that together they round to ``typed``.

    >>> making(Decimal("150.00"), others=Decimal("121.005"), currency="EUR")
    Decimal('28.99')
    >>> making(Decimal("0.00"), others=Decimal("121.00"), currency="EUR")
    Decimal('-121.00')
    """
    missing = WIDE.subtract(typed, others)
    found = (missing.quantize(smallest_unit(currency), way, WIDE) for way in (ROUND_FLOOR, ROUND_CEILING))
    return next(each for each in found if round_half_up(WIDE.add(others, each), currency) == typed)
