"""The scenario behind the examples of the OpenAPI document: a small company's first year, through every
operation.

The clock advances one minute per call; ids and secrets, which differ each time, are replaced by counters.
"""

import hashlib
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from companies.models import Company
from companies.permissions import Role
from tests import factories
from tests.api.example_files import OPEN_INVOICES, PNG, RECEIPT, STATEMENT, SUBSCRIPTION_EVENTS
from webhooks.delivery import deliver_to_endpoint
from webhooks.http import DeliveryOutcome

START_TIME = datetime(2026, 1, 15, 9, 30, tzinfo=UTC)
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
KEY = re.compile(r"svc_[0-9a-f-]{36}[0-9A-Za-z]{36}")
YEAR = {"startDate": "2025-10-01", "endDate": "2025-12-31"}
LISTED_ROWS = 2  # rows of a list are enough to see its shape


@dataclass
class Scenario:
    """Calls operations as the company's owner, and keeps what was first asked and answered by each."""

    document: dict[str, Any]
    owner: Client
    monkeypatch: Any
    now: datetime = START_TIME
    headers: dict[str, str] = field(default_factory=dict)  # of the API key, once there is one
    company: str = ""
    recorded_calls: dict[str, dict[str, Any]] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)  # what differs by chance or setting → what is shown
    seen: dict[str, str] = field(default_factory=dict)  # id → the one that is shown

    def __post_init__(self) -> None:
        self.secrets |= {settings.APP_URL: "https://finance.example/app", settings.BASE_URL: "https://finance.example"}
        self.monkeypatch.setattr("django.utils.timezone.now", lambda: self.now)

    def get(self, path: str, query: Any = None, **kinds: Any) -> Any:
        return self.call("get", path, query=query, **kinds)

    def post(self, path: str, body: Any = None, **kinds: Any) -> Any:
        return self.call("post", path, body=body, **kinds)

    def put(self, path: str, body: Any = None, **kinds: Any) -> Any:
        return self.call("put", path, body=body, **kinds)

    def delete(self, path: str, **kinds: Any) -> Any:
        return self.call("delete", path, **kinds)

    def call(self, method: str, path: str, *, body: Any = None, query: Any = None, session: bool = False) -> Any:
        self.now += timedelta(minutes=1)
        where = path if path.startswith("/") else f"/companies/{self.company}/{path}".rstrip("/")
        headers = {} if session else self.headers
        send = getattr(self.owner, method)
        if method == "get":
            answer = send(where, query, headers=headers)
        else:
            answer = send(where, "" if body is None else body, content_type="application/json", headers=headers)
        return self.keep(method, where, answer, request=body, query=query)

    def upload(self, path: str, *, name: str, content: str, **values: Any) -> Any:
        """A form with a file."""
        self.now += timedelta(minutes=1)
        where = f"/companies/{self.company}/{path}"
        document = SimpleUploadedFile(name, content.encode(), content_type="text/csv")
        answer = self.owner.post(where, {"file": document, **values}, headers=self.headers)
        return self.keep("post", where, answer, request={"file": content, **values})

    def keep(self, method: str, path: str, answer: Any, *, request: Any = None, query: Any = None) -> Any:
        assert answer.status_code < 300, (method, path, request, answer.content)
        binary = "json" not in answer["Content-Type"]
        found = decode_content(b"".join(answer.streaming_content)) if binary else answer.json()
        operation = self.operation_at(method, path)
        if operation not in self.recorded_calls:
            shown = found[:LISTED_ROWS] if isinstance(found, list) else found
            parameters = query and {name: True if value == "true" else value for name, value in query.items()}
            parts = {"request": request, "answer": shown, "parameters": parameters}
            self.recorded_calls[operation] = {name: part for name, part in parts.items() if part is not None}
        return found

    def operation_at(self, method: str, path: str) -> str:
        for route in sorted(self.document["paths"], key=lambda each: each.count("{")):  # the plainest that fits
            if re.fullmatch(re.sub(r"{\w+}", "[^/]+", route), path) and method in self.document["paths"][route]:
                return self.document["paths"][route][method]["operationId"]
        raise LookupError(path)

    @property
    def examples(self) -> dict[str, Any]:
        """What was told, in the order of the document, with ids that are the same each time."""
        order = [o["operationId"] for item in self.document["paths"].values() for o in item.values()]
        return {name: self.settled(self.recorded_calls[name]) for name in order if name in self.recorded_calls}

    def settled(self, part: Any) -> Any:
        if isinstance(part, dict):
            return {
                self.settled(name): "x" * 4 if name == "lastFour" else self.settled(each) for name, each in part.items()
            }
        if isinstance(part, list):
            return [self.settled(each) for each in part]
        if not isinstance(part, str):
            return part
        for secret, shown in self.secrets.items():
            part = part.replace(secret, shown)
        return UUID.sub(lambda match: self.counted(match[0]), KEY.sub("svc_" + "x" * 72, part))

    def counted(self, found: str) -> str:
        return self.seen.setdefault(found, f"0199a0c1-7a00-7000-8000-{len(self.seen) + 1:012d}")


