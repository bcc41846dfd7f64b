"""What parts of an amount are of another."""

from collections.abc import Sequence
from decimal import Context, Decimal

from ledger.calc.money import round_half_up

WIDE = Context(prec=60)  # holds the product of any two amounts


def in_proportion(values: Sequence[Decimal | None], *, of: Decimal, to: Decimal, currency: str) -> list[Decimal | None]:
    """Each value's share of ``of`` as the same share of ``to``: differences of rounded running totals, so that values
    that add up to all of the one add up to all of the other. What is None stays so.

    >>> thirds = [Decimal("-10"), None, Decimal("-10"), Decimal("-10")]
    >>> [str(each) for each in in_proportion(thirds, of=Decimal("-30"), to=Decimal("-31"), currency="EUR")]
    ['-10.33', 'None', '-10.34', '-10.33']
    """
    found: list[Decimal | None] = []
    before = after = Decimal(0)
    for value in values:
        if value is None:
            found.append(None)
            continue
        before += value
        total = round_half_up(WIDE.divide(WIDE.multiply(before, to), of), currency)
        found.append(total - after)
        after = total
    return found
