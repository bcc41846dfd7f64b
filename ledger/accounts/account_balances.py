"""Accounts with their balances, per currency and in the company's base currency."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from uuid import UUID

from companies.models import Company
from ledger.accounts.queries import ZERO, convert_balance_to_base, sum_account_balances
from ledger.models import Account, AccountGroup
from ledger.money.calc.fx import RateLookupError
from ledger.money.rates import get_rate_table


@dataclass(frozen=True, slots=True)
class AccountWithBalance:
    """An account with its balance.

    `amounts` holds (amount, currency), the account's default currency first. `base_balance` is the value in the base
    currency; None where the user may not see balances or a rate is missing.
    """

    account: Account
    amounts: list[tuple[Decimal, str]] = field(default_factory=list)
    base_balance: Decimal | None = None


@dataclass(frozen=True, slots=True)
class AccountGroupBalance:
    """The balances of the accounts in one account group (or in none), with their sum in the base currency."""

    name: str
    holdings: list[AccountWithBalance]
    base_balance: Decimal | None


def build_account_balances(
    company: Company, accounts: Sequence[Account], *, day: date
) -> tuple[list[AccountWithBalance], str]:
    """Return the balances of accounts at the end of a day, and the first currency without a rate ("" if none).

    If a rate is missing, nothing is converted. Takes two queries, whatever the number of accounts.
    """
    balances = sum_account_balances(company_id=company.id, day=day)
    rates, base = get_rate_table(), company.base_currency
    unconverted = [AccountWithBalance(row, list_balance_amounts(row, balances.get(row.id, {}))) for row in accounts]
    try:
        base_amounts = [
            convert_balance_to_base(balances.get(row.id, {}), base=base, day=day, rates=rates) for row in accounts
        ]
    except RateLookupError as error:
        return unconverted, error.currency
    return [
        AccountWithBalance(account_amounts.account, account_amounts.amounts, base_amount)
        for account_amounts, base_amount in zip(unconverted, base_amounts, strict=True)
    ], ""


def list_balance_amounts(account: Account, balance: dict[str, Decimal]) -> list[tuple[Decimal, str]]:
    """Return a balance as (amount, currency), the default currency first; other zeros are left out."""
    other_amounts = [(amount, currency) for currency, amount in sorted(balance.items()) if amount]
    default_amount = (balance.get(account.default_currency, ZERO), account.default_currency)
    return [default_amount, *(other for other in other_amounts if other[1] != account.default_currency)]


def group_account_balances(
    balances: Sequence[AccountWithBalance], groups: Sequence[AccountGroup]
) -> list[AccountGroupBalance]:
    """Group balances by account group, in the order of the groups; accounts in none of them come last."""
    group_names = {group.id: group.name for group in groups}
    group_balances = []
    for group_id, name in [*group_names.items(), (None, "")]:
        members = [each for each in balances if get_shown_group_id(each.account, group_names) == group_id]
        if members:
            group_balances.append(AccountGroupBalance(name, members, sum_base_values(members)))
    return group_balances


def get_shown_group_id(account: Account, group_names: Mapping[UUID, str]) -> UUID | None:
    """Return the id of the account's group if it is one of `group_names`, else None."""
    return account.account_group_id if account.account_group_id in group_names else None


def sum_base_values(balances: Sequence[AccountWithBalance]) -> Decimal | None:
    """Return the sum of the balances in the base currency; None if one of them is not converted."""
    base_amounts = [each.base_balance for each in balances if each.base_balance is not None]
    return sum(base_amounts, start=ZERO) if len(base_amounts) == len(balances) else None