def decode_content(content: bytes) -> str:
    """A file's text; of one that is none, how it begins."""
    return "PK…" if content.startswith(b"PK") else content.decode()


def sign_in(user: Any) -> Client:
    """A browser whose session is not older than the real clock, which is the one that ends sessions."""
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    session = client.session
    session["auth_time"] = session["seen_time"] = time.time()
    session.save()
    return client


def run_scenario(story: Scenario) -> Iterator[str]:
    """The whole of it; yields once, where an app must be connected."""
    company = story.post("/companies", {"name": "Initech", "baseCurrency": "EUR", "domain": "initech.example"})
    story.company = company["id"]
    manage_members(story)
    story.get("/companies")
    yield story.company
    apps = story.get("connected_apps", session=True)
    change_settings(story)
    copy_company(story)
    ids = record_transactions(story)
    categorize_transactions(story, ids)
    manage_rules(story, ids)
    upload_files(story, ids)
    record_subscriptions(story, ids)
    plan_payments(story, ids)
    query_data(story)
    manage_webhooks(story)
    manage_notifications(story)
    export_files(story)
    closings(story, ids)
    story.get("categorization_rules/suggestions")
    delete_rows(story, ids, app=apps[0]["id"])


def manage_members(story: Scenario) -> None:
    permissions = ["accounts:read", "balances:read"]
    readonly = {"name": "Dashboard", "permissions": permissions, "expiresTime": "2027-01-15T00:00:00Z"}
    made = story.post("api_keys", readonly, session=True)
    listed = story.get("audit_log", {"entityType": "apiKey"}, session=True)
    story.get("events", {"type": "apiKey.created"}, session=True)
    assert listed
    catalogue = story.document["components"]["schemas"]["Permission"]["enum"]
    full = story.post("api_keys", {"name": "Story", "permissions": catalogue}, session=True)
    story.headers = {"Authorization": f"Bearer {full['key']}"}
    story.get("api_keys")
    story.get(f"api_keys/{made['id']}")
    story.delete(f"api_keys/{made['id']}")
    invited = story.post("members", {"email": "bill@initech.example", "role": "editor"}, session=True)
    story.get("members")
    story.get(f"members/{invited['id']}")
    story.post(f"members/{invited['id']}/resend", session=True)
    story.put(f"members/{invited['id']}", {"role": "viewer"}, session=True)
    story.delete(f"members/{invited['id']}", session=True)
    leave_company(story)


def leave_company(story: Scenario) -> None:
    colleague = factories.make_member(Company.objects.get(id=story.company), "milton@initech.example", role=Role.VIEWER)
    path = f"/companies/{story.company}/members/me"
    story.keep("delete", path, sign_in(colleague).delete(path))


def change_settings(story: Scenario) -> None:
    story.get("")
    story.put("", {"name": "Initech GmbH", "plShowAllCategories": True})
    story.put("logo", {"imageBase64": PNG})
    story.delete("logo")


def copy_company(story: Scenario) -> None:
    sandbox = story.post("copy", {"name": "What if we hire", "expiresInDays": 14}, session=True)
    story.delete(f"/companies/{sandbox['id']}", session=True)


