"""Create the other leg of a transfer of which only one transaction is booked."""

from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from django.utils.translation import gettext as _

from companies.change import change_company
from companies.errors import ConflictError, ValidationFailed, build_unknown_id_error
from companies.models import AuditContext, Company
from ledger.models import Account, Transaction
from ledger.money.amounts import format_plain_amount, parse_api_amount
from ledger.transactions.actions.transactions import create_transaction
from ledger.transactions.actions.transfers import (
    TransferSameAccount,
    TransferSourceClosed,
    link_transfer,
)
from ledger.transactions.queries.other_leg_accounts import filter_accounts_without_import
from ledger.transactions.queries.transfer_candidates import find_unlinked_transfers


class AccountHasImport(ConflictError):
    """Transactions of this day were imported into the account. Link one of them."""

    code = "account_has_import"


class OpenLeg(NamedTuple):
    """What of a transaction can be a leg: its uncategorized amount, or a categorization as Transfers."""

    categorization_id: UUID | None
    value: Decimal


def find_open_leg(company: Company, row: Transaction) -> OpenLeg | None:
    """Return the uncategorized amount of a transaction, else its unlinked transfer; None if it has neither."""
    if row.is_initial:
        return None
    if row.is_open:
        return OpenLeg(None, row.amount_value - row.categorized_value)
    categorization_id = find_unlinked_transfers(company, [row.id]).get(row.id)
    return OpenLeg(categorization_id, row.amount_value) if categorization_id else None


def create_other_leg(
    *,
    company: Company,
    context: AuditContext,
    transaction_id: UUID,
    account_id: UUID,
    amount_value: str | None,
    force: bool = False,
) -> Transaction:
    """Book the other leg of a transaction on another account, on the same day, and link both.

    Args:
        amount_value: without a sign, in the account's currency; needed if the currencies differ.
        force: link amounts that differ by more than 10 % across currencies.

    Raises:
        NotFoundError, TransferSourceClosed, TransferSameAccount, AccountHasImport, TransferAmountsDiffer,
        PeriodClosed, MissingRateError.
        ValidationFailed: the account is unknown, or the amount is missing or wrong.
    """
    with change_company(company, context=context) as change:
        row = change.lock(Transaction, transaction_id)
        leg = find_open_leg(company, row)
        if leg is None:
            raise TransferSourceClosed
        account = Account.objects.for_company(company.id).active().filter(id=account_id).first()
        if account is None:
            raise build_unknown_id_error("#/accountId")
        if account.id == row.account_id:
            raise TransferSameAccount(pointer="#/accountId")
        available = filter_accounts_without_import(company, day=row.date, except_id=row.account_id)
        if not available.filter(id=account.id).exists():
            raise AccountHasImport(pointer="#/accountId")
        amount = compute_other_amount(row, leg, account, amount_value)
        other_leg = create_transaction(
            company=company,
            context=context,
            values={
                "account_id": account.id,
                "date": row.date,
                "amount_value": format_plain_amount(amount, account.default_currency),
                "from_to": row.account.name,
                "description": row.description,
                "pending": row.pending,
                "exclude_from_auto_categorization": True,  # a rule would leave nothing to link
            },
        )
        link_transfer(
            company=company,
            context=context,
            source_id=row.id,
            source_categorization_id=leg.categorization_id,
            target_id=other_leg.id,
            force=force,
        )
    return other_leg


def compute_other_amount(row: Transaction, leg: OpenLeg, account: Account, amount_value: str | None) -> Decimal:
    """Return the amount of the other leg with its sign: the stated one, else that of the leg in its currency.

    Raises:
        ValidationFailed: the amount is missing, zero, wrong, or another one in the same currency.
    """
    currency, is_same_currency = account.default_currency, account.default_currency == row.amount_currency
    if not amount_value:
        if is_same_currency:
            return -leg.value
        text = _("Enter the amount in {currency}.").format(currency=currency)
        raise ValidationFailed([("#/amountValue", "required", text)])
    amount = abs(parse_api_amount(amount_value, currency, pointer="#/amountValue"))
    if not amount:
        raise ValidationFailed([("#/amountValue", "invalid_value", _("Enter an amount other than 0."))])
    if is_same_currency and amount != abs(leg.value):
        text = _("Leave it empty: the account is in {currency} too.").format(currency=currency)
        raise ValidationFailed([("#/amountValue", "transfer_amounts_differ", text)])
    return amount if leg.value < 0 else -amount
