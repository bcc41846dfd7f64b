"""Opening, changing and closing accounts and the groups they are shown in; their initial balances."""

from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from companies.errors import Conflict, unknown_id
from companies.follow_ups import follow_up
from companies.models import Company, Stamp, record_change, snapshot
from ledger.models import COUNTS_AS_CASH, Account, AccountGroup, Category, Source, Transaction


class AccountGroupNotEmpty(Conflict):
    """Accounts remain in the group, archived ones perhaps; move them out first with change_group."""

    code = "account_group_not_empty"


class AccountNotEmpty(Conflict):
    """The account has transactions; archive it instead, or delete them first."""

    code = "account_not_empty"


def open_account(*, company: Company, stamp: Stamp, values: dict[str, Any]) -> Account:
    """A new account. Raises FieldErrors with unknown_id for a group or category that the company does not have."""
    values = {"default_currency": company.base_currency, **values}
    values.setdefault("include_in_cash_balance", values["type"] in COUNTS_AS_CASH)
    check_references(company_id=company.id, values=values)
    account = Account(company=company, **values).stamp_new(stamp)
    account.save(force_insert=True)
    record_change(stamp, account, "account.created", after=snapshot(account))
    return account


def change_account(
    *, account: Account, stamp: Stamp, values: dict[str, Any], action: str = "account.updated"
) -> Account:
    """Stores what differs. Raises FieldErrors with unknown_id."""
    # A reference that stays needs no look: locking its row would meet a delete that waits for this account.
    new = {name: value for name, value in values.items() if getattr(account, name) != value}
    check_references(company_id=account.company_id, values=new)
    before = snapshot(account)
    if account.change(stamp, **values):
        record_change(stamp, account, action, before=before, after=snapshot(account))
    return account


def close_account(*, account: Account, stamp: Stamp) -> None:
    """Deletes an account that has no transactions but an initial balance. Raises AccountNotEmpty."""
    initial = Transaction.objects.of(account.company_id).filter(account=account).initial()
    ids = list(initial.values_list("id", flat=True))
    follow_up("transactions_deleted", company=account.company, transaction_ids=ids, stamp=stamp)
    initial.delete()
    follow_up("account_closed", account=account, stamp=stamp)
    before = snapshot(account)
    try:
        with transaction.atomic():
            account.delete()
    except IntegrityError:
        raise AccountNotEmpty from None
    record_change(stamp, account, "account.deleted", before=before)


def check_references(*, company_id: UUID, values: dict[str, Any]) -> None:
    """Group and category must be the company's own; the rows are locked until the change is stored."""
    for name, model, pointer in (
        ("account_group_id", AccountGroup, "#/accountGroupId"),
        ("default_category_id", Category, "#/defaultCategoryId"),
    ):
        wanted = values.get(name)
        if wanted is None:
            continue
        rows = model.objects.of(company_id).filter(id=wanted).select_for_update(no_key=True)
        if not rows.exists():
            raise unknown_id(pointer)


def add_group(*, company: Company, stamp: Stamp, values: dict[str, Any]) -> AccountGroup:
    group = AccountGroup(company=company, **values).stamp_new(stamp)
    group.save(force_insert=True)
    record_change(stamp, group, "accountGroup.created", after=snapshot(group))
    return group


def update_group(*, group: AccountGroup, stamp: Stamp, values: dict[str, Any]) -> AccountGroup:
    """Renames, reorders or archives; accounts inside are unchanged."""
    before = snapshot(group)
    if group.change(stamp, **values):
        record_change(stamp, group, "accountGroup.updated", before=before, after=snapshot(group))
    return group


def delete_group(*, group: AccountGroup, stamp: Stamp) -> None:
    """Deletes an empty group; the database decides, also against a move at the same moment.

    Raises AccountGroupNotEmpty.
    """
    before = snapshot(group)
    try:
        with transaction.atomic():
            group.delete()
    except IntegrityError:
        raise AccountGroupNotEmpty from None
    record_change(stamp, group, "accountGroup.deleted", before=before)


def initial_balance(*, account: Account) -> Transaction | None:
    """The account's initial-balance transaction, where it has one."""
    return Transaction.objects.of(account.company_id).filter(account=account).initial().first()


def set_initial_balance(*, account: Account, stamp: Stamp, day: date, amount: Decimal) -> Transaction:
    """Creates or changes the one transaction that the account starts with, in the account's currency."""
    Account.objects.of(account.company_id).select_for_update().get(id=account.id)
    stored = initial_balance(account=account)
    if stored is None:
        stored = Transaction(
            company_id=account.company_id,
            account=account,
            date=day,
            amount_value=amount,
            amount_currency=account.default_currency,
            description="Initial balance",
            source=Source.INITIAL_BALANCE,
        ).stamp_new(stamp)
        stored.save(force_insert=True)
        record_change(stamp, stored, "initialBalance.created", after={"date": day, "amount_value": amount})
        return stored
    before = {"date": stored.date, "amount_value": stored.amount_value}
    if stored.change(stamp, date=day, amount_value=amount, amount_currency=account.default_currency):
        record_change(
            stamp, stored, "initialBalance.updated", before=before, after={"date": day, "amount_value": amount}
        )
    return stored
