"""Sections of the monthly report about the profit and loss."""

from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from urllib.parse import urlencode

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from analytics.calc.board_measures import compute_gross_margin
from analytics.charts.links import build_results_query
from analytics.queries.largest_changes import CounterpartyChange, LargestChange, list_largest_changes
from analytics.queries.monthly_report import (
    ReportMonth,
    compute_results,
    compute_year_results,
    find_year_start,
    list_trend_months,
    sum_actual_by_line,
)
from analytics.queries.posted_results import CellKey
from analytics.queries.profit_and_loss import ResultRow, is_favourable
from analytics.reports.monthly_report_tables import CellFormatter, ReportCell, ReportRow, ReportTable
from analytics.reports.period_headings import PeriodHeading
from analytics.reports.profit_and_loss_table import (
    CellAmounts,
    StatementRow,
    build_statement,
    format_category_name,
    has_plan,
)
from companies.locales import get_current_locale
from ledger.calc.months import add_months
from ledger.models import EXPENSE_LINES, PlType
from ledger.transactions.filter_fields import MAX_TEXT_LENGTH
from ledger.transactions.pages.labels import HIDDEN_NAME, LINE_LABELS

ZERO = Decimal(0)
MAX_VARIANCES = 5
BuildUrl = Callable[[str, str], str]
"""(name of a page, its query) -> URL; empty where the reader may not open it."""


def build_statement_rows(
    report: ReportMonth,
    rows: Sequence[ResultRow],
    compared_amounts: dict[CellKey, Decimal],
    *,
    transactions_url: str = "",
) -> list[StatementRow]:
    """Return lines, categories and sums of rows of one period, each with one cell."""
    periods = {row.month for row in rows} or {report.month}
    return list(
        build_statement(
            rows,
            heading_by_period=dict.fromkeys(periods, PeriodHeading("")),
            periods_with_percentage=(),
            currency=report.company.base_currency,
            transactions_url=transactions_url,
            has_comparison=True,
            reported=compared_amounts,
        ).rows
    )


def is_result_favourable(row: StatementRow, difference: Decimal) -> bool | None:
    """Return whether a difference is good for the result; sums count as revenue."""
    return is_favourable(row.line or PlType.REVENUE, difference)


def build_result_cells(row: StatementRow, cells: CellFormatter, *, is_planned: bool) -> list[ReportCell]:
    """Return actual, plan, variance from the plan, and last year of a row; costs are negative.

    Last year is empty before the first booked month.

    Args:
        is_planned: whether the period of the row has a plan.
    """
    amounts: CellAmounts = row.cells[0]
    variance = amounts.actual - amounts.planned if is_planned else None
    return [
        cells.format_amount(
            sign_amount(row, amounts.actual),
            other=sign_amount(row, amounts.reported),
            link=amounts.link if amounts.actual else "",
        ),
        cells.format_amount(sign_amount(row, amounts.planned) if is_planned else None),
        cells.format_variance(
            sign_amount(row, variance), favourable=None if variance is None else is_result_favourable(row, variance)
        ),
        cells.format_amount(sign_amount(row, amounts.compared) if cells.report.last_year else None),
    ]


def sign_amount(row: StatementRow, amount: Decimal | None) -> Decimal | None:
    """Return an amount of a row as the report shows it: income positive, costs negative."""
    return -amount if amount and row.is_subtracted else amount


def build_month_result_table(report: ReportMonth, rows: Sequence[StatementRow]) -> ReportTable:
    """Build the profit and loss of the month, against plan and last year."""
    cells, is_planned = CellFormatter(report), has_plan(rows, 0)
    hint = _("Income is positive, costs are negative. Variance is actual less plan.")
    return ReportTable(
        id="results",
        title=_("Profit and loss"),
        head=[_("Line"), _("Actual"), _("Plan"), _("Variance"), _("Last year")],
        rows=[ReportRow(row.name, build_result_cells(row, cells, is_planned=is_planned), row.kind) for row in rows],
        hint=f"{hint} {cells.describe_plan()}".strip(),
    )


