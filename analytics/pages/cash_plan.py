"""The page of the cash plan: what is late, what comes next, and what the months bring to the cash by the forecast."""

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from django.http import HttpResponse, QueryDict
from django.utils.translation import gettext as _

from analytics.period import Period, period_of
from analytics.queries.cash_flow import ONE_DAY, flows_in, forecast
from analytics.queries.daily import moves
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.calc.fx import MissingRate, RateTable
from ledger.calc.months import add_months, first_of_month
from ledger.models import Account
from ledger.money.rates import rate_table
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
    found = outlook.outlook_of_company(visit, end=end, accounts=visible_accounts(visit))
    months, missing = (
        told_months(visit, end=end, rates=rate_table()) if visit.may(Permission.BALANCES_READ) else ([], "")
    )
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


def told_months(visit: Visit, *, end: date, rates: RateTable) -> tuple[list[Month], str]:
    """What is planned from the month under way on, on the accounts that count as cash and on none, as the line of the
    cash has it; or the currency that has no rate."""
    company, today, base = visit.company, visit.today, visit.company.base_currency
    cash = dict(Account.objects.of(company.id).values_list("id", "include_in_cash_balance"))
    others = {account for account, is_cash in cash.items() if not is_cash}
    try:
        booked = flows_in(
            moves(company=company, start=today + ONE_DAY, end=end), left_out=others, base=base, rates=rates
        )
        planned = forecast(
            company=company,
            start=first_of_month(today),
            end=end,
            cutover=today,
            today=today,
            interval="month",
            rates=rates,
            booked=booked,
            accounts={*cash, None} - others,
        ).planned
    except MissingRate as missing:
        return [], missing.currency
    return [Month(*point) for point in zip(planned.points, planned.inflow, planned.outflow, strict=True)], ""
