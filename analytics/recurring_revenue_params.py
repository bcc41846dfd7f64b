"""Parameters of the recurring revenue pages, parsed from the URL; invalid values are replaced, with a message."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from urllib.parse import urlencode

from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from analytics.query_window import MAX_MONTHLY_YEARS, MAX_WINDOW_MONTHS, get_default_start
from companies.api.fields import MonthField
from ledger.calc.months import (
    MONTHS_PER_YEAR,
    add_months,
    count_months_between,
    format_month,
    get_first_day_of_month,
    list_months,
)

SPAN_MONTHS = (6, 12, 24)  # months to look back
MEASURES = ("mrr", "cmrr", "arr", "carr")
COHORT_MEASURES = ("revenue", "customers")
COHORT_UNITS = ("percent", "value")
COMPARISONS = ("previousPeriod", "previousYear")


@dataclass(slots=True)
class RecurringRevenueParams:
    """A span of months and what to show of it; `complaints` are messages about invalid values."""

    first: date
    last: date
    measure: str = MEASURES[0]
    cohorts: str = COHORT_MEASURES[0]
    cohort_unit: str = COHORT_UNITS[0]
    product: str = ""
    comparison: str = ""
    complaints: list[str] = field(default_factory=list)

    @property
    def calendar(self) -> list[date]:
        """The first days of the months."""
        return list_months(self.first, self.last)

    @property
    def values(self) -> dict[str, str]:
        """The parameters as form and URL have them."""
        return {
            "startMonth": format_month(self.first),
            "endMonth": format_month(self.last),
            "mrrType": self.measure,
            "productId": self.product,
            "measure": self.cohorts,
            "cohortUnit": "" if self.cohort_unit == COHORT_UNITS[0] else self.cohort_unit,
            "comparison": self.comparison,
        }

    @property
    def compared(self) -> date | None:
        """The month whose end the last one's is compared with."""
        months = {"previousPeriod": len(self.calendar), "previousYear": MONTHS_PER_YEAR}.get(self.comparison)
        return (
            add_months(self.last, -months) if months and months <= count_months_between(date.min, self.last) else None
        )

    def address(self, **changes: str) -> str:
        """Return the query for the same parameters with some changed."""
        return urlencode({name: value for name, value in (self.values | changes).items() if value})

    @property
    def cohort_units(self) -> list[tuple[str, str, bool]]:
        """(query, label, whether it is shown) of the switch between percent and values."""
        labels = ("%", _("Customers") if self.cohorts == "customers" else _("Amounts"))
        return [
            (self.address(cohortUnit="" if unit == COHORT_UNITS[0] else unit), label, unit == self.cohort_unit)
            for unit, label in zip(COHORT_UNITS, labels, strict=True)
        ]

    def spans(self, today: date) -> list[tuple[int, str, bool]]:
        """Return (months, query, whether it is shown) of the shortcuts."""
        current_month, shortcuts = get_first_day_of_month(today), []
        for months in SPAN_MONTHS:
            start, end = format_month(add_months(current_month, 1 - months)), format_month(current_month)
            is_shown = (start, end) == (self.values["startMonth"], self.values["endMonth"])
            shortcuts.append((months, self.address(startMonth=start, endMonth=end), is_shown))
        return shortcuts


def parse_params(query: Mapping[str, str], *, today: date, products: Mapping[str, Any]) -> RecurringRevenueParams:
    """Parse the parameters of a URL; `products` are those that may be requested, by id."""
    messages: list[str] = []
    last = parse_month_or_day(query, "endMonth", "endDate", messages) or get_first_day_of_month(today)
    first = parse_month_or_day(query, "startMonth", "startDate", messages)
    if first == last and "" < query.get("endDate", "") < query.get("startDate", ""):
        messages.append(_("The end date must be after the start date."))
    span = parse_choice(query, "months", [str(months) for months in SPAN_MONTHS], messages)
    first = first or (add_months(last, 1 - int(span)) if span else get_default_start(last))
    if last < first:
        messages.append(_("The last month is before the first. Showing 12 months up to the last."))
        first = get_default_start(last)
    if count_months_between(first, last) >= MAX_WINDOW_MONTHS:
        messages.append(_("A period covers at most {count} years.").format(count=MAX_MONTHLY_YEARS))
        first = add_months(last, 1 - MAX_WINDOW_MONTHS)
    return RecurringRevenueParams(
        first=first,
        last=last,
        measure=parse_choice(query, "mrrType", MEASURES, messages) or MEASURES[0],
        cohorts=parse_choice(query, "measure", COHORT_MEASURES, messages) or COHORT_MEASURES[0],
        cohort_unit=parse_choice(query, "cohortUnit", COHORT_UNITS, messages) or COHORT_UNITS[0],
        product=parse_choice(query, "productId", products, messages),
        comparison=parse_choice(query, "comparison", COMPARISONS, messages),
        complaints=messages,
    )


def parse_month_or_day(query: Mapping[str, str], name: str, day_name: str, messages: list[str]) -> date | None:
    """Parse a month, or the month of a day as other reports' URLs have it."""
    if query.get(name) or not query.get(day_name):
        return parse_month(query, name, messages)
    try:
        return get_first_day_of_month(date.fromisoformat(query[day_name]))
    except ValueError:
        messages.append(
            _("“{name}” is not a valid date (YYYY-MM-DD). Showing the default period.").format(name=day_name)
        )
        return None


def parse_month(query: Mapping[str, str], name: str, messages: list[str]) -> date | None:
    text = query.get(name, "")
    try:
        return MonthField().run_validation(text) if text else None
    except ValidationError:
        messages.append(_("“{name}” is not a valid month (YYYY-MM). Showing the default period.").format(name=name))
        return None


def parse_choice(query: Mapping[str, str], name: str, choices: Any, messages: list[str]) -> str:
    text = query.get(name, "")
    if text and text not in choices:
        messages.append(_("The value of “{name}” is not valid. Showing the default.").format(name=name))
        return ""
    return text
