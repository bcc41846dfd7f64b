"""Where the cash goes: its balance up to the cutover, and projected after it.

Projected is the balance at the cutover with what is booked and what is expected after it, valued at each day's rate,
and after today at the latest known.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import connection

from analytics.calc.bridges import closing
from analytics.calc.series import Interval, axis
from analytics.queries.balances import by_cash_type
from companies.models import Company
from ledger.accounts.balances import ByCurrency, balances_on
from ledger.calc.fx import RateTable, convert
from ledger.calc.money import WIDE, round_half_up
from ledger.models import Account
from planning.expecting import Expected, expected, plans

ZERO = Decimal(0)
ONE_DAY = timedelta(days=1)

Point = tuple[date, Decimal]
Booked = list[tuple[date, str, Decimal, Decimal, Decimal]]
"""(day, currency, amount, in, out)"""


@dataclass(frozen=True, slots=True)
class BalanceForecast:
    """Balances at the end of each bucket, under its first day; the bucket of the cutover is in both series.

    ``lowest`` and ``below_zero`` go by days after the cutover within the window. From the balance at the cutover to the
    last projected one: + planned_inflow - planned_outflow - transfers_out + revaluation, exactly. Base currency.
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


@dataclass(frozen=True, slots=True)
class Ground:
    """What a forecast starts from: the balances of some accounts by day up to the cutover, what they hold then by
    currency, and what is booked and what is expected on them after it."""

    balances: Mapping[date, Decimal]
    held: ByCurrency
    booked: Booked
    coming: Expected


def balance_forecast(
    *,
    company: Company,
    start: date,
    end: date,
    cutover: date,
    today: date,
    interval: Interval,
    rates: RateTable,
    accounts: Collection[UUID] | None = None,
) -> BalanceForecast:
    """Of the accounts that count as cash, or of those given. Nothing is projected in a window that ends in the past.

    What is expected on no account counts as cash, and on none of given ones. Raises MissingRate.
    """
    chosen = set(Account.objects.of(company.id).cash().values_list("id", flat=True) if accounts is None else accounts)
    if end < today:
        cutover = end
    known = by_cash_type(
        company=company, start=min(start, cutover), end=cutover, today=today, rates=rates, accounts=chosen
    )
    coming = Expected(cutover=cutover, today=today)
    if end >= today:
        found = plans(company=company, cutover=cutover, end=end, today=today, rates=rates)
        wanted: set[UUID | None] = {*chosen, None} if accounts is None else {*chosen}
        coming = expected(found, cutover=cutover, end=end, today=today, accounts=wanted)
    ground = Ground(
        balances={point.day: point.cash for point in known},
        held=held_by(chosen, balances_on(company_id=company.id, day=cutover)),
        booked=booked_after(cutover, company=company, end=end, accounts=chosen),
        coming=coming,
    )
    return forecast_from(
        ground, company=company, start=start, end=end, cutover=cutover, today=today, interval=interval, rates=rates
    )


def forecast_from(
    ground: Ground,
    *,
    company: Company,
    start: date,
    end: date,
    cutover: date,
    today: date,
    interval: Interval,
    rates: RateTable,
) -> BalanceForecast:
    """The forecast on a ground that is known. Raises MissingRate."""
    opening = ground.balances[cutover]
    ahead = Ahead(company=company, today=today, rates=rates)
    ahead.take_booked(ground.booked)
    ahead.take_expected(ground.coming, end=end)
    projected = ahead.project(ground.held, opening, cutover=cutover, end=end)
    shown = {day: value for day, value in projected.items() if day >= start}
    lowest = min(shown, key=lambda day: (shown[day], day), default=None)
    below = next((day for day, value in shown.items() if value < 0), None)
    change = projected[end] - opening if projected else ZERO
    parts = closing(ahead.parts, change=change, base=company.base_currency)
    return BalanceForecast(
        actual=at_ends(ground.balances, start=start, end=min(end, cutover), interval=interval),
        projected=at_ends(shown, start=max(start, cutover + ONE_DAY), end=end, interval=interval),
        lowest=None if lowest is None else (lowest, shown[lowest]),
        below_zero=None if below is None else (below, shown[below]),
        overdue_count=ground.coming.overdue_count,
        overdue_value=round_half_up(ahead.value(ground.coming.overdue, today), company.base_currency),
        planned_inflow=parts["inflow"],
        planned_outflow=-parts["outflow"],
        transfers_out=-parts["transfers_out"],
        revaluation=parts["revaluation"],
    )


