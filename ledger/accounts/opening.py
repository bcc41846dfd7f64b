"""Opening, changing and closing accounts and the groups they are shown in; their initial balances."""

from datetime import date
from typing import Any
from uuid import UUID

from companies.changing import changing
from companies.errors import unknown_id
from companies.models import Company, Stamp
from companies.versions import unless_stale
from ledger import hooks
from ledger.models import COUNTS_AS_CASH, Account, AccountGroup, Categorization, Category, Source, Transaction
from ledger.money.amounts import amount_in
from ledger.purposes import rule_references
from ledger.transactions.booking import remove


def open_account(*, company: Company, stamp: Stamp, values: dict[str, Any]) -> Account:
    """A new account. Raises FieldErrors with unknown_id for a group or category that the company does not have."""
    with changing(company, stamp=stamp) as change:
        values = {"default_currency": company.base_currency, **values}
        chosen = values.get("include_in_cash_balance") is not None
        values = {"include_in_cash_balance": None, **values, "cash_chosen": chosen}
        values = following_type(values, Account(type=values["type"]))
        check_references(company_id=company.id, values=values)
        return change.create(Account(company=company, **values), "account.created")


def change_account(
    *,
    company: Company,
    stamp: Stamp,
    account_id: UUID | str,
    values: dict[str, Any],
    action: str = "account.updated",
) -> Account:
    """Stores what differs; whether it counts as cash follows the type until somebody chooses, and again where that is
    None. Raises Missing, Stale, FieldErrors with unknown_id."""
    with changing(company, stamp=stamp) as change:
        account = change.locked(Account, account_id)
        check_references(company_id=company.id, values=values)
        change.update(account, action, **following_type(values, account))
    return account


def following_type(values: dict[str, Any], account: Account) -> dict[str, Any]:
    """Whether an account counts as cash: as somebody has chosen, else by its type, which may be new.

    What is stored and sent again, as programs do that send back all that they read, is no choice.
    """
    stored = account.include_in_cash_balance
    said = values.get("include_in_cash_balance", stored)
    if said is not None and (said != stored or values.get("cash_chosen")):
        return {**values, "cash_chosen": True}
    if said is not None and (account.cash_chosen or "type" not in values):
        return {**values, "include_in_cash_balance": stored}
    cash = values.get("type", account.type) in COUNTS_AS_CASH
    return {**values, "include_in_cash_balance": cash, "cash_chosen": False}


def close_account(*, company: Company, stamp: Stamp, account_id: UUID | str) -> Account:
    """Deletes an account that has no transactions but an initial balance. Raises Missing, Stale, AccountNotEmpty."""
    with changing(company, stamp=stamp) as change:
        account = change.locked(Account, account_id)
        initial = Transaction.objects.of(company.id).filter(account=account).initial()
        remove(change, list(initial.values_list("id", flat=True)))
        rule_references.disable_rules_of_account(account=account, stamp=stamp)
        hooks.account_deleted.run(account=account, stamp=stamp)
        change.delete(account, "account.deleted")
    return account


def check_references(*, company_id: UUID, values: dict[str, Any]) -> None:
    """Group and category must be the company's own."""
    for name, model, pointer in (
        ("account_group_id", AccountGroup, "#/accountGroupId"),
        ("default_category_id", Category, "#/defaultCategoryId"),
    ):
        wanted = values.get(name)
        if wanted is not None and not model.objects.of(company_id).filter(id=wanted).exists():
            raise unknown_id(pointer)


def add_group(*, company: Company, stamp: Stamp, values: dict[str, Any]) -> AccountGroup:
    with changing(company, stamp=stamp) as change:
        return change.create(AccountGroup(company=company, **values), "accountGroup.created")


def update_group(*, company: Company, stamp: Stamp, group_id: UUID | str, values: dict[str, Any]) -> AccountGroup:
    """Renames, reorders or archives; accounts inside are unchanged. Raises Missing, Stale."""
    with changing(company, stamp=stamp) as change:
        group = change.locked(AccountGroup, group_id)
        change.update(group, "accountGroup.updated", **values)
    return group


def move_group(*, company: Company, stamp: Stamp, group_id: UUID, down: bool) -> AccountGroup:
    """Moves a group one place up or down among all of them. Raises Missing."""
    with changing(company, stamp=stamp) as change:
        rows = AccountGroup.objects.of(company.id).in_order()
        return change.step(rows, group_id, action="accountGroup.updated", down=down)


def delete_group(*, company: Company, stamp: Stamp, group_id: UUID | str) -> None:
    """Deletes an empty group. Raises Missing, Stale, AccountGroupNotEmpty."""
    with changing(company, stamp=stamp) as change:
        change.delete(change.locked(AccountGroup, group_id), "accountGroup.deleted")


def initial_balance(*, account: Account) -> Transaction | None:
    """The account's initial-balance transaction, where it has one."""
    return Transaction.objects.of(account.company_id).filter(account=account).initial().first()


def set_initial_balance(
    *, company: Company, stamp: Stamp, account_id: UUID | str, day: date, amount: str
) -> Transaction:
    """Creates or changes the one transaction that the account starts with, in the account's currency.

    It is complete: its one part is all of it, of the category for initial balances. ``amount`` as it was written; what
    the caller has seen is the transaction. Raises Missing, Stale, FieldErrors (invalid_decimal, too_many_decimals).
    """
    with changing(company, stamp=stamp) as change:
        account = change.locked(Account, account_id, versioned=False)
        stored = initial_balance(account=account)
        unless_stale(stored, stamp.expected)
        value = amount_in(amount, account.default_currency, pointer="#/amountValue")
        facts = {"date": day, "amount_value": value, "amount_currency": account.default_currency}
        facts |= {"provider_data": None}  # a statement's opening balance is somebody's own from now on
        whole = {"computed_start_date": day, "computed_end_date": day, "neutral": value, "value": value}
        if stored is None:
            stored = Transaction(company=company, account=account, source=Source.INITIAL_BALANCE, **facts)
            stored.description, stored.categorized_value = "Initial balance", value
            change.create(stored, "initialBalance.created")
            category = Category.objects.of(company.id).system("initialBalance").get()
            Categorization(company=company, transaction=stored, category=category, **whole).save(force_insert=True)
        elif change.update(stored, "initialBalance.updated", **facts, categorized_value=value):
            Categorization.objects.of(company.id).filter(transaction=stored).update(**whole)
        hooks.balances_changed.run(change=change, account_ids={account.id})
    return stored
