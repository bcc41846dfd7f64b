"""The cash plan page: overdue and upcoming payments, and the cash they bring by month."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from django.http import HttpResponse, QueryDict
from django.utils.translation import gettext as _

from analytics.queries.balance_forecast import forecast_accounts
from analytics.queries.cash_flow import ONE_DAY, convert_movements_to_flows, forecast_cash_flow
from analytics.queries.daily_movements import list_daily_movements
from analytics.report_period import ReportPeriod, parse_report_period
from analytics.reports.notices import Notice, build_overdraft_notices
from analytics.reports.uncovered_plan import build_uncovered_sheet
from companies.locales import get_current_locale
from companies.pages.context import CompanyPage, company_page
from companies.pages.sheets import (
    Sheet,
    SheetCell,
    SheetColumn,
    SheetRow,
    build_amount_cells,
    build_sheet_csv_response,
    get_sheet_style,
)
from companies.permissions import Permission
from ledger.accounts.queries import sum_account_balances
from ledger.calc.months import add_months, get_first_day_of_month
from ledger.models import Account, AccountType
from ledger.money.calc.fx import RateLookupError, RateTable
from ledger.money.rates import get_rate_table
from planning.forecast.expected_cash import find_expectations_after_cutover
from planning.models import PlannedTransaction
from planning.planned_transactions.pages import outlook
from planning.planned_transactions.pages.planned_transactions import list_visible_account_names
from planning.planned_transactions.pages.write_off_undo import get_write_off_undo

MAX_MONTHS_AHEAD = 24  # hundreds of rules have too many occurrences beyond this


@dataclass(frozen=True, slots=True)
class PlannedMonth:
    """Planned money in and out of a month in the base currency, both ≥ 0."""

    month: date
    inflow: Decimal
    outflow: Decimal

    @property
    def net(self) -> Decimal:
        return self.inflow - self.outflow


@company_page(reads=Permission.PLANNING_READ)
def show_cash_plan(page: CompanyPage) -> HttpResponse:
    """Show overdue payments, those up to the last day of the period, and what they add up to."""
    period, overdue_through = parse_plan_period(page), parse_overdue_through(page)
    end = period.last
    payments = outlook.Outlook()
    months, warnings, uncovered, missing_currency = list[PlannedMonth](), list[Notice](), None, ""
    try:
        payments = outlook.build_outlook(
            page, end=end, accounts=list_visible_account_names(page), overdue_through=overdue_through
        )
        if page.has_permission(Permission.BALANCES_READ):
            months, warnings = forecast_months(page, end=end, rates=get_rate_table())
            uncovered = build_uncovered_sheet(page, end=end, rates=get_rate_table())
    except RateLookupError as error:
        missing_currency = error.currency
    return page.render(
        "planning/planned_transactions/cash_plan.html",
        tab="planned",
        late=payments.late,
        more_late=payments.more_late,
        overdue_through=overdue_through,
        coming=payments.coming,
        more=payments.more,
        done=payments.done,
        end=end,
        period=period,
        sheet=build_month_sheet(page, months) if months else None,
        uncovered=uncovered,
        style=get_sheet_style(page.request),
        missing=missing_currency,
        today=page.today,
        undo_write_off=get_write_off_undo(page, return_page="plan"),
        notices=warnings,
        any=bool(payments.late or payments.coming or payments.done)
        or PlannedTransaction.objects.for_company(page.company.id).exists(),
        writes=page.has_permission(Permission.PLANNING_WRITE),
        sees_transactions=page.has_permission(Permission.TRANSACTIONS_READ),
    )


def build_month_sheet(page: CompanyPage, months: Sequence[PlannedMonth]) -> Sheet:
    """Build the sheet of money in and out by month: what goes out is negative."""
    current_month = get_first_day_of_month(page.today)
    amounts = {
        _("In"): [month.inflow for month in months],
        _("Out"): [-month.outflow for month in months],
        _("Net"): [month.net for month in months],
    }
    return Sheet(
        title=_("Planned cash flow"),
        first=_("Month"),
        currency=page.company.base_currency,
        columns=[
            *(
                SheetColumn(
                    get_current_locale().format_month(month.month),
                    notes=[_("after today")] if month.month == current_month else [],
                    kind="current" if month.month == current_month else "",
                )
                for month in months
            ),
            *([SheetColumn(_("Total"), kind="total")] if len(months) > 1 else []),
        ],
        rows=[
            SheetRow(name, build_month_cells(values), "sum" if values is amounts[_("Net")] else "line")
            for name, values in amounts.items()
        ],
        style=get_sheet_style(page.request),
    )


def build_month_cells(values: Sequence[Decimal]) -> list[SheetCell]:
    """Return the cells of each month and of their total; a single month has none."""
    return build_amount_cells(values) if len(values) > 1 else [SheetCell(value) for value in values]


@company_page(reads=Permission.PLANNING_READ)
def download_cash_plan(page: CompanyPage) -> HttpResponse:
    """Download the sheet of money in and out by month as CSV."""
    if not page.has_permission(Permission.BALANCES_READ):
        return page.redirect("planned")  # which has no such table
    try:
        months, _ = forecast_months(page, end=parse_plan_period(page).last, rates=get_rate_table())
    except RateLookupError:
        return page.redirect("planned")  # which shows the error
    return build_sheet_csv_response(build_month_sheet(page, months), name="cash-plan")


def parse_overdue_through(page: CompanyPage) -> date | None:
    """Return the last due date of the overdue payments to show; None for all of them."""
    try:
        return date.fromisoformat(page.request.GET.get("overdueTo", ""))
    except ValueError:
        return None


def parse_plan_period(page: CompanyPage) -> ReportPeriod:
    """Return the period of the URL if it lies ahead, else the default: a month back, three months ahead."""
    today, query = page.today, page.request.GET
    _start, end = outlook.get_outlook_window(today)
    default_period = ReportPeriod(add_months(today, -1), end, today, None)
    if not any(query.get(name) for name in ("startDate", "endDate", "months", "comparison")):
        return default_period
    period = parse_report_period(
        normalize_future_query(query, today=today, end=end), today=today, allows_comparison=False
    )
    if not any(query.get(name) for name in ("startDate", "endDate", "months")):
        return replace(default_period, messages=period.messages)
    if period.last < today:
        message = _("The period must end today or later. Showing the default period.")
        return replace(default_period, messages=(*period.messages, message))
    if period.last > add_months(today, MAX_MONTHS_AHEAD):
        message = _("The plan covers at most {count} years. Showing the default period.")
        return replace(default_period, messages=(*period.messages, message.format(count=MAX_MONTHS_AHEAD // 12)))
    return period


def normalize_future_query(query: QueryDict, *, today: date, end: date) -> dict[str, str]:
    """Return the query with a start of today at the latest, and with the default end if only a start is given."""
    values = {name: query.get(name, "") for name in query}
    if values.get("startDate") and not values.get("endDate"):
        values["endDate"] = end.isoformat()
    with suppress(ValueError):
        values["startDate"] = min(date.fromisoformat(values.get("startDate", "")), today).isoformat()
    return values


def forecast_months(page: CompanyPage, *, end: date, rates: RateTable) -> tuple[list[PlannedMonth], list[Notice]]:
    """Return planned months from the current one on, and a notice for each account that goes below zero.

    On cash accounts and without account, as the cash line shows it.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    company, today, base = page.company, page.today, page.company.base_currency
    accounts = list(Account.objects.for_company(company.id).in_display_order())
    cash = [account for account in accounts if account.include_in_cash_balance]
    other_account_ids = {account.id for account in accounts if not account.include_in_cash_balance}
    booked = list_daily_movements(company=company, start=today + ONE_DAY, end=end)
    transit_ids = {account.id for account in accounts if account.type == AccountType.TRANSIT}
    expectations = find_expectations_after_cutover(
        company=company, cutover=today, end=end, today=today, rates=rates, excluded_account_ids=transit_ids
    )
    planned = forecast_cash_flow(
        company=company,
        start=get_first_day_of_month(today),
        end=end,
        cutover=today,
        today=today,
        interval="month",
        rates=rates,
        booked=convert_movements_to_flows(booked, excluded_accounts=other_account_ids, base=base, rates=rates),
        expectations=expectations,
        accounts={None, *(account.id for account in cash)},
    ).planned
    forecasts = forecast_accounts(
        cash,
        balances=sum_account_balances(company_id=company.id, day=today),
        movements=booked,
        expectations=expectations,
        start=today,
        end=end,
        cutover=today,
        today=today,
        rates=rates,
    )
    months = [PlannedMonth(*point) for point in zip(planned.points, planned.inflow, planned.outflow, strict=True)]
    can_open_accounts = page.has_permission(Permission.ACCOUNTS_READ)
    return months, build_overdraft_notices(company, cash, forecasts, today=today, end=end, can_open=can_open_accounts)
