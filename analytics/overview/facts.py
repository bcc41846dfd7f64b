"""What the charts of one company and period are drawn from: the answers of the data queries, each fact read once."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple
from uuid import UUID

from analytics.calc.mrr import MonthlyRow
from analytics.calc.series import Interval
from analytics.period import ONE_DAY, Period
from analytics.queries import balances, cash_flow, daily, recurring, results
from analytics.queries.balance_forecast import (
    AccountForecast,
    BalanceForecast,
    Ground,
    forecast_accounts,
    forecast_from,
    held_by,
)
from analytics.queries.cash_flow import Flows
from analytics.queries.daily import Moves
from analytics.queries.open_transactions import OpenTransactions, open_transactions
from analytics.queries.results import Posted
from analytics.queries.retention import measure_span
from analytics.queries.runway import Runway, compute_runway
from companies.models import Company
from ledger.accounts.balances import ByCurrency, balances_on
from ledger.calc.fx import RateTable, convert
from ledger.calc.money import round_half_up
from ledger.calc.months import add_months, first_of_month, last_of_month, months_from
from ledger.models import Account, AccountType, Transaction
from ledger.money.rates import rate_table
from planning.expecting import Expected, expected, overdue, plans
from planning.forecasting import Plans

ZERO = Decimal(0)


class InitialBalance(NamedTuple):
    """What an account was opened with, and when; base currency."""

    account_id: UUID
    day: date
    value: Decimal


@dataclass
class Facts:
    """Of a period. Every fact raises MissingRate where a currency has none.

    ``opens_accounts``, ``lists`` and ``writes_plan`` say whether the viewer may go on to the accounts' own pages, to
    transactions, and to the plan to fill it in.
    """

    company: Company
    period: Period
    rates_version: int | None = None
    opens_accounts: bool = False
    lists: bool = False
    writes_plan: bool = False

    @property
    def currency(self) -> str:
        return self.company.base_currency

    @property
    def today(self) -> date:
        return self.period.today

    @property
    def until(self) -> date:
        """The last day of which something is known."""
        return self.period.until

    @property
    def start(self) -> date:
        """The first day whose balance is shown."""
        return self.period.first

    @property
    def eve(self) -> date:
        """The day at whose end the period begins: what changed since is what moved in it."""
        return self.start - ONE_DAY

    @property
    def month(self) -> date:
        """The last one of which something is known: the one under way, where the period reaches it."""
        return first_of_month(self.until)

    @property
    def calendar(self) -> list[date]:
        """The first days of the months up to that one."""
        return self.period.calendar

    @property
    def interval(self) -> Interval:
        """How far the points of a line are apart."""
        return self.period.interval

    @cached_property
    def rates(self) -> RateTable:
        return rate_table(self.rates_version)

    # ------------------------------------------------------------------------------------------ balances

    @cached_property
    def account_rows(self) -> list[Account]:
        return list(Account.objects.of(self.company.id).in_order())

    @cached_property
    def cash_ids(self) -> set[UUID]:
        return {row.id for row in self.account_rows if row.include_in_cash_balance}

    @cached_property
    def transit_ids(self) -> set[UUID]:
        return {row.id for row in self.account_rows if row.type == AccountType.TRANSIT}

    @cached_property
    def held_then(self) -> Mapping[UUID, ByCurrency]:
        """What the accounts held before the first day."""
        return balances_on(company_id=self.company.id, day=self.eve)

    @cached_property
    def held_now(self) -> Mapping[UUID, ByCurrency]:
        """What they hold at the end of the last day that is known."""
        return balances_on(company_id=self.company.id, day=self.until)

    @cached_property
    def moves(self) -> Moves:
        """What moved on the accounts in the period, and before it in what it is compared with."""
        first, _ = self.period.compared or (self.period.first, self.period.last)
        return daily.moves(company=self.company, start=min(first, self.period.first), end=self.period.last)

    @property
    def points(self) -> list[balances.Point]:
        """Cash and other balances at the end of each day that is known."""
        return self.levels[1:]

    @cached_property
    def levels(self) -> list[balances.Point]:
        """The same, and first those with which the period opens."""
        return balances.by_day(
            self.held_then,
            self.moves,
            cash=self.cash_ids,
            start=self.eve,
            end=self.until,
            base=self.currency,
            rates=self.rates,
        )

    @cached_property
    def first_days(self) -> dict[bool, date | None]:
        """The first day of the period on which something is known of the accounts that count as cash (True), and of the
        others (False); None where nothing is."""
        days: dict[bool, list[date]] = {True: [], False: []}
        for account_id in self.held_then:  # what moved before the period
            days[account_id in self.cash_ids].append(self.start)
        if not all(days.values()):
            for account, day, _, _, _, _ in self.moves:
                if self.start <= day <= self.until:
                    days[UUID(account) in self.cash_ids].append(day)
        return {is_cash: min(found, default=None) for is_cash, found in days.items()}

    @cached_property
    def initial_balances(self) -> list[InitialBalance]:
        """The balances with which accounts were opened on days of the period, in the base currency."""
        rows = Transaction.objects.of(self.company.id).initial().filter(date__range=(self.start, self.until))
        found = rows.values_list("account_id", "date", "amount_currency", "amount_value")
        return [
            InitialBalance(
                account_id,
                day,
                convert(amount, source=currency, target=self.currency, day=day, rates=self.rates),
            )
            for account_id, day, currency, amount in found
        ]

    def cash_opened_after(self, day: date) -> Decimal:
        """The initial balances of accounts that count as cash from the day after a day on."""
        found = (each.value for each in self.initial_balances if each.account_id in self.cash_ids and each.day > day)
        return round_half_up(sum(found, start=ZERO), self.currency)

    @cached_property
    def accounts(self) -> list[balances.AccountBalance]:
        """Every account, at the end of the last day and before the first, or as it was opened after that; archived ones
        while they held anything."""
        now, then = (self.until, self.held_now), (self.eve, self.held_then)
        found = balances.changed(self.account_rows, company=self.company, now=now, then=then, rates=self.rates)
        opened = {each.account_id: round_half_up(each.value, self.currency) for each in self.initial_balances}
        found = [replace(each, previous=each.previous + opened.get(each.account_id, ZERO)) for each in found]
        pairs = zip(self.account_rows, found, strict=True)
        return [each for row, each in pairs if each.value or each.previous or not row.archived]

    @cached_property
    def runway(self) -> Runway:
        """How long the cash of today lasts, whatever the period."""
        cash = self.levels[-1].cash
        if self.until < self.today:
            cash = balances.cash_on(company=self.company, day=self.today, rates=self.rates)
        return compute_runway(company=self.company, cash=cash, today=self.today, rates=self.rates)

    # ------------------------------------------------------------------------------------------ flows and what comes

    @cached_property
    def plans(self) -> Plans:
        """All that can be expected in the period."""
        if self.period.last < self.today:
            return [], []
        last, today = self.period.last, self.today
        return plans(
            company=self.company, cutover=today, end=last, today=today, rates=self.rates, left_out=self.transit_ids
        )

    @cached_property
    def overdue(self) -> tuple[int, Decimal]:
        """How many planned payments are overdue and what they come to, on whatever account: those of the cash plan."""
        found, base = overdue(self.plans, today=self.today), self.currency
        worth = [
            convert(amount, source=currency, target=base, day=self.today, rates=self.rates)
            for currency, amount in found.overdue.items()
        ]
        return found.overdue_count, round_half_up(sum(worth, start=ZERO), base)

    @cached_property
    def ahead(self) -> BalanceForecast:
        """Where the cash goes, from today to the last day of the period."""
        last, today = self.period.last, self.today
        wanted: set[UUID | None] = {*self.cash_ids, None}
        coming = Expected(cutover=self.until, today=today)
        if last >= today:
            coming = expected(self.plans, cutover=today, end=last, today=today, accounts=wanted)
        cash, until = {*map(str, self.cash_ids)}, self.until
        return forecast_from(
            Ground(
                balances={point.day: point.cash for point in self.points},
                held=held_by(self.cash_ids, self.held_now),
                booked=[
                    (day, currency, amount, inflow or ZERO, outflow or ZERO)
                    for account, day, currency, amount, inflow, outflow in self.moves
                    if day > until and account in cash
                ],
                coming=coming,
            ),
            company=self.company,
            start=self.start,
            end=last,
            cutover=self.until,
            today=today,
            interval=self.interval,
            rates=self.rates,
        )

    @cached_property
    def account_forecasts(self) -> list[AccountForecast]:
        """The same of each account that counts as cash, in its own currency."""
        return forecast_accounts(
            [row for row in self.account_rows if row.id in self.cash_ids],
            held=self.held_now,
            booked=self.moves,
            found=self.plans,
            start=self.start,
            end=self.period.last,
            cutover=self.until,
            today=self.today,
            rates=self.rates,
        )

    @cached_property
    def booked(self) -> Flows:
        """Booked flows of the period, and before it of what it is compared with."""
        return cash_flow.flows_in(self.moves, left_out=self.transit_ids, base=self.currency, rates=self.rates)

    @cached_property
    def flows(self) -> cash_flow.Forecast:
        """Actual flows of the past months and planned ones of the next, by month."""
        return cash_flow.forecast(
            company=self.company,
            start=self.period.first,
            end=self.period.last,
            cutover=self.today,
            today=self.today,
            interval="month",
            rates=self.rates,
            booked=self.booked,
            known=self.plans,
        )

    def flow_of(self, first: date, last: date) -> tuple[Decimal, Decimal]:
        """What came in and went out on the days of a window: the months' sums together."""
        found = cash_flow.series(self.booked, start=first, end=last, interval="month", base=self.currency)
        return sum(found.inflow, Decimal(0)), sum(found.outflow, Decimal(0))

    @cached_property
    def cash_before(self) -> Decimal:
        """The cash at the end of what the period is compared with."""
        _, last = self.period.compared or (self.start, self.start)
        return balances.cash_on(company=self.company, day=last, rates=self.rates)

    # ------------------------------------------------------------------------------------------ results

    @cached_property
    def posted(self) -> Posted:
        """Of all the months that are asked for, and of those compared with."""
        first = min(add_months(self.calendar[0], -self.period.back), self.month.replace(month=1))
        return results.posted(company=self.company, months=months_from(first, self.month))

    @cached_property
    def bars(self) -> list[dict[str, Decimal]]:
        return results.bars_of(self.posted, months=self.calendar, base=self.currency)

    @property
    def bars_before(self) -> list[dict[str, Decimal]]:
        """Of the months that the period's are compared with."""
        months = [add_months(month, -self.period.back) for month in self.calendar]
        return results.bars_of(self.posted, months=months, base=self.currency)

    @cached_property
    def year(self) -> Mapping[tuple[date, str], tuple[Decimal, Decimal]]:
        """Profit and loss beside its plan, from January to the last month that is known."""
        months = months_from(self.month.replace(month=1), self.month)
        return results.sum_against_plan(company=self.company, months=months, rates=self.rates, known=self.posted)

    @cached_property
    def missing(self) -> OpenTransactions:
        """What revenue and expenses of the months, all of them whole, do not know of yet."""
        first, last = self.calendar[0], self.last_counted
        return open_transactions(company=self.company, start=first, end=last, rates=self.rates)

    @property
    def last_counted(self) -> date:
        """The last day whose revenue and expenses are in the bars."""
        return last_of_month(self.calendar[-1])

    # ------------------------------------------------------------------------------------------ recurring revenue

    @cached_property
    def bridge(self) -> MonthlyRow:
        """The same months as one, in which each customer counts once."""
        months = self.calendar
        return measure_span(
            company=self.company, first=months[0], last=months[-1], rates=self.rates, basis=recurring.CMRR
        ).row

    @cached_property
    def mrr(self) -> Decimal:
        """Recurring revenue in effect at the end of the last month."""
        rows = recurring.monthly_data(company=self.company, mrr_type="mrr", first=self.month, last=self.month)
        return rows[-1].end

    @cached_property
    def recurring(self) -> list[MonthlyRow]:
        """How committed recurring revenue moved, month by month."""
        return recurring.monthly_data(
            company=self.company, mrr_type="cmrr", first=self.calendar[0], last=self.calendar[-1]
        )