def record_transactions(story: Scenario) -> dict[str, str]:
    group = story.post("account_groups", {"name": "Banks", "order": 1})["id"]
    story.get("account_groups")
    story.get(f"account_groups/{group}")
    story.put(f"account_groups/{group}", {"name": "Banks in Germany"})
    bank = story.post("accounts", {"type": "bank", "name": "Main account", "defaultCurrency": "EUR"})["id"]
    card = story.post("accounts", {"type": "creditCard", "name": "Company card"})["id"]
    story.put(f"accounts/{bank}/change_group", {"accountGroupId": group})
    story.put(f"accounts/{bank}/initial_balance", {"date": "2025-10-01", "amountValue": "25000.00"})
    story.get(f"accounts/{bank}/initial_balance")
    story.get("accounts")
    story.get(f"accounts/{bank}")
    story.put(f"accounts/{bank}", {"name": "Main account, Commerzbank", "order": 1})
    story.put(f"accounts/{card}/archive")
    story.put(f"accounts/{card}/unarchive")
    vendor = story.post("counterparties", {"type": "vendor", "name": "Nimbus Cloud", "externalId": "ven_19"})["id"]
    customer = story.post("counterparties", {"type": "customer", "name": "Globex", "externalId": "cus_77"})["id"]
    story.get("counterparties")
    story.get(f"counterparties/{vendor}")
    story.put(f"counterparties/{vendor}", {"name": "Nimbus Cloud Ltd"})
    own = story.post("categories", {"name": "Monitoring", "emoji": "📈", "plTypes": ["cogs"], "order": 30})["id"]
    categories = {each["systemKey"]: each["id"] for each in story.get("categories") if each["systemKey"]}
    story.get(f"categories/{categories['hosting']}")
    story.put(f"categories/{own}", {"name": "Monitoring and logs"})
    return {"group": group, "bank": bank, "card": card, "vendor": vendor, "customer": customer, "own": own} | categories


def categorize_transactions(story: Scenario, ids: dict[str, str]) -> None:
    money = {"accountId": ids["bank"], "amountCurrency": "EUR"}
    rows = [
        {"date": "2025-12-31", "fromTo": "Nimbus Cloud", "description": "December hosting", "amountValue": "-119.00"},
        {"date": "2025-12-15", "fromTo": "Globex", "description": "Invoice 1042", "amountValue": "1190.00"},
        {"date": "2025-12-02", "fromTo": "Company card", "description": "Settlement", "amountValue": "-300.00"},
        {"date": "2025-11-28", "fromTo": "Nimbus Cloud", "description": "November hosting", "amountValue": "-119.00"},
    ]
    sent = [money | row | {"externalId": f"bank-{n}"} for n, row in enumerate(rows, 1)]
    imported = story.post("transactions/import", {"transactions": sent, "duplicates": "skip"})["importId"]
    story.get("imports")
    story.get(f"imports/{imported}")
    settled = {"accountId": ids["card"], "date": "2025-12-03", "description": "Settlement", "amountValue": "300.00"}
    target = story.post("transactions", settled)["id"]
    listed = {each["externalId"]: each["id"] for each in story.get("transactions", {"startDate": "2025-11-01"})}
    hosting, invoice, source, november = (listed[f"bank-{n}"] for n in range(1, 5))
    parts = {
        "net": {
            "categoryId": ids["hosting"],
            "counterparty": {"type": "vendor", "id": ids["vendor"]},
            "plSplit": {"cogs": -100},
            "passThroughTax": -19,
            "usingDateRule": {"type": "month"},
        }
    }
    story.put(f"transactions/{hosting}/categorizations", {"categorizations": parts})
    story.get(f"transactions/{hosting}")
    story.put(f"transactions/{hosting}", {"notes": "The last one at the old price."})
    by_ids = {"mode": "ids", "ids": [invoice]}
    story.post("transactions/categorize", {"selection": by_ids, "categoryId": ids["revenueRecurring"]})
    story.post("transactions/categorization_status", {"transactionIds": [hosting, invoice, november]})
    named = {"mode": "filter", "filter": {"q": "nimbus", "startDate": "2025-12-01"}}
    story.post("transactions/uncategorize", {"selection": named})
    story.put(f"transactions/{hosting}/categorizations", {"categorizations": parts})
    story.post("transactions/link_transfer", {"sourceTransactionId": source, "targetTransactionId": target})
    leg = next(iter(story.get(f"transactions/{target}")["categorizations"]))
    story.post("transactions/unlink_transfer", {"transactionId": target, "categorizationId": leg})
    ids |= {"hosting transaction": hosting, "import": imported, "target": target, "november": november}


def manage_rules(story: Scenario, ids: dict[str, str]) -> None:
    offered = story.post("categorization_rules/from_transaction", {"transactionId": ids["hosting transaction"]})["rule"]
    made = story.post("categorization_rules", offered)["id"]
    story.get("categorization_rules")
    story.get(f"categorization_rules/{made}")
    story.put(f"categorization_rules/{made}", {"name": "Hosting"})
    story.put("categorization_rules/order", {"ids": [made]})
    tried = {"conditions": {"text": {"operator": "contains", "value": "nimbus"}}, "action": offered["action"]}
    story.post("categorization_rules/preview", {"rule": tried})
    story.post("transactions/proposals", {"transactionIds": [ids["november"]]})
    story.post("transactions/transfer_proposals", YEAR)
    selection = {"mode": "filter", "filter": {"open": "true"}}
    run = story.post("categorization_rules/apply", {"selection": selection})["runId"]
    story.delete(f"categorization_runs/{run}")
    story.delete(f"categorization_rules/{made}")


