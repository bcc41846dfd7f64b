"""Scales of chart axes: round steps, ticks that include zero, and the position of a value."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

ZERO, ONE = Decimal(0), Decimal(1)
NICE_STEPS = (Decimal(1), Decimal(2), Decimal("2.5"), Decimal(5))
MAX_STEP_COUNT = 5


def compute_nice_step(span: Decimal, *, smallest: Decimal = Decimal("0.01")) -> Decimal:
    """Return the smallest of 1, 2, 2.5 and 5 times a power of ten that covers the span in MAX_STEP_COUNT steps.

    Never below `smallest`, the currency's own; 2.5 of a unit without parts is left out.

    >>> str(compute_nice_step(Decimal(930))), str(compute_nice_step(Decimal(7), smallest=Decimal(1)))
    ('200', '2')
    """
    exact_step = span / MAX_STEP_COUNT
    if exact_step <= smallest:
        return smallest
    power = Decimal(10) ** exact_step.adjusted()
    for step in NICE_STEPS:
        if step * power >= exact_step and not (step * power) % smallest:
            return to_plain_decimal(step * power)
    return to_plain_decimal(10 * power)


def to_plain_decimal(value: Decimal) -> Decimal:
    """Return the same number without an exponent."""
    return Decimal(format(value.normalize(), "f"))


def compute_ticks(values: Iterable[Decimal], *, smallest: Decimal = Decimal("0.01")) -> list[Decimal]:
    """Return round numbers, a step apart, that span zero and all values; [0, 1] if all are zero.

    >>> [str(tick) for tick in compute_ticks([Decimal(-3), Decimal(17)])]
    ['-5', '0', '5', '10', '15', '20']
    """
    values_with_zero = [ZERO, *values]
    low, high = min(values_with_zero), max(values_with_zero)
    if low == high:
        return [ZERO, ONE]
    step = compute_nice_step(high - low, smallest=smallest)
    first = (low / step).to_integral_value(ROUND_FLOOR)
    last = (high / step).to_integral_value(ROUND_CEILING)
    return [to_plain_decimal(step * number) for number in range(int(first), int(last) + 1)]


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps values from `low` at `bottom` to `high` at `top`, in pixels from the upper edge."""

    low: Decimal
    high: Decimal
    top: float
    bottom: float

    def get_position(self, value: Decimal) -> float:
        """Return how far below the upper edge a value lies, to a tenth of a pixel.

        >>> Scale(Decimal(0), Decimal(10), top=0, bottom=200).get_position(Decimal("2.5"))
        150.0
        """
        return self.get_positions([value])[0]

    def get_positions(self, values: Iterable[Decimal]) -> list[float]:
        """Return the positions of many values, computed in floats, which are finer than a pixel and faster."""
        low, per_unit = float(self.low), (self.bottom - self.top) / float(self.high - self.low)
        return [round(self.bottom - (float(value) - low) * per_unit, 1) for value in values]


def build_scale(tick_values: Sequence[Decimal], *, top: float, bottom: float) -> Scale:
    """Build the scale from the first to the last tick."""
    return Scale(tick_values[0], tick_values[-1], top=top, bottom=bottom)
