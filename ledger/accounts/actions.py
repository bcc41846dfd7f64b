"""Write accounts, account groups and initial balances."""

from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from companies.change import change_company
from companies.closed_periods import PeriodClosed, check_open, is_closed
from companies.errors import build_unknown_id_error
from companies.models import AuditContext, Company
from companies.versions import check_version
from ledger import hooks
from ledger.categorization.actions import rule_references
from ledger.models import (
    CASH_ACCOUNT_TYPES,
    Account,
    AccountGroup,
    AccountType,
    Categorization,
    Category,
    DayMovement,
    Source,
    Transaction,
)
from ledger.money.amounts import parse_api_amount
from ledger.transactions.actions.transactions import delete_transaction_rows


def create_account(*, company: Company, context: AuditContext, values: dict[str, Any]) -> Account:
    """Create an account. Without a currency it has the company's base currency.

    Raises:
        ValidationFailed: `unknown_id` for an account group or category of another company.
    """
    with change_company(company, context=context) as change:
        values = {"default_currency": company.base_currency, **values}
        is_chosen = values.get("include_in_cash_balance") is not None
        values = {"include_in_cash_balance": None, **values, "cash_chosen": is_chosen}
        values = resolve_cash_flag(values, Account(type=values["type"]))
        check_account_references(company_id=company.id, values=values)
        return change.create(Account(company=company, **values), "account.created")


def update_account(
    *,
    company: Company,
    context: AuditContext,
    account_id: UUID | str,
    values: dict[str, Any],
    action: str = "account.updated",
) -> Account:
    """Update an account with the values that differ, and log them as `action`.

    Whether it counts as cash follows its type until a user chooses; `include_in_cash_balance=None` restores
    that.

    Raises:
        NotFoundError, PreconditionFailed.
        ValidationFailed: `unknown_id`.
    """
    with change_company(company, context=context) as change:
        account = change.lock(Account, account_id)
        check_account_references(company_id=company.id, values=values)
        check_account_type_is_open(company, account, values.get("type", account.type))
        change.update(account, action, **resolve_cash_flag(values, account))
    return account


def check_account_type_is_open(company: Company, account: Account, account_type: str) -> None:
    """Raise PeriodClosed where an account with flows in closed months becomes a transit account, or stops being one."""
    if company.closed_through is None or (account_type == AccountType.TRANSIT) == (account.type == AccountType.TRANSIT):
        return
    days = DayMovement.objects.for_company(company.id).filter(account_id=account.id, date__lte=company.closed_through)
    if days.exclude(inflow=0, outflow=0).exists():
        raise PeriodClosed.for_company(company, "#/type")


def resolve_cash_flag(values: dict[str, Any], account: Account) -> dict[str, Any]:
    """Add whether the account counts as cash: the user's choice, else the default for its type.

    A value equal to the stored one is not a choice, because API clients send back all fields they have read.
    """
    stored_flag = account.include_in_cash_balance
    requested_flag = values.get("include_in_cash_balance", stored_flag)
    if requested_flag is not None and (requested_flag != stored_flag or values.get("cash_chosen")):
        return {**values, "cash_chosen": True}
    if requested_flag is not None and (account.cash_chosen or "type" not in values):
        return {**values, "include_in_cash_balance": stored_flag}
    is_cash_type = values.get("type", account.type) in CASH_ACCOUNT_TYPES
    return {**values, "include_in_cash_balance": is_cash_type, "cash_chosen": False}


def delete_account(*, company: Company, context: AuditContext, account_id: UUID | str) -> Account:
    """Delete an account that has no transactions; its initial balance is deleted with it.

    Raises:
        NotFoundError, PreconditionFailed, AccountNotEmpty.
    """
    with change_company(company, context=context) as change:
        account = change.lock(Account, account_id)
        initial_balances = Transaction.objects.for_company(company.id).filter(account=account).initial_balances()
        delete_transaction_rows(change, list(initial_balances.values_list("id", flat=True)))
        rule_references.disable_rules_of_account(account=account, context=context)
        hooks.account_deleted.run(account=account, context=context)
        change.delete(account, "account.deleted")
    return account


