"""Descriptions of fields in the OpenAPI document that have none where they are declared.

A field name means the same everywhere and has one text in field_texts.py; exceptions are in
COMPONENT_DESCRIPTIONS. Requests and updates share the text of their resource.
"""

from collections.abc import Iterator
from typing import Any

from config.field_texts import FIELD_DESCRIPTIONS, PARAMETER_DESCRIPTIONS

COMPONENT_DESCRIPTIONS = {
    "Account.name": "Name of the account.",
    "Account.type": "Type of the account.",
    "Account.defaultCurrency": "Currency of the account, ISO 4217.",
    "AccountBalance.accountId": "Account of the balance.",
    "Action.counterparty": "Customer, vendor or employee to set; null for none.",
    "Amount.value": "Amount in the given currency.",
    "AuditEntry.action": "What happened, such as transaction.created.",
    "AuditEntry.after": "The row's fields after the change; null if it was deleted.",
    "AuditEntry.before": "The row's fields before the change; null if it was created.",
    "BankConnection.createdUserId": "User who connected the account; null if not connected.",
    "BankConnection.status": "State of the connection; null if unknown.",
    "BankConnection.type": "Type of integration, or statementFile for bank statements; null if unknown.",
    "Basis.kind": "What is similar: counterparty, text or account.",
    "CategorizeRequest.categoryId": "Category to assign.",
    "Category.name": "Name of the category.",
    "Company.name": "Name of the company.",
    "Condition.value": "Text to look for.",
    "Conditions.currency": "Currency of the transaction, ISO 4217; null for any.",
    "Conditions.description": "What the description must match; null for any.",
    "Conditions.fromTo": "What `fromTo` must match; null for any.",
    "Counterparty.type": "Kind of counterparty.",
    "CounterpartyRef.id": "Id of the counterparty.",
    "CounterpartyRef.type": "Kind of counterparty.",
    "DateRule.endDate": "Last day of the period, included; null for other rules than servicePeriod and custom.",
    "DateRule.invoiceDate": "Date of the invoice; null for other rules than invoiceDate.",
    "DateRule.startDate": "First day of the period, included; null for other rules than servicePeriod and custom.",
    "DateRule.type": "How the period is determined.",
    "Difference.mrrType": "Basis of recurring revenue, of recurringRevenue.",
    "Recognition.type": "How the period is determined.",
    "Due.amountCurrency": "Currency of `amountValue`, ISO 4217.",
    "Due.amountValue": "Expected amount, a decimal; negative is money out.",
    "Due.date": "Day on which it is expected.",
    "Due.name": "Name of the planned transaction.",
    "Event.amountCurrency": "Currency of `amountValue`, ISO 4217.",
    "Event.interval": "Unit of the interval that `amountValue` is for.",
    "EventImportRequest.dryRun": "Preview without saving; default false.",
    "ImportRequest.dryRun": "Preview without saving; default false.",
    "Import.duplicates": "Number of duplicate rows.",
    "ImportRequest.duplicates": "How to handle duplicate rows.",
    "ImportResult.duplicates": "Number of duplicate rows.",
    "StatementResult.duplicates": "Number of duplicate entries.",
    "ImportItemRequest.date": "Booking date, YYYY-MM-DD.",
    "ImportItemRequest.description": "Text of the transaction; null if there is none.",
    "ImportedEventRequest.amountCurrency": "Currency of the amount, ISO 4217; default is the company's base currency.",
    "InitialBalanceRequest.date": "Day at whose start the balance applies.",
    "Institution.id": "Id of the bank at the data provider; null if unknown.",
    "Institution.name": "Name of the bank; null if unknown.",
    "Integration.id": "Integration that manages the account; null if unknown.",
    "Integration.status": "State of the connection; null if unknown.",
    "Integration.type": "Kind of integration; null if unknown.",
    "LegRef.categorizationId": "Categorization of the transaction.",
    "Match.plannedTransactionId": "Planned transaction that would be settled.",
    "Member.email": "Email address of the member.",
    "NewEvent.amountCurrency": "Currency of the amount, ISO 4217; default is the company's base currency.",
    "Notification.type": "What the notification is about.",
    "Occurrence.amountCurrency": "Currency of `amountValue`, ISO 4217.",
    "Occurrence.amountValue": "Expected amount, a decimal; negative is money out.",
    "Occurrence.date": "Day on which it is expected.",
    "Occurrence.name": "Name of the occurrence.",
    "OccurrenceOverride.accountId": "Account of this occurrence; null for that of the planned transaction.",
    "OccurrenceOverride.categoryId": "Category of this occurrence; null for that of the planned transaction.",
    "OccurrenceOverride.name": "Name of this occurrence; null for that of the planned transaction.",
    "OpenTransactions.count": "Number of transactions that are not fully categorized.",
    "Overdue.count": "Number of overdue occurrences.",
    "PaidSubscription.id": "Id of the subscription at the payment provider; null if unknown.",
    "PaidSubscription.interval": "How often the price is paid; null if unknown.",
    "PaidSubscription.status": "Subscription status at the payment provider; null if unknown.",
    "ParseData.amount": "Total of the document; null if not found.",
    "ParseData.date": "Date of the document; null if not found.",
    "ParsedAmount.value": "Total in the given currency.",
    "PaymentProvider.subscription": "The company's subscription to Tidebook; null if none.",
    "PlanAmount.amount": "First planned amount.",
    "PlanAmount.type": "How the amount changes over time.",
    "ScenarioChange.kind": "What the change does: add a row, scale amounts, shift dates or stop payments.",
    "ScenarioPlanItem.amount": "Planned amount and how it changes over time.",
    "PlanItem.amount": "Planned amount and how it changes over time.",
    "PlanItem.categoryId": "Category of the planned amount.",
    "PlanMoney.value": "Amount in the given currency.",
    "PlannedTransaction.name": "Name of the planned transaction.",
    "PlannedTransaction.startDate": "Date of the first occurrence.",
    "Point.date": "First day of the bucket.",
    "Point.value": "Amount in the company's base currency.",
    "Price.value": "Price in the given currency.",
    "Problem.status": "HTTP status code.",
    "ProviderAccount.id": "Id of the account at the data provider; null if unknown.",
    "ReconciliationRow.date": "Day of the reported closing balance.",
    "ReconciliationRow.importId": "Import of the statement.",
    "Recurrence.end": "When the recurrence ends.",
    "Recurrence.interval": "Number of units between two occurrences.",
    "RecurrenceEnd.type": "How the recurrence ends: never, on a date, or after a count.",
    "Result.categoryId": "Category of the amounts.",
    "RowError.code": "Stable error code.",
    "Rule.action": "What the rule assigns to matching transactions.",
    "NewRule.action": "What the rule assigns to matching transactions.",
    "TriedRuleRequest.action": "What the rule assigns to matching transactions.",
    "RuleCount.count": "Number of matching transactions.",
    "Sampled.categoryId": "Category that the rule assigns.",
    "Sampled.ruleId": "Rule that matches the transaction.",
    "SelectionRequest.ids": "Selected transactions, for mode ids.",
    "TransactionSettlement.date": "Original date of the occurrence.",
    "TransactionSettlement.plannedTransactionId": "Planned transaction that it settles.",
    "SettleRequest.date": "Original date of the occurrence.",
    "StatementResult.count": "Number of transactions that were or would be saved.",
    "StatementResult.format": "Format of the file, recognized by its content.",
    "StatementDetails.accountNumber": "Number of the account in the file; null if it has none.",
    "StatementDetails.endDate": "Last day of the statement; null if the file has none.",
    "StatementDetails.startDate": "First day of the statement; null if the file has none.",
    "Transaction.date": "Booking date, YYYY-MM-DD.",
    "Transaction.description": "Text of the transaction; null if there is none.",
    "Transaction.source": "How the transaction was created.",
    "UnlinkRequest.categorizationId": "Categorization to unlink.",
    "UnsettleRequest.date": "Original date of the occurrence.",
    "WebhookEndpoint.description": "Your own description of the endpoint.",
    "CategorizationMapRequest.categorizations": "The categorizations by id; choose ids for new ones.",
}
STEMS = (
    "Request",
    "Update",
    "ListItem",
)  # Account, AccountRequest, AccountUpdate and AccountListItem share their texts
PREFIXES = ("New", "Created")


def describe_fields(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add missing descriptions to the document's fields and parameters; a hook of drf-spectacular."""
    for component, schema in result["components"]["schemas"].items():
        for name, field in schema.get("properties", {}).items():
            text = None if field.get("description") else find_description(component, name)
            if text:
                schema["properties"][name] = add_description(field, text)
    for item in result["paths"].values():
        for parameter in (each for operation in item.values() for each in operation.get("parameters", ())):
            if parameter.get("name") in PARAMETER_DESCRIPTIONS:
                parameter.setdefault("description", PARAMETER_DESCRIPTIONS[parameter["name"]])
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
