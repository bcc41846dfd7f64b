"""Set the initial balance of an account."""

from datetime import date
from decimal import Decimal
from uuid import UUID

from companies.change import change_company
from companies.closed_periods import check_period_open_for_days, is_day_closed
from companies.models import AuditContext, Company
from companies.versions import check_version
from ledger import hooks
from ledger.models import (
    Account,
    Categorization,
    Category,
    Source,
    Transaction,
)
from ledger.money.amounts import parse_api_amount


def find_initial_balance(*, account: Account) -> Transaction | None:
    """Return the account's initial-balance transaction, or None."""
    return Transaction.objects.for_company(account.company_id).filter(account=account).initial_balances().first()


def check_period_open_for_initial_balance(
    company: Company, stored: Transaction | None, *, day: date, value: Decimal, currency: str
) -> None:
    """Raise PeriodClosed where the initial balance changes, and it was or will be dated in a closed month."""
    if stored is None or stored.date != day:
        check_period_open_for_days(
            company, [("#/date", day if is_day_closed(company, day) or stored is None else stored.date)]
        )
    elif (stored.amount_value, stored.amount_currency) != (value, currency):
        check_period_open_for_days(company, [("#/amountValue", day)])


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
        check_period_open_for_initial_balance(
            company, transaction, day=day, value=value, currency=account.default_currency
        )
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
