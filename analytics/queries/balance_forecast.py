"""The balance forecast: actual balances up to the cutover, and projected ones after it.

Projected is the balance at the cutover with everything booked and expected after it, at each day's rate,
and after today at the latest known rate.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from uuid import UUID

from django.db.models import Sum

from analytics.calc.bridge_rounding import round_bridge_parts
from analytics.calc.time_series import Interval, list_bucket_starts
from analytics.queries.balances import list_balances_by_cash_type
from analytics.queries.daily_movements import DailyMovements, list_daily_movements
from companies.models import Company
from ledger.accounts.queries import AmountsByCurrency, sum_account_balances
from ledger.models import Account, DayMovement
from ledger.money.calc.fx import RateTable, convert_currency
from ledger.money.calc.money import MONEY_CONTEXT, round_half_up
from planning.forecast.expected_cash import (
    ExpectedCash,
    find_expectations_after_cutover,
    group_expectations_by_account,
    sum_expected_cash,
)
from planning.forecast.queries import Expectations
from planning.scenarios.queries import LoadedScenario

ZERO = Decimal(0)
ONE_DAY = timedelta(days=1)
NO_PLANS: Expectations = ([], [])

Point = tuple[date, Decimal]
BookedMovements = list[tuple[date, str, Decimal, Decimal, Decimal]]
"""(day, currency, amount, in, out)"""


@dataclass(frozen=True, slots=True)
class BalanceForecast:
    """Balances at the end of each bucket, under its first day; the cutover's bucket is in both series.

    `lowest` and `below_zero` are days after the cutover within the window. From the balance at the cutover to
    the last projected one: + planned_inflow - planned_outflow - transfers_out + revaluation, exactly. Base
    currency. `has_plans` is whether anything is booked or expected after the cutover. `accounts` is set if
    requested.
    """

    actual: list[Point]
    projected: list[Point]
    lowest: Point | None
    below_zero: Point | None
    overdue_count: int
    overdue_value: Decimal
    planned_inflow: Decimal
    planned_outflow: Decimal
    transfers_out: Decimal
    revaluation: Decimal
    has_plans: bool
    accounts: "list[AccountForecast] | None" = None


@dataclass(frozen=True, slots=True)
class AccountForecast:
    """An account's lowest day after the cutover, and the first day below zero, in its own currency.

    Both are None in a window in which nothing is projected.
    """

    account_id: UUID
    currency: str
    lowest: Point | None
    below_zero: date | None


@dataclass(frozen=True, slots=True)
class ForecastBasis:
    """What a forecast starts from.

    Balances of some accounts by day up to the cutover, what they hold then by currency, and what is booked and
    expected on them after it.
    """

    balances: Mapping[date, Decimal]
    balances_at_cutover: AmountsByCurrency
    movements: BookedMovements
    expected_cash: ExpectedCash


def compute_balance_forecast(
    *,
    company: Company,
    start: date,
    end: date,
    cutover: date,
    today: date,
    interval: Interval,
    rates: RateTable,
    accounts: Collection[UUID] | None = None,
    per_account: bool = False,
    scenario: LoadedScenario | None = None,
) -> BalanceForecast:
    """Compute the forecast of cash accounts, or of the given ones, with the changes of a scenario.

    Nothing is projected in a window that ends in the past. What is expected without an account counts as cash,
    and not on given accounts.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    account_ids = set(
        Account.objects.for_company(company.id).cash().values_list("id", flat=True) if accounts is None else accounts
    )
    if end < today:
        cutover = end
    points = list_balances_by_cash_type(
        company=company, start=min(start, cutover), end=cutover, today=today, rates=rates, accounts=account_ids
    )
    expected_cash, expectations = ExpectedCash(cutover=cutover, today=today), NO_PLANS
    if end >= today:
        expectations = find_expectations_after_cutover(
            company=company, cutover=cutover, end=end, today=today, rates=rates, scenario=scenario
        )
        expected_on: set[UUID | None] = {*account_ids, None} if accounts is None else {*account_ids}
        expected_cash = sum_expected_cash(expectations, cutover=cutover, end=end, today=today, accounts=expected_on)
    balances = sum_account_balances(company_id=company.id, day=cutover)
    basis = ForecastBasis(
        balances={point.day: point.cash for point in points},
        balances_at_cutover=sum_held_by_currency(account_ids, balances),
        movements=list_booked_after(cutover, company=company, end=end, accounts=account_ids),
        expected_cash=expected_cash,
    )
    forecast = project_from_basis(
        basis, company=company, start=start, end=end, cutover=cutover, today=today, interval=interval, rates=rates
    )
    if not per_account:
        return forecast
    forecasts = forecast_accounts(
        Account.objects.for_company(company.id).filter(id__in=account_ids).in_display_order(),
        balances=balances,
        movements=list_daily_movements(company=company, start=cutover + ONE_DAY, end=end) if end > cutover else [],
        expectations=expectations,
        start=start,
        end=end,
        cutover=cutover,
        today=today,
        rates=rates,
    )
    return replace(forecast, accounts=forecasts)