def held_by(accounts: Collection[UUID], balances: Mapping[UUID, ByCurrency]) -> ByCurrency:
    """What some accounts hold together, by currency."""
    found: defaultdict[str, Decimal] = defaultdict(lambda: ZERO)
    for account, currencies in balances.items():
        if account in accounts:
            for currency, amount in currencies.items():
                found[currency] += amount
    return dict(found)


def at_ends(values: Mapping[date, Decimal], *, start: date, end: date, interval: Interval) -> list[Point]:
    """The value at the end of each bucket of the window, under the bucket's first day."""
    points = axis(start, end, interval)
    lasts = [*(following - ONE_DAY for following in points[1:]), end]
    return [(point, values[last]) for point, last in zip(points, lasts, strict=False)]


_BOOKED = """
    SELECT date, currency, sum(amount), sum(inflow), sum(outflow)
      FROM ledger_daymovement
     WHERE company_id = %(company)s AND date > %(cutover)s AND date <= %(end)s AND account_id = ANY (%(accounts)s)
     GROUP BY date, currency
"""


def booked_after(cutover: date, *, company: Company, end: date, accounts: Collection[UUID]) -> Booked:
    """What is booked on some accounts after the cutover."""
    asked: dict[str, Any] = {"company": company.id, "cutover": cutover, "end": end, "accounts": list(accounts)}
    with connection.cursor() as cursor:
        cursor.execute(_BOOKED, asked)
        return cursor.fetchall()


class Ahead:
    """What changes balances after the cutover: natively by day, and in the base currency by kind, not rounded."""

    def __init__(self, *, company: Company, today: date, rates: RateTable):
        self.company, self.today, self.rates = company, today, rates
        self.changes: defaultdict[date, ByCurrency] = defaultdict(dict)
        # In the order in which they take what rounding leaves.
        self.parts = dict.fromkeys(("revaluation", "transfers_out", "outflow", "inflow"), ZERO)

    def worth(self, amount: Decimal, currency: str, day: date) -> Decimal:
        """At the day's rate, at the latest known after today."""
        base = self.company.base_currency
        return convert(amount, source=currency, target=base, day=min(day, self.today), rates=self.rates)

    def value(self, held: ByCurrency, day: date) -> Decimal:
        total = ZERO
        for currency, amount in held.items():
            total = WIDE.add(total, self.worth(amount, currency, day))
        return total

    def take_booked(self, booked: Booked) -> None:
        """What is booked after the cutover; what of it is no flow is a transfer or an initial balance."""
        for day, currency, amount, inflow, outflow in booked:
            self.change(day, currency, amount)
            flows = {"inflow": inflow, "outflow": -outflow, "transfers_out": amount - inflow + outflow}
            self.count(flows, currency, day)

    def take_expected(self, coming: Expected, *, end: date) -> None:
        """Planned amounts are worth what they are at the latest rate."""
        for (day, currency), (inflow, outflow) in coming.sums.items():
            if day <= end:
                self.change(day, currency, inflow - outflow)
                self.count({"inflow": inflow, "outflow": -outflow}, currency, self.today)

    def change(self, day: date, currency: str, amount: Decimal) -> None:
        changes = self.changes[day]
        changes[currency] = changes.get(currency, ZERO) + amount

    def count(self, flows: Mapping[str, Decimal], currency: str, day: date) -> None:
        for kind, amount in flows.items():
            if amount:
                self.parts[kind] = WIDE.add(self.parts[kind], self.worth(amount, currency, day))

    def project(self, before: ByCurrency, opening: Decimal, *, cutover: date, end: date) -> dict[date, Decimal]:
        """The balance at the end of each day after the cutover, rounded; what rates did goes to the parts."""
        found, base = {}, self.company.base_currency
        held = defaultdict(lambda: ZERO, before)
        first = total = self.value(held, cutover)
        for number in range(cutover.toordinal() + 1, end.toordinal() + 1):
            day = date.fromordinal(number)
            changes = self.changes.get(day, {})
            for currency, amount in changes.items():
                held[currency] += amount
            total = self.value(held, day) if day <= self.today else WIDE.add(total, self.value(changes, day))
            found[day] = round_half_up(WIDE.add(opening, WIDE.subtract(total, first)), base)
        self.parts["revaluation"] = WIDE.subtract(total, first) - sum(self.parts.values(), ZERO)
        return found
