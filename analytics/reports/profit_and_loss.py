"""The page and the workbook of the profit and loss statement."""

from collections.abc import Sequence
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
from django.views.decorators.gzip import gzip_page

from analytics.calc import calendar_periods
from analytics.queries import profit_and_loss
from analytics.queries.open_transactions import sum_open_transactions
from analytics.report_period import ReportPeriod, parse_report_period
from analytics.reports import notices
from analytics.reports.notices import Notice
from analytics.reports.profit_and_loss_table import ProfitAndLossTable, build_statement
from analytics.reports.profit_and_loss_workbook import write_statement_workbook
from companies.locales import get_current_locale
from companies.models import Company
from companies.pages.context import CompanyPage, company_page
from companies.permissions import Permission
from ledger.calc.months import add_months, get_first_day_of_month, get_last_day_of_month
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
ZERO = Decimal(0)


@gzip_page
@company_page(reads=Permission.FINANCIALS_READ)
def show_profit_and_loss(page: CompanyPage) -> HttpResponse:
    """Show the statement by months, quarters or years; with `toDate` the current month counts up to today."""
    period, to_date = parse_report_period(page.request.GET, today=page.today), has_to_date(page)
    interval, notice = parse_interval(page.request.GET.get("interval", ""), period)
    table, report_notices, rates = None, [], get_rate_table()
    try:
        report_notices = list_statement_notices(page, period, rates, to_date=to_date)
        table = build_requested_statement(page, period, interval, rates, to_date=to_date)
    except RateLookupError as error:
        report_notices.append(
            notices.build_rate_notice(page.company, error, can_list=page.has_permission(Permission.TRANSACTIONS_READ))
        )
    return page.render(
        "analytics/profit_and_loss.html",
        tab="profit-and-loss",
        period=period,
        mended=notice,
        interval=interval,
        intervals=INTERVAL_LABELS.items(),
        title=TITLE_BY_INTERVAL[interval],
        more=f"&{urlencode({'interval': interval} | ({'toDate': 'true'} if to_date else {}))}",
        until=get_last_counted_day(period.until, page.today, to_date=to_date),
        offers_to_date=True,
        to_date=to_date,
        later_months=not period.months and get_first_day_of_month(period.last) > page.today,
        plans=page.has_permission(Permission.PLANNING_READ),
        statement=table,
        notices=report_notices,
    )


def has_to_date(page: CompanyPage) -> bool:
    """Return whether the current month counts up to today."""
    return page.request.GET.get("toDate") == "true"