def build_variance_table(report: ReportMonth, rows: Sequence[StatementRow]) -> ReportTable:
    """Build the categories that differ most from their plan."""
    cells = CellFormatter(report)
    return ReportTable(
        id="variances",
        title=_("Largest variances from plan"),
        head=[_("Category"), _("Actual"), _("Plan"), _("Variance")],
        rows=[
            ReportRow(
                row.name, build_result_cells(row, cells, is_planned=True)[:3], note=LINE_LABELS[row.line or PlType.NO]
            )
            for row in list_variances(rows)
        ],
        hint=cells.describe_plan(),
    )


def list_variances(rows: Sequence[StatementRow]) -> list[StatementRow]:
    """Return the categories that differ most from their plan, largest first; neutral ones are left out.

    There are none without a plan.
    """
    if not has_plan(rows, 0):
        return []
    categories = [
        row for row in rows if row.kind == "category" and row.line not in (None, PlType.NEUTRAL) and get_variance(row)
    ]
    return sorted(categories, key=lambda row: -abs(get_variance(row)))[:MAX_VARIANCES]


def get_variance(row: StatementRow) -> Decimal:
    """Return actual less plan of a row of one period."""
    return row.cells[0].actual - row.cells[0].planned


def build_year_table(report: ReportMonth) -> ReportTable:
    """Build the calendar year up to the month against its plan, and the plan of the whole year.

    It starts with the first month that has data.
    """
    cells, first = CellFormatter(report), find_year_start(report)
    to_date, whole_year = compute_year_results(report, first)
    planned = {
        row.name: row.cells[0].planned for row in build_statement_rows(report, whole_year, {}) if is_line_or_sum(row)
    }
    rows = []
    year_rows = build_statement_rows(report, [*to_date, *list_missing_lines(to_date, whole_year)], {})
    is_planned = has_plan(year_rows, 0)
    for row in year_rows:
        if is_line_or_sum(row):
            plan = planned.get(row.name, ZERO)
            year_plan = cells.format_amount(sign_amount(row, plan) if plan else None)
            rows.append(
                ReportRow(row.name, [*build_result_cells(row, cells, is_planned=is_planned)[:3], year_plan], row.kind)
            )
    return ReportTable(
        id="year",
        title=(
            _("Plan and actual, {year} to date").format(year=first.year)
            if first.month == 1
            else _("Plan and actual since {month}").format(month=get_current_locale().format_month(first, full=True))
        ),
        head=[_("Line"), _("Actual"), _("Plan"), _("Variance"), _("Plan {year}").format(year=report.month.year)],
        rows=rows,
        hint=cells.describe_plan(),
    )


def is_line_or_sum(row: StatementRow) -> bool:
    """Return whether a row is a line or a sum."""
    return row.kind != "category"


def list_missing_lines(to_date: Sequence[ResultRow], whole_year: Sequence[ResultRow]) -> list[ResultRow]:
    """Return rows without amounts for what is planned later in the year only."""
    keys = {(row.pl_type, row.category_id) for row in to_date}
    return [row.without_amounts() for row in whole_year if (row.pl_type, row.category_id) not in keys]


def build_margin_table(report: ReportMonth) -> ReportTable:
    """Build revenue, gross profit and gross margin by month."""
    months, cells = list_trend_months(report), CellFormatter(report)
    sums = sum_actual_by_line(compute_results(report, months))
    first = min((month for (month, _line), amount in sums.items() if amount), default=report.month)
    return ReportTable(
        id="margin",
        title=_("Gross margin by month"),
        head=[_("Month"), _("Revenue"), _("Gross profit"), _("Gross margin"), _("Result")],
        rows=[build_margin_row(month, sums, cells) for month in months if month >= first],
    )


