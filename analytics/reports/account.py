"""The page of an account: balance by day with its forecast, latest transactions, and bank statements."""

from datetime import date
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _

from analytics.charts.balance_line import build_balance_line
from analytics.report_period import ReportPeriod, parse_report_period
from analytics.reports import notices
from analytics.reports.account_reconciliation import list_reconciliation_rows
from companies.compression import allow_compression
from companies.pages.context import CompanyPage, company_page
from companies.permissions import Permission
from ledger.accounts.pages.accounts import get_account_or_404, render_account_page
from ledger.models import Account, Transaction
from ledger.money.calc.fx import RateLookupError
from ledger.money.rates import get_rate_table
from ledger.transactions.pages.labels import load_visible_names
from ledger.transactions.pages.transaction_list import build_transaction_lines

LATEST_TRANSACTION_COUNT = 10  # transactions


@allow_compression
@company_page(reads=Permission.ACCOUNTS_READ)
def show_account(page: CompanyPage, account_id: UUID) -> HttpResponse:
    account = get_account_or_404(page, account_id)
    period = parse_report_period(page.request.GET, today=page.today, allows_comparison=False)
    context: dict[str, Any] = {"period": period}
    if page.has_permission(Permission.BALANCES_READ):
        context["reconciled"], context["cursor"] = list_reconciliation_rows(page, account)
        context["notices"] = notices.build_mismatch_notices(
            page.company, [account], can_open=bool(context["reconciled"])
        )
        try:
            context["balance"] = render_account_balance(page, account, period)
        except RateLookupError as error:
            can_list = page.has_permission(Permission.TRANSACTIONS_READ)
            context["notices"].append(notices.build_rate_notice(page.company, error, can_list=can_list))
    if page.has_permission(Permission.TRANSACTIONS_READ):
        days = {"startDate": period.first.isoformat(), "endDate": period.last.isoformat()}
        rows = Transaction.objects.for_company(page.company.id).filter(account=account)
        latest = rows.filter(date__range=(period.first, period.last)).order_by("-date", "-id")[
            :LATEST_TRANSACTION_COUNT
        ]
        context["lines"] = build_transaction_lines(page, list(latest), load_visible_names(page))
        context["rows_query"] = urlencode({"accountId": str(account.id), **days, "total": "true"})
    return render_account_page(page, account, **context)


def render_account_balance(page: CompanyPage, account: Account, period: ReportPeriod) -> str:
    """Render the account's balance chart.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    can_list = page.has_permission(Permission.TRANSACTIONS_READ)
    can_plan = page.has_permission(Permission.PLANNING_READ) and page.has_permission(Permission.PLANNING_WRITE)
    transactions_url = f"{reverse('transactions', args=[page.company.id])}?accountId={account.id}" if can_list else ""

    def link(first: date, last: date) -> str:
        return transactions_url and f"{transactions_url}&startDate={first}&endDate={last}"

    section = build_balance_line(
        company=page.company,
        period=period,
        accounts={account.id},
        title=_("Balance"),
        name=account.name,
        build_link=link,
        can_write_plan=can_plan,
        rates=get_rate_table(),
    )
    return render_to_string("analytics/section.html", {"section": section})
