"""Time series: a common axis of days, weeks or months, and sums by its points."""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Literal

from ledger.calc.months import get_first_day_of_month, list_months
from ledger.money.calc.money import MONEY_CONTEXT

Interval = Literal["day", "week", "month"]

ZERO = Decimal(0)
_WEEK = 7


def get_bucket_start(day: date, interval: Interval) -> date:
    """Return the first day of the bucket of a day: itself, its Monday, or the first of its month.

    Raises:
        ValueError: the interval is unknown.

    >>> get_bucket_start(date(2024, 1, 7), "week").isoformat()
    '2024-01-01'
    """
    if interval == "day":
        return day
    if interval == "week":
        # Never before the calendar's first day: 1 January of the year 1 is a Monday.
        return date.fromordinal(day.toordinal() - day.weekday())
    if interval == "month":
        return get_first_day_of_month(day)
    raise ValueError(f"{interval!r} is not day, week or month.")


def list_bucket_starts(start: date, end: date, interval: Interval) -> list[date]:
    """Return the first day of every bucket from that of `start` to that of `end`, in order.

    The first may lie before `start`. Empty if the end is before the start.

    Raises:
        ValueError: the interval is unknown.

    >>> [day.isoformat() for day in list_bucket_starts(date(2024, 1, 3), date(2024, 1, 15), "week")]
    ['2024-01-01', '2024-01-08', '2024-01-15']
    """
    first = get_bucket_start(start, interval)
    if end < start:
        return []
    if interval == "month":
        return list_months(first, end)
    step = _WEEK if interval == "week" else 1
    return [*map(date.fromordinal, range(first.toordinal(), end.toordinal() + 1, step))]


def sum_by_bucket(
    flows: Iterable[tuple[date, Decimal, Decimal]], *, start: date, end: date, interval: Interval
) -> dict[date, tuple[Decimal, Decimal]]:
    """Sum flows (day, in, out) within [start, end] by bucket; zero for buckets without flows. Not rounded.

    Flows outside the window are left out, even if their bucket is on the axis.

    >>> flows = [(date(2024, 1, 31), Decimal(5), ZERO), (date(2024, 3, 1), Decimal(2), Decimal(1))]
    >>> found = sum_by_bucket(flows, start=date(2024, 1, 1), end=date(2024, 3, 31), interval="month")
    >>> [(str(inflow), str(outflow)) for inflow, outflow in found.values()]
    [('5', '0'), ('0', '0'), ('2', '1')]
    """
    sums = dict.fromkeys(list_bucket_starts(start, end, interval), (ZERO, ZERO))
    for day, inflow, outflow in flows:
        if start <= day <= end:
            point = get_bucket_start(day, interval)
            bucket_inflow, bucket_outflow = sums[point]
            sums[point] = MONEY_CONTEXT.add(bucket_inflow, inflow), MONEY_CONTEXT.add(bucket_outflow, outflow)
    return sums