def build_margin_row(month: date, sums: dict[tuple[date, str], Decimal], cells: CellFormatter) -> ReportRow:
    lines = {line: sums.get((month, line), ZERO) for line in PlType}
    revenue, cost = lines[PlType.REVENUE], lines[PlType.COGS]
    expenses = cost + lines[PlType.CAC] + lines[PlType.PD] + lines[PlType.GA]
    return ReportRow(
        get_current_locale().format_month(month),
        [
            cells.format_amount(revenue),
            cells.format_amount(revenue - cost),
            cells.format_percentage(compute_gross_margin(revenue=revenue, cost_of_revenue=cost).value),
            cells.format_amount(revenue - expenses + lines[PlType.NO]),
        ],
    )


def build_change_table(report: ReportMonth, build_url: BuildUrl, *, names_counterparties: bool) -> ReportTable:
    """Build the largest changes from the month before, with the counterparties behind each."""
    cells, previous = CellFormatter(report), add_months(report.month, -1)
    month_names = [get_current_locale().format_month(month) for month in (report.month, previous)]
    rows = []
    changes = list_largest_changes(report, with_counterparties=bool(build_url("transactions", "")))
    for change in changes or ():
        links = [build_change_url(change, build_url, first=month, last=month) for month in (report.month, previous)]
        amounts = build_change_cells(change, (change.row.actual, change.previous), cells, links=links)
        note = LINE_LABELS[PlType(change.row.pl_type)]
        rows.append(ReportRow(format_category_name(change.row.category_name), amounts, note=note))
        for party in change.counterparties:
            link = build_change_url(change, build_url, first=previous, last=report.month, party=party)
            amounts = build_change_cells(change, (party.actual, party.previous), cells)
            name = format_party_name(party, can_show_names=names_counterparties)
            rows.append(ReportRow(name, amounts, "detail", link=link))
    return ReportTable(
        id="changes",
        title=_("Largest changes"),
        head=[_("Category"), *month_names, _("Change")],
        rows=rows,
        empty_text=_("The month before has no results to compare with.")
        if changes is None
        else _("Nothing has changed from the month before."),
    )


def build_change_cells(
    change: LargestChange, amounts: tuple[Decimal, Decimal], cells: CellFormatter, *, links: Sequence[str] = ("", "")
) -> list[ReportCell]:
    """Return the amount of the month, that of the month before, and the change; costs are negative."""
    sign = -1 if change.row.pl_type in EXPENSE_LINES else 1
    difference = amounts[0] - amounts[1]
    return [
        *(
            cells.format_amount(sign * amount, link=link if amount else "")
            for amount, link in zip(amounts, links, strict=True)
        ),
        cells.format_variance(sign * difference, favourable=is_favourable(change.row.pl_type, difference)),
    ]


def build_change_url(
    change: LargestChange, build_url: BuildUrl, *, first: date, last: date, party: CounterpartyChange | None = None
) -> str:
    """Return the URL of the rows behind a change, of one counterparty if given; empty for several counterparties."""
    query = build_results_query(first, last, line=change.row.pl_type, categories=[change.row.category_id])
    if party is None:
        return build_url("transactions", query)
    has_name = 0 < len(party.name) <= MAX_TEXT_LENGTH and not party.is_description
    if party.party_count > 1 or not (party.id or has_name):
        return ""
    if party.id:
        return build_url("transactions", f"{query}&counterpartyId={party.id}")
    return build_url("transactions", f"{query}&{urlencode({'hasCounterparty': 'false', 'fromTo': party.name})}")


def format_party_name(party: CounterpartyChange, *, can_show_names: bool) -> str:
    """Return the name of a counterparty; hidden ones have none."""
    if party.party_count > 1:
        n = get_current_locale().format_number(party.party_count)
        return ngettext("{n} other", "{n} others", party.party_count).format(n=n)
    if party.id and not can_show_names:
        return str(HIDDEN_NAME)
    return party.name.strip() or _("No name")
