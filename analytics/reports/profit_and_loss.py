"""The page and the workbook of the profit and loss statement."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.calc import calendar_periods
from analytics.queries import profit_and_loss
from analytics.queries.open_transactions import sum_open_transactions
from analytics.report_period import ReportPeriod, has_chosen_period, parse_report_period
from analytics.reports import notices
from analytics.reports.notices import Notice
from analytics.reports.period_headings import (
    PeriodHeading,
    build_compared_headings,
    build_period_heading,
    format_month_span,
    format_period_name,
    get_last_counted_day,
    list_compared_names,
)
from analytics.reports.profit_and_loss_table import (
    ProfitAndLossTable,
    build_statement,
    build_statement_sheet,
)
from analytics.reports.profit_and_loss_workbook import write_statement_workbook
from companies.compression import allow_compression
from companies.models import Company
from companies.pages.context import CompanyPage, company_page
from companies.pages.sheets import Sheet, build_sheet_csv_response, get_sheet_style
from companies.permissions import Permission
from ledger.calc.months import add_months, get_first_day_of_month, get_last_day_of_month, list_months
from ledger.exports import file_responses
from ledger.money.calc.fx import RateLookupError, RateTable
from ledger.money.rates import get_rate_table

INTERVAL_LABELS: dict[calendar_periods.PeriodInterval, str | Promise] = {
    "month": gettext_lazy("Months"),
    "quarter": gettext_lazy("Quarters"),
    "year": gettext_lazy("Years"),
}
TITLE_BY_INTERVAL = {
    "month": gettext_lazy("Profit and loss by month"),
    "quarter": gettext_lazy("Profit and loss by quarter"),
    "year": gettext_lazy("Profit and loss by year"),
}
TOO_MANY_COLUMNS = {
    "month": gettext_lazy("The period is too long to show by month."),
    "quarter": gettext_lazy("The period is too long to show by quarter."),
    "year": gettext_lazy("The period is too long to show by year."),
}
MAX_COLUMNS = 36
PLAN_COMPARISON = "plan"  # what the page compares with, besides the periods of the API
ZERO = Decimal(0)


@allow_compression
@company_page(reads=Permission.FINANCIALS_READ)
def show_profit_and_loss(page: CompanyPage) -> HttpResponse:
    """Show the statement by months, quarters or years; with `toDate` the current month counts up to today."""
    period, to_date = parse_statement_period(page), has_to_date(page)
    interval, notice = parse_interval(page.request.GET.get("interval", ""), period)
    sheet, report_notices, rates = None, [], get_rate_table()
    try:
        report_notices = list_statement_notices(page, period, rates, to_date=to_date)
        sheet = build_requested_sheet(page, period, interval, rates, to_date=to_date)
    except RateLookupError as error:
        report_notices.append(
            notices.build_rate_notice(page.company, error, can_list=page.has_permission(Permission.TRANSACTIONS_READ))
        )
    until = get_last_counted_day(period.until, page.today, to_date=to_date)
    return page.render(
        "analytics/profit_and_loss.html",
        tab="profit-and-loss",
        period=period,
        period_message=notice,
        interval=interval,
        intervals=INTERVAL_LABELS.items(),
        more=f"&{urlencode(list_other_parameters(page, interval, to_date=to_date))}",
        comparison=PLAN_COMPARISON if is_plan_compared(page) else period.comparison or "",
        comparisons=[*period.comparisons, (PLAN_COMPARISON, _("Plan"))],
        year=f"startDate={page.today.year}-01-01&endDate={page.today.year}-12-31",
        last_month=build_last_month_query(page.today),
        until=until,
        period_text=format_month_span(period.calendar[0], until),
        offers_to_date=True,
        to_date=to_date,
        plans=page.has_permission(Permission.PLANNING_READ),
        sheet=sheet,
        style=get_sheet_style(page.request),
        notices=report_notices,
    )


def build_last_month_query(today: date) -> str:
    """Return the query of the month before that of today."""
    month = add_months(get_first_day_of_month(today), -1)
    return f"startDate={month}&endDate={get_last_day_of_month(month)}"


def is_plan_compared(page: CompanyPage) -> bool:
    """Return whether actual, plan and variance are shown."""
    return page.request.GET.get("comparison") == PLAN_COMPARISON


def parse_statement_period(page: CompanyPage) -> ReportPeriod:
    """Parse the period of the URL, in which the plan is one of the comparisons.

    The default period has no months before the first transaction or service period of the company.
    """
    query = {name: page.request.GET.get(name, "") for name in page.request.GET}
    if is_plan_compared(page):
        del query["comparison"]
    period = parse_report_period(query, today=page.today)
    if has_chosen_period(query):
        return period
    first = profit_and_loss.find_first_data_month(page.company, period.calendar)
    return replace(period.starting_with(first), last=get_last_day_of_month(page.today))


def list_other_parameters(page: CompanyPage, interval: str, *, to_date: bool) -> dict[str, str]:
    """Return the parameters of the URL besides those of the period."""
    parameters = {"interval": interval}
    if to_date:
        parameters["toDate"] = "true"
    if is_plan_compared(page):
        parameters["comparison"] = PLAN_COMPARISON
    return parameters


def has_to_date(page: CompanyPage) -> bool:
    """Return whether the current month counts up to today."""
    return page.request.GET.get("toDate") == "true"


def parse_interval(text: str, period: ReportPeriod) -> tuple[calendar_periods.PeriodInterval, str]:
    """Return (interval, error message): the requested one, else the finest that gives few enough columns."""
    months = len(period.calendar)
    possible_intervals = [
        interval for interval in INTERVAL_LABELS if months <= MAX_COLUMNS * calendar_periods.PERIOD_MONTHS[interval]
    ]
    requested = next((each for each in INTERVAL_LABELS if each == (text or "month")), None)
    if requested is None:
        return possible_intervals[0], _("Unknown interval. Showing the default.")
    if requested in possible_intervals:
        return requested, ""
    return possible_intervals[0], str(TOO_MANY_COLUMNS[requested]) if text else ""


@company_page(reads=Permission.FINANCIALS_READ)
def download_profit_and_loss(page: CompanyPage) -> Any:
    """Download the statement as a workbook."""
    period = parse_statement_period(page)
    interval, _ = parse_interval(page.request.GET.get("interval", ""), period)
    try:
        table = build_requested_statement(page, period, interval, get_rate_table(), to_date=has_to_date(page))
    except RateLookupError:
        return page.redirect("profit-and-loss")  # which shows the error
    return file_responses.build_file_response(
        lambda file: write_statement_workbook(file, table),
        name="profitAndLoss.xlsx",
        content_type=file_responses.XLSX_CONTENT_TYPE,
    )


@company_page(reads=Permission.FINANCIALS_READ)
def download_profit_and_loss_csv(page: CompanyPage) -> HttpResponse:
    """Download the sheet of the page as CSV, to the cent."""
    period = parse_statement_period(page)
    interval, _ = parse_interval(page.request.GET.get("interval", ""), period)
    try:
        sheet = build_requested_sheet(page, period, interval, get_rate_table(), to_date=has_to_date(page))
    except RateLookupError:
        return page.redirect("profit-and-loss")  # which shows the error
    return build_sheet_csv_response(sheet, name="profit-and-loss")


def build_requested_sheet(
    page: CompanyPage,
    period: ReportPeriod,
    interval: calendar_periods.PeriodInterval,
    rates: RateTable,
    *,
    to_date: bool,
) -> Sheet:
    """Build the sheet of the page's URL, with the plan of chosen months that have not begun.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    later_months = [] if period.months or to_date else list_months(period.first, period.last)
    table = build_requested_statement(page, period, interval, rates, to_date=to_date, later_months=later_months)
    return build_statement_sheet(
        table,
        title=str(TITLE_BY_INTERVAL[interval]),
        style=get_sheet_style(page.request),
        has_plan_comparison=is_plan_compared(page),
    )


