"""The window of days or months of a data query."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from companies.api import fields
from companies.api.serializers import StrictSerializer
from companies.errors import ValidationFailed
from ledger.calc.months import (
    add_months,
    count_months_between,
    get_first_day_of_month,
    get_last_day_of_month,
    list_months,
)

DEFAULT_MONTHS_BEFORE = 11  # a year by default
MAX_WINDOW_YEARS = 10
MAX_WINDOW_DAYS = 3654  # both ends included, with at most three leap days
MAX_BAR_COUNT = 12 * MAX_WINDOW_YEARS + 1  # months that such a window can touch
MAX_MONTHLY_YEARS = 20  # of monthly queries
MAX_WINDOW_MONTHS = 12 * MAX_MONTHLY_YEARS


class Window(StrictSerializer):
    start_date = fields.DateField(help_text="First day, inclusive.")
    end_date = fields.DateField(help_text="Last day, inclusive.")


def get_default_start(day: date) -> date:
    """Return where a window starts by default: eleven whole months before the day's month."""
    month = get_first_day_of_month(day)
    return add_months(month, -min(DEFAULT_MONTHS_BEFORE, count_months_between(date.min, month)))


def get_default_forecast_start(*, end: date, cutover: date) -> date:
    """Return where a forecast starts by default: a year up to its cutover, or up to its end if that is earlier."""
    start = get_default_start(cutover)
    return start if start <= end else get_default_start(end)


def check_window_order(*, start: date, end: date, names: tuple[str, str] = ("startDate", "endDate")) -> None:
    """Check that a window does not end before it starts.

    Raises:
        ValidationFailed: with end_before_start.
    """
    if end < start:
        raise ValidationFailed([(f"#/{names[1]}", "end_before_start", f"{names[1]} must not be before {names[0]}.")])


def check_window_length(*, start: date, end: date, years: int = MAX_WINDOW_YEARS, name: str = "endDate") -> None:
    """Check that a window is not too long.

    Raises:
        ValidationFailed: with window_too_long.
    """
    if end.year - start.year > years or (end.year - start.year == years and end > add_months(start, 12 * years)):
        raise ValidationFailed([(f"#/{name}", "window_too_long", f"The window must not be longer than {years} years.")])


def parse_window(values: Mapping[str, Any], *, years: int = MAX_WINDOW_YEARS) -> tuple[date, date]:
    """Return (first day, last day) of a validated Window.

    Raises:
        ValidationFailed: the window is invalid.
    """
    start, end = values["start_date"], values["end_date"]
    if start == date.min:
        raise ValidationFailed([("#/startDate", "out_of_range", "Must be later than 0001-01-01.")])
    check_window_order(start=start, end=end)
    check_window_length(start=start, end=end, years=years)
    return start, end


def list_window_months(first: date, last: date) -> list[date]:
    """Return the first days of the months from `first` to `last`.

    Raises:
        ValidationFailed: the window is invalid.
    """
    check_window_order(start=first, end=last, names=("startMonth", "endMonth"))
    check_window_length(start=first, end=get_last_day_of_month(last), years=MAX_MONTHLY_YEARS, name="endMonth")
    return list_months(first, last)


def check_cutover(*, cutover: date, today: date) -> None:
    """Check that the cutover is not in the future.

    Raises:
        ValidationFailed: with cutover_in_future.
    """
    if cutover > today:
        raise ValidationFailed([("#/cutoverDate", "cutover_in_future", "cutoverDate must not be after today.")])
