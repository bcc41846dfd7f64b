"""What makes up the days ahead: each movement that is booked or expected, as the forecast counts it."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext as _

from analytics.overview.notices import rate_notice
from analytics.period import day_of
from analytics.queries.cash_flow import ONE_DAY
from analytics.windows import MOST_YEARS
from companies.models import Company
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.calc.fx import MissingRate, RateTable, convert
from ledger.calc.money import WIDE, round_half_up
from ledger.calc.months import add_months
from ledger.models import Account, AccountType, Transaction
from ledger.money.rates import rate_table
from planning.calc.recurrence import OVERDUE
from planning.forecasting import open_flows, transit_accounts
from planning.models import PlannedTransaction

AT_ONCE, MOST_SHOWN = 20, 500
ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class Movement:
    """On the day on which the forecast counts it; ``due`` is the day on which an overdue one was. One of the ids."""

    day: date
    amount: Decimal
    currency: str
    account_id: UUID | None
    planned_id: UUID | None = None
    transaction_id: UUID | None = None
    text: str = ""
    due: date | None = None


@company_page(reads=Permission.BALANCES_READ)
def coming(visit: Visit) -> HttpResponse:
    """On the accounts that count as cash, or with ``accounts=all`` on all but transit ones."""
    start, end, wrong = window(visit)
    everywhere = visit.request.GET.get("accounts") == "all"
    rows = list(Account.objects.of(visit.company.id).in_order())
    accounts = {
        row.id for row in rows if (row.type != AccountType.TRANSIT if everywhere else row.include_in_cash_balance)
    }
    found: list[Movement] = []
    sums, notices, rates = (ZERO, ZERO), [], rate_table()
    try:
        found = movements(
            visit.company, start=start, end=end, today=visit.today, accounts=accounts, flows=everywhere, rates=rates
        )
        sums = added_up(found, company=visit.company, today=visit.today, rates=rates)
    except MissingRate as missing:
        notices = [rate_notice(visit.company, missing, lists=visit.may(Permission.TRANSACTIONS_READ))]
    return visit.show(
        "analytics/ahead.html",
        start=start,
        end=end,
        wrong=wrong,
        everywhere=everywhere,
        notices=notices,
        movements=found[:AT_ONCE],
        folded=found[AT_ONCE:MOST_SHOWN],
        more=max(len(found) - MOST_SHOWN, 0),
        names={row.id: row.name for row in rows} if visit.may(Permission.ACCOUNTS_READ) else {},
        plans=planned_names(visit, found),
        inflow=sums[0],
        outflow=sums[1],
        net=sums[0] - sums[1],
    )


def window(visit: Visit) -> tuple[date, date, str]:
    """(first day, last day, what was wrong with what was asked for); the days are after today."""
    tomorrow, given = visit.today + ONE_DAY, visit.request.GET
    try:
        start = max(day_of(given.get("startDate", ""), otherwise=tomorrow), tomorrow)
        end = day_of(given.get("endDate", ""), otherwise=start)
        if not start <= end <= add_months(tomorrow, 12 * MOST_YEARS):
            raise ValueError(_("These days do not lie ahead."))
    except ValueError as wrong:
        return tomorrow, tomorrow, " ".join((str(wrong), _("Tomorrow is shown.")))
    return start, end, ""


def movements(
    company: Company,
    *,
    start: date,
    end: date,
    today: date,
    accounts: Collection[UUID],
    flows: bool,
    rates: RateTable,
) -> list[Movement]:
    """By day. Transfers and initial balances move the cash of an account, but are no ``flows``; what is expected on
    transit accounts is left out, as the forecast leaves it out. Raises MissingRate."""
    tomorrow, counted = today + ONE_DAY, {*accounts} - transit_accounts(company)
    first = today - OVERDUE if start == tomorrow else start
    found = []
    for flow in open_flows(company, first, end, today=today, rates=rates):
        if flow.account_id is None or flow.account_id in counted:
            day, due = max(flow.date, tomorrow), flow.date if flow.date < today else None
            found.append(Movement(day, flow.amount, flow.currency, flow.account_id, flow.planned_id, due=due))
    booked = Transaction.objects.of(company.id).booked().filter(date__range=(start, end), account__in=accounts)
    for row in booked.without_initial() if flows else booked:
        amount = row.amount_value - row.transferred_value if flows else row.amount_value
        if amount:
            text = row.from_to or row.description
            found.append(Movement(row.date, amount, row.amount_currency, row.account_id, None, row.id, text))
    return sorted(found, key=lambda each: (each.day, each.amount))


def added_up(
    found: Collection[Movement], *, company: Company, today: date, rates: RateTable
) -> tuple[Decimal, Decimal]:
    """(in, out) in the base currency, both ≥ 0, at the latest rates. Raises MissingRate."""
    base, sums = company.base_currency, [ZERO, ZERO]
    for each in found:
        worth = convert(each.amount, source=each.currency, target=base, day=min(each.day, today), rates=rates)
        sums[worth < 0] = WIDE.add(sums[worth < 0], abs(worth))
    return round_half_up(sums[0], base), round_half_up(sums[1], base)


def planned_names(visit: Visit, found: Collection[Movement]) -> dict[UUID, str]:
    """What the planned ones are called, where the viewer may see them."""
    if not visit.may(Permission.PLANNING_READ):
        return {}
    wanted = {each.planned_id for each in found if each.planned_id}
    return dict(PlannedTransaction.objects.of(visit.company.id).filter(id__in=wanted).values_list("id", "name"))
