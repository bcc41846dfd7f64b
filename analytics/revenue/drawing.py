"""The page of recurring revenue: key figures, charts and cohorts as they are read."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal

from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from analytics.overview import movements
from analytics.overview.amounts import whole
from analytics.overview.movements import Measured
from analytics.overview.shape import Section
from analytics.queries.cohorts import Cohort, Mark
from analytics.queries.retention import Summary
from analytics.revenue.facts import Revenue
from companies.locales import current
from companies.pages.amounts import money, number

UNKNOWN = "–"
SHADES = 5  # of a cohort's cells
FULL = Decimal(100)
SECTIONS: dict[str, Callable[[Revenue], Section]] = {
    "mrr": lambda facts: movements.level_section(facts, measured(facts.asked.measure)),
    "mrr-bridge": lambda facts: movements.bridge_section(facts, measured(facts.asked.measure)),
    "mrr-movements": lambda facts: replace(
        movements.movement_section(facts, measured(facts.asked.measure)), unfolded=True
    ),
}


def measured(name: str) -> Measured:
    """What is shown of a kind of recurring revenue, by its name in the address."""
    if name == "cmrr":
        return movements.COMMITTED
    if name == "arr":
        return Measured("ARR", "ARR", gettext("Twelve times MRR at the end of each month."))
    if name == "carr":
        carr = gettext("Committed ARR")
        return Measured(carr, carr, gettext("Twelve times committed MRR at the end of each month."))
    lead = gettext("Monthly recurring revenue at the end of each month, from the day it takes effect.")
    return Measured("MRR", "MRR", lead)


@dataclass(frozen=True, slots=True)
class Figure:
    """``before`` is what it was in the month that it is compared with."""

    label: str
    text: str
    hint: str
    before: str = ""


FIGURES = {
    "mrr": ("MRR", _("in effect at the end of the month")),
    "cmrr": (_("Committed MRR"), _("with agreed changes that take effect later")),
    "arr": ("ARR", _("twelve times MRR")),
    "customers": (_("Customers"), _("who pay")),
    "arpa": ("ARPA", _("MRR a customer")),
    "nrr": (_("Net revenue retention"), _("of customers twelve months before: what they pay now")),
    "grr": (_("Gross revenue retention"), _("of the same customers, without expansion")),
    "customer-churn": (_("Customer churn"), _("of the customers twelve months before")),
    "revenue-churn": (_("Revenue churn"), _("of the revenue twelve months before")),
    "quick-ratio": (_("Quick ratio"), _("what twelve months won by what they lost")),
}


def figures(facts: Revenue) -> list[Figure]:
    """The summary, to the cent, beside what it is compared with."""
    texts, before = format_summary(facts.summary, facts.committed, facts.currency), {}
    if facts.compared and facts.committed_before is not None:
        before = format_summary(facts.compared, facts.committed_before, facts.currency)
    return [Figure(str(label), texts[name], str(hint), before.get(name, "")) for name, (label, hint) in FIGURES.items()]


def format_summary(found: Summary, committed: Decimal, currency: str) -> dict[str, str]:
    """By the names of ``FIGURES``."""
    return {
        "mrr": money(found.mrr, currency),
        "cmrr": money(committed, currency),
        "arr": money(found.arr, currency),
        "customers": number(found.customers),
        "arpa": UNKNOWN if found.arpa is None else money(found.arpa, currency),
        "nrr": percent(found.net_revenue_retention),
        "grr": percent(found.gross_revenue_retention),
        "customer-churn": percent(found.customer_churn_rate),
        "revenue-churn": percent(found.revenue_churn_rate),
        "quick-ratio": UNKNOWN if found.quick_ratio is None else current().number(found.quick_ratio, 2),
    }


def percent(hundredths: Decimal | None) -> str:
    return UNKNOWN if hundredths is None else f"{current().number(hundredths, 2)} %"


@dataclass(frozen=True, slots=True)
class CohortTable:
    head: list[str]
    body: SafeString


def cohort_table(facts: Revenue) -> CohortTable:
    """A row a cohort, a column for each month since it came: what is left, and what that is worth or how many.

    Written here, not in the template: its loops take many times as long over hundreds of cells. Digits and signs, there
    is nothing to escape.
    """
    found = facts.cohorts
    rows = (row(cohort, facts) for cohort in found)
    return CohortTable([str(n) for n in range(len(found))], SafeString("".join(rows)))


def row(cohort: Cohort, facts: Revenue) -> str:
    cells = "".join(cell(mark, facts) for mark in cohort.marks) if cohort.start else ""
    return f'<tr><th scope="row">{current().month(cohort.month)}</th><td>{shown(cohort.start, facts)}</td>{cells}</tr>'


def cell(mark: Mark, facts: Revenue) -> str:
    if mark.percentage is None:
        return f"<td>{UNKNOWN}</td>"
    shade = int(min(mark.percentage, FULL) * SHADES / FULL)
    value = f'<span class="meta">{shown(mark.value, facts)}</span>'
    return f'<td class="shade-{shade}">{percent(mark.percentage)}{value}</td>'


def shown(value: Decimal, facts: Revenue) -> str:
    return current().number(value, 0) if facts.asked.cohorts == "customers" else whole(value, facts.currency)