def parse_interval(text: str, period: ReportPeriod) -> tuple[calendar_periods.PeriodInterval, str]:
    """Return (interval, error message): the requested one, else the finest that gives few enough columns."""
    months = len(period.calendar)
    possible_intervals = [
        each for each in INTERVAL_LABELS if months <= MAX_COLUMNS * calendar_periods.PERIOD_MONTHS[each]
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
    period = parse_report_period(page.request.GET, today=page.today)
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


def build_requested_statement(
    page: CompanyPage,
    period: ReportPeriod,
    interval: calendar_periods.PeriodInterval,
    rates: RateTable,
    *,
    to_date: bool,
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
        transactions_url=reverse("transactions", args=[page.company.id])
        if page.has_permission(Permission.TRANSACTIONS_READ)
        else "",
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
    transactions_url: str = "",
) -> ProfitAndLossTable:
    """Build the statement as `data/profitAndLoss` answers it; later months are left out.

    Args:
        transactions_url: URL of the transaction list; empty without the permission.

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
    shown_days = (
        {"first": months[0], "last": get_last_counted_day(months[-1], today, to_date=to_date)} if months else {}
    )
    in_progress = get_first_day_of_month(today) if not to_date and today < get_last_day_of_month(today) else None
    compared_headings = build_compared_headings(
        months, today=today, interval=interval, comparison=comparison, to_date=to_date
    )
    whole_names = list_compared_names(months, interval=interval, comparison=comparison)
    return build_statement(
        results_found,
        heading_by_period={
            first: mark_closed(
                mark_in_progress(format_period_heading(first, interval, **shown_days), is_marked=last == in_progress),
                is_marked=closed is not None and last <= closed,
            )
            for first, last in last_months.items()
        },
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
        compares=comparison is not None,
        reported=reported,
    )


def build_compared_headings(
    months: Sequence[date],
    *,
    today: date,
    interval: calendar_periods.PeriodInterval,
    comparison: profit_and_loss.Comparison | None,
    to_date: bool,
) -> list[str]:
    """Return the headings of the compared periods; empty texts where the calendar has none."""
    compared_months = profit_and_loss.list_compared_months(months, interval, comparison)
    if comparison is None or not compared_months:
        return []
    months_back = profit_and_loss.count_comparison_months(interval, comparison)
    last = calendar_periods.shift_end_day(get_last_counted_day(months[-1], today, to_date=to_date), -months_back)
    headings = dict.fromkeys((calendar_periods.get_period_start(month, interval) for month in months), "")
    for month in compared_months:
        period = calendar_periods.get_period_start(month, interval)
        headings[add_months(period, months_back)] = format_period_heading(
            period, interval, first=compared_months[0], last=last
        )
    return [*headings.values()]


def list_compared_names(
    months: Sequence[date],
    *,
    interval: calendar_periods.PeriodInterval,
    comparison: profit_and_loss.Comparison | None,
) -> list[str]:
    """Return the names of the compared periods without days; empty texts where the calendar has none."""
    compared_months = profit_and_loss.list_compared_months(months, interval, comparison)
    if comparison is None or not compared_months:
        return []
    months_back = profit_and_loss.count_comparison_months(interval, comparison)
    names = dict.fromkeys((calendar_periods.get_period_start(month, interval) for month in months), "")
    for month in compared_months:
        period = calendar_periods.get_period_start(month, interval)
        names[add_months(period, months_back)] = format_period_name(period, interval)
    return [*names.values()]


def format_period_heading(period: date, interval: calendar_periods.PeriodInterval, *, first: date, last: date) -> str:
    """Format a period's name, with the days shown where these are not all.

    >>> days = {"first": date(2024, 2, 1), "last": date(2024, 11, 22)}
    >>> format_period_heading(date(2024, 11, 1), "month", **days)
    'Nov 2024, to 22 Nov'
    >>> format_period_heading(date(2024, 7, 1), "quarter", **days)
    'Q3 2024'
    >>> format_period_heading(date(2024, 1, 1), "quarter", **days)
    'Q1 2024, from 1 Feb'
    >>> format_period_heading(date(2024, 1, 1), "year", **days)
    '2024, 1 Feb to 22 Nov'
    """
    name = format_period_name(period, interval)
    start, end = (
        day and get_current_locale().format_short_day(day)
        for day in calendar_periods.cut_period(period, interval, first=first, last=last)
    )
    if start and end:
        return _("{period}, {first} to {last}").format(period=name, first=start, last=end)
    if start:
        return _("{period}, from {first}").format(period=name, first=start)
    return _("{period}, to {last}").format(period=name, last=end) if end else name


def format_period_name(period: date, interval: calendar_periods.PeriodInterval) -> str:
    if interval == "quarter":
        return _("Q{quarter} {year}").format(quarter=(period.month + 2) // 3, year=f"{period:%Y}")
    return get_current_locale().format_month(period) if interval == "month" else f"{period:%Y}"


def mark_in_progress(name: str, *, is_marked: bool) -> str:
    """Mark the name of a period whose last month is not over."""
    return _("{period} (in progress)").format(period=name) if is_marked else name


def mark_closed(name: str, *, is_marked: bool) -> str:
    """Return the heading of a period, marked if all of its months are closed."""
    return _("{period} (closed)").format(period=name) if is_marked else name


def get_last_counted_day(month: date, today: date, *, to_date: bool) -> date:
    """Return the last day of a month that counts: its last, and with `to_date` today if that is earlier."""
    last = get_last_day_of_month(month)
    return min(last, today) if to_date else last


def list_statement_notices(page: CompanyPage, period: ReportPeriod, rates: RateTable, *, to_date: bool) -> list[Notice]:
    """List what the statement lacks.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    first, last = period.calendar[0], get_last_counted_day(period.until, page.today, to_date=to_date)
    open_rows = sum_open_transactions(company=page.company, start=first, end=last, rates=rates)
    can_list = page.has_permission(Permission.TRANSACTIONS_READ)
    return notices.build_open_notices(page.company, open_rows, first=first, last=last, can_list=can_list)
