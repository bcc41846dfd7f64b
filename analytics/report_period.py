"""The period of a report and what it is compared with, as its URL says; kept in every link of the report."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from urllib.parse import urlencode

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.calc.calendar_periods import PERIOD_MONTHS, shift_end_day_by_months
from analytics.calc.time_series import Interval
from analytics.queries.profit_and_loss import Comparison
from analytics.query_window import MAX_WINDOW_YEARS, get_default_start
from ledger.calc.months import add_months, get_first_day_of_month, get_last_day_of_month, list_months

SPAN_MONTHS = (6, 12, 24)  # months to look back
DEFAULT_SPAN_MONTHS = 12
SPAN_MONTHS_AHEAD = 6  # of a span
MAX_DAYS_BY_DAY = 750  # lines of longer periods have a point for each month
EARLIEST_DAY = date(1900, 1, 1)
COMPARISON_LABELS: dict[Comparison, str | Promise] = {
    "previousPeriod": gettext_lazy("Previous period"),
    "previousYear": gettext_lazy("Previous year"),
}
ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class ReportPeriod:
    """The days from `first` to `last`, which may lie ahead.

    `months` is the chosen span, None for chosen days. `messages` are those about invalid values of the URL.
    """

    first: date
    last: date
    today: date
    months: int | None
    comparison: Comparison | None = None
    messages: tuple[str, ...] = ()

    @property
    def until(self) -> date:
        """The last day with actual data."""
        return min(self.last, self.today)

    @property
    def interval(self) -> Interval:
        """The distance of points on a line."""
        return "day" if (self.last - self.first).days <= MAX_DAYS_BY_DAY else "month"

    @property
    def calendar(self) -> list[date]:
        """The first days of the months up to `until`."""
        return list_months(self.first, self.until)

    @property
    def is_whole_months(self) -> bool:
        """Whether it consists of whole months, as far as they are over."""
        return self.first.day == 1 and self.until in {self.today, get_last_day_of_month(self.until)}

    @property
    def months_back(self) -> int:
        """How many months earlier the compared months are; 0 without a comparison."""
        if self.comparison == "previousYear":
            return PERIOD_MONTHS["year"]
        return len(self.calendar) if self.comparison else 0

    @property
    def compared(self) -> tuple[date, date] | None:
        """The days that those up to `until` are compared with."""
        if self.comparison is None:
            return None
        if self.comparison == "previousYear" or self.is_whole_months:
            return add_months(self.first, -self.months_back), shift_end_day_by_months(self.until, -self.months_back)
        return self.first - (self.until - self.first) - ONE_DAY, self.first - ONE_DAY

    @property
    def parameters(self) -> dict[str, str]:
        """Its URL parameters."""
        parameters_of_days = (
            {"months": str(self.months)}
            if self.months
            else {"startDate": self.first.isoformat(), "endDate": self.last.isoformat()}
        )
        return parameters_of_days | ({"comparison": self.comparison} if self.comparison else {})

    @property
    def query(self) -> str:
        return urlencode(self.parameters)

    def starting_with(self, month: date | None) -> "ReportPeriod":
        """Return the period without the months before one; unchanged without a later one."""
        if month is None or month <= self.first:
            return self
        return replace(self, first=month, months=None)

    @property
    def spans(self) -> list[tuple[int, str]]:
        """(months, query) of the offered spans."""
        comparison_parameters = {"comparison": self.comparison} if self.comparison else {}
        return [(months, urlencode({"months": str(months)} | comparison_parameters)) for months in SPAN_MONTHS]

    @property
    def comparisons(self) -> list[tuple[str, str | Promise]]:
        """(value, label) of the offered comparisons."""
        return [("", _("No comparison")), *COMPARISON_LABELS.items()]


def build_span_period(
    months: int, *, today: date, comparison: Comparison | None = None, messages: tuple[str, ...] = ()
) -> ReportPeriod:
    """Build a period of so many months up to the current one, and some ahead."""
    month = get_first_day_of_month(today)
    return ReportPeriod(
        first=add_months(month, 1 - months),
        last=get_last_day_of_month(add_months(month, SPAN_MONTHS_AHEAD)),
        today=today,
        months=months,
        comparison=comparison,
        messages=messages,
    )


def parse_report_period(query: Mapping[str, str], *, today: date, allows_comparison: bool = True) -> ReportPeriod:
    """Parse the period of a URL. Invalid values are replaced by the default, with a message.

    Args:
        allows_comparison: whether the page has a comparison.
    """
    messages = []
    requested_comparison = query.get("comparison", "")
    comparison = next((each for each in COMPARISON_LABELS if each == requested_comparison and allows_comparison), None)
    if requested_comparison and not allows_comparison:
        messages.append(_("This page has no comparison. Compare periods on the overview."))
    elif requested_comparison and comparison is None:
        messages.append(_("Unknown comparison. Showing none."))
    if query.get("startDate") or query.get("endDate"):
        try:
            start, end = parse_days(query, today=today)
            return ReportPeriod(start, end, today, None, comparison, tuple(messages))
        except ValueError as error:
            messages.append(f"{error} {describe_default_span()}")
    months = query.get("months", str(DEFAULT_SPAN_MONTHS))
    if months not in map(str, SPAN_MONTHS):
        messages.append(" ".join((_("Unknown period."), describe_default_span())))
        months = str(DEFAULT_SPAN_MONTHS)
    return build_span_period(int(months), today=today, comparison=comparison, messages=tuple(messages))


def has_chosen_period(query: Mapping[str, str]) -> bool:
    """Return whether a URL says the period."""
    return any(query.get(name) for name in ("months", "startDate", "endDate"))


def describe_default_span() -> str:
    return _("Showing the last {count} months.").format(count=DEFAULT_SPAN_MONTHS)


def parse_days(query: Mapping[str, str], *, today: date) -> tuple[date, date]:
    """Parse the days of the form; a missing one is today, or a year before the other.

    Raises:
        ValueError: with a message for the user.
    """
    end = parse_period_day(query.get("endDate", ""), default=today)
    start = parse_period_day(query.get("startDate", ""), default=get_default_start(min(end, today)))
    if end < start:
        raise ValueError(_("The end date must be after the start date."))
    if not EARLIEST_DAY <= start <= today:
        raise ValueError(_("The start date must be between {year} and today.").format(year=EARLIEST_DAY.year))
    if end > add_months(start, 12 * MAX_WINDOW_YEARS):
        raise ValueError(_("A period covers at most {count} years.").format(count=MAX_WINDOW_YEARS))
    return start, end


def parse_period_day(text: str, *, default: date) -> date:
    if not text:
        return default
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError(_("“{text}” is not a valid date.").format(text=text[:20])) from None
