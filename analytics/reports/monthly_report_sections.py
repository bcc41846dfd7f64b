"""The sections of a monthly report that a reader may see, on the page of the app and on the shared one."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from django.utils.translation import gettext as _

from analytics.calc.board_measures import compute_gross_margin
from analytics.charts.amount_format import format_full_amount
from analytics.charts.key_figures import build_runway_figure
from analytics.queries import report_measures
from analytics.queries.monthly_report import (
    CashFigures,
    RecurringFigures,
    ReportMonth,
    compute_cash_figures,
    compute_month_results,
    compute_recurring_figures,
)
from analytics.queries.reported_figures import AGING_KEYS
from analytics.queries.runway import Runway
from analytics.reports import monthly_report_aging, monthly_report_cash, monthly_report_results
from analytics.reports.monthly_report_results import BuildUrl
from analytics.reports.monthly_report_tables import CellFormatter, ReportCell, ReportRow, ReportTable
from analytics.reports.profit_and_loss_table import CellAmounts, StatementRow, has_plan
from companies.permissions import Permission, Permissions
from ledger.models import PlType
from ledger.transactions.pages.labels import LINE_LABELS, SUBTOTAL_LABELS
from ledger.transactions.queries.cash_parts import CashPart

ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class MonthlyReport:
    """A report ready to render. ``has_differences`` is whether a reported figure differs from the books."""

    month: ReportMonth
    tables: list[ReportTable] = field(default_factory=list)
    results: Sequence[StatementRow] = ()  # of the month

    @property
    def has_differences(self) -> bool:
        return any(cell.meta for table in self.tables for row in table.rows for cell in row.cells)


def build_monthly_report(report: ReportMonth, *, permissions: Permissions, build_url: BuildUrl) -> MonthlyReport:
    """Build the sections that the permissions allow; without `financials:read` there is no report.

    Raises:
        RateLookupError: a currency has no exchange rate.
    """
    rows, other = compute_month_results(report)
    results = monthly_report_results.build_statement_rows(
        report, rows, other, transactions_url=build_url("transactions", "").removesuffix("?")
    )
    cash = compute_cash_figures(report) if Permission.BALANCES_READ in permissions else None
    recurring = compute_recurring_figures(report) if Permission.SUBSCRIPTIONS_READ in permissions else None
    is_named = Permission.COUNTERPARTIES_READ in permissions
    runway = report_measures.compute_report_runway(report, cash.closing) if cash else None
    tables = [
        build_key_figure_table(report, results, cash=cash, recurring=recurring, runway=runway),
        *([monthly_report_cash.build_cash_table(report, cash, build_url)] if cash else []),
        monthly_report_results.build_month_result_table(report, results),
        monthly_report_results.build_variance_table(report, results),
        *([monthly_report_cash.build_month_recurring_table(report, recurring)] if recurring else []),
        *(
            [monthly_report_aging.build_aging_table(report, kind) for kind in AGING_KEYS]
            if Permission.PLANNING_READ in permissions
            else []
        ),
        monthly_report_results.build_change_table(report, build_url, names_counterparties=is_named),
        monthly_report_results.build_year_table(report),
        monthly_report_results.build_margin_table(report),
        build_visible_measure_table(report, runway=runway, has_recurring=recurring is not None),
    ]
    if recurring:
        top = report_measures.list_top_customers(report, recurring.row.end)
        tables.append(monthly_report_cash.build_customer_table(report, top, build_url, can_show_names=is_named))
    return MonthlyReport(report, [table.remove_empty_columns() for table in tables], results)


def build_visible_measure_table(report: ReportMonth, *, runway: Runway | None, has_recurring: bool) -> ReportTable:
    return monthly_report_cash.build_board_measure_table(
        report,
        burn_multiple=report_measures.measure_burn_multiple(report, runway) if runway and has_recurring else None,
        cac_payback=report_measures.measure_cac_payback(report) if has_recurring else None,
        summary=report_measures.summarize_recurring_revenue(report) if has_recurring else None,
    )


def build_key_figure_table(
    report: ReportMonth,
    results: Sequence[StatementRow],
    *,
    cash: CashFigures | None,
    recurring: RecurringFigures | None,
    runway: Runway | None,
) -> ReportTable:
    """Build the key figures of the month against plan and last year."""
    cells = CellFormatter(report)
    rows = [
        *(build_cash_rows(cash, runway, cells) if cash and runway else []),
        *build_result_figures(results, cells),
        *(build_recurring_rows(recurring, cells) if recurring and recurring.has_revenue else []),
    ]
    return ReportTable(
        id="figures",
        title=_("Key figures"),
        head=[_("Figure"), _("Actual"), _("Plan"), _("Variance"), _("Last year")],
        rows=rows,
        hint=cells.describe_plan(),
    )


def build_cash_rows(cash: CashFigures, runway: Runway, cells: CellFormatter) -> list[ReportRow]:
    """Build cash, its change, and the runway; none of them is planned."""
    last_year = cash.last_year
    figure = build_runway_figure(runway, currency=cells.currency)
    return [
        ReportRow(
            _("Cash at the end of the month"),
            [
                cells.format_reported_amount(cash.amounts["closing"]),
                cells.plain,
                cells.plain,
                cells.format_amount(last_year["closing"] if last_year else None),
            ],
        ),
        ReportRow(
            _("Change in cash"),
            [
                cells.format_reported_amount(cash.change, plus=True),
                cells.plain,
                cells.plain,
                cells.format_amount(cash.change_of_last_year, plus=True),
            ],
            note=describe_opening_balances(cash, cells),
        ),
        ReportRow(_("Runway"), [ReportCell(figure.text), cells.plain, cells.plain, cells.plain], note=figure.hint),
    ]


def describe_opening_balances(cash: CashFigures, cells: CellFormatter) -> str:
    """Return the opening balances that the change in cash leaves out; empty if there are none."""
    amount = cash.amounts[CashPart.OPENING_BALANCES].value
    if not amount:
        return ""
    return _("Without opening balances of {amount}").format(amount=format_full_amount(amount, cells.currency))


def build_result_figures(results: Sequence[StatementRow], cells: CellFormatter) -> list[ReportRow]:
    """Build revenue, gross profit and margin, operating result and result."""
    by_name = {row.name: row for row in results if row.kind != "category"}
    revenue_label, profit_label = str(LINE_LABELS[PlType.REVENUE]), str(SUBTOTAL_LABELS[PlType.COGS])
    empty = StatementRow(revenue_label, "line", [CellAmounts(compared=ZERO)], PlType.REVENUE)
    revenue = by_name.get(revenue_label, empty)
    rows = [revenue, by_name[profit_label]]
    rows += [by_name[str(SUBTOTAL_LABELS[line])] for line in (PlType.GA, PlType.NO)]
    is_planned = has_plan(results, 0)
    figures = [
        ReportRow(row.name, monthly_report_results.build_result_cells(row, cells, is_planned=is_planned))
        for row in rows
    ]
    figures.insert(2, build_margin_figure(revenue.cells[0], by_name[profit_label].cells[0], cells))
    return figures


def build_margin_figure(revenue: CellAmounts, profit: CellAmounts, cells: CellFormatter) -> ReportRow:
    """Build the gross margin: actual, planned, difference in percentage points, and last year's."""

    def compute_margin(whole: Decimal | None, part: Decimal | None) -> Decimal | None:
        whole, part = whole or ZERO, part or ZERO
        return compute_gross_margin(revenue=whole, cost_of_revenue=whole - part).value

    actual = compute_margin(revenue.actual, profit.actual)
    planned = compute_margin(revenue.planned, profit.planned)
    variance = None if actual is None or planned is None else actual - planned
    return ReportRow(
        _("Gross margin"),
        [
            cells.format_percentage(actual, other=compute_margin(revenue.as_reported, profit.as_reported)),
            cells.format_percentage(planned),
            cells.format_percentage_points(variance),
            cells.format_percentage(compute_margin(revenue.compared, profit.compared)),
        ],
    )


def build_recurring_rows(recurring: RecurringFigures, cells: CellFormatter) -> list[ReportRow]:
    """Build MRR and customers at the end of the month; neither is planned."""
    last_year = recurring.last_year
    return [
        ReportRow(
            _("MRR at the end of the month"),
            [
                cells.format_reported_amount(recurring.amounts["end"]),
                cells.plain,
                cells.plain,
                cells.format_amount(last_year.end if last_year else None),
            ],
        ),
        ReportRow(
            _("Customers at the end of the month"),
            [
                cells.format_count(recurring.row.end_count),
                cells.plain,
                cells.plain,
                cells.format_count(last_year.end_count if last_year else None),
            ],
        ),
    ]
