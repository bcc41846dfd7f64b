"""Scales of charts: round steps, ticks that hold zero, and where a value lies between top and bottom."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

ZERO, ONE = Decimal(0), Decimal(1)
STEPS = (Decimal(1), Decimal(2), Decimal("2.5"), Decimal(5))
INTERVALS = 5


def nice_step(span: Decimal, *, smallest: Decimal = Decimal("0.01")) -> Decimal:
    """The smallest of 1, 2, 2.5 and 5 times a power of ten that covers the span in ``INTERVALS`` steps.

    Never below ``smallest``, the currency's own; 2.5 of a unit that has no parts is left out.

    >>> str(nice_step(Decimal(930))), str(nice_step(Decimal(7), smallest=Decimal(1)))
    ('200', '2')
    """
    wanted = span / INTERVALS
    if wanted <= smallest:
        return smallest
    power = Decimal(10) ** wanted.adjusted()
    for step in STEPS:
        if step * power >= wanted and not (step * power) % smallest:
            return plain(step * power)
    return plain(10 * power)


def plain(value: Decimal) -> Decimal:
    """The same number without an exponent."""
    return Decimal(format(value.normalize(), "f"))


def ticks(values: Iterable[Decimal], *, smallest: Decimal = Decimal("0.01")) -> list[Decimal]:
    """Round numbers in order, a step apart, that hold zero and all of the values. [0, 1] where all are zero.

    >>> [str(tick) for tick in ticks([Decimal(-3), Decimal(17)])]
    ['-5', '0', '5', '10', '15', '20']
    """
    found = [ZERO, *values]
    low, high = min(found), max(found)
    if low == high:
        return [ZERO, ONE]
    step = nice_step(high - low, smallest=smallest)
    first = (low / step).to_integral_value(ROUND_FLOOR)
    last = (high / step).to_integral_value(ROUND_CEILING)
    return [plain(step * number) for number in range(int(first), int(last) + 1)]


@dataclass(frozen=True, slots=True)
class Scale:
    """Values from ``low`` at ``bottom`` to ``high`` at ``top``, in pixels from above."""

    low: Decimal
    high: Decimal
    top: float
    bottom: float

    def y(self, value: Decimal) -> float:
        """How far below the upper edge the value lies, to a tenth of a pixel.

        >>> Scale(Decimal(0), Decimal(10), top=0, bottom=200).y(Decimal("2.5"))
        150.0
        """
        return self.ys([value])[0]

    def ys(self, values: Iterable[Decimal]) -> list[float]:
        """The same of many values: in floats, which are finer than a pixel and quicker than decimals."""
        low, per_unit = float(self.low), (self.bottom - self.top) / float(self.high - self.low)
        return [round(self.bottom - (float(value) - low) * per_unit, 1) for value in values]


def scale_of(marks: Sequence[Decimal], *, top: float, bottom: float) -> Scale:
    """From the first to the last of the ticks."""
    return Scale(marks[0], marks[-1], top=top, bottom=bottom)
