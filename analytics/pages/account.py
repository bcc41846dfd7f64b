"""The page of an account: its balance by day, as far as it is expected, its latest rows, its bank's statements, and
what is known of it."""

from datetime import date
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.gzip import gzip_page

from analytics.overview import notices
from analytics.overview.line import balance_line
from analytics.pages.reconciled import reconciliation
from analytics.period import Period, period_of
from companies.pages.kept import kept
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.accounts.pages.accounts import account_page, found
from ledger.calc.fx import MissingRate
from ledger.models import Account, Transaction
from ledger.money.rates import rate_table, valued_at
from ledger.transactions.pages.listing import list_lines
from ledger.transactions.pages.words import names_for

LATEST = 10  # transactions


@gzip_page
@company_page(reads=Permission.ACCOUNTS_READ)
def page(visit: Visit, account_id: UUID) -> HttpResponse:
    account = found(visit, account_id)
    period = period_of(visit.request.GET, today=visit.today, compares=False)
    more: dict[str, Any] = {"period": period}
    if visit.may(Permission.BALANCES_READ):
        more["reconciled"], more["cursor"] = reconciliation(visit, account)
        more["notices"] = notices.mismatch_notices(visit.company, [account], opens=bool(more["reconciled"]))
        try:
            more["balance"] = balance(visit, account, period)
        except MissingRate as missing:
            lists = visit.may(Permission.TRANSACTIONS_READ)
            more["notices"].append(notices.rate_notice(visit.company, missing, lists=lists))
    if visit.may(Permission.TRANSACTIONS_READ):
        days = {"startDate": period.first.isoformat(), "endDate": period.last.isoformat()}
        rows = Transaction.objects.of(visit.company.id).filter(account=account)
        latest = rows.filter(date__range=(period.first, period.last)).order_by("-date", "-id")[:LATEST]
        more["lines"] = list_lines(visit, list(latest), names_for(visit))
        more["rows_query"] = urlencode({"accountId": str(account.id), **days, "total": "true"})
    return account_page(visit, account, **more)


def balance(visit: Visit, account: Account, period: Period) -> str:
    """As ``data/forecastBalanceTimeSeries`` answers it for the account; drawn once. Raises MissingRate."""
    lists, valued = visit.may(Permission.TRANSACTIONS_READ), valued_at()
    writes = visit.may(Permission.PLANNING_READ) and visit.may(Permission.PLANNING_WRITE)
    listed = f"{reverse('transactions', args=[visit.company.id])}?accountId={account.id}" if lists else ""

    def link(first: date, last: date) -> str:
        return listed and f"{listed}&startDate={first}&endDate={last}"

    def draw() -> str:
        section = balance_line(
            company=visit.company,
            period=period,
            accounts={account.id},
            title=_("Balance"),
            of=account.name,
            link=link,
            writes_plan=writes,
            rates=rate_table(valued.newest),
        )
        return render_to_string("analytics/section.html", {"section": section})

    return kept(
        company_id=visit.company.id,
        name="account",
        of=(visit.today, account.id, period.query, lists, writes, *valued, visit.company.last_updated_time.isoformat()),
        draw=draw,
    )
