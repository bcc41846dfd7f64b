"""The page of recurring revenue: key figures, charts and cohorts as they are read."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal

from django.utils.safestring import SafeString

from analytics.cohorts import Cohort, Mark
from analytics.overview import movements
from analytics.overview.amounts import whole
from analytics.overview.movements import Measured
from analytics.overview.shape import Section
from analytics.retention import Summary
from analytics.revenue.facts import Revenue
from companies.pages.amounts import money, number

UNKNOWN = "–"
SHADES = 5  # of a cohort's cells
FULL = Decimal(100)
MEASURED = {
    "mrr": Measured("MRR", "MRR", "Monthly recurring revenue at the end of each month, from the day it takes effect."),
    "cmrr": replace(movements.COMMITTED, short="Committed MRR"),
    "arr": Measured("ARR", "ARR", "Twelve times MRR at the end of each month."),
    "carr": Measured("Committed ARR", "Committed ARR", "Twelve times committed MRR at the end of each month."),
}
SECTIONS: dict[str, Callable[[Revenue], Section]] = {
    "mrr": lambda facts: movements.level_section(facts, MEASURED[facts.asked.measure]),
    "mrr-bridge": lambda facts: movements.bridge_section(facts, MEASURED[facts.asked.measure]),
    "mrr-movements": lambda facts: replace(
        movements.movement_section(facts, MEASURED[facts.asked.measure]), unfolded=True
    ),
}


@dataclass(frozen=True, slots=True)
class Figure:
    """``before`` is what it was in the month that it is compared with."""

    label: str
    text: str
    hint: str
    before: str = ""


HINTS = {
    "MRR": "at the end of the month",
    "ARR": "twelve times MRR",
    "Customers": "who pay",
    "ARPA": "MRR a customer",
    "Net revenue retention": "with expansion and reactivation, over twelve months",
    "Gross revenue retention": "less contraction and churn, over twelve months",
    "Customer churn": "of the customers twelve months before",
    "Revenue churn": "of the revenue twelve months before",
    "Quick ratio": "what twelve months won by what they lost",
}


def figures(facts: Revenue) -> list[Figure]:
    """The summary, to the cent, beside what it is compared with."""
    texts, before = in_texts(facts.summary, facts.currency), {}
    if facts.compared:
        before = in_texts(facts.compared, facts.currency)
    return [Figure(label, texts[label], hint, before.get(label, "")) for label, hint in HINTS.items()]


def in_texts(found: Summary, currency: str) -> dict[str, str]:
    return {
        "MRR": money(found.mrr, currency),
        "ARR": money(found.arr, currency),
        "Customers": number(found.customers),
        "ARPA": UNKNOWN if found.arpa is None else money(found.arpa, currency),
        "Net revenue retention": percent(found.net_revenue_retention),
        "Gross revenue retention": percent(found.gross_revenue_retention),
        "Customer churn": percent(found.customer_churn_rate),
        "Revenue churn": percent(found.revenue_churn_rate),
        "Quick ratio": UNKNOWN if found.quick_ratio is None else f"{found.quick_ratio:,.2f}",
    }


def percent(hundredths: Decimal | None) -> str:
    return UNKNOWN if hundredths is None else f"{hundredths:,.2f} %"


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
    return f'<tr><th scope="row">{cohort.month:%b %Y}</th><td>{shown(cohort.start, facts)}</td>{cells}</tr>'


def cell(mark: Mark, facts: Revenue) -> str:
    if mark.percentage is None:
        return f"<td>{UNKNOWN}</td>"
    shade = int(min(mark.percentage, FULL) * SHADES / FULL)
    value = f'<span class="meta">{shown(mark.value, facts)}</span>'
    return f'<td class="shade-{shade}">{mark.percentage:,.2f} %{value}</td>'


def shown(value: Decimal, facts: Revenue) -> str:
    return f"{value:,.0f}" if facts.asked.cohorts == "customers" else whole(value, facts.currency)
