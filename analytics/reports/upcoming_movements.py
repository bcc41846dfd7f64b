"""The page of upcoming movements: each booked or expected one after today, as the forecast counts it."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext as _

from analytics.queries.cash_flow import ONE_DAY
from analytics.query_window import MAX_WINDOW_YEARS
from analytics.report_period import parse_period_day
from analytics.reports.notices import build_rate_notice
from companies.models import Company
from companies.pages.context import CompanyPage, company_page
from companies.permissions import Permission
from ledger.calc.months import add_months
from ledger.models import Account, AccountType, Transaction
from ledger.money.calc.fx import RateLookupError, RateTable, convert_currency
from ledger.money.calc.money import MONEY_CONTEXT, round_half_up
from ledger.money.rates import get_rate_table
from planning.calc.recurrence import OVERDUE_PERIOD
from planning.forecast.queries import find_transit_account_ids, iter_open_flows
from planning.models import PlannedTransaction

VISIBLE_COUNT, MAX_SHOWN = 20, 500
ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class UpcomingMovement:
    """A movement on the day on which the forecast counts it; `due` is the original day of an overdue one.

    Either `planned_id` or `transaction_id` is set.
    """

    day: date
    amount: Decimal
    currency: str
    account_id: UUID | None
    planned_id: UUID | None = None
    transaction_id: UUID | None = None
    text: str = ""
    due: date | None = None
    is_transfer: bool = False
    is_planned_transfer: bool = False  # a transfer that was planned as one


@company_page(reads=Permission.BALANCES_READ)
def show_upcoming_movements(page: CompanyPage) -> HttpResponse:
    """List movements on cash accounts, or with `accounts=all` on all but transit accounts."""
    start, end, notice = parse_upcoming_window(page)
    is_all_accounts = page.request.GET.get("accounts") == "all"
    rows = list(Account.objects.for_company(page.company.id).in_display_order())
    accounts = {
        row.id for row in rows if (row.type != AccountType.TRANSIT if is_all_accounts else row.include_in_cash_balance)
    }
    movements_found: list[UpcomingMovement] = []
    sums, notices, rates = (ZERO, ZERO), [], get_rate_table()
    try:
        movements_found = list_upcoming_movements(
            page.company,
            start=start,
            end=end,
            today=page.today,
            accounts=accounts,
            only_flows=is_all_accounts,
            rates=rates,
        )
        sums = sum_upcoming_movements(movements_found, company=page.company, today=page.today, rates=rates)
    except RateLookupError as error:
        notices = [build_rate_notice(page.company, error, can_list=page.has_permission(Permission.TRANSACTIONS_READ))]
    return page.render(
        "analytics/upcoming_movements.html",
        start=start,
        end=end,
        wrong=notice,
        everywhere=is_all_accounts,
        notices=notices,
        movements=movements_found[:VISIBLE_COUNT],
        folded=movements_found[VISIBLE_COUNT:MAX_SHOWN],
        more=max(len(movements_found) - MAX_SHOWN, 0),
        currencies={movement.currency for movement in movements_found},
        names={row.id: row.name for row in rows} if page.has_permission(Permission.ACCOUNTS_READ) else {},
        plans=list_planned_names(page, movements_found),
        inflow=sums[0],
        outflow=sums[1],
        net=sums[0] - sums[1],
    )


def parse_upcoming_window(page: CompanyPage) -> tuple[date, date, str]:
    """Return (first day, last day, error message) of the request; the days are after today."""
    tomorrow, query = page.today + ONE_DAY, page.request.GET
    try:
        start = max(parse_period_day(query.get("startDate", ""), default=tomorrow), tomorrow)
        end = parse_period_day(query.get("endDate", ""), default=start)
        if not start <= end <= add_months(tomorrow, 12 * MAX_WINDOW_YEARS):
            raise ValueError(_("The period must be in the future."))
    except ValueError as error:
        return tomorrow, tomorrow, " ".join((str(error), _("Showing tomorrow.")))
    return start, end, ""


def list_upcoming_movements(
    company: Company,
    *,
    start: date,
    end: date,
    today: date,
    accounts: Collection[UUID],
    only_flows: bool,
    rates: RateTable,
) -> list[UpcomingMovement]:
    """List movements by day; what is expected on transit accounts is left out, as in the forecast.

    Args:
        only_flows: leave out transfers and initial balances.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    tomorrow, counted_accounts = today + ONE_DAY, {*accounts} - find_transit_account_ids(company)
    first = today - OVERDUE_PERIOD if start == tomorrow else start
    upcoming = []
    for flow in iter_open_flows(company, first, end, today=today, rates=rates):
        if flow.is_transfer and only_flows:
            continue
        if flow.account_id is None or flow.account_id in counted_accounts:
            day, due = max(flow.date, tomorrow), flow.date if flow.date < today else None
            upcoming.append(
                UpcomingMovement(
                    day,
                    flow.amount,
                    flow.currency,
                    flow.account_id,
                    flow.planned_id,
                    due=due,
                    is_transfer=flow.is_transfer,
                    is_planned_transfer=flow.is_planned_transfer,
                )
            )
    transactions = (
        Transaction.objects.for_company(company.id).booked().filter(date__range=(start, end), account__in=accounts)
    )
    for row in transactions.without_initial_balances() if only_flows else transactions:
        amount = row.amount_value - row.transferred_value if only_flows else row.amount_value
        if amount:
            text = row.from_to or row.description
            upcoming.append(UpcomingMovement(row.date, amount, row.amount_currency, row.account_id, None, row.id, text))
    return sorted(upcoming, key=lambda each: (each.day, each.amount))


def sum_upcoming_movements(
    movements: Collection[UpcomingMovement], *, company: Company, today: date, rates: RateTable
) -> tuple[Decimal, Decimal]:
    """Return (in, out) in the base currency, both ≥ 0, at the latest rates.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    base, sums = company.base_currency, [ZERO, ZERO]
    for movement in movements:
        converted_amount = convert_currency(
            movement.amount, source=movement.currency, target=base, day=min(movement.day, today), rates=rates
        )
        sums[converted_amount < 0] = MONEY_CONTEXT.add(sums[converted_amount < 0], abs(converted_amount))
    return round_half_up(sums[0], base), round_half_up(sums[1], base)


def list_planned_names(page: CompanyPage, movements: Collection[UpcomingMovement]) -> dict[UUID, str]:
    """Return the names of planned transactions by id; empty without the permission to read them."""
    if not page.has_permission(Permission.PLANNING_READ):
        return {}
    planned_ids = {each.planned_id for each in movements if each.planned_id}
    return dict(
        PlannedTransaction.objects.for_company(page.company.id).filter(id__in=planned_ids).values_list("id", "name")
    )
