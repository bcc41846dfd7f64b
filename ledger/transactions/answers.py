"""Transactions as they are answered: one statement each for rows, their parts, and what they settle."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from companies.api.fields import number
from companies.errors import Missing
from companies.models import Among
from ledger.calc.money import format_amount
from ledger.models import Categorization, LinkKind, Transaction
from ledger.recognition.posting import LINES
from ledger.transactions.settled import settled_by

# What integrations write into provider_data, by the names of the contract; all texts but one.
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
PROVIDER_IDS = ("createdVendorId", "integrationId")  # of ours; the others are as the providers write them
PROVIDER_FLAG = "crmProviderCategorizationResolved"

# Name in the answer -> column, of what is answered as it is stored.
OWN = {
    "id": "id",
    "companyId": "company_id",
    "accountId": "account_id",
    "date": "date",
    "categorizationsAutoAssigned": "categorizations_auto_assigned",
    "excludeFromAutoCategorization": "exclude_from_auto_categorization",
    "notes": "notes",
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
OTHERS = ("from_to", "description", "amount_value", "amount_currency", "provider_data")
PART = (
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
)


def read(rows: Any, *, company_id: UUID) -> list[dict[str, Any]]:
    """The company's transactions of a query set, in its order, as objects of the answer; three statements."""
    found = [shown(row) for row in rows.values_list(*OWN.values(), *OTHERS)]
    by_id = {row["id"]: row["categorizations"] for row in found}
    if by_id:
        settled = settled_by(company_id=company_id, transaction_ids=by_id)
        for row in found:
            row["settles"] = shown_settled(settled.get(row["id"]))
        of_them = Categorization.objects.of(company_id).filter(Among("transaction_id", list(by_id)))
        parts = of_them.order_by("position", "id")
        for transaction_id, part_id, *values in parts.values_list(*PART, *LINES):
            by_id[transaction_id][str(part_id)] = shown_part(values)
    return found


def answer_for(row: Any) -> dict[str, Any]:
    """The stored transaction as an object of the answer. Raises Missing where somebody deleted it meanwhile."""
    found = read(Transaction.objects.of(row.company_id).filter(id=row.id), company_id=row.company_id)
    if not found:
        raise Missing
    return found[0]


def shown(row: tuple[Any, ...]) -> dict[str, Any]:
    """A transaction, with room for its parts."""
    answer = dict(zip(OWN, row, strict=False))
    from_to, description, amount, currency, provided = row[len(OWN) :]
    provided = provided or {}
    return answer | {
        "fromTo": from_to or None,
        "description": description or None,
        "amountValue": format_amount(amount, currency),
        "amountCurrency": currency,
        **{name: provided.get(name) for name in PROVIDER_FIELDS},
        "categorizations": {},
    }


def shown_settled(settled: Any | None) -> dict[str, Any] | None:
    return settled and {"plannedTransactionId": settled.planned_id, "date": settled.date}


def shown_part(values: Sequence[Any]) -> dict[str, Any]:
    """A part, from the columns of ``PART`` behind the two ids, and its P&L lines."""
    category, party, party_type, rule, first, last, invoiced, start, end, tax, link, counter, leg_of, note = values[:14]
    leg = {"transactionId": leg_of, "categorizationId": counter}
    return {
        "counterparty": {"type": party_type, "id": party} if party else None,
        "categoryId": category,
        "usingDateRule": {"type": rule, "startDate": first, "endDate": last, "invoiceDate": invoiced},
        "computedStartDate": start,
        "computedEndDate": end,
        "plSplit": {line: number(value) if value else 0 for line, value in zip(LINES, values[14:], strict=True)},
        "passThroughTax": None if tax is None else number(tax),
        "transferCounterPosition": leg if link == LinkKind.TRANSFER else None,
        "internalTransitLink": leg if link == LinkKind.TRANSIT else None,
        "sourceNote": note,
    }


def rendered(answer: Any) -> bytes:
    """An answer with such objects in it as JSON."""
    return orjson.dumps(answer, option=orjson.OPT_UTC_Z)


class Status(NamedTuple):
    """Whether a transaction awaits categorization, and its amount."""

    is_open: bool
    amount: Decimal
    currency: str


def statuses(*, company_id: UUID, ids: Iterable[UUID]) -> dict[UUID, Status]:
    """The status of each transaction that the company has; one statement."""
    rows = Transaction.objects.of(company_id).filter(Among("id", list(ids)))
    found = rows.values_list("id", "amount_value", "amount_currency", "categorized_value")
    return {
        row_id: Status(is_open=amount != categorized, amount=amount, currency=currency)
        for row_id, amount, currency, categorized in found
    }
