"""Valid request bodies of every operation, and a row of everything for their ids."""

import os
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

# Requests that each fuzzing test makes up for an operation; 0 in the suite: the same few each time (make fuzz).
FUZZ = int(os.environ.get("FUZZ") or 0)
UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"

DAYS = {"startDate": "2024-01-01", "endDate": "2024-03-31"}
MONEY = {"amountValue": "-1.00", "amountCurrency": "EUR"}
PLANNED = {"accountId": "accounts", "name": "Rent", "startDate": "2024-01-31", "amountValue": "-1.00"}
RULE = {"frequency": "month", "interval": 1, "lastDayOfMonth": True, "end": {"type": "count", "count": 3}}
PRICE = {"value": 10.5, "currency": "EUR"}
EVENT = {"effectiveDate": "2024-01-01", "committedDate": "2024-01-01", "amountValue": "10.00", "amountCurrency": "EUR"}
LINK_EXPIRY = (datetime.now(tz=UTC) + timedelta(days=30)).strftime("%Y-%m-%dT%H:%M:%SZ")
IDS = {"mode": "ids", "ids": ["transactions"]}
# A body that each operation takes; where the name of a list stands for an id, a row of it is put.
PNG_BASE64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=="
BODIES: dict[str, dict[str, Any]] = {
    "": {"name": "Acme", "baseCurrency": "USD", "domain": "a.example", "dataStartDate": "2020-01-01"},
    "logo": {"imageBase64": PNG_BASE64},
    "members": {"email": "z@acme.example", "role": "viewer", "permissions": ["accounts:read"]},
    "api_keys": {"name": "x", "permissions": ["accounts:read"], "expiresTime": "2999-01-01T00:00:00Z"},
    "accounts": {"type": "bank", "name": "x", "accountGroupId": "account_groups", "order": 1, "defaultCurrency": "EUR",
                 "expectedAnnualReturn": 1, "importSettings": {"csv": {"flipSign": True}},
                 "defaultCategoryId": "categories"},
    "accounts/{}/change_group": {"accountGroupId": "account_groups"},
    "accounts/{}/initial_balance": {"date": "2024-01-01", "amountValue": "1.00"},
    "closings": {"month": "2023-12", "note": "x", "acknowledge": True},  # before any data
    "closings/{}/reopen": {"reason": "x"},
    "closings/{}/links": {"expiresTime": LINK_EXPIRY},
    "reports/{}/commentary": {"text": "x"},
    "reports/{}/links": {"expiresTime": LINK_EXPIRY},
    "account_groups": {"name": "x", "order": 1, "archived": True},
    "transactions": {"accountId": "accounts", "date": "2024-01-01", "fromTo": "x", "description": "x", "notes": "x",
                     "pending": False, "externalId": "e", **MONEY},
    "transactions/{}/categorizations": {"categorizations": {"a": {"categoryId": "categories", "plSplit": {"ga": -0.5},
        "usingDateRule": {"type": "servicePeriod", **DAYS}, "passThroughTax": -0.1,
        "counterparty": {"type": "customer", "id": "counterparties"}}}},
    "transactions/import": {"transactions": [{"accountId": "accounts", "date": "2024-05-01", "fromTo": "x",
        "externalId": "i", "categoryId": "categories", "plType": "ga", **MONEY}], "onError": "skip",
        "duplicates": "skip"},
    "transactions/batch_delete": {"transactionIds": ["transactions"]},
    "transactions/categorize": {"selection": IDS, "categoryId": "categories", "plType": "ga", "passThroughTax": -0.1,
                                "usingDateRule": {"type": "month"}},
    "transactions/uncategorize": {"selection": {"mode": "filter", "filter": {"q": "x", **DAYS}, "excludedIds": []}},
    "transactions/categorization_status": {"transactionIds": ["transactions"]},
    "transactions/link_transfer": {"sourceTransactionId": "transactions", "targetTransactionId": "transactions",
                                   "sourceCategorizationId": None, "force": True},
    "transactions/unlink_transfer": {"transactionId": "transactions", "categorizationId": UNKNOWN_ID},
    "transactions/proposals": {"transactionIds": ["transactions"]},
    "transactions/transfer_proposals": DAYS,
    "categorization_rules": {"name": "x", "order": 5, "conditions": {"text": {"operator": "wholeWord", "value": "rule"},
        "accountIds": ["accounts"], "minAmount": "0.50", "counterpartyId": "counterparties"},
        "action": {"categoryId": "categories", "plType": "ga", "usingDateRule": {"type": "month"},
        "counterparty": {"type": "customer", "id": "counterparties"}, "passThroughTaxPercent": 19,
        "splits": [{"categoryId": "categories", "plType": "ga", "percent": 10}]}},
    "categorization_rules/order": {"ids": ["categorization_rules"]},
    "categorization_rules/preview": {"selection": IDS},
    "categorization_rules/from_transaction": {"transactionId": "transactions"},
    "categorization_rules/apply": {"selection": IDS},
    "copy": {"name": "x", "expiresInDays": 1},
    "categories": {"name": "x", "emoji": "x", "plTypes": ["ga"], "order": 1},
    "counterparties": {"type": "customer", "name": "x", "externalId": "x"},
    "files": {},
    "files/{}/plan": {"accountId": "accounts", "direction": "out"},
    "statements": {"accountId": "accounts"},
    "receivables/import": {"accountId": "accounts"},
    "payables/import": {"accountId": "accounts"},
    "planned_transactions": {**PLANNED, "recurrence": RULE, "categoryId": "categories", "invoiceDate": "2024-01-01",
                             "weekendShift": "after",
                             "usingDateRule": {"type": "month"}, "passThroughTaxAmount": "-0.10",
                             "externalData": {"attempted": True, "attemptCount": 1}},
    "planned_transactions/matches": DAYS,
    "planned_transactions/{}/settle": {"date": "2024-02-29", "transactionId": "transactions"},
    "planned_transactions/{}/unsettle": {"date": "2024-02-29"},
    "data/aging": {"kind": "receivables", "interval": [30, 60]},
    "planned_transactions/{}/write_off": {"date": "2024-02-29", "reason": "Uncollectible"},
    "planned_transactions/{}/overrides/{}": {"skipped": True, "date": "2024-02-02", "amountValue": "1.00"},
    "plan_items/proposals": DAYS,
    "plan_items": {"month": "2024-01", "plType": "ga", "categoryId": "categories", "duration": 3, "frequency": 1,
                   "amount": {"type": "relative", "amount": PRICE, "relativeChange": 0.1}},
    "scenarios": {"name": "x", "changes": [{"kind": "scale", "categoryId": "categories", "percent": 12.5,
                                            "from": "2024-01-01", "to": "2024-12-31"}]},
    "products": {"name": "x", "productGroupId": "product_groups", "order": 1, "externalIds": ["p"]},
    "product_groups": {"name": "x", "order": 1},
    "subscriptions": {"customerId": "counterparties", "productId": "products", "externalId": "s"},
    "subscription_events": {"subscriptionId": "subscriptions", "interval": "month", "intervalCount": 1, **EVENT},
    "subscription_events/import_file": {},
    "subscription_events/import": {"events": [{"subscriptionId": "subscriptions", **EVENT}], "onError": "skip"},
    "data/monthlyData": {"mrrType": "mrr", "startMonth": "2024-01", "endMonth": "2024-03", "productIds": ["products"]},
    "data/runway": {"scenarioId": "scenarios"},
    "data/profitAndLoss": {"startMonth": "2024-01", "endMonth": "2024-03", "showAllCategories": True,
                           "interval": "quarter", "comparison": "previousYear", "toDate": True,
                           "scenarioId": "scenarios"},
    "data/forecastCashFlowTimeSeries": {"endDate": "2026-12-31", "interval": "week", "cutoverDate": "2024-01-01"},
    "data/forecastBalanceTimeSeries": {"endDate": "2026-12-31", "interval": "month", "cutoverDate": "2024-01-01",
                                       "accountIds": ["accounts"]},
    "data/recurringRevenueSummary": {"month": "2024-03"},
    "data/cohorts": {"startMonth": "2024-01", "endMonth": "2024-03", "measure": "revenue"},
    "notifications/batch_delete": {"notificationIds": [UNKNOWN_ID]},
    "webhook_endpoints": {"url": "https://hooks.example.com/", "types": ["transaction.created"], "enabled": False,
                          "description": "x"},
}  # fmt: skip
# Files for operations that take one.
STATEMENT = b":20:X\n:28C:1\n:60F:C240501EUR0,00\n:61:240501D1,00NTRFNONREF\n:86:x\n:62F:C240531EUR0,00\n-\n"
INVOICES = b"Invoice number,Counterparty,Invoice date,Amount\nX-1,X Ltd,2024-05-01,1.00\n"
EVENTS = b"Customer,Date,MRR,Currency,External ID\nX Ltd,2024-05-01,1.00,EUR,x-1\n"
FILES = {
    "files": b"a,b\n3,4\n",
    "statements": STATEMENT,
    "receivables/import": INVOICES,
    "payables/import": INVOICES,
    "subscription_events/import_file": EVENTS,
}
# Unique values that differ from those of existing rows.
SECOND_ROW_VALUES = {"externalId": "another", "externalIds": ["another"], "email": "another@acme.example"}
# Resources to create rows of, in the order of their references.
ROWS = [
    "account_groups", "categories", "accounts", "counterparties", "transactions", "product_groups", "products",
    "subscriptions", "subscription_events", "plan_items", "planned_transactions", "members", "api_keys",
    "categorization_rules", "webhook_endpoints", "scenarios",
]  # fmt: skip