def forecast_accounts(
    accounts: Iterable[Account],
    *,
    balances: Mapping[UUID, AmountsByCurrency],
    movements: DailyMovements,
    expectations: Expectations,
    start: date,
    end: date,
    cutover: date,
    today: date,
    rates: RateTable,
) -> list[AccountForecast]:
    """Return each account's own forecast.

    Args:
        balances: what the accounts hold at the end of the cutover.
        movements: what is booked on accounts after the cutover.
        expectations: what is expected of the company.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    changes: defaultdict[UUID, defaultdict[date, AmountsByCurrency]] = defaultdict(lambda: defaultdict(dict))

    def add_change_of_day(account_id: UUID, day: date, currency: str, amount: Decimal) -> None:
        changes_of_day = changes[account_id][day]
        changes_of_day[currency] = changes_of_day.get(currency, ZERO) + amount

    for account_text, day, currency, amount, _, _ in movements:
        if cutover < day <= end:
            add_change_of_day(UUID(account_text), day, currency, amount)
    for account_id, plans_of_account in group_expectations_by_account(expectations).items():
        if account_id is not None:
            expected_cash = sum_expected_cash(plans_of_account, cutover=cutover, end=end, today=today)
            for day, currency, amount in expected_cash.iter_changes(end=end):
                add_change_of_day(account_id, day, currency, amount)
    first = max(start, cutover + ONE_DAY)
    return [
        forecast_account(
            account,
            balances=balances.get(account.id, {}),
            changes=changes.get(account.id, {}),
            first=first,
            end=end,
            today=today,
            rates=rates,
        )
        for account in accounts
    ]


def forecast_account(
    account: Account,
    *,
    balances: AmountsByCurrency,
    changes: Mapping[date, AmountsByCurrency],
    first: date,
    end: date,
    today: date,
    rates: RateTable,
) -> AccountForecast:
    """Forecast one account from `first` to `end`; changes before `first` are part of its balance then."""
    currency, balance = account.default_currency, defaultdict(lambda: ZERO, balances)
    # A balance changes on days with movements; up to today also with the rates of other currencies it holds.
    days = {day for day in changes if first < day} | ({first} if first <= end else set())
    if any(of_day.keys() - {currency} for of_day in (balances, *changes.values())):
        days |= {date.fromordinal(number) for number in range(first.toordinal(), min(today, end).toordinal() + 1)}
    earlier_days = sorted(day for day in changes if day < first)
    lowest, below_zero = None, None
    for day in (*earlier_days, *sorted(days)):
        for held_currency, amount in changes.get(day, {}).items():
            balance[held_currency] += amount
        if day < first:
            continue
        converted_amounts = [
            convert_currency(amount, source=held_currency, target=currency, day=min(day, today), rates=rates)
            for held_currency, amount in balance.items()
        ]
        value = round_half_up(sum(converted_amounts, start=ZERO), currency)
        if lowest is None or value < lowest[1]:
            lowest = (day, value)
        if below_zero is None and value < 0:
            below_zero = day
    return AccountForecast(account.id, currency, lowest, below_zero)


def project_from_basis(
    basis: ForecastBasis,
    *,
    company: Company,
    start: date,
    end: date,
    cutover: date,
    today: date,
    interval: Interval,
    rates: RateTable,
) -> BalanceForecast:
    """Compute the forecast from a known basis.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    opening = basis.balances[cutover]
    projection = BalanceProjection(company=company, today=today, rates=rates)
    projection.add_booked(basis.movements)
    projection.add_expected(basis.expected_cash, end=end)
    projected = projection.project(basis.balances_at_cutover, opening, cutover=cutover, end=end)
    shown_balances = {day: value for day, value in projected.items() if day >= start}
    lowest = min(shown_balances, key=lambda day: (shown_balances[day], day), default=None)
    first_day_below_zero = next((day for day, value in shown_balances.items() if value < 0), None)
    change = projected[end] - opening if projected else ZERO
    parts = round_bridge_parts(projection.parts, change=change, base=company.base_currency)
    return BalanceForecast(
        actual=list_bucket_end_values(basis.balances, start=start, end=min(end, cutover), interval=interval),
        projected=list_bucket_end_values(
            shown_balances, start=max(start, cutover + ONE_DAY), end=end, interval=interval
        ),
        lowest=None if lowest is None else (lowest, shown_balances[lowest]),
        below_zero=None
        if first_day_below_zero is None
        else (first_day_below_zero, shown_balances[first_day_below_zero]),
        overdue_count=basis.expected_cash.overdue_count,
        overdue_value=round_half_up(
            projection.compute_value(basis.expected_cash.overdue, today), company.base_currency
        ),
        planned_inflow=parts["inflow"],
        planned_outflow=-parts["outflow"],
        transfers_out=-parts["transfers_out"],
        revaluation=parts["revaluation"],
        has_plans=bool(basis.movements or basis.expected_cash.sums or basis.expected_cash.transfers),
    )


