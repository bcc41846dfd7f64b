"""Transactions as API objects: one statement each for the rows, their categorizations and what they settle."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from companies.api.fields import to_json_number
from companies.errors import NotFoundError
from companies.models import IdIn
from ledger import hooks
from ledger.models import Categorization, LinkKind, Transaction
from ledger.money.calc.money import format_amount
from ledger.recognition.actions.postings import PL_TYPES
from ledger.transactions.fields import TRANSACTION_TEXTS

# Members of provider_data that integrations write, by API name; all are texts but one.
PROVIDER_FIELDS = (
    "bankProviderATransactionId",
    "bankProviderBTransactionId",
    "paymentProviderBalanceTransactionId",
    "paymentProviderInvoiceId",
    "paymentProviderCreditNoteId",
    "paymentProviderPaymentIntentId",
    "paymentProviderBillingEmail",
    "crmProviderPortalId",
    "crmProviderInvoiceId",
    "crmProviderCategorizationResolved",
    "accountingProviderAExpenseNumber",
    "accountingProviderAInvoiceNumber",
    "expenseProviderAExpenseId",
    "createdVendorId",
    "integrationId",
)
PROVIDER_IDS = ("createdVendorId", "integrationId")  # our own ids; the others are in the providers' format
PROVIDER_FLAG = "crmProviderCategorizationResolved"

# API name -> column, of fields that are returned as they are stored.
STORED_FIELDS = {
    "id": "id",
    "companyId": "company_id",
    "accountId": "account_id",
    "date": "date",
    "categorizationsAutoAssigned": "categorizations_auto_assigned",
    "excludeFromAutoCategorization": "exclude_from_auto_categorization",
    **{text.name: text.column for text in TRANSACTION_TEXTS},
    "source": "source",
    "assignedUserId": "assigned_user_id",
    "pending": "pending",
    "externalId": "external_id",
    "importId": "import_batch_id",
    "createdTime": "created_time",
    "createdUserId": "created_user_id",
    "lastUpdatedTime": "last_updated_time",
    "lastUpdatedUserId": "last_updated_user_id",
}
OTHER_COLUMNS = ("from_to", "description", "amount_value", "amount_currency", "provider_data")
CATEGORIZATION_COLUMNS = (
    "transaction_id",
    "id",
    "category_id",
    "counterparty_id",
    "counterparty__type",
    "rule",
    "rule_start_date",
    "rule_end_date",
    "invoice_date",
    "computed_start_date",
    "computed_end_date",
    "pass_through_tax",
    "link_kind",
    "counter_id",
    "counter__transaction_id",
    "source_note",
    "recognized_from",
)


def list_transaction_dicts(rows: Any, *, company_id: UUID) -> list[dict[str, Any]]:
    """Return the transactions of a queryset as API objects, in its order; three statements."""
    transactions = [transaction_to_dict(row) for row in rows.values_list(*STORED_FIELDS.values(), *OTHER_COLUMNS)]
    categorizations_by_id = {row["id"]: row["categorizations"] for row in transactions}
    if categorizations_by_id:
        occurrences = get_settled_occurrences(company_id=company_id, transaction_ids=categorizations_by_id)
        for row in transactions:
            row["settlements"] = [settlement_to_dict(each) for each in occurrences.get(row["id"], ())]
        own_categorizations = Categorization.objects.for_company(company_id).filter(
            IdIn("transaction_id", list(categorizations_by_id))
        )
        categorizations = own_categorizations.order_by("position", "id")
        for transaction_id, categorization_id, *values in categorizations.values_list(
            *CATEGORIZATION_COLUMNS, *PL_TYPES
        ):
            categorizations_by_id[transaction_id][str(categorization_id)] = categorization_to_dict(values)
    return transactions


def get_settled_occurrences(*, company_id: UUID, transaction_ids: Iterable[UUID]) -> dict[UUID, list[Any]]:
    """Return what a transaction settles, by transaction id: planned_id, date, name, amount, currency; one query.

    Planning answers it, which the ledger does not import (ledger.hooks).
    """
    ids = list(transaction_ids)
    occurrences: dict[UUID, list[Any]] = {}
    for settled in hooks.list_settled_occurrences.run(company_id=company_id, transaction_ids=ids):
        occurrences |= settled
    return occurrences


def get_transaction_dict(row: Any) -> dict[str, Any]:
    """Return a stored transaction as an API object. Raises NotFoundError if it has been deleted."""
    transactions = list_transaction_dicts(
        Transaction.objects.for_company(row.company_id).filter(id=row.id), company_id=row.company_id
    )
    if not transactions:
        raise NotFoundError
    return transactions[0]


def transaction_to_dict(row: tuple[Any, ...]) -> dict[str, Any]:
    """Return a row of STORED_FIELDS and OTHER_COLUMNS as an API object without categorizations."""
    result = dict(zip(STORED_FIELDS, row, strict=False))
    from_to, description, amount, currency, provider_data = row[len(STORED_FIELDS) :]
    provider_data = provider_data or {}
    return result | {
        "fromTo": from_to or None,
        "description": description or None,
        "amountValue": format_amount(amount, currency),
        "amountCurrency": currency,
        **{name: provider_data.get(name) for name in PROVIDER_FIELDS},
        "categorizations": {},
    }


def settlement_to_dict(settlement: Any) -> dict[str, Any]:
    """Return an amount that a transaction settles as an API object."""
    return {
        "plannedTransactionId": settlement.planned_id,
        "date": settlement.date,
        "amountValue": format_amount(settlement.amount, settlement.currency),
    }


FIRST_OPEN_MONTH = "firstOpenMonth"


def categorization_to_dict(values: Sequence[Any]) -> dict[str, Any]:
    """Return a categorization as an API object, from its columns after the two ids and its P&L lines."""
    category, counterparty_id, counterparty_type, rule, rule_start, rule_end, invoice_date, start, end, *rest = values[
        : len(CATEGORIZATION_COLUMNS) - 2
    ]
    tax, link_kind, counter_id, counter_transaction_id, note, recognized_from = rest
    leg = {"transactionId": counter_transaction_id, "categorizationId": counter_id}
    return {
        "counterparty": {"type": counterparty_type, "id": counterparty_id} if counterparty_id else None,
        "categoryId": category,
        "usingDateRule": {
            "type": rule,
            "startDate": rule_start,
            "endDate": rule_end,
            "invoiceDate": invoice_date,
            "recognizeFrom": FIRST_OPEN_MONTH if recognized_from else None,
        },
        "computedStartDate": start,
        "computedEndDate": end,
        "plSplit": {
            line: to_json_number(value) if value else 0
            for line, value in zip(PL_TYPES, values[len(CATEGORIZATION_COLUMNS) - 2 :], strict=True)
        },
        "passThroughTax": None if tax is None else to_json_number(tax),
        "transferCounterPosition": leg if link_kind == LinkKind.TRANSFER else None,
        "internalTransitLink": leg if link_kind == LinkKind.TRANSIT else None,
        "sourceNote": note,
    }


def encode_json(value: Any) -> bytes:
    """Encode API objects as JSON."""
    return orjson.dumps(value, option=orjson.OPT_UTC_Z)


class CategorizationStatus(NamedTuple):
    """Whether a transaction is uncategorized in part, and its amount."""

    is_open: bool
    amount: Decimal
    currency: str


def list_categorization_statuses(*, company_id: UUID, ids: Iterable[UUID]) -> dict[UUID, CategorizationStatus]:
    """Return transaction id -> status for those of the ids that the company has; one statement."""
    rows = Transaction.objects.for_company(company_id).filter(IdIn("id", list(ids)))
    values = rows.values_list("id", "amount_value", "amount_currency", "categorized_value")
    return {
        row_id: CategorizationStatus(is_open=amount != categorized, amount=amount, currency=currency)
        for row_id, amount, currency, categorized in values
    }
