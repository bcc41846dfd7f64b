"""Descriptions of fields in the OpenAPI document that have none where they are declared.

A field name means the same everywhere and has one text in field_texts.py; exceptions are in
COMPONENT_DESCRIPTIONS. Requests and updates share the text of their resource.
"""

from collections.abc import Iterator
from typing import Any

from config.field_texts import FIELD_DESCRIPTIONS

COMPONENT_DESCRIPTIONS = {
    "Account.name": "Name of the account.",
    "Account.type": "Kind of account.",
    "Account.defaultCurrency": "Currency of the account, ISO 4217.",
    "AccountBalance.accountId": "Account that the balance is of.",
    "Action.counterparty": "Customer, vendor or other party that is set; null for none.",
    "Amount.value": "Amount in the currency beside it.",
    "AuditEntry.action": "What happened, such as transaction.created.",
    "AuditEntry.after": "The row's fields after the change; null if it was deleted.",
    "AuditEntry.before": "The row's fields before the change; null if it was created.",
    "BankConnection.createdUserId": "User who connected the account; null if nobody did.",
    "BankConnection.status": "State of the connection; null if unknown.",
    "BankConnection.type": "Integration that reports, or statementFile for bank statements; null if unknown.",
    "Basis.kind": "What was similar: the counterparty, the text or the account.",
    "CategorizeRequest.categoryId": "Category to assign.",
    "Category.name": "Name of the category.",
    "Company.name": "Name of the company.",
    "Condition.value": "Text to look for.",
    "Conditions.currency": "Currency of the transaction, ISO 4217; null for any.",
    "Conditions.description": "What the description must match; null if any will do.",
    "Conditions.fromTo": "What `fromTo` must match; null if any will do.",
    "Counterparty.type": "Kind of counterparty.",
    "CounterpartyRef.id": "Id of the counterparty.",
    "CounterpartyRef.type": "Kind of counterparty.",
    "DateRule.endDate": "Last day of the period, included; null for other rules than servicePeriod and custom.",
    "DateRule.invoiceDate": "Date of the invoice; null for other rules than invoiceDate.",
    "DateRule.startDate": "First day of the period, included; null for other rules than servicePeriod and custom.",
    "DateRule.type": "How the period is found.",
    "Due.amountCurrency": "Currency of `amountValue`, ISO 4217.",
    "Due.amountValue": "Expected amount, a decimal; negative is money out.",
    "Due.date": "Day on which it is expected.",
    "Due.name": "Name of the planned transaction.",
    "Event.amountCurrency": "Currency of `amountValue`, ISO 4217.",
    "Event.interval": "Unit of the interval that `amountValue` is for.",
    "EventImportRequest.dryRun": "Stores nothing and answers what would happen; false if left out.",
    "ImportRequest.dryRun": "Stores nothing and answers what would happen; false if left out.",
    "Import.duplicates": "Number of rows that were there already.",
    "ImportRequest.duplicates": "What happens to rows that are there already.",
    "ImportResult.duplicates": "Number of rows that were there already.",
    "StatementResult.duplicates": "Number of entries that were there already.",
    "ImportItemRequest.date": "Booking date, YYYY-MM-DD.",
    "ImportItemRequest.description": "Text of the transaction; null if there is none.",
    "ImportedEventRequest.amountCurrency": "Currency of the amount, ISO 4217; the company's base currency if left out.",
    "InitialBalanceRequest.date": "Day at whose start the balance holds.",
    "Institution.id": "Id of the bank at the data provider; null if unknown.",
    "Institution.name": "Name of the bank; null if unknown.",
    "Integration.id": "Integration that manages the account; null if unknown.",
    "Integration.status": "State of the connection; null if unknown.",
    "Integration.type": "Kind of integration; null if unknown.",
    "LegRef.categorizationId": "Part of the transaction.",
    "Match.plannedTransactionId": "Planned transaction that would be settled.",
    "Member.email": "Email address of the member.",
    "NewEvent.amountCurrency": "Currency of the amount, ISO 4217; the company's base currency if left out.",
    "Notification.type": "What the notification is about.",
    "Occurrence.amountCurrency": "Currency of `amountValue`, ISO 4217.",
    "Occurrence.amountValue": "Expected amount, a decimal; negative is money out.",
    "Occurrence.date": "Day on which it is expected.",
    "Occurrence.name": "Name of the occurrence.",
    "OccurrenceOverride.accountId": "Account of this occurrence; null for the rule's own.",
    "OccurrenceOverride.categoryId": "Category of this occurrence; null for the rule's own.",
    "OccurrenceOverride.name": "Name of this occurrence; null for the rule's own.",
    "OpenTransactions.count": "Number of transactions that are not fully categorized.",
    "Overdue.count": "Number of overdue occurrences.",
    "PaidSubscription.id": "Id of the subscription at the payment provider; null if unknown.",
    "PaidSubscription.interval": "How often the price is paid; null if unknown.",
    "PaidSubscription.status": "State of the subscription in the payment provider's words; null if unknown.",
    "ParseData.amount": "Total of the document; null if none was read.",
    "ParseData.date": "Date of the document; null if none was read.",
    "ParsedAmount.value": "Total in the currency beside it.",
    "PaymentProvider.subscription": "The company's subscription to this service; null if it has none.",
    "PlanAmount.amount": "Amount of the first posting.",
    "PlanAmount.type": "How the amount develops from one posting to the next.",
    "PlanItem.amount": "Amount of the postings and how it develops.",
    "PlanItem.categoryId": "Category of the planned amount.",
    "PlanMoney.value": "Amount in the currency beside it.",
    "PlannedTransaction.name": "Name of the planned transaction.",
    "PlannedTransaction.startDate": "Date of the first occurrence.",
    "Point.date": "First day of the bucket.",
    "Point.value": "Amount in the company's base currency.",
    "Price.value": "Price in the currency beside it.",
    "Problem.status": "HTTP status code.",
    "ProviderAccount.id": "Id of the account at the data provider; null if unknown.",
    "ReconciliationRow.date": "Day at whose end the balance was reported.",
    "ReconciliationRow.importId": "Import that brought the statement.",
    "Recurrence.end": "When the recurrence ends.",
    "Recurrence.interval": "Number of units between two occurrences.",
    "RecurrenceEnd.type": "How the recurrence ends: never, on a date, or after a count.",
    "Result.categoryId": "Category of the amounts.",
    "RowError.code": "Stable error code.",
    "Rule.action": "What the rule does with a transaction that meets its conditions.",
    "NewRule.action": "What the rule does with a transaction that meets its conditions.",
    "TriedRuleRequest.action": "What the rule does with a transaction that meets its conditions.",
    "RuleCount.count": "Number of transactions that the rule takes.",
    "Sampled.categoryId": "Category that the rule assigns.",
    "Sampled.ruleId": "Rule that takes the transaction.",
    "SelectionRequest.ids": "Transactions that are meant, for mode ids.",
    "SettledRef.date": "Original date of the occurrence.",
    "SettleRequest.date": "Original date of the occurrence.",
    "StatementResult.count": "Number of transactions that were stored, or would be.",
    "StatementResult.format": "Format of the file, recognized by its content.",
    "StatementTold.accountNumber": "Number of the account in the file; null if it has none.",
    "StatementTold.endDate": "Last day of the statement; null if the file has none.",
    "StatementTold.startDate": "First day of the statement; null if the file has none.",
    "Transaction.date": "Booking date, YYYY-MM-DD.",
    "Transaction.description": "Text of the transaction; null if there is none.",
    "Transaction.source": "How the transaction got here.",
    "UnlinkRequest.categorizationId": "Part to unlink.",
    "UnsettleRequest.date": "Original date of the occurrence.",
    "WebhookEndpoint.description": "Your own description of the endpoint.",
    "CategorizationMapRequest.categorizations": "The parts by id; the ids are yours to choose for new parts.",
}
STEMS = (
    "Request",
    "Update",
    "ListItem",
)  # Account, AccountRequest, AccountUpdate and AccountListItem share their texts
PREFIXES = ("New", "Created")


