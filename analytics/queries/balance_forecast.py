"""Where the cash goes: its balance up to the cutover, and projected after it.

Projected is the balance at the cutover with what is booked and what is expected after it, valued at each day's rate,
and after today at the latest known.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import connection

from analytics.calc.bridges import closing
from analytics.calc.series import Interval, axis
from analytics.queries.balances import by_cash_type
from analytics.queries.daily import Moves, moves
from companies.models import Company
from ledger.accounts.balances import ByCurrency, balances_on
from ledger.calc.fx import RateTable, convert
from ledger.calc.money import WIDE, round_half_up
from ledger.models import Account
from planning.expecting import Expected, expected, group_by_account, plans
from planning.forecasting import Plans

ZERO = Decimal(0)
ONE_DAY = timedelta(days=1)
NO_PLANS: Plans = ([], [])

Point = tuple[date, Decimal]
Booked = list[tuple[date, str, Decimal, Decimal, Decimal]]
"""(day, currency, amount, in, out)"""


@dataclass(frozen=True, slots=True)
class BalanceForecast:
    """Balances at the end of each bucket, under its first day; the bucket of the cutover is in both series.

    ``lowest`` and ``below_zero`` go by days after the cutover within the window. From the balance at the cutover to the
    last projected one: + planned_inflow - planned_outflow - transfers_out + revaluation, exactly. Base currency.
    ``has_plans`` says whether anything is booked or expected after the cutover: else the line only repeats itself.
    ``accounts`` are told where they were asked for.
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
    """The day after the cutover on which an account holds least, and the first on which it is below zero.

    In the account's currency. Both are None in a window in which nothing is projected.
    """

    account_id: UUID
    currency: str
    lowest: Point | None
    below_zero: date | None


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
    by_account: bool = False,
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
    coming, found = Expected(cutover=cutover, today=today), NO_PLANS
    if end >= today:
        found = plans(company=company, cutover=cutover, end=end, today=today, rates=rates)
        wanted: set[UUID | None] = {*chosen, None} if accounts is None else {*chosen}
        coming = expected(found, cutover=cutover, end=end, today=today, accounts=wanted)
    held = balances_on(company_id=company.id, day=cutover)
    ground = Ground(
        balances={point.day: point.cash for point in known},
        held=held_by(chosen, held),
        booked=booked_after(cutover, company=company, end=end, accounts=chosen),
        coming=coming,
    )
    forecast = forecast_from(
        ground, company=company, start=start, end=end, cutover=cutover, today=today, interval=interval, rates=rates
    )
    if not by_account:
        return forecast
    forecasts = forecast_accounts(
        Account.objects.of(company.id).filter(id__in=chosen).in_order(),
        held=held,
        booked=moves(company=company, start=cutover + ONE_DAY, end=end) if end > cutover else [],
        found=found,
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
    held: Mapping[UUID, ByCurrency],
    booked: Moves,
    found: Plans,
    start: date,
    end: date,
    cutover: date,
    today: date,
    rates: RateTable,
) -> list[AccountForecast]:
    """Return each account's own forecast.

    Args:
        held: what the accounts hold at the end of the cutover.
        booked: what moves on accounts after the cutover.
        found: what is expected of the company.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    changes: defaultdict[UUID, defaultdict[date, ByCurrency]] = defaultdict(lambda: defaultdict(dict))

    def change(account_id: UUID, day: date, currency: str, amount: Decimal) -> None:
        of_day = changes[account_id][day]
        of_day[currency] = of_day.get(currency, ZERO) + amount

    for account_text, day, currency, amount, _, _ in booked:
        if cutover < day <= end:
            change(UUID(account_text), day, currency, amount)
    for account_id, plans_of_account in group_by_account(found).items():
        if account_id is not None:
            coming = expected(plans_of_account, cutover=cutover, end=end, today=today)
            for (day, currency), (inflow, outflow) in coming.sums.items():
                if day <= end:
                    change(account_id, day, currency, inflow - outflow)
    first = max(start, cutover + ONE_DAY)
    return [
        forecast_account(
            account,
            held=held.get(account.id, {}),
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
    held: ByCurrency,
    changes: Mapping[date, ByCurrency],
    first: date,
    end: date,
    today: date,
    rates: RateTable,
) -> AccountForecast:
    """One account's, of the days from `first` to `end`; changes before `first` are part of its balance then."""
    currency, balance = account.default_currency, defaultdict(lambda: ZERO, held)
    # A balance moves on days with changes; up to today also where rates move what it holds in other currencies.
    days = {day for day in changes if first < day} | ({first} if first <= end else set())
    if any(of_day.keys() - {currency} for of_day in (held, *changes.values())):
        days |= {date.fromordinal(number) for number in range(first.toordinal(), min(today, end).toordinal() + 1)}
    earlier = sorted(day for day in changes if day < first)
    lowest, below_zero = None, None
    for day in (*earlier, *sorted(days)):
        for each, amount in changes.get(day, {}).items():
            balance[each] += amount
        if day < first:
            continue
        worth = [
            convert(amount, source=each, target=currency, day=min(day, today), rates=rates)
            for each, amount in balance.items()
        ]
        value = round_half_up(sum(worth, start=ZERO), currency)
        if lowest is None or value < lowest[1]:
            lowest = (day, value)
        if below_zero is None and value < 0:
            below_zero = day
    return AccountForecast(account.id, currency, lowest, below_zero)


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
        has_plans=bool(ground.booked or ground.coming.sums),
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
