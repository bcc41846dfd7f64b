"""Periods that a statement is told by: months, quarters and years of the calendar."""

from datetime import date
from typing import Literal

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
