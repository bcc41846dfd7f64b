"""What the address of a report by months asks for. What is wrong in it gives way to what is usual, and is told."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from urllib.parse import urlencode

from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from analytics.windows import MOST_MONTHS, MOST_YEARS_OF_MONTHS, year_up_to
from companies.api.fields import MonthField
from ledger.calc.months import MONTHS_A_YEAR, add_months, first_of_month, format_month, months_between, months_from

SPANS = (6, 12, 24)  # months to look back
MEASURES = ("mrr", "cmrr", "arr", "carr")
COHORTS = ("revenue", "customers")
COMPARISONS = ("previousPeriod", "previousYear")


@dataclass(slots=True)
class Asked:
    """A span of months and what to show of it; ``complaints`` say what the address asks for in vain."""

    first: date
    last: date
    measure: str = MEASURES[0]
    cohorts: str = COHORTS[0]
    product: str = ""
    comparison: str = ""
    complaints: list[str] = field(default_factory=list)

    @property
    def calendar(self) -> list[date]:
        """The first days of the months."""
        return months_from(self.first, self.last)

    @property
    def values(self) -> dict[str, str]:
        """As the form and the address have them."""
        return {
            "startMonth": format_month(self.first),
            "endMonth": format_month(self.last),
            "mrrType": self.measure,
            "productId": self.product,
            "measure": self.cohorts,
            "comparison": self.comparison,
        }

    @property
    def compared(self) -> date | None:
        """The month whose end the last one's is compared with."""
        months = {"previousPeriod": len(self.calendar), "previousYear": MONTHS_A_YEAR}.get(self.comparison)
        return add_months(self.last, -months) if months and months <= months_between(date.min, self.last) else None

    def address(self, **changes: str) -> str:
        """The query that asks for the same, but for the changes."""
        return urlencode({name: value for name, value in (self.values | changes).items() if value})

    def spans(self, today: date) -> list[tuple[int, str, bool]]:
        """(months, query, whether it is the one that is shown) of the shortcuts."""
        running, found = first_of_month(today), []
        for months in SPANS:
            start, end = format_month(add_months(running, 1 - months)), format_month(running)
            shown = (start, end) == (self.values["startMonth"], self.values["endMonth"])
            found.append((months, self.address(startMonth=start, endMonth=end), shown))
        return found


def asked(query: Mapping[str, str], *, today: date, products: Mapping[str, Any]) -> Asked:
    """Reads an address; ``products`` are those that may be asked for, by their ids."""
    complaints: list[str] = []
    last = month_or_day(query, "endMonth", "endDate", complaints) or first_of_month(today)
    first = month_or_day(query, "startMonth", "startDate", complaints)
    if first == last and "" < query.get("endDate", "") < query.get("startDate", ""):
        complaints.append(_("A period ends after it starts."))
    span = one_of(query, "months", [str(months) for months in SPANS], complaints)
    first = first or (add_months(last, 1 - int(span)) if span else year_up_to(last))
    if last < first:
        complaints.append(_("The last month lies before the first: the year up to the last is shown."))
        first = year_up_to(last)
    if months_between(first, last) >= MOST_MONTHS:
        complaints.append(_("At most {count} years are shown at once.").format(count=MOST_YEARS_OF_MONTHS))
        first = add_months(last, 1 - MOST_MONTHS)
    return Asked(
        first=first,
        last=last,
        measure=one_of(query, "mrrType", MEASURES, complaints) or MEASURES[0],
        cohorts=one_of(query, "measure", COHORTS, complaints) or COHORTS[0],
        product=one_of(query, "productId", products, complaints),
        comparison=one_of(query, "comparison", COMPARISONS, complaints),
        complaints=complaints,
    )


def month_or_day(query: Mapping[str, str], name: str, of_day: str, complaints: list[str]) -> date | None:
    """A month, or that of a day as other reports' addresses have it."""
    if query.get(name) or not query.get(of_day):
        return month(query, name, complaints)
    try:
        return first_of_month(date.fromisoformat(query[of_day]))
    except ValueError:
        complaints.append(_("{name} is no day such as 2026-03-31: the usual month is shown.").format(name=of_day))
        return None


def month(query: Mapping[str, str], name: str, complaints: list[str]) -> date | None:
    text = query.get(name, "")
    try:
        return MonthField().run_validation(text) if text else None
    except ValidationError:
        complaints.append(_("{name} is no month such as 2026-03: the usual one is shown.").format(name=name))
        return None


def one_of(query: Mapping[str, str], name: str, choices: Any, complaints: list[str]) -> str:
    text = query.get(name, "")
    if text and text not in choices:
        complaints.append(_("There is no such {name}: the usual one is shown.").format(name=name))
        return ""
    return text
