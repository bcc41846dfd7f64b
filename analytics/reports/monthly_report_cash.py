"""Sections of the monthly report about cash and recurring revenue, and its measures."""

from decimal import Decimal

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.calc.board_measures import Measure, UnavailableReason, compute_share
from analytics.calc.mrr import MonthlyRow
from analytics.charts.key_figures import format_month_count
from analytics.charts.recurring_revenue_sections import count_moved_customers
from analytics.queries.cash_bridge import PARTS, build_part_queries
from analytics.queries.monthly_report import CashFigures, RecurringFigures, ReportMonth
from analytics.queries.monthly_rows import ROW_FIELDS
from analytics.queries.recurring_revenue_summary import RecurringRevenueSummary
from analytics.queries.report_measures import TopCustomers, list_measured_months
from analytics.reports.cash_bridge import PART_LABELS
from analytics.reports.monthly_report_results import BuildUrl
from analytics.reports.monthly_report_tables import CellFormatter, ReportCell, ReportRow, ReportTable
from companies.locales import get_current_locale
from ledger.transactions.pages.labels import HIDDEN_NAME

ROW_LABELS: dict[str, str | Promise] = {
    "start": gettext_lazy("MRR at the start"),
    "new": gettext_lazy("New"),
    "reactivate": gettext_lazy("Reactivation"),
    "upgrade": gettext_lazy("Expansion"),
    "downgrade": gettext_lazy("Contraction"),
    "cancel": gettext_lazy("Churn"),
    "currency": gettext_lazy("Exchange rates"),
    "end": gettext_lazy("MRR at the end"),
}
UNAVAILABLE_TEXTS: dict[UnavailableReason, str | Promise] = {
    "no_months": gettext_lazy("Not available: it takes three whole months with transactions."),
    "no_burn": gettext_lazy("Not available: no cash was burned in these months."),
    "no_growth": gettext_lazy("Not available: annual recurring revenue did not grow in these months."),
    "no_revenue": gettext_lazy("Not available: there was no revenue."),
    "no_margin": gettext_lazy("Not available: there was no gross profit in these months."),
    "no_marketing": gettext_lazy("Not available: nothing was spent on sales and marketing in these months."),
    "no_new_customers": gettext_lazy("Not available: no customers were won in these months."),
}
NO_RETENTION_TEXT = gettext_lazy("Not available: no customer paid twelve months ago.")


def build_cash_table(report: ReportMonth, cash: CashFigures, build_url: BuildUrl) -> ReportTable:
    """Build the cash bridge of the month beside that of last year, without parts that are zero in both."""
    cells = CellFormatter(report)
    queries = build_part_queries(start=report.month, end=cash.last)
    last_year_parts = cash.last_year or {}

    def build_row(part: str, cell: ReportCell, kind: str = "") -> ReportRow:
        return ReportRow(PART_LABELS[part], [cell, cells.format_amount(last_year_parts.get(part))], kind)

    links = {part: build_url("transactions", query) if query else "" for part, query in queries.items()}
    return ReportTable(
        id="cash",
        title=_("Cash bridge"),
        head=[_("Description"), _("Actual"), _("Last year")],
        rows=[
            build_row(
                part,
                cells.format_reported_amount(cash.amounts[part], link=links[part]),
                "sum" if part in ("opening", "closing") else "",
            )
            for part in ("opening", *PARTS, "closing")
            if part in ("opening", "closing") or any([*cash.amounts[part], last_year_parts.get(part)])
        ],
    )


def build_month_recurring_table(report: ReportMonth, recurring: RecurringFigures) -> ReportTable:
    """Build the recurring revenue bridge of the month, with customers, beside that of last year."""
    cells, last_year = CellFormatter(report), recurring.last_year
    return ReportTable(
        id="recurring",
        title=_("Recurring revenue bridge"),
        head=[_("Step"), "MRR", _("Customers"), _("Last year")],
        rows=[
            ReportRow(
                ROW_LABELS[name],
                [
                    cells.format_reported_amount(recurring.amounts[name]),
                    cells.format_count(count_step_customers(recurring.row, name)),
                    cells.format_amount(getattr(last_year, name) if last_year else None),
                ],
                "sum" if name in ("start", "end") else "",
            )
            for name in (ROW_FIELDS if recurring.has_revenue else ())
        ],
        empty_text=_("There were no subscriptions."),
    )


def count_step_customers(row: MonthlyRow, step: str) -> int | None:
    """Return the customers of a step of the bridge, with a sign where it adds or takes away some; None of rates."""
    if step == "currency":
        return None
    return row.start_count if step == "start" else row.end_count if step == "end" else count_moved_customers(row, step)


def build_customer_table(
    report: ReportMonth, top: TopCustomers, build_url: BuildUrl, *, can_show_names: bool
) -> ReportTable:
    """Build the largest customers with their shares of MRR."""
    cells = CellFormatter(report)
    rows = [
        ReportRow(
            line.name if can_show_names else HIDDEN_NAME,
            [cells.format_amount(line.mrr), cells.format_percentage(compute_share([line.mrr], top.total).value)],
            link=build_url("customer", str(line.id)),
        )
        for line in top.lines
    ]
    if rows:
        total = sum((line.mrr for line in top.lines), start=Decimal(0))
        rows.append(
            ReportRow(
                _("Ten largest customers"),
                [cells.format_amount(total), cells.format_percentage(top.share.value)],
                "sum",
            )
        )
    return ReportTable(
        id="customers",
        title=_("Largest customers"),
        head=[_("Customer"), "MRR", _("Share of MRR")],
        rows=rows,
    )


def build_measure_row(label: str, measure: Measure, text: str, description: str) -> ReportRow:
    """Build the row of a measure: its value, or why there is none."""
    if measure.unavailable_reason:
        return ReportRow(label, [ReportCell()], "unavailable", note=UNAVAILABLE_TEXTS[measure.unavailable_reason])
    return ReportRow(label, [ReportCell(text)], note=description)


def build_board_measure_table(
    report: ReportMonth,
    *,
    burn_multiple: Measure | None,
    cac_payback: Measure | None,
    summary: RecurringRevenueSummary | None,
) -> ReportTable:
    """Build the measures that boards ask for; those whose figures the reader may not see are None."""
    cells, rows = CellFormatter(report), []
    first, *_rest, last = (get_current_locale().format_month(month) for month in list_measured_months(report))
    if burn_multiple:
        text = "" if burn_multiple.value is None else get_current_locale().format_number(burn_multiple.value, 2)
        description = _("Burn without new financing ÷ net new ARR, {first} to {last}").format(first=first, last=last)
        rows.append(build_measure_row(_("Burn multiple"), burn_multiple, text, description))
    if cac_payback:
        text = "" if cac_payback.value is None else format_month_count(cac_payback.value)
        description = _("Sales and marketing ÷ gross profit of new MRR, {first} to {last}").format(
            first=first, last=last
        )
        rows.append(build_measure_row(_("CAC payback"), cac_payback, text, description))
    if summary:
        net_note = _("MRR of the customers of twelve months ago, now ÷ then")
        for label, value, description in (
            (_("Net revenue retention"), summary.net_revenue_retention, net_note),
            (_("Gross revenue retention"), summary.gross_revenue_retention, _("The same without expansion")),
        ):
            kind, note = ("", description) if value is not None else ("unavailable", NO_RETENTION_TEXT)
            rows.append(ReportRow(label, [cells.format_percentage(value)], kind, note))
    return ReportTable(id="measures", title=_("Measures"), head=[_("Measure"), _("Value")], rows=rows)
