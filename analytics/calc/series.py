"""Series over time: a common axis of days, weeks or months, and what each of its points is worth."""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Literal

from ledger.calc.money import WIDE
from ledger.calc.months import first_of_month, months_from

Interval = Literal["day", "week", "month"]

ZERO = Decimal(0)
_WEEK = 7


def bucket(day: date, interval: Interval) -> date:
    """The first day of the bucket that holds the day: itself, its Monday, or the first of its month.

    Raises ValueError for another interval.

    >>> bucket(date(2024, 1, 7), "week").isoformat()
    '2024-01-01'
    """
    if interval == "day":
        return day
    if interval == "week":
        # Never before the calendar's first day: 1 January of the year 1 is a Monday.
        return date.fromordinal(day.toordinal() - day.weekday())
    if interval == "month":
        return first_of_month(day)
    raise ValueError(f"{interval!r} is not day, week or month.")


def axis(start: date, end: date, interval: Interval) -> list[date]:
    """The first day of every bucket from the one that holds ``start`` to the one that holds ``end``, in order.

    The first may lie before ``start``. Empty when the end is before the start. Raises ValueError for another interval.

    >>> [day.isoformat() for day in axis(date(2024, 1, 3), date(2024, 1, 15), "week")]
    ['2024-01-01', '2024-01-08', '2024-01-15']
    """
    first = bucket(start, interval)
    if end < start:
        return []
    if interval == "month":
        return months_from(first, end)
    step = _WEEK if interval == "week" else 1
    return [*map(date.fromordinal, range(first.toordinal(), end.toordinal() + 1, step))]


def sum_by_bucket(
    flows: Iterable[tuple[date, Decimal, Decimal]], *, start: date, end: date, interval: Interval
) -> dict[date, tuple[Decimal, Decimal]]:
    """Every point of the axis -> the sums, in and out, of the flows within [start, end] in its bucket; zero where there
    are none.

    Flows outside the window are left out, even where their bucket is on the axis. Not rounded.

    >>> flows = [(date(2024, 1, 31), Decimal(5), ZERO), (date(2024, 3, 1), Decimal(2), Decimal(1))]
    >>> found = sum_by_bucket(flows, start=date(2024, 1, 1), end=date(2024, 3, 31), interval="month")
    >>> [(str(inflow), str(outflow)) for inflow, outflow in found.values()]
    [('5', '0'), ('0', '0'), ('2', '1')]
    """
    sums = dict.fromkeys(axis(start, end, interval), (ZERO, ZERO))
    for day, inflow, outflow in flows:
        if start <= day <= end:
            point = bucket(day, interval)
            came, went = sums[point]
            sums[point] = WIDE.add(came, inflow), WIDE.add(went, outflow)
    return sums
