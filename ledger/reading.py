"""Transactions as they are answered, in one statement whatever their number.

The ORM says which rows and in what order; the columns are written here, by the names that they have on the wire. Parts
come out of the database as JSON text and are put into the answer as they are: no row is built twice.
"""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from django.core.exceptions import EmptyResultSet
from django.db import connection

from ledger.calc.money import CURRENCIES, minor_units
from ledger.models import PlType, Transaction

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
PROVIDER_FLAG = "crmProviderCategorizationResolved"

_WHOLE = ", ".join(f"'{currency}'" for currency in CURRENCIES if minor_units(currency) == 0)
_LINES = ", ".join(f"""'"{line}":' || trim_scale(c.{line})""" for line in PlType.values)
_LEG = """concat('{"transactionId":"', o.transaction_id, '","categorizationId":"', o.id, '"}')"""
# JSON written as text: json_build_object takes twice as long. What is null drops out of concat. Ids, dates, numbers and
# words of ours need no escaping; the note does.
_PART = f"""concat(
    '"', c.id, '":{{"counterparty":', coalesce('{{"type":"' || p.type || '","id":"' || p.id || '"}}', 'null'),
    ',"categoryId":"', c.category_id,
    '","usingDateRule":{{"type":"', c.rule, '"', ',"startDate":"' || c.rule_start_date || '"',
        ',"endDate":"' || c.rule_end_date || '"', ',"invoiceDate":"' || c.invoice_date || '"',
    '}},"computedStartDate":"', c.computed_start_date, '","computedEndDate":"', c.computed_end_date,
    '","plSplit":{{', concat_ws(',', {_LINES}), '}},"passThroughTax":',
        coalesce(trim_scale(c.pass_through_tax)::text, 'null'),
    ',"transferCounterPosition":', CASE WHEN c.link_kind = 'transfer' THEN {_LEG} ELSE 'null' END,
    ',"internalTransitLink":', CASE WHEN c.link_kind = 'transit' THEN {_LEG} ELSE 'null' END,
    ',"sourceNote":', coalesce(to_json(c.source_note)::text, 'null'), '}}')"""
_PARTS = f"""
    (SELECT concat('{{', string_agg({_PART}, ',' ORDER BY c.position, c.id), '}}')
       FROM ledger_categorization c
       LEFT JOIN ledger_counterparty p ON p.company_id = c.company_id AND p.id = c.counterparty_id
       LEFT JOIN ledger_categorization o ON o.company_id = c.company_id AND o.id = c.counter_id
      WHERE c.company_id = %s AND c.transaction_id = ledger_transaction.id)
"""  # noqa: S608 - names are ours
_TIME = """to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""  # cheaper than a datetime in between
_OWN = {
    "id": "id::text",
    "companyId": "company_id::text",
    "accountId": "account_id::text",
    "date": "date::text",
    "fromTo": "nullif(from_to, '')",
    "description": "nullif(description, '')",
    "amountValue": f"round(amount_value, CASE WHEN amount_currency IN ({_WHOLE}) THEN 0 ELSE 2 END)::text",
    "amountCurrency": "amount_currency",
    "categorizationsAutoAssigned": "categorizations_auto_assigned",
    "excludeFromAutoCategorization": "exclude_from_auto_categorization",
    "notes": "notes",
    "source": "source",
    "assignedUserId": "assigned_user_id",
    "pending": "pending",
    "externalId": "external_id",
    "importId": "import_batch_id::text",
    "createdTime": _TIME.format("created_time"),
    "createdUserId": "created_user_id",
    "lastUpdatedTime": _TIME.format("last_updated_time"),
    "lastUpdatedUserId": "last_updated_user_id",
}
NAMES = (*_OWN, *PROVIDER_FIELDS, "categorizations")
_SELECT = "SELECT " + ", ".join(
    [
        *(f"ledger_transaction.{column}" if "(" not in column else column for column in _OWN.values()),
        *(f"(provider_data ->> '{name}'){'::boolean' if name == PROVIDER_FLAG else ''}" for name in PROVIDER_FIELDS),
        _PARTS,
    ]
)


def read(rows: Any, *, company_id: UUID) -> list[dict[str, Any]]:
    """The company's transactions of a query set, in its order, as objects of the answer; one statement."""
    try:
        statement, parameters = rows.values_list("id").query.sql_with_params()
    except EmptyResultSet:
        return []
    with connection.cursor() as cursor:
        cursor.execute(f"{_SELECT} FROM {statement.partition(' FROM ')[2]}", [company_id, *parameters])
        return [shown(row) for row in cursor.fetchall()]


def shown(row: tuple[Any, ...]) -> dict[str, Any]:
    values = dict(zip(NAMES, row, strict=True))
    values["categorizations"] = orjson.Fragment(row[-1])
    return values


def rendered(answer: Any) -> bytes:
    """An answer with such objects in it as JSON."""
    return orjson.dumps(answer)


class Status(NamedTuple):
    """Whether a transaction awaits categorization, and its amount."""

    is_open: bool
    amount: Decimal
    currency: str


def statuses(*, company_id: UUID, ids: Iterable[UUID]) -> dict[UUID, Status]:
    """The status of each transaction that the company has; one statement."""
    rows = Transaction.objects.of(company_id).filter(id__in=list(ids))
    found = rows.values_list("id", "amount_value", "amount_currency", "categorized_value")
    return {
        row_id: Status(is_open=amount != categorized, amount=amount, currency=currency)
        for row_id, amount, currency, categorized in found
    }
