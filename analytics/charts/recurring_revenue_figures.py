"""Charts of the recurring revenue page: key figures, sections and cohorts."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal

from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from analytics.charts import recurring_revenue_sections
from analytics.charts.recurring_revenue_data import RecurringRevenueData
from analytics.charts.recurring_revenue_sections import RevenueMeasure
from analytics.charts.sections import Section
from analytics.queries.cohorts import Cohort
from analytics.queries.recurring_revenue_summary import RecurringRevenueSummary
from companies.locales import get_current_locale
from companies.pages.amount_formats import format_count, format_money
from companies.pages.sheets import Sheet, SheetCell, SheetColumn, SheetRow, SheetStyle

UNKNOWN_VALUE = "–"
SHADE_COUNT = 5  # of a cohort's cells
FULL_PERCENT = Decimal(100)
SECTION_BUILDERS: dict[str, Callable[[RecurringRevenueData], Section]] = {
    "mrr": lambda facts: recurring_revenue_sections.build_level_section(facts, get_measure(facts.params.measure)),
    "mrr-bridge": lambda facts: recurring_revenue_sections.build_bridge_section(
        facts, get_measure(facts.params.measure)
    ),
    "mrr-movements": lambda facts: replace(
        recurring_revenue_sections.build_movement_section(facts, get_measure(facts.params.measure)), unfolded=True
    ),
}


def get_measure(name: str) -> RevenueMeasure:
    """Return the measure of a kind of recurring revenue."""
    if name == "cmrr":
        return recurring_revenue_sections.COMMITTED
    if name == "arr":
        return RevenueMeasure(name, "ARR", "ARR", gettext("Twelve times MRR at the end of each month."))
    if name == "carr":
        carr = gettext("Committed ARR")
        return RevenueMeasure(name, carr, carr, gettext("Twelve times committed MRR at the end of each month."))
    intro = gettext("MRR at the end of each month, counted from the effective date.")
    return RevenueMeasure(name, "MRR", "MRR", intro)


@dataclass(frozen=True, slots=True)
class SummaryFigure:
    """A figure; `before` is its value in the compared month."""

    label: str
    text: str
    hint: str
    before: str = ""


FIGURE_LABELS = {
    "mrr": ("MRR", _("at the end of the month")),
    "cmrr": (_("Committed MRR"), _("including signed changes not yet in effect")),
    "arr": ("ARR", _("12 × MRR")),
    "customers": (_("Customers"), _("with active subscriptions")),
    "arpa": ("ARPA", _("MRR per customer")),
    "nrr": (_("Net revenue retention"), _("MRR now from customers of 12 months ago")),
    "grr": (_("Gross revenue retention"), _("same customers, without expansion")),
    "customer-churn": (_("Customer churn"), _("of customers 12 months ago")),
    "revenue-churn": (_("Revenue churn"), _("of MRR 12 months ago")),
    "quick-ratio": (_("Quick ratio"), _("(new + expansion + reactivation) ÷ (contraction + churn), 12 months")),
}


def build_summary_figures(data: RecurringRevenueData) -> list[SummaryFigure]:
    """Build the figures of the summary, with the compared ones."""
    texts, compared_texts = format_summary(data.summary, data.committed, data.currency), {}
    if data.compared and data.committed_before is not None:
        compared_texts = format_summary(data.compared, data.committed_before, data.currency)
    return [
        SummaryFigure(str(label), texts[name], str(hint), compared_texts.get(name, ""))
        for name, (label, hint) in FIGURE_LABELS.items()
    ]


def format_summary(summary: RecurringRevenueSummary, committed: Decimal, currency: str) -> dict[str, str]:
    """Return the formatted values by the keys of FIGURE_LABELS."""
    return {
        "mrr": format_money(summary.mrr, currency),
        "cmrr": format_money(committed, currency),
        "arr": format_money(summary.arr, currency),
        "customers": format_count(summary.customers),
        "arpa": UNKNOWN_VALUE if summary.arpa is None else format_money(summary.arpa, currency),
        "nrr": format_rate_percentage(summary.net_revenue_retention),
        "grr": format_rate_percentage(summary.gross_revenue_retention),
        "customer-churn": format_rate_percentage(summary.customer_churn_rate),
        "revenue-churn": format_rate_percentage(summary.revenue_churn_rate),
        "quick-ratio": UNKNOWN_VALUE
        if summary.quick_ratio is None
        else get_current_locale().format_number(summary.quick_ratio, 2),
    }


def format_rate_percentage(hundredths: Decimal | None) -> str:
    return UNKNOWN_VALUE if hundredths is None else f"{get_current_locale().format_number(hundredths, 2)} %"


def build_cohort_sheet(data: RecurringRevenueData, style: SheetStyle) -> Sheet:
    """Build a row for each cohort with a column for each month since: what remains, in percent or as it is."""
    cohorts, counts_customers = data.cohorts, data.params.cohorts == "customers"
    return Sheet(
        title=format_cohort_title(data),
        first=pgettext("customers", "Start month"),
        currency=data.currency,
        columns=[
            SheetColumn(gettext("Customers") if counts_customers else data.currency),
            *(SheetColumn(str(number), kind=data.params.cohort_unit) for number in range(len(cohorts))),
        ],
        rows=[
            SheetRow(
                get_current_locale().format_month(cohort.month),
                build_cohort_cells(cohort, data, len(cohorts)),
                "line",
            )
            for cohort in cohorts
        ],
        style=style,
        shows_money=not counts_customers and data.params.cohort_unit != "percent",
    )


def format_cohort_title(data: RecurringRevenueData) -> str:
    """Return what the cells of the cohorts are."""
    if data.params.cohort_unit == "percent":
        customer_title, revenue_title = (
            gettext("Customers retained, % of first month"),
            gettext("Revenue retained, % of first month"),
        )
    else:
        customer_title = gettext("Customers retained")
        revenue_title = gettext("Revenue retained")
    return customer_title if data.params.cohorts == "customers" else revenue_title


def build_cohort_cells(cohort: Cohort, data: RecurringRevenueData, width: int) -> list[SheetCell]:
    kind = "count" if data.params.cohorts == "customers" else "money"
    marks = cohort.marks if cohort.start else ()
    in_percent = data.params.cohort_unit == "percent"
    cells = [
        SheetCell(
            mark.percentage if in_percent else mark.value,
            kind="percent" if in_percent else kind,
            tone=get_shade(mark.percentage),
        )
        for mark in marks
    ]
    return [SheetCell(cohort.start, kind=kind), *cells, *[SheetCell(None)] * (width - len(marks))]


def get_shade(percentage: Decimal | None) -> str:
    """Return the class of a cohort's cell: the more is left the deeper."""
    if percentage is None:
        return ""
    return f"shade-{int(min(percentage, FULL_PERCENT) * SHADE_COUNT / FULL_PERCENT)}"
