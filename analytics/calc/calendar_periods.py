"""Calendar periods of a statement: months, quarters and years."""

from datetime import date
from typing import Literal

from ledger.calc.months import add_months, count_months_between, get_last_day_of_month

PeriodInterval = Literal["month", "quarter", "year"]

PERIOD_MONTHS: dict[str, int] = {"month": 1, "quarter": 3, "year": 12}
"""In months."""


def get_period_start(month: date, interval: PeriodInterval) -> date:
    """Return the first day of the period that contains a month.

    >>> get_period_start(date(2024, 5, 1), "quarter").isoformat()
    '2024-04-01'
    """
    length = PERIOD_MONTHS[interval]
    return date(month.year, (month.month - 1) // length * length + 1, 1)


def get_period_end(period: date, interval: PeriodInterval) -> date:
    """Return the last day of the period that begins on a day.

    >>> get_period_end(date(2024, 4, 1), "quarter").isoformat()
    '2024-06-30'
    """
    return get_last_day_of_month(add_months(period, PERIOD_MONTHS[interval] - 1))


def shift_day_by_months(day: date, months: int) -> date | None:
    """Shift a day by a number of months; None if it is the last day of either month, which then counts whole.

    >>> [str(shift_day_by_months(date(2024, *day), -1)) for day in ((5, 22), (5, 31), (3, 30))]
    ['2024-04-22', 'None', 'None']
    """
    if day == get_last_day_of_month(day) or (months < 0 and count_months_between(date.min, day) < -months):
        return None
    shifted_day = add_months(day, months)
    return None if shifted_day == get_last_day_of_month(shifted_day) else shifted_day


def shift_end_day_by_months(day: date, months: int) -> date:
    """Shift the last day of a window by a number of months; the end of month if it is the last day of either.

    >>> [shift_end_day_by_months(date(2024, *day), -1).isoformat() for day in ((5, 22), (2, 29))]
    ['2024-04-22', '2024-01-31']
    """
    return shift_day_by_months(day, months) or get_last_day_of_month(add_months(day, months))


def find_partial_period_days(
    period: date, interval: PeriodInterval, *, first: date, last: date
) -> tuple[date | None, date | None]:
    """Return the first and last shown day of a period; None where it is shown from its start, or to its end.

    >>> days = {"first": date(2024, 2, 1), "last": date(2024, 11, 22)}
    >>> [None if day is None else day.isoformat() for day in find_partial_period_days(date(2024, 1, 1), "year", **days)]
    ['2024-02-01', '2024-11-22']
    >>> find_partial_period_days(date(2024, 7, 1), "quarter", **days)
    (None, None)
    """
    return first if first > period else None, last if last < get_period_end(period, interval) else None