def describe_fields(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add missing descriptions to the document's fields; a hook of drf-spectacular."""
    for component, schema in result["components"]["schemas"].items():
        for name, field in schema.get("properties", {}).items():
            text = None if field.get("description") else find_description(component, name)
            if text:
                schema["properties"][name] = add_description(field, text)
    return result


def find_description(component: str, name: str) -> str | None:
    """Return the description of a component's field, or None."""
    for key in list_description_keys(component, name):
        if key in COMPONENT_DESCRIPTIONS:
            return COMPONENT_DESCRIPTIONS[key]
    return FIELD_DESCRIPTIONS.get(name)


def list_description_keys(component: str, name: str) -> Iterator[str]:
    """Yield the keys of a field in COMPONENT_DESCRIPTIONS, the most specific first."""
    yield f"{component}.{name}"
    stem = component
    for suffix in STEMS:
        stem = stem.removesuffix(suffix)
    yield f"{stem}.{name}"
    for prefix in PREFIXES:
        stem = stem.removeprefix(prefix)
    yield f"{stem}.{name}"


def add_description(field: dict[str, Any], text: str) -> dict[str, Any]:
    """Return the schema with a description; a reference is wrapped."""
    described_field = {"allOf": [field]} if "$ref" in field else field
    return {**described_field, "description": text}