def build_requested_statement(
    page: CompanyPage,
    period: ReportPeriod,
    interval: calendar_periods.PeriodInterval,
    rates: RateTable,
    *,
    to_date: bool,
    later_months: Sequence[date] = (),
) -> ProfitAndLossTable:
    """Build the statement of the page's URL.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    return build_company_statement(
        page.company,
        months=period.calendar,
        today=page.today,
        interval=interval,
        comparison=period.comparison,
        rates=rates,
        to_date=to_date,
        later_months=later_months,
        transactions_url=reverse("transactions", args=[page.company.id])
        if page.has_permission(Permission.TRANSACTIONS_READ)
        else "",
        plan_url=reverse("plan", args=[page.company.id]) if page.has_permission(Permission.PLANNING_READ) else "",
    )


def build_company_statement(
    company: Company,
    *,
    months: Sequence[date],
    today: date,
    interval: calendar_periods.PeriodInterval,
    comparison: profit_and_loss.Comparison | None,
    rates: RateTable,
    to_date: bool,
    later_months: Sequence[date] = (),
    transactions_url: str = "",
    plan_url: str = "",
) -> ProfitAndLossTable:
    """Build the statement as `data/profitAndLoss` answers it; later months are left out.

    Args:
        later_months: those in periods that have not begun are shown with their plan.
        transactions_url: URL of the transaction list; empty without the permission.
        plan_url: URL of the plan; empty without the permission.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    months = [month for month in months if month <= today]
    compute_results = partial(
        profit_and_loss.compute_profit_and_loss,
        company=company,
        months=months,
        today=today,
        every_category=company.pl_show_all_categories,
        rates=rates,
        interval=interval,
        comparison=comparison,
        to_date=to_date,
    )
    results_found, reported, closed = compute_results(), {}, company.closed_through
    if closed and months and months[0] <= closed:
        reported_rows = {(row.month, row.pl_type, row.category_id): row for row in compute_results(as_reported=True)}
        current_keys = {(row.month, row.pl_type, row.category_id) for row in results_found}
        results_found += [row.with_actual(ZERO) for key, row in reported_rows.items() if key not in current_keys]
        reported = {key: row.actual for key, row in reported_rows.items()}
    current_month = get_first_day_of_month(today)
    last_months = {
        calendar_periods.get_period_start(month, interval): month for month in months
    }  # each with its last month
    planned_months = [
        month for month in later_months if calendar_periods.get_period_start(month, interval) > current_month
    ]
    if planned_months:
        planned_rows = profit_and_loss.compute_profit_and_loss(
            company=company, months=planned_months, today=today, every_category=False, rates=rates, interval=interval
        )
        results_found += [row.with_actual(ZERO) for row in planned_rows]
    shown_days = (
        {"first": months[0], "last": get_last_counted_day(months[-1], today, to_date=to_date)} if months else {}
    )
    in_progress = get_first_day_of_month(today) if not to_date and today < get_last_day_of_month(today) else None
    compared_headings = build_compared_headings(
        months, today=today, interval=interval, comparison=comparison, to_date=to_date
    )
    whole_names = list_compared_names(months, interval=interval, comparison=comparison)
    headings = {
        first: build_period_heading(
            first, interval, shown_days, in_progress=last == in_progress, closed=closed is not None and last <= closed
        )
        for first, last in last_months.items()
    }
    for month in planned_months:
        first = calendar_periods.get_period_start(month, interval)
        headings[first] = PeriodHeading(format_period_name(first, interval), kind="planned")
    return build_statement(
        results_found,
        heading_by_period=headings,
        compared_headings=compared_headings,
        partly_compared={
            place
            for place, (heading, name) in enumerate(zip(compared_headings, whole_names, strict=True))
            if heading not in ("", name)
        },
        periods_with_percentage={
            first
            for first, last in last_months.items()
            if profit_and_loss.is_percentage_shown(company, last, current_month=current_month)
        },
        currency=company.base_currency,
        transactions_url=transactions_url,
        plan_url=plan_url,
        has_comparison=comparison is not None,
        reported=reported,
    )


def list_statement_notices(page: CompanyPage, period: ReportPeriod, rates: RateTable, *, to_date: bool) -> list[Notice]:
    """List what the statement lacks.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    first, last = period.calendar[0], get_last_counted_day(period.until, page.today, to_date=to_date)
    open_rows = sum_open_transactions(company=page.company, start=first, end=last, rates=rates)
    can_list = page.has_permission(Permission.TRANSACTIONS_READ)
    return notices.build_open_notices(page.company, open_rows, first=first, last=last, can_list=can_list)
