"""Calendar months, represented by their first day."""

from datetime import date, timedelta

MONTHS_PER_YEAR = 12
FIRST_YEAR, LAST_YEAR = 1900, 2100  # of what banks tell; other years are misread, or cut off
MAX_DAYS_PER_MONTH = 31
FRIDAY = 4  # of date.weekday()


def count_days_in_month(year: int, month: int) -> int:
    """Return the number of days of a month.

    >>> count_days_in_month(2024, 2), count_days_in_month(2100, 2)
    (29, 28)
    """
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in {4, 6, 9, 11} else 31


def clamp_day_to_month(year: int, month: int, day: int) -> date:
    """The day as banks write it: one that the month has not, such as 31 November, is its last.

    Raises ValueError, for years before 1900 and after 2100 too.

    >>> str(clamp_day_to_month(2026, 11, 31))
    '2026-11-30'
    """
    is_known = FIRST_YEAR <= year <= LAST_YEAR
    if not is_known or not 1 <= month <= MONTHS_PER_YEAR or not 1 <= day <= MAX_DAYS_PER_MONTH:
        raise ValueError("no such day")
    return date(year, month, min(day, count_days_in_month(year, month)))


def get_first_day_of_month(day: date) -> date:
    """Return the first day of the month of `day`."""
    return day if day.day == 1 else day.replace(day=1)


def get_last_day_of_month(day: date) -> date:
    """Return the last day of the month of `day`.

    >>> get_last_day_of_month(date(2024, 2, 10)).isoformat()
    '2024-02-29'
    """
    return date(day.year, day.month, count_days_in_month(day.year, day.month))


def get_last_weekday_of_month(day: date) -> date:
    """Return the last day of the month of `day` that is no Saturday or Sunday.

    >>> get_last_weekday_of_month(date(2026, 10, 1)).isoformat()
    '2026-10-30'
    """
    last = get_last_day_of_month(day)
    return last - timedelta(max(0, last.weekday() - FRIDAY))


def add_months(day: date, months: int) -> date:
    """Return `day` moved by a number of months (negative: earlier), clamped to the end of a shorter month.

    Raises:
        ValueError: the result is outside the years 1 to 9999.

    >>> add_months(date(2024, 1, 31), 1).isoformat()
    '2024-02-29'
    """
    year, month = divmod(day.year * MONTHS_PER_YEAR + day.month - 1 + months, MONTHS_PER_YEAR)
    month += 1
    return date(year, month, day.day if day.day <= 28 else min(day.day, count_days_in_month(year, month)))


def count_months_between(earlier: date, later: date) -> int:
    """Return the number of months from the month of `earlier` to that of `later`; negative if they are swapped.

    >>> count_months_between(date(2024, 1, 31), date(2024, 2, 1))
    1
    """
    return (later.year - earlier.year) * MONTHS_PER_YEAR + later.month - earlier.month


def list_months(first: date, last: date) -> list[date]:
    """Return the first day of each month from that of `first` to that of `last`, both included.

    >>> [month.isoformat() for month in list_months(date(2023, 12, 5), date(2024, 1, 1))]
    ['2023-12-01', '2024-01-01']
    """
    start = get_first_day_of_month(first)
    return [add_months(start, offset) for offset in range(count_months_between(first, last) + 1)]


def format_month(day: date) -> str:
    """Format the month of `day` as `YYYY-MM`."""
    return day.isoformat()[:7]
