"""Account balances at both ends of a window, and cash and other balances by day.

Sums add up shown values: each account is rounded to the base currency's decimals first, so that cash and
nonCash together equal the account balances of the same day.
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

from analytics.queries.daily_movements import DailyMovements
from companies.models import Company
from ledger.accounts.queries import ZERO, AmountsByCurrency, convert_balance_to_base, sum_account_balances
from ledger.models import Account, AccountType, DayMovement
from ledger.money.calc.fx import RateTable, apply_rate_pair
from ledger.money.calc.money import MONEY_CONTEXT, round_amounts, round_half_up

ONE_DAY = timedelta(days=1)
DEFAULT_ACCOUNT_TYPES = (AccountType.BANK, AccountType.CASH)


GROUP_NAMES = {True: "cash", False: "other"}
"""What the accounts in the base currency are called together, by whether they count as cash."""
Changes = dict[int, Decimal]
"""By how many days after the first."""
ChangesByAccount = dict[str, dict[str, Changes]]
"""Account, or what it is called together with others -> currency -> changes."""
RatePair = tuple[Decimal, Decimal]


@dataclass(frozen=True, slots=True)
class AccountBalance:
    """An account's value at the end of a window, at the day before it, and the change; base currency."""

    account_id: UUID
    account_name: str
    value: Decimal
    previous: Decimal

    @property
    def change(self) -> Decimal:
        return self.value - self.previous


class BalancePoint(NamedTuple):
    """The balances of one day, base currency."""

    day: date
    cash: Decimal
    non_cash: Decimal


def list_account_balances(
    *, company: Company, start: date, end: date, today: date, types: Iterable[str], rates: RateTable
) -> list[AccountBalance]:
    """List the balances of accounts of the given types: active ones, and archived ones if not zero."""
    last, day_before = min(end, today), min(start - ONE_DAY, today)
    balances_now = sum_account_balances(company_id=company.id, day=last)
    balances_before = sum_account_balances(company_id=company.id, day=day_before)
    rows = Account.objects.for_company(company.id).filter(type__in=types).in_display_order()
    account_balances = compare_balances(
        rows, company=company, current=(last, balances_now), previous=(day_before, balances_before), rates=rates
    )
    return [each for account, each in zip(rows, account_balances, strict=True) if each.value or not account.archived]


BalancesOnDay = tuple[date, Mapping[UUID, AmountsByCurrency]]
"""A day, and what each account holds at its end."""


def compare_balances(
    rows: Iterable[Account], *, company: Company, current: BalancesOnDay, previous: BalancesOnDay, rates: RateTable
) -> list[AccountBalance]:
    """Return what each account is worth on one day and was on another.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    (day, now_held), (day_before, then_held) = current, previous
    return [
        AccountBalance(
            account_id=account.id,
            account_name=account.name,
            value=convert_balance_to_base(
                now_held.get(account.id, {}), base=company.base_currency, day=day, rates=rates
            ),
            previous=convert_balance_to_base(
                then_held.get(account.id, {}), base=company.base_currency, day=day_before, rates=rates
            ),
        )
        for account in rows
    ]


def compute_cash_at_day(*, company: Company, day: date, rates: RateTable) -> Decimal:
    """Compute the cash at the end of a day.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    balances = sum_account_balances(company_id=company.id, day=day)
    cash = Account.objects.for_company(company.id).cash().values_list("id", flat=True)
    converted_amounts = (
        convert_balance_to_base(balances.get(account, {}), base=company.base_currency, day=day, rates=rates)
        for account in cash
    )
    return round_half_up(sum(converted_amounts, start=ZERO), company.base_currency)


# Raw SQL: the ORM returns the difference of dates as a duration, not as a number of days.
# Accounts that only ever held the base currency need no conversion or rounding: they are summed as one.
_CHANGES = """
    SELECT CASE WHEN account_id IN (
                    SELECT account_id FROM ledger_monthmovement
                     WHERE company_id = %(company)s AND currency <> %(base)s
                ) THEN account_id::text END, account_id = ANY (%(cash)s), currency, date - %(start)s, sum(amount)
      FROM ledger_daymovement
     WHERE company_id = %(company)s AND date > %(start)s AND date <= %(end)s AND amount <> 0
     GROUP BY 1, 2, 3, 4
"""


def list_balances_by_cash_type(
    *, company: Company, start: date, end: date, today: date, rates: RateTable, accounts: Collection[UUID] | None = None
) -> list[BalancePoint]:
    """List cash and other balances, one point a day up to today; archived accounts included.

    Args:
        accounts: counted as cash instead of the company's cash accounts.
    """
    end = min(end, today)
    if end < start:
        return []
    cash = set(
        Account.objects.for_company(company.id).cash().values_list("id", flat=True) if accounts is None else accounts
    )
    base = company.base_currency
    changes: ChangesByAccount = defaultdict(dict)
    parameters: dict[str, Any] = {"company": company.id, "base": base, "start": start, "end": end, "cash": list(cash)}
    with connection.cursor() as cursor:
        cursor.execute(_CHANGES, parameters)
        for account, is_cash, currency, number, amount in cursor.fetchall():
            changes[account or GROUP_NAMES[is_cash]].setdefault(currency, {})[number] = amount
    balances = sum_account_balances(company_id=company.id, day=start)
    return build_balance_points(balances, changes, cash=cash, start=start, end=end, base=base, rates=rates)


