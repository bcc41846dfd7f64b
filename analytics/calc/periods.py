"""Periods that a statement is told by: months, quarters and years of the calendar."""

from datetime import date
from typing import Literal

from ledger.calc.months import add_months, last_of_month, months_between

Period = Literal["month", "quarter", "year"]

LENGTHS: dict[str, int] = {"month": 1, "quarter": 3, "year": 12}
"""In months."""


def period_of(month: date, interval: Period) -> date:
    """The first day of the period around a month.

    >>> period_of(date(2024, 5, 1), "quarter").isoformat()
    '2024-04-01'
    """
    length = LENGTHS[interval]
    return date(month.year, (month.month - 1) // length * length + 1, 1)


def last_day(period: date, interval: Period) -> date:
    """Of the period that begins on a day.

    >>> last_day(date(2024, 4, 1), "quarter").isoformat()
    '2024-06-30'
    """
    return last_of_month(add_months(period, LENGTHS[interval] - 1))


def same_day(day: date, months: int) -> date | None:
    """The same day so many months before (negative) or after; None where either month is over on it, and counts whole.

    >>> str(same_day(date(2024, 5, 22), -1)), same_day(date(2024, 5, 31), -1), same_day(date(2024, 3, 30), -1)
    ('2024-04-22', None, None)
    """
    if day == last_of_month(day) or (months < 0 and months_between(date.min, day) < -months):
        return None
    there = add_months(day, months)
    return None if there == last_of_month(there) else there


def same_end(day: date, months: int) -> date:
    """The last day of what stands beside days up to ``day`` so many months before (negative): the same one, and the end
    of its month where either month is over on it.

    >>> same_end(date(2024, 5, 22), -1).isoformat(), same_end(date(2024, 2, 29), -1).isoformat()
    ('2024-04-22', '2024-01-31')
    """
    return same_day(day, months) or last_of_month(add_months(day, months))


def cut(period: date, interval: Period, *, first: date, last: date) -> tuple[date | None, date | None]:
    """The first and the last day that are shown of a period; None where it is shown from its start, or to its end.

    >>> days = {"first": date(2024, 2, 1), "last": date(2024, 11, 22)}
    >>> [None if day is None else day.isoformat() for day in cut(date(2024, 1, 1), "year", **days)]
    ['2024-02-01', '2024-11-22']
    >>> cut(date(2024, 7, 1), "quarter", **days)
    (None, None)
    """
    return first if first > period else None, last if last < last_day(period, interval) else None