@pytest.fixture
def row_ids(api) -> dict[str, str]:
    """Name of each list → the id of a row in it, in Acme."""
    return create_all_rows(api)


def create_all_rows(api: Any) -> dict[str, str]:
    """Create one row of every resource; return {name of its list: id}."""
    ids: dict[str, str] = {}
    for name in ROWS:
        response = api.post(name, fill_ids(BODIES[name], ids))
        assert response.status_code == 201, (name, response.content)
        ids[name] = response.json()["id"]
    tested = api.post(f"webhook_endpoints/{ids['webhook_endpoints']}/test")
    ids["webhook_deliveries"] = tested.json()["id"]
    applied = api.post("categorization_rules/apply", fill_ids(BODIES["categorization_rules/apply"], ids))
    ids["categorization_runs"] = applied.json()["runId"]
    body = fill_ids(BODIES["transactions/import"], ids)
    ids["imports"] = api.post("transactions/import", body).json()["importId"]
    ids["invoice_imports"] = import_file(api, "receivables/import", INVOICES.replace(b"X-1", b"X-0"))
    ids["subscription_event_imports"] = import_file(
        api, "subscription_events/import_file", EVENTS.replace(b"x-1", b"x-0").replace(b"X Ltd", b"Y Ltd")
    )
    ids["reports"] = "2024-01"
    ids["links"] = api.post("reports/2024-01/links", BODIES["reports/{}/links"]).json()["id"]
    file = SimpleUploadedFile("a.csv", b"a,b\n1,2\n", content_type="text/csv")
    response = api.client.post(api.path("files"), {"file": file}, headers=api.headers)
    assert response.status_code == 201, response.content
    ids["files"] = response.json()["id"]
    invoice = {"amount": {"value": 5, "currency": "EUR"}, "date": "2024-01-02"}
    assert api.put(f"files/{ids['files']}", {"parseData": invoice}).status_code == 200
    return ids


