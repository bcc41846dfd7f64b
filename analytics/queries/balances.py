"""What is on the accounts: per account at the ends of two periods, and cash and other money day by day.

Sums are sums of what is shown: each account's value is rounded to the base currency's minor units first, so that cash
and nonCash together are the account balances of the same day to the cent.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import reduce
from itertools import accumulate
from operator import add
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from analytics.queries.daily import Moves
from companies.models import Company
from ledger.accounts.balances import ZERO, ByCurrency, balances_on, in_base
from ledger.calc.fx import RateTable, at_rate
from ledger.calc.money import WIDE, round_all, round_half_up
from ledger.models import Account, AccountType

ONE_DAY = timedelta(days=1)
SHOWN_TYPES = (AccountType.BANK, AccountType.CASH)


TOGETHER = {True: "cash", False: "other"}
"""What the accounts in the base currency are called together, by whether they count as cash."""
Changes = dict[int, Decimal]
"""By how many days after the first."""
Moved = dict[str, dict[str, Changes]]
"""Account, or what it is called together with others -> currency -> changes."""
Pair = tuple[Decimal, Decimal]


@dataclass(frozen=True, slots=True)
class AccountBalance:
    """An account's value at the end of a window, at the day before it, and what lies between; base currency."""

    account_id: UUID
    account_name: str
    value: Decimal
    previous: Decimal

    @property
    def change(self) -> Decimal:
        return self.value - self.previous


class Point(NamedTuple):
    """The balances of one day, base currency."""

    day: date
    cash: Decimal
    non_cash: Decimal


def by_account(
    *, company: Company, start: date, end: date, today: date, types: Iterable[str], rates: RateTable
) -> list[AccountBalance]:
    """The accounts of the given types: active ones, and archived ones while their value is not zero."""
    last, before = min(end, today), min(start - ONE_DAY, today)
    now = balances_on(company_id=company.id, day=last)
    then = balances_on(company_id=company.id, day=before)
    rows = Account.objects.of(company.id).filter(type__in=types).in_order()
    found = changed(rows, company=company, now=(last, now), then=(before, then), rates=rates)
    return [each for account, each in zip(rows, found, strict=True) if each.value or not account.archived]


Held = tuple[date, Mapping[UUID, ByCurrency]]
"""A day, and what each account holds at its end."""


def changed(
    rows: Iterable[Account], *, company: Company, now: Held, then: Held, rates: RateTable
) -> list[AccountBalance]:
    """What each of the accounts is worth on one day and was on another. Raises MissingRate."""
    (last, now_held), (before, then_held) = now, then
    return [
        AccountBalance(
            account_id=account.id,
            account_name=account.name,
            value=in_base(now_held.get(account.id, {}), base=company.base_currency, day=last, rates=rates),
            previous=in_base(then_held.get(account.id, {}), base=company.base_currency, day=before, rates=rates),
        )
        for account in rows
    ]


def cash_on(*, company: Company, day: date, rates: RateTable) -> Decimal:
    """What lies on the accounts that count as cash at the end of a day. Raises MissingRate."""
    held = balances_on(company_id=company.id, day=day)
    cash = Account.objects.of(company.id).cash().values_list("id", flat=True)
    worth = (in_base(held.get(account, {}), base=company.base_currency, day=day, rates=rates) for account in cash)
    return round_half_up(sum(worth, start=ZERO), company.base_currency)


# Accounts that never held anything but the base currency are worth what they hold, nothing is rounded: they are one.
_CHANGES = """
    SELECT CASE WHEN account_id IN (
                    SELECT account_id FROM ledger_monthmovement
                     WHERE company_id = %(company)s AND currency <> %(base)s
                ) THEN account_id::text END, account_id = ANY (%(cash)s), currency, date - %(start)s, sum(amount)
      FROM ledger_daymovement
     WHERE company_id = %(company)s AND date > %(start)s AND date <= %(end)s AND amount <> 0
     GROUP BY 1, 2, 3, 4
"""


