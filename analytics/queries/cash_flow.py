"""Cash flow: actual and planned money in and out over time, in the base currency.

Flows are booked movements other than transfers and initial balances, on all accounts but transit ones, at
their day's rate. A point sums its bucket and is rounded once. Bookings after the cutover count as planned.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from uuid import UUID

from django.db.models import Sum

from analytics.calc.time_series import Interval, sum_by_bucket
from analytics.queries.daily_movements import DailyMovements
from companies.models import Company
from ledger.models import Account, AccountType, DayMovement
from ledger.money.calc.fx import RateTable, apply_rate_pair, convert_currency
from ledger.money.calc.money import MONEY_CONTEXT, round_amounts
from planning.forecast.expected_cash import ExpectedCash, find_expectations_after_cutover, sum_expected_cash
from planning.forecast.queries import Expectations
from planning.scenarios.queries import LoadedScenario

ONE_DAY = timedelta(days=1)
ZERO = Decimal(0)

Flows = list[tuple[date, Decimal, Decimal]]
"""(day, in, out) in the base currency, both ≥ 0, not rounded; in no order, and a day more than once."""


@dataclass(frozen=True, slots=True)
class FlowSeries:
    """In and out at each point of the axis, both ≥ 0, in the base currency's decimals."""

    points: list[date]
    inflow: list[Decimal]
    outflow: list[Decimal]


@dataclass(frozen=True, slots=True)
class FlowForecast:
    """Actual and planned flows on one axis."""

    actual: FlowSeries
    planned: FlowSeries


def list_actual_flows(*, company: Company, start: date, end: date, rates: RateTable) -> Flows:
    """List the flows from `start` to `end`, each day at its own rate.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    if end < start:
        return []
    transit_accounts = Account.objects.for_company(company.id).filter(type=AccountType.TRANSIT)
    movements = (
        DayMovement.objects.for_company(company.id)
        .filter(date__range=(start, end))
        .exclude(account_id__in=transit_accounts.order_by().values("id"))
    )
    rows = movements.values_list("date", "currency").annotate(Sum("inflow"), Sum("outflow"))
    base = company.base_currency
    return [
        (
            day,
            convert_currency(inflow, source=currency, target=base, day=day, rates=rates),
            convert_currency(outflow, source=currency, target=base, day=day, rates=rates),
        )
        for day, currency, inflow, outflow in rows
    ]


def convert_movements_to_flows(
    moves: DailyMovements, *, excluded_accounts: Collection[UUID], base: str, rates: RateTable
) -> Flows:
    """Convert daily movements that were read already to flows, without excluded accounts.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    excluded_texts, inflows, outflows = {*map(str, excluded_accounts)}, dict[date, Decimal](), dict[date, Decimal]()
    for account, day, currency, _, inflow, outflow in moves:
        if account in excluded_texts:
            continue
        pair = None if currency == base else rates.get_rate_pair(currency, base, day)
        if inflow:
            converted_amount = apply_rate_pair(inflow, pair) if pair else inflow
            inflows[day] = MONEY_CONTEXT.add(inflows[day], converted_amount) if day in inflows else converted_amount
        if outflow:
            converted_amount = apply_rate_pair(outflow, pair) if pair else outflow
            outflows[day] = MONEY_CONTEXT.add(outflows[day], converted_amount) if day in outflows else converted_amount
    return [(day, inflows.get(day, ZERO), outflows.get(day, ZERO)) for day in inflows.keys() | outflows.keys()]


def convert_expected_flows(expected_cash: ExpectedCash, *, base: str, today: date, rates: RateTable) -> Flows:
    """Convert expected cash to flows at the latest rates.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    return [
        (
            day,
            convert_currency(inflow, source=currency, target=base, day=today, rates=rates),
            convert_currency(outflow, source=currency, target=base, day=today, rates=rates),
        )
        for (day, currency), (inflow, outflow) in expected_cash.sums.items()
    ]


def build_flow_series(flows: Flows, *, start: date, end: date, interval: Interval, base: str) -> FlowSeries:
    """Sum flows on the axis; zero without flows."""
    sums = sum_by_bucket(flows, start=start, end=end, interval=interval)
    inflow, outflow = (round_amounts(column, base) for column in zip(*sums.values(), strict=True)) if sums else ([], [])
    return FlowSeries(points=[*sums], inflow=inflow, outflow=outflow)


def compute_cash_flow(*, company: Company, start: date, end: date, interval: Interval, rates: RateTable) -> FlowSeries:
    """Compute money in and out of the window.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    flows = list_actual_flows(company=company, start=start, end=end, rates=rates)
    return build_flow_series(flows, start=start, end=end, interval=interval, base=company.base_currency)


def forecast_cash_flow(
    *,
    company: Company,
    start: date,
    end: date,
    cutover: date,
    today: date,
    interval: Interval,
    rates: RateTable,
    booked: Flows | None = None,
    expectations: Expectations | None = None,
    accounts: Collection[UUID | None] | None = None,
    scenario: LoadedScenario | None = None,
) -> FlowForecast:
    """Forecast cash flow: actual up to the cutover, planned after it, on one axis.

    Nothing is planned in a window that ends in the past.

    Args:
        booked: flows that were read already, of the window or more days.
        expectations: plans that were read already.
        accounts: whose expected cash counts; None: all and without account.
        scenario: its changes apply to plans that were not read already.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    if end < today:
        cutover = end
    if booked is None:
        booked = list_actual_flows(company=company, start=start, end=end, rates=rates)
    actual = [flow for flow in booked if flow[0] <= cutover]
    planned = [flow for flow in booked if flow[0] > cutover]
    base = company.base_currency
    if end > cutover:
        expectations = expectations or find_expectations_after_cutover(
            company=company, cutover=cutover, end=end, today=today, rates=rates, scenario=scenario
        )
        expected_cash = sum_expected_cash(expectations, cutover=cutover, end=end, today=today, accounts=accounts)
        planned += convert_expected_flows(expected_cash, base=base, today=today, rates=rates)
    return FlowForecast(
        actual=build_flow_series(actual, start=start, end=end, interval=interval, base=base),
        planned=build_flow_series(planned, start=start, end=end, interval=interval, base=base),
    )
