"""The data of a company's charts in one period: results of the queries, each computed once."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple
from uuid import UUID

from analytics.calc.mrr import MonthlyRow
from analytics.calc.time_series import Interval
from analytics.charts.links import FigureLinks, MovementLinks
from analytics.queries import balances, cash_flow, daily_movements, profit_and_loss, recurring_revenue
from analytics.queries.balance_forecast import (
    AccountForecast,
    BalanceForecast,
    ForecastBasis,
    forecast_accounts,
    project_from_basis,
    sum_held_by_currency,
)
from analytics.queries.cash_flow import Flows
from analytics.queries.daily_movements import DailyMovements
from analytics.queries.open_transactions import OpenTransactions, sum_open_transactions
from analytics.queries.posted_results import PostedResults, list_posted_results
from analytics.queries.recurring_revenue_summary import measure_span
from analytics.queries.runway import Runway, compute_runway
from analytics.report_period import ONE_DAY, ReportPeriod
from companies.models import Company
from ledger.accounts.queries import AmountsByCurrency, sum_account_balances
from ledger.calc.months import add_months, get_first_day_of_month, get_last_day_of_month, list_months
from ledger.models import Account, AccountType, Transaction
from ledger.money.calc.fx import RateTable, convert_currency
from ledger.money.calc.money import round_half_up
from ledger.money.rates import get_rate_table
from planning.forecast.expected_cash import (
    ExpectedCash,
    find_expectations_after_cutover,
    sum_expected_cash,
    sum_overdue_cash,
)
from planning.forecast.queries import Expectations

ZERO = Decimal(0)


class AccountInitialBalance(NamedTuple):
    """The initial balance of an account and its day; base currency."""

    account_id: UUID
    day: date
    value: Decimal


@dataclass
class ChartData:
    """The data of a period. Every property raises MissingRate if a currency has no exchange rate.

    `can_open_accounts`, `can_list_transactions` and `can_write_plan` are permissions of the user.
    """

    company: Company
    period: ReportPeriod
    can_open_accounts: bool = False
    can_list_transactions: bool = False
    can_write_plan: bool = False

    @property
    def currency(self) -> str:
        return self.company.base_currency

    @property
    def today(self) -> date:
        return self.period.today

    @property
    def until(self) -> date:
        """The last day with actual data."""
        return self.period.until

    @property
    def start(self) -> date:
        """The first day shown."""
        return self.period.first

    @property
    def day_before(self) -> date:
        """The day before the first one: changes since its end are those of the period."""
        return self.start - ONE_DAY

    @property
    def month(self) -> date:
        """The last month with actual data."""
        return get_first_day_of_month(self.until)

    @property
    def calendar(self) -> list[date]:
        """The first days of the months up to that one."""
        return self.period.calendar

    @property
    def interval(self) -> Interval:
        """The distance of points on a line."""
        return self.period.interval

    @cached_property
    def links(self) -> FigureLinks:
        return FigureLinks(
            self.company.id,
            self.period,
            can_list_transactions=self.can_list_transactions,
            can_write_plan=self.can_write_plan,
        )

    @cached_property
    def rates(self) -> RateTable:
        return get_rate_table()

    # ------------------------------------------------------------------------------------------ balances

    @cached_property
    def account_rows(self) -> list[Account]:
        return list(Account.objects.for_company(self.company.id).in_display_order())

    @cached_property
    def cash_ids(self) -> set[UUID]:
        return {row.id for row in self.account_rows if row.include_in_cash_balance}

    @cached_property
    def transit_ids(self) -> set[UUID]:
        return {row.id for row in self.account_rows if row.type == AccountType.TRANSIT}

    @cached_property
    def balances_before(self) -> Mapping[UUID, AmountsByCurrency]:
        """What the accounts held before the first day."""
        return sum_account_balances(company_id=self.company.id, day=self.day_before)

    @cached_property
    def balances_at_end(self) -> Mapping[UUID, AmountsByCurrency]:
        """What the accounts hold at the end of the last day with actual data."""
        return sum_account_balances(company_id=self.company.id, day=self.until)

    @cached_property
    def daily_movements(self) -> DailyMovements:
        """Daily movements of the accounts in the period and in the compared one."""
        first, _ = self.period.compared or (self.period.first, self.period.last)
        return daily_movements.list_daily_movements(
            company=self.company, start=min(first, self.period.first), end=self.period.last
        )

    @property
    def points(self) -> list[balances.BalancePoint]:
        """Cash and other balances at the end of each day with actual data."""
        return self.points_with_opening[1:]

    @cached_property
    def points_with_opening(self) -> list[balances.BalancePoint]:
        """The same, preceded by the opening balances."""
        return balances.compute_daily_balances(
            self.balances_before,
            self.daily_movements,
            cash=self.cash_ids,
            start=self.day_before,
            end=self.until,
            base=self.currency,
            rates=self.rates,
        )

    @cached_property
    def first_balance_days(self) -> dict[bool, date | None]:
        """The first day of the period with a balance, for cash accounts (True) and others (False), or None."""
        days: dict[bool, list[date]] = {True: [], False: []}
        for account_id in self.balances_before:  # accounts with bookings before the period
            days[account_id in self.cash_ids].append(self.start)
        if not all(days.values()):
            for account, day, _, _, _, _ in self.daily_movements:
                if self.start <= day <= self.until:
                    days[UUID(account) in self.cash_ids].append(day)
        return {is_cash: min(result, default=None) for is_cash, result in days.items()}

    @cached_property
    def initial_balances(self) -> list[AccountInitialBalance]:
        """Initial balances of accounts on days of the period, in the base currency."""
        rows = (
            Transaction.objects.for_company(self.company.id)
            .initial_balances()
            .filter(date__range=(self.start, self.until))
        )
        values = rows.values_list("account_id", "date", "amount_currency", "amount_value")
        return [
            AccountInitialBalance(
                account_id,
                day,
                convert_currency(amount, source=currency, target=self.currency, day=day, rates=self.rates),
            )
            for account_id, day, currency, amount in values
        ]

    def sum_initial_balances_after(self, day: date) -> Decimal:
        """Sum the initial balances of cash accounts after a day."""
        balances = (each.value for each in self.initial_balances if each.account_id in self.cash_ids and each.day > day)
        return round_half_up(sum(balances, start=ZERO), self.currency)

    @cached_property
    def accounts(self) -> list[balances.AccountBalance]:
        """Each account's balance at the end and before the period, or when opened; archived ones if not zero."""
        end, start = (self.until, self.balances_at_end), (self.day_before, self.balances_before)
        account_balances = balances.compare_balances(
            self.account_rows, company=self.company, current=end, previous=start, rates=self.rates
        )
        initial_amounts = {each.account_id: round_half_up(each.value, self.currency) for each in self.initial_balances}
        account_balances = [
            replace(balance, previous=balance.previous + initial_amounts.get(balance.account_id, ZERO))
            for balance in account_balances
        ]
        pairs = zip(self.account_rows, account_balances, strict=True)
        return [each for row, each in pairs if each.value or each.previous or not row.archived]

    @cached_property
    def runway(self) -> Runway:
        """How long today's cash lasts, whatever the period."""
        cash = self.points_with_opening[-1].cash
        if self.until < self.today:
            cash = balances.compute_cash_at_day(company=self.company, day=self.today, rates=self.rates)
        return compute_runway(company=self.company, cash=cash, today=self.today, rates=self.rates)

    # ------------------------------------------------------------------------------------------ flows and what comes

    @cached_property
    def expectations(self) -> Expectations:
        """Everything expected in the period."""
        if self.period.last < self.today:
            return [], []
        last, today = self.period.last, self.today
        return find_expectations_after_cutover(
            company=self.company,
            cutover=today,
            end=last,
            today=today,
            rates=self.rates,
            excluded_account_ids=self.transit_ids,
        )

    @cached_property
    def overdue_payments(self) -> tuple[int, Decimal]:
        """Number and amount of overdue payments on all accounts, as on the cash plan."""
        overdue_cash, base = sum_overdue_cash(self.expectations, today=self.today), self.currency
        converted_amounts = [
            convert_currency(amount, source=currency, target=base, day=self.today, rates=self.rates)
            for currency, amount in overdue_cash.overdue.items()
        ]
        return overdue_cash.overdue_count, round_half_up(sum(converted_amounts, start=ZERO), base)

    @cached_property
    def balance_forecast(self) -> BalanceForecast:
        """The projected cash from today to the last day of the period."""
        last, today = self.period.last, self.today
        account_ids: set[UUID | None] = {*self.cash_ids, None}
        expected_cash = ExpectedCash(cutover=self.until, today=today)
        if last >= today:
            expected_cash = sum_expected_cash(
                self.expectations, cutover=today, end=last, today=today, accounts=account_ids
            )
        cash_ids, until = {*map(str, self.cash_ids)}, self.until
        return project_from_basis(
            ForecastBasis(
                balances={point.day: point.cash for point in self.points},
                balances_at_cutover=sum_held_by_currency(self.cash_ids, self.balances_at_end),
                movements=[
                    (day, currency, amount, inflow or ZERO, outflow or ZERO)
                    for account, day, currency, amount, inflow, outflow in self.daily_movements
                    if day > until and account in cash_ids
                ],
                expected_cash=expected_cash,
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
        """The forecast of each cash account, in its own currency."""
        return forecast_accounts(
            [row for row in self.account_rows if row.id in self.cash_ids],
            balances=self.balances_at_end,
            movements=self.daily_movements,
            expectations=self.expectations,
            start=self.start,
            end=self.period.last,
            cutover=self.until,
            today=self.today,
            rates=self.rates,
        )

    @cached_property
    def booked_flows(self) -> Flows:
        """Booked flows of the period and of the compared one."""
        return cash_flow.convert_movements_to_flows(
            self.daily_movements, excluded_accounts=self.transit_ids, base=self.currency, rates=self.rates
        )

    @cached_property
    def flows(self) -> cash_flow.FlowForecast:
        """Actual flows of past months and planned ones of the next, by month."""
        return cash_flow.forecast_cash_flow(
            company=self.company,
            start=self.period.first,
            end=self.period.last,
            cutover=self.today,
            today=self.today,
            interval="month",
            rates=self.rates,
            booked=self.booked_flows,
            expectations=self.expectations,
        )

    def sum_flows(self, first: date, last: date) -> tuple[Decimal, Decimal]:
        """Return (in, out) of a window, as the sums of its months."""
        flows = cash_flow.build_flow_series(
            self.booked_flows, start=first, end=last, interval="month", base=self.currency
        )
        return sum(flows.inflow, Decimal(0)), sum(flows.outflow, Decimal(0))

    @cached_property
    def compared_cash(self) -> Decimal:
        """The cash at the end of the compared period."""
        _, last = self.period.compared or (self.start, self.start)
        return balances.compute_cash_at_day(company=self.company, day=last, rates=self.rates)

    # ------------------------------------------------------------------------------------------ results

    @cached_property
    def posted_results(self) -> PostedResults:
        """Posted results of all months needed, compared ones included."""
        first = min(add_months(self.calendar[0], -self.period.months_back), self.month.replace(month=1))
        return list_posted_results(company=self.company, months=list_months(first, self.month))

    @cached_property
    def bars(self) -> list[dict[str, Decimal]]:
        return profit_and_loss.build_bar_amounts(self.posted_results, months=self.calendar, base=self.currency)

    @property
    def compared_bars(self) -> list[dict[str, Decimal]]:
        """The bars of the compared months."""
        months = [add_months(month, -self.period.months_back) for month in self.calendar]
        return profit_and_loss.build_bar_amounts(self.posted_results, months=months, base=self.currency)

    @cached_property
    def results_of_year(self) -> Mapping[tuple[date, str], tuple[Decimal, Decimal]]:
        """(month, line) -> (actual, planned), from January to the last month with actual data."""
        months = list_months(self.month.replace(month=1), self.month)
        return profit_and_loss.sum_against_plan(
            company=self.company, months=months, rates=self.rates, posted_results=self.posted_results
        )

    @cached_property
    def open_transactions(self) -> OpenTransactions:
        """Transactions of these months that are not categorized yet."""
        first, last = self.calendar[0], self.last_counted_day
        return sum_open_transactions(company=self.company, start=first, end=last, rates=self.rates)

    @property
    def last_counted_day(self) -> date:
        """The last day whose revenue and expenses are in the bars."""
        return get_last_day_of_month(self.calendar[-1])

    # ------------------------------------------------------------------------------------------ recurring revenue

    @cached_property
    def movement_links(self) -> MovementLinks:
        return MovementLinks(self.company.id)

    @cached_property
    def bridge(self) -> MonthlyRow:
        """Committed recurring revenue over all months as one row, in which each customer counts once."""
        months = self.calendar
        return measure_span(
            company=self.company, first=months[0], last=months[-1], rates=self.rates, basis=recurring_revenue.CMRR
        ).row

    @cached_property
    def mrr(self) -> Decimal:
        """Recurring revenue in effect at the end of the last month."""
        rows = recurring_revenue.compute_monthly_data(
            company=self.company, mrr_type="mrr", first=self.month, last=self.month
        )
        return rows[-1].end

    @cached_property
    def recurring(self) -> list[MonthlyRow]:
        """Movements of committed recurring revenue by month."""
        return recurring_revenue.compute_monthly_data(
            company=self.company, mrr_type="cmrr", first=self.calendar[0], last=self.calendar[-1]
        )