def import_file(api: Any, path: str, content: bytes) -> str:
    """Import a table of invoices or events; return the id of the import."""
    file = SimpleUploadedFile("open.csv", content, content_type="text/csv")
    response = api.client.post(api.path(path), {"file": file}, headers=api.headers)
    assert response.status_code == 200, response.content
    return response.json()["importId"]


def fill_ids(body: Any, ids: dict[str, str]) -> Any:
    if isinstance(body, dict):
        return {name: fill_ids(value, ids) for name, value in body.items()}
    if isinstance(body, list):
        return [fill_ids(value, ids) for value in body]
    return ids.get(body, body) if isinstance(body, str) else body


def build_form(path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return the body with the file that the operation takes."""
    return {"file": SimpleUploadedFile("b.csv", FILES[path], content_type="text/csv"), **body}


def get_request_body(path: str) -> dict[str, Any]:
    """Return a valid body of an operation."""
    return BODIES.get(path) or BODIES.get(path.removesuffix("/{}")) or (DAYS if path.startswith("data/") else {})


def build_path(path: str, ids: dict[str, str]) -> str:
    row = ids.get(path.partition("/")[0], UNKNOWN_ID)
    return path.replace("{}", row, 1).replace("{}", get_second_id(path, ids))


def get_second_id(path: str, ids: dict[str, str]) -> str:
    """Return the second id in a path: a delivery, a link, or the day of an occurrence."""
    if "/links/" in path:
        return ids.get("closing_links" if path.startswith("closings") else "links", UNKNOWN_ID)
    return ids.get("webhook_deliveries", UNKNOWN_ID) if "/deliveries/" in path else "2024-01-31"
