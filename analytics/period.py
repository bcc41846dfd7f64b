"""The days that a report tells of and what they are compared with, as its address says; kept in every link of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from urllib.parse import urlencode

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.calc.periods import LENGTHS, same_end
from analytics.calc.series import Interval
from analytics.queries.results import Comparison
from analytics.windows import MOST_YEARS, year_up_to
from ledger.calc.months import add_months, first_of_month, last_of_month, months_from

SPANS = (6, 12, 24)  # months to look back
USUAL_SPAN = 12
MONTHS_AHEAD = 6  # of a span
MOST_BY_DAY = 750  # days; a longer line has a point a month
EARLIEST = date(1900, 1, 1)
COMPARISONS: dict[Comparison, str | Promise] = {
    "previousPeriod": gettext_lazy("Period before"),
    "previousYear": gettext_lazy("Year before"),
}
ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Period:
    """The days from ``first`` to ``last``, which may lie ahead.

    ``months`` is the span that was chosen, None where days were. ``mended`` says of what was asked for and cannot be
    what is shown instead.
    """

    first: date
    last: date
    today: date
    months: int | None
    comparison: Comparison | None = None
    mended: tuple[str, ...] = ()

    @property
    def until(self) -> date:
        """The last day of which something is known."""
        return min(self.last, self.today)

    @property
    def interval(self) -> Interval:
        """How far the points of a line are apart."""
        return "day" if (self.last - self.first).days <= MOST_BY_DAY else "month"

    @property
    def calendar(self) -> list[date]:
        """The first days of the months up to ``until``."""
        return months_from(self.first, self.until)

    @property
    def of_months(self) -> bool:
        """Whether it is of whole months, as far as they are over."""
        return self.first.day == 1 and self.until in {self.today, last_of_month(self.until)}

    @property
    def back(self) -> int:
        """How many months before its own are those that it is compared with; 0 where it is with none."""
        if self.comparison == "previousYear":
            return LENGTHS["year"]
        return len(self.calendar) if self.comparison else 0

    @property
    def compared(self) -> tuple[date, date] | None:
        """The days that those up to ``until`` are compared with."""
        if self.comparison is None:
            return None
        if self.comparison == "previousYear" or self.of_months:
            return add_months(self.first, -self.back), same_end(self.until, -self.back)
        return self.first - (self.until - self.first) - ONE_DAY, self.first - ONE_DAY

    @property
    def choice(self) -> dict[str, str]:
        """What an address says of it."""
        found = (
            {"months": str(self.months)}
            if self.months
            else {"startDate": self.first.isoformat(), "endDate": self.last.isoformat()}
        )
        return found | ({"comparison": self.comparison} if self.comparison else {})

    @property
    def query(self) -> str:
        return urlencode(self.choice)

    @property
    def spans(self) -> list[tuple[int, str]]:
        """(months, query) of the spans that are offered."""
        kept = {"comparison": self.comparison} if self.comparison else {}
        return [(months, urlencode({"months": str(months)} | kept)) for months in SPANS]

    @property
    def comparisons(self) -> list[tuple[str, str | Promise]]:
        """(value, label) of what it can be compared with."""
        return [("", _("Nothing")), *COMPARISONS.items()]


def of_span(months: int, *, today: date, comparison: Comparison | None = None, mended: tuple[str, ...] = ()) -> Period:
    """So many months up to the one under way, and some ahead."""
    month = first_of_month(today)
    return Period(
        first=add_months(month, 1 - months),
        last=last_of_month(add_months(month, MONTHS_AHEAD)),
        today=today,
        months=months,
        comparison=comparison,
        mended=mended,
    )


def period_of(given: Mapping[str, str], *, today: date, compares: bool = True) -> Period:
    """What an address asks for. What cannot be is the usual span, or no comparison, with a sentence; ``compares`` says
    whether the page compares anything."""
    mended = []
    asked = given.get("comparison", "")
    comparison = next((each for each in COMPARISONS if each == asked and compares), None)
    if asked and not compares:
        mended.append(_("Nothing is compared on this page. The overview compares cash with another period."))
    elif asked and comparison is None:
        mended.append(_("There is no such comparison, so there is none."))
    if given.get("startDate") or given.get("endDate"):
        try:
            start, end = days_of(given, today=today)
            return Period(start, end, today, None, comparison, tuple(mended))
        except ValueError as wrong:
            mended.append(f"{wrong} {usual_shown()}")
    months = given.get("months", str(USUAL_SPAN))
    if months not in map(str, SPANS):
        mended.append(" ".join((_("There is no such span."), usual_shown())))
        months = str(USUAL_SPAN)
    return of_span(int(months), today=today, comparison=comparison, mended=tuple(mended))


def usual_shown() -> str:
    return _("The last {count} months are shown.").format(count=USUAL_SPAN)


def days_of(given: Mapping[str, str], *, today: date) -> tuple[date, date]:
    """The days of the form; one that is left out is today, or the year up to the other. ValueError with a sentence."""
    end = day_of(given.get("endDate", ""), otherwise=today)
    start = day_of(given.get("startDate", ""), otherwise=year_up_to(min(end, today)))
    if end < start:
        raise ValueError(_("A period ends after it starts."))
    if not EARLIEST <= start <= today:
        raise ValueError(_("A period starts between {year} and today.").format(year=EARLIEST.year))
    if end > add_months(start, 12 * MOST_YEARS):
        raise ValueError(_("A period has {count} years at most.").format(count=MOST_YEARS))
    return start, end


def day_of(text: str, *, otherwise: date) -> date:
    if not text:
        return otherwise
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError(_("“{text}” is no day.").format(text=text[:20])) from None