def by_cash_type(
    *, company: Company, start: date, end: date, today: date, rates: RateTable, accounts: Collection[UUID] | None = None
) -> list[Point]:
    """One point a day up to today: accounts that count as cash, and all others; archived ones too.

    Where ``accounts`` are given they are taken for cash.
    """
    end = min(end, today)
    if end < start:
        return []
    cash = set(Account.objects.of(company.id).cash().values_list("id", flat=True) if accounts is None else accounts)
    base = company.base_currency
    moved: Moved = defaultdict(dict)
    asked: dict[str, Any] = {"company": company.id, "base": base, "start": start, "end": end, "cash": list(cash)}
    with connection.cursor() as cursor:
        cursor.execute(_CHANGES, asked)
        for apart, is_cash, currency, number, amount in cursor.fetchall():
            moved[apart or TOGETHER[is_cash]].setdefault(currency, {})[number] = amount
    held = balances_on(company_id=company.id, day=start)
    return points_of(held, moved, cash=cash, start=start, end=end, base=base, rates=rates)


def by_day(
    held: Mapping[UUID, ByCurrency],
    moves: Moves,
    *,
    cash: Collection[UUID],
    start: date,
    end: date,
    base: str,
    rates: RateTable,
) -> list[Point]:
    """The same from what was read already: what the accounts ``held`` at the end of ``start``, and what moved on them
    on these days and maybe on others. Raises MissingRate."""
    kinds = {(move[0], move[2]) for move in moves}
    apart = {str(account) for account, currencies in held.items() if currencies.keys() - {base}}
    apart |= {account for account, currency in kinds if currency != base}
    counted, first = {*map(str, cash)}, start.toordinal()
    names = {account: account if account in apart else TOGETHER[account in counted] for account, _ in kinds}
    moved: Moved = {name: defaultdict(dict) for name in names.values()}
    for account, day, currency, amount, _, _ in moves:
        if start < day <= end:
            changes, number = moved[names[account]][currency], day.toordinal() - first
            changes[number] = changes[number] + amount if number in changes else amount
    return points_of(held, moved, cash=cash, start=start, end=end, base=base, rates=rates)


def points_of(
    held_then: Mapping[UUID, ByCurrency],
    moved: Moved,
    *,
    cash: Collection[UUID],
    start: date,
    end: date,
    base: str,
    rates: RateTable,
) -> list[Point]:
    """The points from what the accounts held at the end of ``start`` and what changed it since. Raises MissingRate."""
    days = [date.fromordinal(number) for number in range(start.toordinal(), end.toordinal() + 1)]
    held: defaultdict[str, dict[str, Decimal]] = defaultdict(dict)
    for account, by_currency in held_then.items():
        apart = str(account)
        known = held[apart if apart in moved or set(by_currency) - {base} else TOGETHER[account in cash]]
        for currency, amount in by_currency.items():
            known[currency] = known.get(currency, ZERO) + amount
    totals = {True: [ZERO] * len(days), False: [ZERO] * len(days)}
    counted = {TOGETHER[True], *map(str, cash)}
    currencies = {currency for found in (held, moved) for each in found.values() for currency in each}
    pairs = {currency: [rates.pair(currency, base, day) for day in days] for currency in currencies - {base}}
    for each in held.keys() | moved.keys():
        values = worth_by_day(held[each], moved.get(each, {}), days=len(days), pairs=pairs, base=base)
        totals[each in counted] = list(map(add, totals[each in counted], values))
    return list(map(Point, days, totals[True], totals[False]))


def worth_by_day(
    held: ByCurrency, moved: Mapping[str, Changes], *, days: int, pairs: Mapping[str, list[Pair]], base: str
) -> list[Decimal]:
    """What an account that held so much is worth at the end of each of so many days, rounded. ``pairs`` are their rates
    of the currencies other than the base."""
    columns = [
        running(held.get(currency, ZERO), moved.get(currency, {}), days=days)
        if currency == base
        else in_pairs(held.get(currency, ZERO), moved.get(currency, {}), pairs[currency])
        for currency in held.keys() | moved.keys()
    ]
    if len(columns) == 1:
        return round_all(columns[0], base)
    return round_all((reduce(WIDE.add, column) for column in zip(*columns, strict=True)), base)


def running(amount: Decimal, changes: Changes, *, days: int) -> list[Decimal]:
    """An amount that changes after the first of so many days."""
    return list(accumulate((changes.get(number, ZERO) for number in range(1, days)), initial=amount))


def in_pairs(amount: Decimal, changes: Changes, pairs: Sequence[Pair]) -> list[Decimal]:
    """An amount that changes with the days, at each day's rate."""
    found: list[Decimal] = []
    last: Pair | None = None
    for number, pair in enumerate(pairs):
        change = changes.get(number)
        if change is None and pair == last:
            found.append(found[-1])
            continue
        if change is not None:
            amount += change
        last = pair
        found.append(at_rate(amount, pair))
    return found
