"""The page of the cash plan: what is late, what comes next, and what the months add up to by the forecast."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.http import HttpResponse

from analytics.queries.cash_flow import forecast
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.calc.fx import MissingRate, RateTable
from ledger.calc.months import first_of_month
from ledger.money.rates import rate_table
from planning.models import PlannedTransaction
from planning.pages import outlook
from planning.pages.plans import visible_accounts


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
    """What is overdue, what comes in the next months, and what that adds up to."""
    _, end = outlook.window(visit.today)
    found = outlook.coming_of_company(visit, end=end, accounts=visible_accounts(visit))
    ahead = [each for each in found if each.is_ahead(visit.today)]
    months, missing = (
        told_months(visit, end=end, rates=rate_table()) if visit.may(Permission.BALANCES_READ) else ([], "")
    )
    return visit.show(
        "planning/planned.html",
        tab="planned",
        late=[each for each in found if each.state == "overdue"][: outlook.MOST_SHOWN],
        coming=ahead[: outlook.MOST_SHOWN],
        more=max(len(ahead) - outlook.MOST_SHOWN, 0),
        done=[each for each in found if each.is_behind(visit.today)][-outlook.MOST_SHOWN :],
        end=end,
        months=months,
        under_way=first_of_month(visit.today),
        missing=missing,
        any=bool(found) or PlannedTransaction.objects.of(visit.company.id).exists(),
        writes=visit.may(Permission.PLANNING_WRITE),
        sees_transactions=visit.may(Permission.TRANSACTIONS_READ),
    )


def told_months(visit: Visit, *, end: date, rates: RateTable) -> tuple[list[Month], str]:
    """What is planned from the month under way on, as ``forecastCashFlowTimeSeries`` answers it; or the currency that
    has no rate."""
    company, today = visit.company, visit.today
    start = first_of_month(today)
    try:
        planned = forecast(
            company=company, start=start, end=end, cutover=today, today=today, interval="month", rates=rates
        ).planned
    except MissingRate as missing:
        return [], missing.currency
    return [Month(*point) for point in zip(planned.points, planned.inflow, planned.outflow, strict=True)], ""