def upload_files(story: Scenario, ids: dict[str, str]) -> None:
    story.upload("statements", name="january.sta", content=STATEMENT, accountId=ids["bank"])
    story.get(f"accounts/{ids['bank']}/reconciliation")
    story.get("rates")
    kept = story.upload("files", name="hosting.csv", content=RECEIPT, transactionIds=[ids["hosting transaction"]])["id"]
    story.get("files")
    story.get(f"files/{kept}")
    amount = {"value": 119, "currency": "EUR"}
    read = {"amount": amount, "date": "2025-12-31", "type": "invoice"}
    story.put(f"files/{kept}", {"parseStatus": "parsed", "parseData": read})
    story.get(f"files/{kept}/content")
    planned = story.post(f"files/{kept}/plan", {"accountId": ids["bank"], "direction": "out"})["id"]
    story.delete(f"planned_transactions/{planned}")
    ids["file"] = kept


def export_files(story: Scenario) -> None:
    for name in ("transactions.csv", "transactions.xlsx", "journal.beancount", "journal.hledger"):
        story.get(f"exports/{name}", {"startDate": "2025-12-01", "endDate": "2025-12-31"})
    quarter = YEAR | {"interval": "quarter", "comparison": "previousYear"}
    story.get("exports/profitAndLoss.xlsx", quarter)


def record_subscriptions(story: Scenario, ids: dict[str, str]) -> None:
    group = story.post("product_groups", {"name": "Plans", "order": 1})["id"]
    story.get("product_groups")
    story.get(f"product_groups/{group}")
    story.put(f"product_groups/{group}", {"name": "Plans for teams"})
    product = story.post("products", {"name": "Team", "productGroupId": group, "externalIds": ["prod_team"]})["id"]
    story.get(f"products/{product}")
    story.put(f"products/{product}", {"name": "Team plan"})
    bought = {"customerId": ids["customer"], "productId": product, "externalId": "sub_1042"}
    subscription = story.post("subscriptions", bought)["id"]
    priced = {"amountValue": "99.00", "amountCurrency": "EUR", "interval": "month"}
    event = {"subscriptionId": subscription, "effectiveDate": "2025-11-01", **priced, "externalId": "evt_1"}
    first = story.post("subscription_events", event)["id"]
    later = {"subscriptionExternalId": "sub_1042", "effectiveDate": "2025-12-15", "externalId": "evt_2"}
    other = {"subscriptionExternalId": "sub_1043", "customerExternalId": "cus_78", "customerName": "Hooli"}
    year = {"effectiveDate": "2025-12-01", "amountValue": "1188.00", "amountCurrency": "EUR", "interval": "year"}
    events = [later | priced | {"amountValue": "149.00"}, other | {"productExternalId": "prod_team"} | year]
    story.post("subscription_events/import", {"events": events, "onError": "skip"})
    story.get("subscriptions")
    story.get(f"subscriptions/{subscription}")
    story.put(f"subscriptions/{subscription}", {"externalId": "sub_1042-A"})
    story.get("subscription_events", {"startDate": "2025-01-01"})
    story.get(f"subscription_events/{first}")
    made = story.upload("subscription_events/import_file", name="events.csv", content=SUBSCRIPTION_EVENTS)
    story.get("subscription_event_imports")
    story.get(f"subscription_event_imports/{made['importId']}")
    story.delete(f"subscription_event_imports/{made['importId']}")
    story.get("products")
    ids |= {"product": product, "product group": group, "event": first}