def sum_held_by_currency(accounts: Collection[UUID], balances: Mapping[UUID, AmountsByCurrency]) -> AmountsByCurrency:
    """Sum what some accounts hold, by currency."""
    sums: defaultdict[str, Decimal] = defaultdict(lambda: ZERO)
    for account, currencies in balances.items():
        if account in accounts:
            for currency, amount in currencies.items():
                sums[currency] += amount
    return dict(sums)


def list_bucket_end_values(
    values: Mapping[date, Decimal], *, start: date, end: date, interval: Interval
) -> list[Point]:
    """Return the value at the end of each bucket of the window, under the bucket's first day."""
    points = list_bucket_starts(start, end, interval)
    bucket_ends = [*(following - ONE_DAY for following in points[1:]), end]
    return [(point, values[last]) for point, last in zip(points, bucket_ends, strict=False)]


def list_booked_after(cutover: date, *, company: Company, end: date, accounts: Collection[UUID]) -> BookedMovements:
    """List what is booked on some accounts after the cutover."""
    movements = DayMovement.objects.for_company(company.id).filter(
        date__gt=cutover, date__lte=end, account_id__in=accounts
    )
    sums_by_day = movements.values_list("date", "currency")
    return list(sums_by_day.annotate(Sum("amount"), Sum("inflow"), Sum("outflow")))


class BalanceProjection:
    """Changes of balances after the cutover: by day and currency, and by kind in the base currency, not rounded."""

    def __init__(self, *, company: Company, today: date, rates: RateTable):
        self.company, self.today, self.rates = company, today, rates
        self.changes: defaultdict[date, AmountsByCurrency] = defaultdict(dict)
        # In the order in which they take the rounding difference.
        self.parts = dict.fromkeys(("revaluation", "transfers_out", "outflow", "inflow"), ZERO)

    def convert_to_base(self, amount: Decimal, currency: str, day: date) -> Decimal:
        """Convert to the base currency at the day's rate, after today at the latest known."""
        base = self.company.base_currency
        return convert_currency(amount, source=currency, target=base, day=min(day, self.today), rates=self.rates)

    def compute_value(self, amounts: AmountsByCurrency, day: date) -> Decimal:
        total = ZERO
        for currency, amount in amounts.items():
            total = MONEY_CONTEXT.add(total, self.convert_to_base(amount, currency, day))
        return total

    def add_booked(self, movements: BookedMovements) -> None:
        """Add what is booked after the cutover; what is no flow is a transfer or an initial balance."""
        for day, currency, amount, inflow, outflow in movements:
            self.add_change(day, currency, amount)
            flows = {"inflow": inflow, "outflow": -outflow, "transfers_out": amount - inflow + outflow}
            self.add_parts(flows, currency, day)

    def add_expected(self, expected_cash: ExpectedCash, *, end: date) -> None:
        """Add expected amounts, converted at the latest rate."""
        for (day, currency), (inflow, outflow) in expected_cash.sums.items():
            if day <= end:
                self.add_parts({"inflow": inflow, "outflow": -outflow}, currency, self.today)
        for (day, currency), amount in expected_cash.transfers.items():
            if day <= end:
                self.add_parts({"transfers_out": amount}, currency, self.today)
        for day, currency, amount in expected_cash.iter_changes(end=end):
            self.add_change(day, currency, amount)

    def add_change(self, day: date, currency: str, amount: Decimal) -> None:
        changes = self.changes[day]
        changes[currency] = changes.get(currency, ZERO) + amount

    def add_parts(self, flows: Mapping[str, Decimal], currency: str, day: date) -> None:
        for kind, amount in flows.items():
            if amount:
                self.parts[kind] = MONEY_CONTEXT.add(self.parts[kind], self.convert_to_base(amount, currency, day))

    def project(
        self, held_before: AmountsByCurrency, opening: Decimal, *, cutover: date, end: date
    ) -> dict[date, Decimal]:
        """Return the balance at the end of each day after the cutover, rounded; rate effects go to `parts`."""
        balances, base = {}, self.company.base_currency
        amounts = defaultdict(lambda: ZERO, held_before)
        opening_value = total = self.compute_value(amounts, cutover)
        for number in range(cutover.toordinal() + 1, end.toordinal() + 1):
            day = date.fromordinal(number)
            changes = self.changes.get(day, {})
            for currency, amount in changes.items():
                amounts[currency] += amount
            total = (
                self.compute_value(amounts, day)
                if day <= self.today
                else MONEY_CONTEXT.add(total, self.compute_value(changes, day))
            )
            balances[day] = round_half_up(
                MONEY_CONTEXT.add(opening, MONEY_CONTEXT.subtract(total, opening_value)), base
            )
        self.parts["revaluation"] = MONEY_CONTEXT.subtract(total, opening_value) - sum(self.parts.values(), ZERO)
        return balances
