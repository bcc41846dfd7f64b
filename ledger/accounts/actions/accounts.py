"""Create, update and delete accounts."""

from typing import Any
from uuid import UUID

from companies.change import change_company
from companies.closed_periods import PeriodClosed
from companies.errors import build_unknown_id_error
from companies.models import AuditContext, Company
from ledger import hooks
from ledger.categorization.actions import rule_references
from ledger.models import (
    CASH_ACCOUNT_TYPES,
    Account,
    AccountGroup,
    AccountType,
    Category,
    DayMovement,
    Transaction,
)
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
        check_period_open_for_account_type(company, account, values.get("type", account.type))
        change.update(account, action, **resolve_cash_flag(values, account))
    return account


def check_period_open_for_account_type(company: Company, account: Account, account_type: str) -> None:
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
