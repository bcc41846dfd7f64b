"""The span of days or months that a query is about."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from companies.api import fields
from companies.api.serializers import Shape
from companies.errors import FieldErrors
from ledger.calc.months import add_months, first_of_month, last_of_month, months_between, months_from

MONTHS_BEFORE = 11  # a year is shown unless told otherwise
MOST_YEARS = 10
MOST_DAYS = 3654  # in so many years, both ends included: three leap days at most, and the day after the last year
MOST_BARS = 12 * MOST_YEARS + 1  # months that so many years can touch
MOST_YEARS_OF_MONTHS = 20  # for queries that answer by the month
MOST_MONTHS = 12 * MOST_YEARS_OF_MONTHS


class Window(Shape):
    start_date = fields.DayField(help_text="the first day, included")
    end_date = fields.DayField(help_text="the last day, included")


def year_up_to(day: date) -> date:
    """Where a window starts unless told: eleven whole months before the day's, in the calendar's first month at the
    earliest."""
    month = first_of_month(day)
    return add_months(month, -min(MONTHS_BEFORE, months_between(date.min, month)))


def forecast_start(*, end: date, cutover: date) -> date:
    """Where a forecast starts unless told: with the year up to its cutover, or up to its end where that is over before
    that year begins."""
    start = year_up_to(cutover)
    return start if start <= end else year_up_to(end)


def check_order(*, start: date, end: date, names: tuple[str, str] = ("startDate", "endDate")) -> None:
    """Raises FieldErrors with end_before_start."""
    if end < start:
        raise FieldErrors([(f"#/{names[1]}", "end_before_start", f"{names[1]} lies before {names[0]}.")])


def check_length(*, start: date, end: date, years: int = MOST_YEARS, name: str = "endDate") -> None:
    """Raises FieldErrors with window_too_long."""
    if end.year - start.year > years or (end.year - start.year == years and end > add_months(start, 12 * years)):
        raise FieldErrors([(f"#/{name}", "window_too_long", f"At most {years} years in one query.")])


def window(values: Mapping[str, Any], *, years: int = MOST_YEARS) -> tuple[date, date]:
    """(first day, last day) of a parsed Window. Raises FieldErrors."""
    start, end = values["start_date"], values["end_date"]
    if start == date.min:
        raise FieldErrors([("#/startDate", "out_of_range", "The calendar has no day before this one.")])
    check_order(start=start, end=end)
    check_length(start=start, end=end, years=years)
    return start, end


def months(first: date, last: date) -> list[date]:
    """The first days of the months from ``first`` to ``last``. Raises FieldErrors."""
    check_order(start=first, end=last, names=("startMonth", "endMonth"))
    check_length(start=first, end=last_of_month(last), years=MOST_YEARS_OF_MONTHS, name="endMonth")
    return months_from(first, last)


def check_cutover(*, cutover: date, today: date) -> None:
    """Raises FieldErrors with cutover_in_future."""
    if cutover > today:
        raise FieldErrors([("#/cutoverDate", "cutover_in_future", "The cutover is today at the latest.")])
