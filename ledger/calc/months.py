"""Calendar months: the unit in which plans, recognition and recurring revenue are told.

A month is written as its first day.
"""

from datetime import date

MONTHS_A_YEAR = 12
FIRST_YEAR, LAST_YEAR = 1900, 2100  # of what banks tell; other years are misread, or cut off
LONGEST_MONTH = 31


def days_in_month(year: int, month: int) -> int:
    """How many days the month has.

    >>> days_in_month(2024, 2), days_in_month(2100, 2)
    (29, 28)
    """
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in {4, 6, 9, 11} else 31


def day_in_month(year: int, month: int, day: int) -> date:
    """The day as banks write it: one that the month has not, such as 31 November, is its last.

    Raises ValueError, for years before 1900 and after 2100 too.

    >>> str(day_in_month(2026, 11, 31))
    '2026-11-30'
    """
    is_known = FIRST_YEAR <= year <= LAST_YEAR
    if not is_known or not 1 <= month <= MONTHS_A_YEAR or not 1 <= day <= LONGEST_MONTH:
        raise ValueError("no such day")
    return date(year, month, min(day, days_in_month(year, month)))


def first_of_month(day: date) -> date:
    """The first day of the month around ``day``."""
    return day if day.day == 1 else day.replace(day=1)


def last_of_month(day: date) -> date:
    """The last day of the month around ``day``.

    >>> last_of_month(date(2024, 2, 10)).isoformat()
    '2024-02-29'
    """
    return date(day.year, day.month, days_in_month(day.year, day.month))


def add_months(day: date, months: int) -> date:
    """``day`` so many months later (earlier when negative), clamped to the end of the shorter month.

    Raises ValueError outside the years 1 to 9999.

    >>> add_months(date(2024, 1, 31), 1).isoformat()
    '2024-02-29'
    """
    year, month = divmod(day.year * MONTHS_A_YEAR + day.month - 1 + months, MONTHS_A_YEAR)
    month += 1
    return date(year, month, day.day if day.day <= 28 else min(day.day, days_in_month(year, month)))


def months_between(earlier: date, later: date) -> int:
    """How many months lie between the two days' months, whatever the days; negative when they are swapped.

    >>> months_between(date(2024, 1, 31), date(2024, 2, 1))
    1
    """
    return (later.year - earlier.year) * MONTHS_A_YEAR + later.month - earlier.month


def months_from(first: date, last: date) -> list[date]:
    """The first day of every month from the one around ``first`` to the one around ``last``, both included.

    >>> [month.isoformat() for month in months_from(date(2023, 12, 5), date(2024, 1, 1))]
    ['2023-12-01', '2024-01-01']
    """
    start = first_of_month(first)
    return [add_months(start, offset) for offset in range(months_between(first, last) + 1)]


def format_month(day: date) -> str:
    """``YYYY-MM`` of the month around ``day``."""
    return day.isoformat()[:7]
