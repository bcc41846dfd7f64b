"""Headings of the periods of a profit and loss statement."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from django.utils.translation import gettext as _

from analytics.calc import calendar_periods
from analytics.queries import profit_and_loss
from companies.locales import get_current_locale
from ledger.calc.months import add_months, get_first_day_of_month, get_last_day_of_month


@dataclass(frozen=True, slots=True)
class PeriodHeading:
    """The heading of a period: its days where these are not all, and whether it is closed or under way.

    `kind` is "current", "planned" for a period that only has a plan, or empty.
    """

    name: str
    days: str = ""
    labels: Sequence[str] = ()
    kind: str = ""

    @property
    def text(self) -> str:
        """The heading as one text.

        >>> PeriodHeading("2026", "to 30 Nov", ("in progress",)).text
        '2026, to 30 Nov (in progress)'
        """
        return ", ".join(filter(None, (self.name, self.days))) + "".join(f" ({mark})" for mark in self.labels)

    @property
    def notes(self) -> list[str]:
        return [*filter(None, (self.days, *self.labels))]


def build_period_heading(
    period: date,
    interval: calendar_periods.PeriodInterval,
    shown_days: dict[str, date],
    *,
    in_progress: bool,
    closed: bool,
) -> PeriodHeading:
    """Build the heading of a period with actual amounts."""
    name = format_period_name(period, interval)
    days = format_period_heading(period, interval, **shown_days).removeprefix(name).lstrip(", ")
    labels = [*([_("in progress")] if in_progress else []), *([_("closed")] if closed else [])]
    return PeriodHeading(name, days, labels, "current" if in_progress else "")


def build_compared_headings(
    months: Sequence[date],
    *,
    today: date,
    interval: calendar_periods.PeriodInterval,
    comparison: profit_and_loss.Comparison | None,
    to_date: bool,
) -> list[str]:
    """Return the headings of the compared periods; empty texts where the calendar has none."""
    compared_months = profit_and_loss.list_compared_months(months, interval, comparison)
    if comparison is None or not compared_months:
        return []
    months_back = profit_and_loss.count_comparison_months(interval, comparison)
    last = calendar_periods.shift_end_day_by_months(
        get_last_counted_day(months[-1], today, to_date=to_date), -months_back
    )
    headings = dict.fromkeys((calendar_periods.get_period_start(month, interval) for month in months), "")
    for month in compared_months:
        period = calendar_periods.get_period_start(month, interval)
        headings[add_months(period, months_back)] = format_period_heading(
            period, interval, first=compared_months[0], last=last
        )
    return [*headings.values()]


def list_compared_names(
    months: Sequence[date],
    *,
    interval: calendar_periods.PeriodInterval,
    comparison: profit_and_loss.Comparison | None,
) -> list[str]:
    """Return the names of the compared periods without days; empty texts where the calendar has none."""
    compared_months = profit_and_loss.list_compared_months(months, interval, comparison)
    if comparison is None or not compared_months:
        return []
    months_back = profit_and_loss.count_comparison_months(interval, comparison)
    names = dict.fromkeys((calendar_periods.get_period_start(month, interval) for month in months), "")
    for month in compared_months:
        period = calendar_periods.get_period_start(month, interval)
        names[add_months(period, months_back)] = format_period_name(period, interval)
    return [*names.values()]


def format_period_heading(period: date, interval: calendar_periods.PeriodInterval, *, first: date, last: date) -> str:
    """Format a period's name, with the days shown where these are not all.

    >>> days = {"first": date(2024, 2, 1), "last": date(2024, 11, 22)}
    >>> format_period_heading(date(2024, 11, 1), "month", **days)
    'Nov 2024, to 22 Nov'
    >>> format_period_heading(date(2024, 7, 1), "quarter", **days)
    'Q3 2024'
    >>> format_period_heading(date(2024, 1, 1), "quarter", **days)
    'Q1 2024, from 1 Feb'
    >>> format_period_heading(date(2024, 1, 1), "year", **days)
    '2024, 1 Feb to 22 Nov'
    """
    name = format_period_name(period, interval)
    start, end = (
        day and get_current_locale().format_short_day(day)
        for day in calendar_periods.find_partial_period_days(period, interval, first=first, last=last)
    )
    if start and end:
        return _("{period}, {first} to {last}").format(period=name, first=start, last=end)
    if start:
        return _("{period}, from {first}").format(period=name, first=start)
    return _("{period}, to {last}").format(period=name, last=end) if end else name


def format_month_span(first: date, until: date) -> str:
    """Format the months from `first` to `until`, with days if the last month is not over.

    >>> format_month_span(date(2024, 10, 1), date(2024, 10, 31))
    'October 2024'
    >>> format_month_span(date(2024, 9, 1), date(2024, 10, 31))
    'Sep 2024 to Oct 2024'
    >>> format_month_span(date(2024, 10, 1), date(2024, 10, 22))
    '1 Oct 2024 to 22 Oct 2024'
    """
    locale = get_current_locale()
    if until != get_last_day_of_month(until):
        return _("{first} to {last}").format(first=locale.format_day(first), last=locale.format_day(until))
    if first == get_first_day_of_month(until):
        return locale.format_month(first, full=True)
    return _("{first} to {last}").format(first=locale.format_month(first), last=locale.format_month(until))


def format_period_name(period: date, interval: calendar_periods.PeriodInterval) -> str:
    if interval == "quarter":
        return _("Q{quarter} {year}").format(quarter=(period.month + 2) // 3, year=f"{period:%Y}")
    return get_current_locale().format_month(period) if interval == "month" else f"{period:%Y}"


def get_last_counted_day(month: date, today: date, *, to_date: bool) -> date:
    """Return the last day of a month that counts: its last, and with `to_date` today if that is earlier."""
    last = get_last_day_of_month(month)
    return min(last, today) if to_date else last