def plan_payments(story: Scenario, ids: dict[str, str]) -> None:
    rent = {
        "accountId": ids["bank"],
        "name": "Rent",
        "startDate": "2026-01-31",
        "amountValue": "-2400.00",
        "categoryId": ids["officeAndAdmin"],
        "recurrence": {"frequency": "month", "interval": 1, "lastDayOfMonth": True},
    }
    planned = story.post("planned_transactions", rent)["id"]
    story.get("planned_transactions")
    story.get(f"planned_transactions/{planned}")
    story.put(f"planned_transactions/{planned}", {"amountValue": "-2500.00"})
    window = {"startDate": "2026-02-01", "endDate": "2026-03-31"}
    story.put(f"planned_transactions/{planned}/overrides/2026-02-28", {"date": "2026-03-02"})
    story.get(f"planned_transactions/{planned}/occurrences", window)
    story.delete(f"planned_transactions/{planned}/overrides/2026-02-28")
    once = {"name": "Hosting", "startDate": "2025-12-30", "amountValue": "-120.00", "recurrence": None}
    hosting = story.post("planned_transactions", rent | once | {"categoryId": ids["hosting"]})["id"]
    window = {"startDate": "2025-12-01", "endDate": "2026-01-31"}
    (match,) = story.post("planned_transactions/matches", window)
    insurance = {"accountId": ids["bank"], "fromTo": "Aegis Insurance", "amountValue": "-75.00"}
    for day in ("2025-10-15", "2025-11-15", "2025-12-15"):
        story.post("transactions", insurance | {"date": day})
    story.post("planned_transactions/proposals")
    settled = {"date": match["date"], "transactionId": match["transactionId"]}
    story.post(f"planned_transactions/{hosting}/settle", settled)
    story.get("planned_transactions/due", window)
    story.post(f"planned_transactions/{hosting}/unsettle", {"date": match["date"]})
    story.post(f"planned_transactions/{hosting}/write_off", {"date": match["date"], "reason": "Waived"})
    terms = {"dueDate": "2026-01-15", "invoiceNumber": "2025-118"}
    invoice = {"name": "Invoice 2025-118", "startDate": "2025-12-16", "amountValue": "1190.00", "recurrence": None}
    owed = story.post("planned_transactions", rent | invoice | {"invoiceDate": "2025-12-16", "externalData": terms})
    for kind in ("receivables", "payables"):
        story.get(kind, {"asOf": "2026-01-31"})
        story.get(f"exports/{kind}.csv", {"asOf": "2026-01-31"})
    story.post("data/aging", {"kind": "receivables", "asOf": "2026-01-31"})
    made = story.upload("receivables/import", name="receivables.csv", content=OPEN_INVOICES)
    story.get("invoice_imports")
    story.get(f"invoice_imports/{made['importId']}")
    story.upload("payables/import", name="payables.csv", content=OPEN_INVOICES)
    story.delete(f"invoice_imports/{made['importId']}")
    story.delete(f"planned_transactions/{owed['id']}")
    story.delete(f"planned_transactions/{hosting}")
    growing = {"type": "relative", "amount": {"value": 120, "currency": "EUR"}, "relativeChange": 0.05}
    line = {"month": "2025-12", "plType": "cogs", "categoryId": ids["hosting"], "amount": growing}
    item = story.post("plan_items", line | {"frequency": 3, "duration": 24})["id"]
    story.get("plan_items")
    story.post("plan_items/proposals", {"startDate": "2026-01-01", "endDate": "2026-01-31"})
    story.get(f"plan_items/{item}")
    story.put(f"plan_items/{item}", {"duration": 36})
    ids |= {"planned": planned, "item": item}
    manage_scenarios(story, ids)


def manage_scenarios(story: Scenario, ids: dict[str, str]) -> None:
    raised = {"kind": "scale", "plannedTransactionId": ids["planned"], "percent": 5, "from": "2026-03-01"}
    late = {"kind": "shift", "plannedTransactionId": ids["planned"], "days": 10, "to": "2026-02-28"}
    scenario = story.post("scenarios", {"name": "Higher rent", "changes": [raised]})["id"]
    story.get("scenarios")
    story.get(f"scenarios/{scenario}")
    story.put(f"scenarios/{scenario}", {"changes": [raised, late]})
    story.post(f"scenarios/{scenario}/adopt")
    story.delete(f"scenarios/{scenario}/adopt")
    story.delete(f"scenarios/{scenario}")


def query_data(story: Scenario) -> None:
    story.post("data/accountBalanceByAccount", YEAR)
    story.post("data/balanceByCashType", {"startDate": "2025-12-30", "endDate": "2025-12-31"})
    story.post("data/cashFlowTimeSeries", YEAR | {"interval": "month"})
    ahead = {"startDate": "2025-12-01", "endDate": "2026-02-28", "interval": "month"}
    story.post("data/forecastCashFlowTimeSeries", ahead)
    story.post("data/forecastBalanceTimeSeries", ahead)
    story.post("data/runway", {"scenarioId": None})
    story.post("data/cashBridge", YEAR)
    story.post("data/openTransactions", YEAR)
    story.post("data/revenueExpensesBar", YEAR)
    story.post("data/profitAndLoss", {"startMonth": "2025-12", "endMonth": "2025-12", "comparison": "previousPeriod"})
    story.post("data/monthlyData", {"mrrType": "mrr", "startMonth": "2025-11", "endMonth": "2025-12"})
    story.post("data/recurringRevenueSummary", {"month": "2025-12"})
    story.post("data/cohorts", {"startMonth": "2025-11", "endMonth": "2025-12", "measure": "revenue"})


