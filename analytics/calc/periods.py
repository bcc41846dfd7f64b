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


def heading(period: date, interval: Period, *, first: date, last: date) -> str:
    """A period's name, with the days that are shown of it where those from ``first`` to ``last`` are not all.

    >>> days = {"first": date(2024, 2, 1), "last": date(2024, 11, 22)}
    >>> heading(date(2024, 11, 1), "month", **days), heading(date(2024, 7, 1), "quarter", **days)
    ('Nov 2024, to 22 Nov', 'Q3 2024')
    >>> heading(date(2024, 1, 1), "quarter", **days), heading(date(2024, 1, 1), "year", **days)
    ('Q1 2024, from 1 Feb', '2024, 1 Feb to 22 Nov')
    """
    names = {"month": f"{period:%b %Y}", "quarter": f"Q{(period.month + 2) // 3} {period:%Y}", "year": f"{period:%Y}"}
    start = f"{first:%-d %b}" if first > period else ""
    end = f"to {last:%-d %b}" if last < last_day(period, interval) else ""
    part = f"{start} {end}" if start and end else end or (start and f"from {start}")
    return f"{names[interval]}, {part}" if part else names[interval]
