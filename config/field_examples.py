"""Examples of fields and parameters in the OpenAPI document.

A recorded value of the field comes first (`companies/api/openapi/examples.json`), then FIELD_EXAMPLES, then an example
of its type. FIELD_EXAMPLES has values that the recorded scenario does not produce, by component.field or by field.
"""

from collections.abc import Iterator
from typing import Any

from companies.api.openapi.recorded_values import Schema, collect_recorded_values, iter_options
from config.field_descriptions import list_description_keys
from ledger.accounts.fields import ACCOUNT_TEXTS
from ledger.categorization.fields import COUNTERPARTY_TEXTS
from ledger.subscriptions.fields import SUBSCRIPTION_TEXTS
from ledger.transactions.fields import TRANSACTION_TEXTS
from planning.planned_transactions.fields import PLANNED_TEXTS

ID = "0199a0c1-7a00-7000-8000-000000000001"
FORMAT_EXAMPLES = {"boolean": True, "date": "2026-03-31", "date-time": "2026-03-31T09:30:00Z", "uuid": ID}
TEXTS = (*TRANSACTION_TEXTS, *ACCOUNT_TEXTS, *COUNTERPARTY_TEXTS, *SUBSCRIPTION_TEXTS, *PLANNED_TEXTS)
FIELD_EXAMPLES: dict[str, Any] = {
    **{text.name: text.example for text in TEXTS if text.example},
    "TotalDifference.code": "lineTotal",
    "AgingQuery.interval": [30, 60, 90],
    "BalanceFault.detail": "The balance column does not add up in line 3. The account will not be reconciled.",
    "BalanceFault.line": 3,
    "BankConnection.integrationId": "int_2c81",
    "CloseChecks.overdue": 2,
    "CloseChecks.pending": 0,
    "CloseChecks.uncategorized": 3,
    "BankConnection.type": "statementFile",
    "CounterpartyAging.name": "Hooli",
    "InvoiceLine.quantity": "2.00",
    "EventFileUploadRequest.amountColumn": "MRR",
    "EventFileUploadRequest.customerColumn": "Customer",
    "EventFileUploadRequest.dateColumn": "Start date",
    "Institution.id": 4711,
    "Institution.name": "Commerzbank",
    "Integration.id": "int_2c81",
    "InvoiceLine.amount": "200.00",
    "InvoiceLine.description": "Hosting in December",
    "InvoiceParty.name": "Hooli GmbH",
    "PaidSubscription.id": "sub_9f3e",
    "PaidSubscription.interval": "month",
    "PaymentProvider.customerId": "cus_77",
    "Problem.code": "validation_failed",
    "Problem.status": 400,
    "Problem.type": "https://finance.example/docs/errors#validation_failed",
    "ProviderAccount.id": 90210,
    "Rate.rate": 1.0838,
    "accountHolderName": "Initech GmbH",
    "accountingProviderAExpenseNumber": "ER-2026-0117",
    "accountingProviderAInvoiceNumber": "AR-2026-0042",
    "ageDays": 3,
    "assignedBy": "rule",
    "assignedUserId": "0199a0c1-7a00-7000-8000-000000000002",
    "attemptCount": 2,
    "balanceMismatchCalculatedBalance": 199309.89,
    "balanceMismatchReportedBalances": [199322.39],
    "bankProviderATransactionId": "tx_5f2c9a",
    "bankProviderBTransactionId": "8821734",
    "bic": "COBADEFFXXX",
    "brokenChanges": [2],
    "cancelAt": "2026-12-31T00:00:00Z",
    "code": "invalid_choice",
    "collectionMethod": "charge_automatically",
    "computed": "238.00",
    "computedActiveCustomerCount": 48,
    "computedCommittedMrrEur": "12400.00",
    "count": 12,
    "counterpartyName": "Hooli",
    "countryCode": "DE",
    "crmProviderInvoiceId": "10487",
    "crmProviderPortalId": "26083412",
    "currentPeriodEnd": "2026-04-30T23:59:59Z",
    "currentPeriodStart": "2026-04-01T00:00:00Z",
    "cursor": "eyJkYXRlIjogIjIwMjYtMDMtMzEifQ",
    "customerChurnRate": 3.1,
    "datastoreId": "ds_initech",
    "detail": "Choose one of the allowed values.",
    "entityType": "transaction",
    "error": "The endpoint responded with status 500.",
    "excludedIds": ["0199a0c1-7a00-7000-8000-000000000034"],
    "expectedAnnualReturn": 2,
    "expenseProviderAExpenseId": "exp_20817",
    "firstOpenMonth": "2026-04",
    "grossRevenueRetention": 96.5,
    "iban": "DE89370400440532013000",
    "importSettings": '{"dateOrder": "dayFirst", "decimalMark": "comma"}',
    "instance": "/companies/0199a0c1-7a00-7000-8000-000000000001/accounts",
    "intervalCount": 1,
    "invoiceNumber": "RE-2026-0042",
    "invoiceUrl": "https://billing.example.com/invoices/RE-2026-0042",
    "lastStatus": 200,
    "leftOutFiles": ["notes.txt"],
    "limit": 100,
    "maxARR": 1000000,
    "minARR": 0,
    "month": "2026-03",
    "months": 12,
    "netRevenueRetention": 104.2,
    "otherAccountNumbers": ["DE02120300000000202051"],
    "paymentProviderBalanceTransactionId": "txn_3kq",
    "paymentProviderBillingEmail": "billing@hooli.example",
    "paymentProviderCreditNoteId": "cn_17",
    "paymentProviderInvoiceId": "in_1042",
    "paymentProviderPaymentIntentId": "pi_88f",
    "paymentTerms": 30,
    "pointer": "#/transactions/3/amountValue",
    "productName": "Team plan",
    "q": "hosting",
    "quickRatio": 4.2,
    "recipientUserId": "0199a0c1-7a00-7000-8000-000000000002",
    "recognizedFrom": "2026-01",
    "recognizedTo": "2026-03",
    "revaluationUrl": None,  # always null
    "revenueChurnRate": 3.5,
    "runwayMonths": 14.5,
    "sourceCategorizationId": "0199a0c1-7a00-7000-8000-000000000037",
    "sourceNote": "Split by the number of seats",
    "standardTaxPercent": 19,
    "stated": "238.01",
    "systemDeletionWarning": 7,
    "taxAmount": "38.00",
    "taxPercent": "19.00",
    "title": "Bad Request",
    "tradingName": "Hooli Cloud",
    "unitPrice": "100.00",
    "variance": 190,
    "vatId": "DE123456789",
}