def manage_webhooks(story: Scenario) -> None:
    values = {"url": "https://hooks.initech.example/tidebook", "types": ["transaction.created"], "description": "Books"}
    made = story.post("webhook_endpoints", values)
    story.secrets[made["secret"]] = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
    path = f"webhook_endpoints/{made['id']}"
    story.get("webhook_endpoints")
    story.get(path)
    story.put(path, {"types": ["transaction.created", "transaction.deleted"]})
    rolled = story.post(f"{path}/roll_secret")
    story.secrets[rolled["secret"]] = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    story.post(f"{path}/test")
    taken = DeliveryOutcome(duration_ms=84, status=200, response="ok")
    story.monkeypatch.setattr("webhooks.delivery.send_event", lambda *_, **__: taken)
    deliver_to_endpoint(company_id=story.company, endpoint_id=made["id"], clock=lambda: story.now, stop=Event())
    tried = story.get(f"{path}/deliveries")
    story.post(f"{path}/deliveries/{tried[0]['id']}/redeliver")
    story.delete(path)


def manage_notifications(story: Scenario) -> None:
    notifications = story.get("notifications", {"unread": "true"}, session=True)
    story.put(f"notifications/{notifications[0]['id']}/read", session=True)
    story.post("notifications/read_all", session=True)
    story.post(
        "notifications/batch_delete", {"notificationIds": [each["id"] for each in notifications[:2]]}, session=True
    )


def closings(story: Scenario, ids: dict[str, str]) -> None:
    story.post("closings", {"month": "2025-11", "note": "Sent to the board", "acknowledge": True})
    for number, closing in enumerate(story.get("closings")):  # digests depend on ids
        story.secrets[closing["digest"]] = hashlib.sha256(str(number).encode()).hexdigest()
    story.get("closings/2025-11")
    share_reports(story)
    story.post("closings/2025-10/reopen", {"reason": "The bank corrected the opening balance"})
    path = f"accounts/{ids['bank']}/initial_balance"
    story.put(path, {"date": "2025-10-01", "amountValue": "25100.00"})
    story.get("closings/2025-11/differences")
    story.put(path, {"date": "2025-10-01", "amountValue": "25000.00"})


def share_reports(story: Scenario) -> None:
    story.put("reports/2025-11/commentary", {"text": "Revenue grew with two new customers."})
    story.get("reports/2025-11/commentary")
    for kind in ("reports", "closings"):
        link = story.post(f"{kind}/2025-11/links", {"expiresTime": "2026-02-15T00:00:00Z"})
        story.secrets[link["url"].rpartition("/")[2]] = "token-shown-only-once"
        story.get(f"{kind}/2025-11/links")
        story.delete(f"{kind}/2025-11/links/{link['id']}")


def delete_rows(story: Scenario, ids: dict[str, str], *, app: str) -> None:
    story.delete(f"connected_apps/{app}", session=True)
    story.delete(f"files/{ids['file']}")
    story.delete(f"plan_items/{ids['item']}")
    story.delete(f"planned_transactions/{ids['planned']}")
    story.delete(f"subscription_events/{ids['event']}")
    other = story.post("subscriptions", {"customerId": ids["customer"]})["id"]
    story.delete(f"subscriptions/{other}")
    spare = story.post("products", {"name": "Solo"})["id"]
    story.delete(f"products/{spare}")
    group = story.post("product_groups", {"name": "Add-ons"})["id"]
    story.delete(f"product_groups/{group}")
    story.delete(f"transactions/{ids['target']}")
    story.post("transactions/batch_delete", {"transactionIds": [ids["november"]]})
    story.delete(f"imports/{ids['import']}")
    story.delete(f"categories/{ids['own']}")
    story.delete(f"counterparties/{ids['vendor']}")
    story.delete(f"accounts/{ids['card']}")
    group = story.post("account_groups", {"name": "Elsewhere"})["id"]
    story.delete(f"account_groups/{group}")
