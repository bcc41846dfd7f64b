"""Accounts beside what they hold: in each currency, and in the company's own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from uuid import UUID

from companies.models import Company
from ledger.accounts.balances import ZERO, balances_on, in_base
from ledger.calc.fx import MissingRate
from ledger.models import Account, AccountGroup
from ledger.money.rates import rate_table


@dataclass(frozen=True, slots=True)
class Holding:
    """An account; what it holds as (amount, currency), its own currency first; and its worth in the base currency,
    None where it is not to be seen or cannot be told."""

    account: Account
    amounts: list[tuple[Decimal, str]] = field(default_factory=list)
    worth: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Shelf:
    """The accounts of a group, or those of none, with their worth together."""

    name: str
    holdings: list[Holding]
    worth: Decimal | None


def holdings(company: Company, rows: Sequence[Account], *, day: date) -> tuple[list[Holding], str]:
    """What the accounts hold at the end of a day; and the first currency that has no rate, where one has none: then
    nothing is converted. One query for all of them, and one for the rates."""
    held = balances_on(company_id=company.id, day=day)
    rates, base = rate_table(), company.base_currency
    shown = [Holding(row, amounts_of(row, held.get(row.id, {}))) for row in rows]
    try:
        worths = [in_base(held.get(row.id, {}), base=base, day=day, rates=rates) for row in rows]
    except MissingRate as missing:
        return shown, missing.currency
    return [Holding(each.account, each.amounts, worth) for each, worth in zip(shown, worths, strict=True)], ""


def amounts_of(account: Account, held: dict[str, Decimal]) -> list[tuple[Decimal, str]]:
    others = [(amount, currency) for currency, amount in sorted(held.items()) if amount]
    own = (held.get(account.default_currency, ZERO), account.default_currency)
    return [own, *(other for other in others if other[1] != account.default_currency)]


def shelves(held: Sequence[Holding], groups: Sequence[AccountGroup]) -> list[Shelf]:
    """The accounts by group, in the groups' order; those of no such group last."""
    names = {group.id: group.name for group in groups}
    found = []
    for group_id, name in [*names.items(), (None, "")]:
        inside = [each for each in held if shelf_of(each.account, names) == group_id]
        if inside:
            found.append(Shelf(name, inside, worth_of(inside)))
    return found


def shelf_of(account: Account, names: Mapping[UUID, str]) -> UUID | None:
    """The account's group where it is one of those that are shown."""
    return account.account_group_id if account.account_group_id in names else None


def worth_of(held: Sequence[Holding]) -> Decimal | None:
    """What they are worth together; None where one's worth is not told."""
    worths = [each.worth for each in held if each.worth is not None]
    return sum(worths, start=ZERO) if len(worths) == len(held) else None
