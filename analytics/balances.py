"""What is on the accounts: per account at the ends of two periods, and cash and other money day by day.

Sums are sums of what is shown: each account's value is rounded to the base currency's minor units first, so that cash
and nonCash together are the account balances of the same day to the cent.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from uuid import UUID

from django.db import connection

from companies.models import Company
from ledger.balances import ZERO, ByCurrency, balances_on, in_base
from ledger.calc.fx import RateTable
from ledger.models import Account, AccountType

ONE_DAY = timedelta(days=1)
SHOWN_TYPES = (AccountType.BANK, AccountType.CASH)


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


@dataclass(frozen=True, slots=True)
class Point:
    """The balances of one day, base currency."""

    day: date
    cash: Decimal
    non_cash: Decimal


def by_account(
    *,
    company: Company,
    start: date,
    end: date,
    today: date,
    types: Iterable[str],
    rates: RateTable,
    emptied: bool = False,
) -> list[AccountBalance]:
    """The accounts of the given types: active ones, and archived ones while their value is not zero.

    ``emptied`` adds archived ones that held something before the window: without them the changes do not add up.
    """
    last, before = min(end, today), min(start - ONE_DAY, today)
    now_held = balances_on(company_id=company.id, day=last)
    then_held = balances_on(company_id=company.id, day=before)
    shown = []
    for account in Account.objects.of(company.id).filter(type__in=types).in_order():
        value = in_base(now_held.get(account.id, {}), base=company.base_currency, day=last, rates=rates)
        previous = in_base(then_held.get(account.id, {}), base=company.base_currency, day=before, rates=rates)
        if value or not account.archived or (emptied and previous):
            shown.append(AccountBalance(account.id, account.name, value, previous))
    return shown


_CHANGES = """
    SELECT date, account_id::text, currency, amount FROM ledger_daymovement
     WHERE company_id = %s AND date BETWEEN %s AND %s AND amount <> 0 ORDER BY date
"""


def by_cash_type(*, company: Company, start: date, end: date, today: date, rates: RateTable) -> list[Point]:
    """One point a day up to today: accounts that count as cash, and all others; archived ones too."""
    end = min(end, today)
    if end < start:
        return []
    cash_accounts = set(map(str, Account.objects.of(company.id).cash().values_list("id", flat=True)))
    held = {str(account): found for account, found in balances_on(company_id=company.id, day=start - ONE_DAY).items()}
    changes: dict[date, list[tuple[str, str, Decimal]]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(_CHANGES, [company.id, start, end])
        for day, account_id, currency, amount in cursor.fetchall():
            changes[day].append((account_id, currency, amount))
    running = Running(base=company.base_currency, rates=rates, cash_accounts=cash_accounts, held=held)
    days = (start + timedelta(days=offset) for offset in range((end - start).days + 1))
    return [running.point(day, changes.get(day, ())) for day in days]


class Running:
    """Balances carried forward from day to day; an account is valued again when it moves or its rates do.

    Ids are texts here: a year asks for them tens of thousands of times, and a UUID is hashed by Python code.
    """

    def __init__(self, *, base: str, rates: RateTable, cash_accounts: set[str], held: dict[str, ByCurrency]):
        self.base, self.rates, self.cash_accounts, self.held = base, rates, cash_accounts, held
        self.values: dict[str, Decimal] = {}
        self.totals = {True: ZERO, False: ZERO}
        self.foreign = {account for account, currencies in held.items() if set(currencies) - {base}}
        self.unvalued = set(held)

    def point(self, day: date, changes: Iterable[tuple[str, str, Decimal]]) -> Point:
        moved = self.unvalued | self.foreign
        self.unvalued = set()
        for account, currency, amount in changes:
            currencies = self.held.setdefault(account, {})
            currencies[currency] = currencies.get(currency, ZERO) + amount
            moved.add(account)
            if currency != self.base:
                self.foreign.add(account)
        for account in moved:
            value = in_base(self.held[account], base=self.base, day=day, rates=self.rates)
            self.totals[account in self.cash_accounts] += value - self.values.get(account, ZERO)
            self.values[account] = value
        return Point(day=day, cash=self.totals[True], non_cash=self.totals[False])