def compute_daily_balances(
    balances: Mapping[UUID, AmountsByCurrency],
    moves: DailyMovements,
    *,
    cash: Collection[UUID],
    start: date,
    end: date,
    base: str,
    rates: RateTable,
) -> list[BalancePoint]:
    """Compute the same from data that was read already.

    Args:
        balances: what the accounts held at the end of `start`.
        moves: daily movements of these days and possibly others.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    kinds = {(move[0], move[2]) for move in moves}
    separate_accounts = {str(account) for account, currencies in balances.items() if currencies.keys() - {base}}
    separate_accounts |= {account for account, currency in kinds if currency != base}
    cash_accounts, first = {*map(str, cash)}, start.toordinal()
    names = {
        account: account if account in separate_accounts else GROUP_NAMES[account in cash_accounts]
        for account, _ in kinds
    }
    changes_by_account: ChangesByAccount = {name: defaultdict(dict) for name in names.values()}
    for account, day, currency, amount, _, _ in moves:
        if start < day <= end:
            changes, number = changes_by_account[names[account]][currency], day.toordinal() - first
            changes[number] = changes[number] + amount if number in changes else amount
    return build_balance_points(balances, changes_by_account, cash=cash, start=start, end=end, base=base, rates=rates)


def build_balance_points(
    opening_balances: Mapping[UUID, AmountsByCurrency],
    changes_by_account: ChangesByAccount,
    *,
    cash: Collection[UUID],
    start: date,
    end: date,
    base: str,
    rates: RateTable,
) -> list[BalancePoint]:
    """Build the points from opening balances and changes since.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    days = [date.fromordinal(number) for number in range(start.toordinal(), end.toordinal() + 1)]
    held_by_account: defaultdict[str, dict[str, Decimal]] = defaultdict(dict)
    for account, amounts_by_currency in opening_balances.items():
        account_text = str(account)
        account_amounts = held_by_account[
            account_text
            if account_text in changes_by_account or set(amounts_by_currency) - {base}
            else GROUP_NAMES[account in cash]
        ]
        for currency, amount in amounts_by_currency.items():
            account_amounts[currency] = account_amounts.get(currency, ZERO) + amount
    totals = {True: [ZERO] * len(days), False: [ZERO] * len(days)}
    cash_keys = {GROUP_NAMES[True], *map(str, cash)}
    currencies = {
        currency for result in (held_by_account, changes_by_account) for key in result.values() for currency in key
    }
    pairs = {currency: [rates.get_rate_pair(currency, base, day) for day in days] for currency in currencies - {base}}
    for key in held_by_account.keys() | changes_by_account.keys():
        values = compute_daily_values(
            held_by_account[key], changes_by_account.get(key, {}), days=len(days), pairs=pairs, base=base
        )
        totals[key in cash_keys] = list(map(add, totals[key in cash_keys], values))
    return list(map(BalancePoint, days, totals[True], totals[False]))


def compute_daily_values(
    amounts: AmountsByCurrency,
    changes: Mapping[str, Changes],
    *,
    days: int,
    pairs: Mapping[str, list[RatePair]],
    base: str,
) -> list[Decimal]:
    """Compute what an account is worth at the end of each day, rounded.

    Args:
        pairs: rates of currencies other than the base, by day.
    """
    columns = [
        accumulate_daily_changes(amounts.get(currency, ZERO), changes.get(currency, {}), days=days)
        if currency == base
        else convert_daily_amounts(amounts.get(currency, ZERO), changes.get(currency, {}), pairs[currency])
        for currency in amounts.keys() | changes.keys()
    ]
    if len(columns) == 1:
        return round_amounts(columns[0], base)
    return round_amounts((reduce(MONEY_CONTEXT.add, column) for column in zip(*columns, strict=True)), base)


def accumulate_daily_changes(amount: Decimal, changes: Changes, *, days: int) -> list[Decimal]:
    """Return an amount at the end of each day, given its changes after the first."""
    return list(accumulate((changes.get(number, ZERO) for number in range(1, days)), initial=amount))


def convert_daily_amounts(amount: Decimal, changes: Changes, pairs: Sequence[RatePair]) -> list[Decimal]:
    """Return an amount that changes by day, converted at each day's rate."""
    values: list[Decimal] = []
    last_pair: RatePair | None = None
    for number, pair in enumerate(pairs):
        change = changes.get(number)
        if change is None and pair == last_pair:
            values.append(values[-1])
            continue
        if change is not None:
            amount += change
        last_pair = pair
        values.append(apply_rate_pair(amount, pair))
    return values


def find_overdraft_starts(*, company: Company, currencies: Mapping[UUID, str], day: date) -> dict[UUID, date]:
    """Return the first day of an unbroken time below zero that lasts to the end of a day, by account.

    Accounts at zero or above are left out. What an account holds in other currencies than its own is not counted.

    Args:
        currencies: the accounts to look at, with their own currencies.
    """
    if not currencies:
        return {}
    rows = DayMovement.objects.for_company(company.id).filter(account_id__in=currencies, date__lte=day)
    balances: dict[UUID, Decimal] = {}
    since: dict[UUID, date] = {}
    for account_id, currency, moved_on, amount in rows.order_by("date").values_list(
        "account_id", "currency", "date", "amount"
    ):
        if currency != currencies[account_id]:
            continue
        balances[account_id] = balances.get(account_id, ZERO) + amount
        if balances[account_id] >= 0:
            since.pop(account_id, None)
        else:
            since.setdefault(account_id, moved_on)
    return since