def add_field_examples(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add an example to each field and parameter without one; a hook of drf-spectacular.

    Objects and lists of objects get none: their own fields have one.
    """
    schemas, recorded = result["components"]["schemas"], collect_recorded_values(result)
    by_type = {
        (name, *describe_type(field, schemas)): recorded[f"{component}.{name}"]
        for component, name, field in reversed([*iter_fields(schemas)])
        if f"{component}.{name}" in recorded
    }
    for component, name, field in iter_fields(schemas):
        if not is_nested(field, schemas):
            keys = [*list_description_keys(component, name), name]
            examples = [values[key] for values in (recorded, FIELD_EXAMPLES) for key in keys if key in values]
            example = examples[0] if examples else choose_example(name, field, schemas, by_type)
            schemas[component]["properties"][name] = field | {"examples": [example]}
    for item in result["paths"].values():
        for parameter in (each for operation in item.values() for each in operation.get("parameters", ())):
            if "name" in parameter and not {"example", "examples"} & {*parameter, *parameter["schema"]}:
                parameter["example"] = choose_example(parameter["name"], parameter["schema"], schemas, by_type)
    return result


def iter_fields(schemas: dict[str, Schema]) -> Iterator[tuple[str, str, Schema]]:
    """Yield component, name and schema of each field."""
    for component, schema in schemas.items():
        yield from ((component, name, field) for name, field in [*schema.get("properties", {}).items()])


def choose_example(name: str, field: Schema, schemas: dict[str, Schema], by_type: dict[tuple[str, ...], Any]) -> Any:
    """Return an example of a field that no request or response was recorded of."""
    types = describe_type(field, schemas)
    option = get_main_option(field, schemas)
    if name in FIELD_EXAMPLES:
        return FIELD_EXAMPLES[name]
    if "enum" in option or "examples" in option:
        return (option.get("examples") or option["enum"])[0]
    if (name, *types) in by_type:
        return by_type[name, *types]
    if "array" in types:
        return [choose_example(name.removesuffix("s"), option["items"], schemas, by_type)]
    return FORMAT_EXAMPLES.get(option.get("format", types[0]))


def is_nested(field: Schema, schemas: dict[str, Schema]) -> bool:
    """Return whether the values are objects or lists of objects."""
    option = get_main_option(field, schemas)
    return "object" in option["type"] or ("items" in option and is_nested(option["items"], schemas))


def get_main_option(field: Schema, schemas: dict[str, Schema]) -> Schema:
    """Return the schema of the values that are not null."""
    return next(option for _, option in iter_options(field, schemas) if option["type"] != "null")


def describe_type(field: Schema, schemas: dict[str, Schema]) -> tuple[str, ...]:
    """Return type and format of the values that are not null."""
    option = get_main_option(field, schemas)
    types = [option["type"]] if isinstance(option["type"], str) else option["type"]
    return (*(each for each in types if each != "null"), option.get("format", ""))
