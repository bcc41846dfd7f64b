"""Money that came in and went out, and what is expected to: series over time in the base currency.

Flows are what the ledger's triggers count as such (no transfer, no initial balance, nothing pending) on all accounts
but transit ones, each at its own day's rate; a point adds up its bucket and is rounded once. What is booked after the
cutover belongs to what is planned.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from uuid import UUID

from django.db import connection

from analytics.calc.series import Interval, sum_by_bucket
from analytics.queries.daily import Moves
from companies.models import Company
from ledger.calc.fx import RateTable, at_rate, convert
from ledger.calc.money import WIDE, round_all
from ledger.models import AccountType
from planning.expecting import Expected, expected, plans
from planning.forecasting import Plans

ONE_DAY = timedelta(days=1)
ZERO = Decimal(0)

Flows = list[tuple[date, Decimal, Decimal]]
"""(day, in, out) in the base currency, both ≥ 0, not rounded; in no order, and a day more than once."""


@dataclass(frozen=True, slots=True)
class Series:
    """In and out at each point of the axis, both ≥ 0, in the base currency's decimals."""

    points: list[date]
    inflow: list[Decimal]
    outflow: list[Decimal]


@dataclass(frozen=True, slots=True)
class Forecast:
    """Actual and planned flows on one axis."""

    actual: Series
    planned: Series


# The few transit accounts are looked up once; a join would meet every day of every account.
_FLOWS = """
    SELECT date, currency, sum(inflow), sum(outflow)
      FROM ledger_daymovement
     WHERE company_id = %(company)s AND date BETWEEN %(start)s AND %(end)s AND account_id <> ALL (ARRAY(
               SELECT id FROM ledger_account WHERE company_id = %(company)s AND type = %(transit)s
           ))
     GROUP BY date, currency
"""


def actual_flows(*, company: Company, start: date, end: date, rates: RateTable) -> Flows:
    """What moved on the days from ``start`` to ``end``, each day at its own rate. Raises MissingRate."""
    if end < start:
        return []
    with connection.cursor() as cursor:
        cursor.execute(_FLOWS, {"company": company.id, "start": start, "end": end, "transit": AccountType.TRANSIT})
        found = cursor.fetchall()
    base = company.base_currency
    return [
        (
            day,
            convert(inflow, source=currency, target=base, day=day, rates=rates),
            convert(outflow, source=currency, target=base, day=day, rates=rates),
        )
        for day, currency, inflow, outflow in found
    ]


def flows_in(moves: Moves, *, left_out: Collection[UUID], base: str, rates: RateTable) -> Flows:
    """The same of days that were read already, each once, without accounts that are left out. Raises MissingRate."""
    without, came, went = {*map(str, left_out)}, dict[date, Decimal](), dict[date, Decimal]()
    for account, day, currency, _, inflow, outflow in moves:
        if account in without:
            continue
        pair = None if currency == base else rates.pair(currency, base, day)
        if inflow:
            worth = at_rate(inflow, pair) if pair else inflow
            came[day] = WIDE.add(came[day], worth) if day in came else worth
        if outflow:
            worth = at_rate(outflow, pair) if pair else outflow
            went[day] = WIDE.add(went[day], worth) if day in went else worth
    return [(day, came.get(day, ZERO), went.get(day, ZERO)) for day in came.keys() | went.keys()]


def expected_flows(coming: Expected, *, base: str, today: date, rates: RateTable) -> Flows:
    """What is expected, at the latest known rates. Raises MissingRate."""
    return [
        (
            day,
            convert(inflow, source=currency, target=base, day=today, rates=rates),
            convert(outflow, source=currency, target=base, day=today, rates=rates),
        )
        for (day, currency), (inflow, outflow) in coming.sums.items()
    ]


def series(flows: Flows, *, start: date, end: date, interval: Interval, base: str) -> Series:
    """The flows added up on the axis, zero where there are none."""
    sums = sum_by_bucket(flows, start=start, end=end, interval=interval)
    inflow, outflow = (round_all(column, base) for column in zip(*sums.values(), strict=True)) if sums else ([], [])
    return Series(points=[*sums], inflow=inflow, outflow=outflow)


def cash_flow(*, company: Company, start: date, end: date, interval: Interval, rates: RateTable) -> Series:
    """What came in and went out in the window. Raises MissingRate."""
    flows = actual_flows(company=company, start=start, end=end, rates=rates)
    return series(flows, start=start, end=end, interval=interval, base=company.base_currency)


def forecast(
    *,
    company: Company,
    start: date,
    end: date,
    cutover: date,
    today: date,
    interval: Interval,
    rates: RateTable,
    booked: Flows | None = None,
    known: Plans | None = None,
    accounts: Collection[UUID | None] | None = None,
) -> Forecast:
    """Actual flows up to the cutover and planned ones after it, on one axis; nothing is planned in a window that ends
    in the past, whatever the cutover. ``booked`` flows of the window, or of more days, and ``known`` plans are those
    that were read already; what is expected is that of some ``accounts``, or of all and of none. Raises MissingRate."""
    if end < today:
        cutover = end
    if booked is None:
        booked = actual_flows(company=company, start=start, end=end, rates=rates)
    actual = [flow for flow in booked if flow[0] <= cutover]
    planned = [flow for flow in booked if flow[0] > cutover]
    base = company.base_currency
    if end > cutover:
        known = known or plans(company=company, cutover=cutover, end=end, today=today, rates=rates)
        coming = expected(known, cutover=cutover, end=end, today=today, accounts=accounts)
        planned += expected_flows(coming, base=base, today=today, rates=rates)
    return Forecast(
        actual=series(actual, start=start, end=end, interval=interval, base=base),
        planned=series(planned, start=start, end=end, interval=interval, base=base),
    )