def check_account_references(*, company_id: UUID, values: dict[str, Any]) -> None:
    """Check that the account group and the category belong to the company.

    Raises:
        ValidationFailed: `unknown_id`.
    """
    for name, model, pointer in (
        ("account_group_id", AccountGroup, "#/accountGroupId"),
        ("default_category_id", Category, "#/defaultCategoryId"),
    ):
        reference_id = values.get(name)
        if reference_id is not None and not model.objects.for_company(company_id).filter(id=reference_id).exists():
            raise build_unknown_id_error(pointer)


def create_account_group(*, company: Company, context: AuditContext, values: dict[str, Any]) -> AccountGroup:
    """Create an account group."""
    with change_company(company, context=context) as change:
        return change.create(AccountGroup(company=company, **values), "accountGroup.created")


def update_account_group(
    *, company: Company, context: AuditContext, group_id: UUID | str, values: dict[str, Any]
) -> AccountGroup:
    """Rename, reorder or archive an account group; its accounts do not change.

    Raises:
        NotFoundError, PreconditionFailed.
    """
    with change_company(company, context=context) as change:
        group = change.lock(AccountGroup, group_id)
        change.update(group, "accountGroup.updated", **values)
    return group


def move_account_group(*, company: Company, context: AuditContext, group_id: UUID, down: bool) -> AccountGroup:
    """Move an account group up or down by one position. Raises NotFoundError."""
    with change_company(company, context=context) as change:
        groups = AccountGroup.objects.for_company(company.id).in_display_order()
        return change.move_row(groups, group_id, action="accountGroup.updated", move_down=down)


def delete_account_group(*, company: Company, context: AuditContext, group_id: UUID | str) -> None:
    """Delete an empty account group.

    Raises:
        NotFoundError, PreconditionFailed, AccountGroupNotEmpty.
    """
    with change_company(company, context=context) as change:
        change.delete(change.lock(AccountGroup, group_id), "accountGroup.deleted")


def find_initial_balance(*, account: Account) -> Transaction | None:
    """Return the account's initial-balance transaction, or None."""
    return Transaction.objects.for_company(account.company_id).filter(account=account).initial_balances().first()


def check_initial_balance_is_open(
    company: Company, stored: Transaction | None, *, day: date, value: Decimal, currency: str
) -> None:
    """Raise PeriodClosed where the initial balance changes, and it was or will be dated in a closed month."""
    if stored is None or stored.date != day:
        check_open(company, [("#/date", day if is_closed(company, day) or stored is None else stored.date)])
    elif (stored.amount_value, stored.amount_currency) != (value, currency):
        check_open(company, [("#/amountValue", day)])


def set_initial_balance(
    *, company: Company, context: AuditContext, account_id: UUID | str, day: date, amount: str
) -> Transaction:
    """Create or update the initial-balance transaction of an account, in the account's currency.

    The whole amount is categorized with the system category `initialBalance`. `amount` is text as the API takes
    it. The expected version is that of the transaction, not of the account.

    Raises:
        NotFoundError, PreconditionFailed.
        ValidationFailed: `invalid_decimal`, `too_many_decimals`.
    """
    with change_company(company, context=context) as change:
        account = change.lock(Account, account_id, check_versions=False)
        transaction = find_initial_balance(account=account)
        check_version(transaction, context.expected_versions)
        value = parse_api_amount(amount, account.default_currency, pointer="#/amountValue")
        transaction_values = {"date": day, "amount_value": value, "amount_currency": account.default_currency}
        check_initial_balance_is_open(company, transaction, day=day, value=value, currency=account.default_currency)
        transaction_values |= {"provider_data": None}  # an opening balance from a statement becomes a manual one
        categorization_values = {"computed_start_date": day, "computed_end_date": day, "neutral": value, "value": value}
        if transaction is None:
            transaction = Transaction(
                company=company, account=account, source=Source.INITIAL_BALANCE, **transaction_values
            )
            transaction.description, transaction.categorized_value = "Opening balance", value
            change.create(transaction, "initialBalance.created")
            category = Category.objects.for_company(company.id).for_system_key("initialBalance").get()
            Categorization(company=company, transaction=transaction, category=category, **categorization_values).save(
                force_insert=True
            )
        elif change.update(transaction, "initialBalance.updated", **transaction_values, categorized_value=value):
            Categorization.objects.for_company(company.id).filter(transaction=transaction).update(
                **categorization_values
            )
        hooks.balances_changed.run(change=change, account_ids={account.id})
    return transaction
