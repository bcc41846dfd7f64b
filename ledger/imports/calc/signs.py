"""What the signs within a column of amounts mean."""

from collections.abc import Iterable
from fractions import Fraction

from ledger.imports.calc.amounts import find_amount_sign

RARE = Fraction(1, 3)  # of the amounts of a column of debits or credits: so many may be reversals


def find_minus_meaning(negative: int, positive: int) -> str:
    """What a minus means in a column of debits or credits; empty where too many amounts have one and too many none.

    >>> find_minus_meaning(1, 7), find_minus_meaning(3, 0), find_minus_meaning(1, 1)
    ('reverses', 'repeats', '')
    """
    if negative <= RARE * (negative + positive):
        return "reverses"
    return "repeats" if positive <= RARE * (negative + positive) else ""


def is_plus_partial(texts: Iterable[str]) -> bool:
    """Whether only money in is marked, with a plus or Cr, so that what has no mark may be money out.

    >>> is_plus_partial(["500.00", "120.50 CR"]), is_plus_partial(["-500.00", "+120.50"])
    (True, False)
    """
    return {find_amount_sign(text) for text in texts if any(sign in "123456789" for sign in text)} == {"", "+"}
