"""The page of the cash plan: what is late, what comes next, and what the months bring to the cash by the forecast."""

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from django.http import HttpResponse, QueryDict
from django.utils.translation import gettext as _

from analytics.overview.notices import Notice, overdraft_notices
from analytics.period import Period, period_of
from analytics.queries.balance_forecast import forecast_accounts
from analytics.queries.cash_flow import ONE_DAY, flows_in, forecast
from analytics.queries.daily import moves
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.accounts.balances import balances_on
from ledger.calc.fx import MissingRate, RateTable
from ledger.calc.months import add_months, first_of_month
from ledger.models import Account, AccountType
from ledger.money.rates import rate_table
from planning.expecting import plans
from planning.models import PlannedTransaction
from planning.pages import outlook
from planning.pages.plans import visible_accounts

MOST_AHEAD = 24  # months; farther, hundreds of rules come to more days than anybody reads


@dataclass(frozen=True, slots=True)
class Month:
    """What a month brings and takes in the base currency, both ≥ 0."""

    month: date
    inflow: Decimal
    outflow: Decimal

    @property
    def net(self) -> Decimal:
        return self.inflow - self.outflow


@company_page(reads=Permission.PLANNING_READ)
def coming(visit: Visit) -> HttpResponse:
    """What is overdue, what comes up to the last day of the period, and what that adds up to."""
    period = period_asked(visit)
    end = period.last
    found = outlook.Outlook()
    months, warnings, missing = list[Month](), list[Notice](), ""
    try:
        found = outlook.outlook_of_company(visit, end=end, accounts=visible_accounts(visit))
        if visit.may(Permission.BALANCES_READ):
            months, warnings = forecast_months(visit, end=end, rates=rate_table())
    except MissingRate as error:
        missing = error.currency
    return visit.show(
        "planning/planned.html",
        tab="planned",
        late=found.late,
        more_late=found.more_late,
        coming=found.coming,
        more=found.more,
        done=found.done,
        end=end,
        period=period,
        months=months,
        under_way=first_of_month(visit.today),
        missing=missing,
        notices=warnings,
        any=bool(found.late or found.coming or found.done) or PlannedTransaction.objects.of(visit.company.id).exists(),
        writes=visit.may(Permission.PLANNING_WRITE),
        sees_transactions=visit.may(Permission.TRANSACTIONS_READ),
    )


def period_asked(visit: Visit) -> Period:
    """Of the address, as far as it lies ahead; else a month back and to the end of the month three months on."""
    today, given = visit.today, visit.request.GET
    _start, end = outlook.window(today)
    usual = Period(add_months(today, -1), end, today, None)
    if not any(given.get(name) for name in ("startDate", "endDate", "months", "comparison")):
        return usual
    asked = period_of(ahead_of(given, today=today, end=end), today=today, compares=False)
    if not any(given.get(name) for name in ("startDate", "endDate", "months")):
        return replace(usual, mended=asked.mended)
    if asked.last < today:
        said = _("What is planned lies ahead: a period ends today at the earliest. The usual one is shown.")
        return replace(usual, mended=(*asked.mended, said))
    if asked.last > add_months(today, MOST_AHEAD):
        said = _("The plan is shown for {count} years at most. The usual period is shown.")
        return replace(usual, mended=(*asked.mended, said.format(count=MOST_AHEAD // 12)))
    return asked


def ahead_of(given: QueryDict, *, today: date, end: date) -> dict[str, str]:
    """The same as far as it can be meant of what is to come: that is shown from today on whatever its start, and to the
    usual end where only a start is given."""
    found = {name: given.get(name, "") for name in given}
    if found.get("startDate") and not found.get("endDate"):
        found["endDate"] = end.isoformat()
    with suppress(ValueError):
        found["startDate"] = min(date.fromisoformat(found.get("startDate", "")), today).isoformat()
    return found


def forecast_months(visit: Visit, *, end: date, rates: RateTable) -> tuple[list[Month], list[Notice]]:
    """Return what is planned from the month under way on, and a warning for each account that goes below zero.

    On the accounts that count as cash and on none, as the line of the cash has it.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    company, today, base = visit.company, visit.today, visit.company.base_currency
    accounts = list(Account.objects.of(company.id).in_order())
    cash = [account for account in accounts if account.include_in_cash_balance]
    others = {account.id for account in accounts if not account.include_in_cash_balance}
    booked = moves(company=company, start=today + ONE_DAY, end=end)
    transit = {account.id for account in accounts if account.type == AccountType.TRANSIT}
    known = plans(company=company, cutover=today, end=end, today=today, rates=rates, left_out=transit)
    planned = forecast(
        company=company,
        start=first_of_month(today),
        end=end,
        cutover=today,
        today=today,
        interval="month",
        rates=rates,
        booked=flows_in(booked, left_out=others, base=base, rates=rates),
        known=known,
        accounts={None, *(account.id for account in cash)},
    ).planned
    forecasts = forecast_accounts(
        cash,
        held=balances_on(company_id=company.id, day=today),
        booked=booked,
        found=known,
        start=today,
        end=end,
        cutover=today,
        today=today,
        rates=rates,
    )
    months = [Month(*point) for point in zip(planned.points, planned.inflow, planned.outflow, strict=True)]
    opens = visit.may(Permission.ACCOUNTS_READ)
    return months, overdraft_notices(company, cash, forecasts, opens=opens)
