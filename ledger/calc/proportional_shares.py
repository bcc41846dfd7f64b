"""Scale parts of an amount to another amount."""

from collections.abc import Sequence
from decimal import Context, Decimal

from ledger.money.calc.money import round_half_up

WIDE_CONTEXT = Context(prec=60)  # holds the product of any two amounts


def scale_proportionally(
    values: Sequence[Decimal | None], *, of: Decimal, to: Decimal, currency: str
) -> list[Decimal | None]:
    """Return each value scaled from ``of`` to ``to``: differences of rounded running totals, so that values that
    add up to one amount add up to the other. None stays None.

    >>> thirds = [Decimal("-10"), None, Decimal("-10"), Decimal("-10")]
    >>> [str(each) for each in scale_proportionally(thirds, of=Decimal("-30"), to=Decimal("-31"), currency="EUR")]
    ['-10.33', 'None', '-10.34', '-10.33']
    """
    scaled: list[Decimal | None] = []
    total_before = total_after = Decimal(0)
    for value in values:
        if value is None:
            scaled.append(None)
            continue
        total_before += value
        total = round_half_up(WIDE_CONTEXT.divide(WIDE_CONTEXT.multiply(total_before, to), of), currency)
        scaled.append(total - total_after)
        total_after = total
    return scaled
