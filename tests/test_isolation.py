"""Tenants apart: wherever the OpenAPI document lets a caller name a row, another company's is as an unknown one.

Every id of the document is tried: in a path, in a query, in a body. One that no case covers fails a test. How many they
are: ``pytest -sk every_id_of_the_document tests/test_isolation.py``.
"""

import io
import json
import re
import zipfile
from collections.abc import Collection, Iterator
from copy import deepcopy
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, transaction
from django.http import HttpResponse

from companies.models import AuditEntry, Company, Membership
from ledger.models import Categorization
from notifications.models import Notification
from oauth.models import ConsentGrant
from oauth.registration import register_app
from tests.api.request_bodies import (
    FILES,
    SECOND_ROW_VALUES,
    UNKNOWN_ID,
    build_form,
    build_path,
    create_all_rows,
    fill_ids,
    get_request_body,
)
from tests.conftest import Api
from tests.oauth.conftest import REDIRECT, OAuthFlow
from tests.test_permissions import DOCUMENT, strip_company_path

pytestmark = pytest.mark.django_db

Place = tuple[str | int, ...]  # where in a body: names, 0 in a list, * in a map; - is a key of the map itself
ID = re.compile(r"(?:^i|I)ds?$")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
NO_IDS = {"vatId", "externalId", "externalIds"}  # what clients call their own rows
NO_IDS |= {"subscriptionExternalId", "customerExternalId", "productExternalId"}
NO_IDS |= {"externalSubscriptionId", "externalInvoiceId"}
IDS_BY_ANOTHER_NAME = {"replaceWith"}

# Whose row an id names, as ``tenant`` calls it.
ROW_OF_FIELD = {
    "accountId": "accounts", "accountIds": "accounts", "accountGroupId": "account_groups", "assignedUserId": "users",
    "categorizationId": "legs", "categoryId": "categories", "connectedAppId": "connected_apps",
    "counterpartyId": "counterparties", "customerId": "counterparties", "defaultCategoryId": "categories",
    "entityId": "accounts", "excludedIds": "transactions", "fileId": "files", "importId": "imports",
    "invoiceImportId": "invoice_imports", "keyId": "api_keys", "memberId": "members",
    "notificationId": "notifications", "notificationIds": "notifications",
    "plannedTransactionId": "planned_transactions", "planItemId": "plan_items", "productGroupId": "product_groups",
    "productId": "products", "productIds": "products", "recipientUserId": "users", "replaceWith": "other_categories",
    "sourceCategorizationId": "parts", "sourceTransactionId": "outgoing", "subscriptionEventId": "subscription_events",
    "subscriptionEventImportId": "subscription_event_imports",
    "subscriptionId": "subscriptions", "targetTransactionId": "incoming", "transactionId": "transactions",
    "transactionIds": "transactions", "counterparty.id": "counterparties", "selection.ids": "transactions",
    "categorizations.-": "parts", "ruleId": "categorization_rules", "runId": "categorization_runs",
    "ids": "categorization_rules", "endpointId": "webhook_endpoints", "deliveryId": "webhook_deliveries",
    "after": "events", "linkId": "links", "scenarioId": "scenarios",
    "transferAccountId": "other_accounts",
}  # fmt: skip
# Where the same name stands for another row.
ROW_OF_OPERATION_FIELD = {
    ("POST transactions/unlink_transfer", "transactionId"): "linked",
    ("POST categorization_rules/from_transaction", "transactionId"): "categorized",
}

# What a body has besides, so that the field counts.
EXTRA_FIELDS: dict[str, dict[str, Any]] = {
    "transferAccountId": {"categoryId": None, "invoiceDate": None},
    "selection.ids": {"selection": {"mode": "ids"}},
    "selection.excludedIds": {"selection": {"mode": "filter", "filter": {"direction": "out"}}},
    "selection.filter": {"selection": {"mode": "filter", "filter": {"direction": "out"}}},
}
ADDED_PLANNED = {"accountId": "accounts", "name": "x", "startDate": "2024-01-31", "amountValue": "1.00"}
ADDED_ITEM = {
    "month": "2024-01",
    "plType": "ga",
    "amount": {"type": "fixed", "amount": {"value": 1, "currency": "EUR"}},
}
ADD_PLANNED = {"kind": "add", "plannedTransaction": ADDED_PLANNED}
ADD_OVERRIDDEN = {"kind": "add", "plannedTransaction": ADDED_PLANNED | {"overrides": {"2024-01-31": {}}}}
# The change of a scenario that has an id at a place.
CHANGES_WITH_ID: dict[str, dict[str, Any]] = {
    "plannedTransactionId": {"kind": "scale", "percent": 1},
    "counterpartyId": {"kind": "scale", "percent": 1},
    "planItem.categoryId": {"kind": "add", "planItem": ADDED_ITEM},
    **{
        f"plannedTransaction.{name}": ADD_PLANNED
        for name in ("accountId", "transferAccountId", "categoryId", "counterparty.id")
    },
    **{
        f"plannedTransaction.overrides.*.{name}": ADD_OVERRIDDEN
        for name in ("accountId", "categoryId", "transactionId")
    },
}
EXTRA_OPERATION_FIELDS: dict[tuple[str, str], dict[str, Any]] = {
    ("POST transactions/import", ""): {"onError": "abort", "duplicates": "keep"},
    ("POST subscription_events/import", ""): {"onError": "abort"},
    ("POST categorization_rules/preview", ""): {
        "rule": {
            "conditions": {"direction": "in"},
            "action": {"categoryId": "categories", "splits": [{"categoryId": "categories", "percent": 1}]},
        }
    },
    ("POST transactions/link_transfer", ""): {"sourceTransactionId": "outgoing", "targetTransactionId": "incoming"},
    ("POST transactions/link_transfer", "sourceCategorizationId"): {"sourceTransactionId": "categorized"},
    ("POST transactions/unlink_transfer", ""): {"transactionId": "linked", "categorizationId": "legs"},
    **{
        (f"{method} scenarios{path}", f"changes.0.{place}"): {"changes": [change]}
        for method, path in (("POST", ""), ("PUT", "/{}"))
        for place, change in CHANGES_WITH_ID.items()
    },
}

# decisions.md, section 15: an id in a body is refused with 400, in these with 404 …
MISSING_IS_ERROR = {"POST transactions/link_transfer", "POST transactions/unlink_transfer"}
# … and sections 7 and 10: these pass over those that they do not know.
UNKNOWN_IS_SKIPPED = {
    "POST transactions/categorization_status", "POST notifications/batch_delete",
    # An id of a categorization is the caller's to choose: one that is free is taken.
    "PUT transactions/{}/categorizations categorizations.-",
}  # fmt: skip

# What is answered about one's own row where that is no success.
OWN_STATUS = {
    "POST files/{}/plan": 201,
    "DELETE accounts/{}": 409,  # they are in use
    "DELETE account_groups/{}": 409,
    "DELETE categories/{}": 409,
    "DELETE counterparties/{}": 409,
    "DELETE products/{}": 409,
    "DELETE product_groups/{}": 409,
    "DELETE subscriptions/{}": 409,
    "POST members/{}/resend": 409,  # they have joined
    "POST planned_transactions/{}/unsettle": 409,  # nothing settles it
    "DELETE closings/{}/links/{}": 404,  # the link is that of a report
    "DELETE scenarios/{}/adopt": 409,  # it is not adopted
    "POST planned_transactions/{}/unsettle transactionId": 409,
    "PUT transactions/{}/categorizations categorizations.-": 400,  # another transaction has it
}


# ---------------------------------------------------------------------------------- the ids of the document


def list_operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(method, path below the company, what the document says)"""
    for path, item in DOCUMENT["paths"].items():
        for method, operation in item.items():
            if "{companyId}" in path:
                yield method.upper(), path, operation


def resolve_reference(part: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in part:
        _, _, section, name = part["$ref"].split("/")
        part = DOCUMENT["components"][section][name]
    return part


def is_id(name: str | int, schema: dict[str, Any]) -> bool:
    if not isinstance(name, str) or name in NO_IDS:
        return False
    return bool(ID.search(name)) or name in IDS_BY_ANOTHER_NAME or schema.get("format") == "uuid"


def list_id_places(schema: dict[str, Any], at: Place = ()) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Every field of a request's schema with the place where it stands."""
    schema = resolve_reference(schema)
    for name, inner in schema.get("properties", {}).items():
        if not resolve_reference(inner).get("readOnly"):
            yield (*at, name), resolve_reference(inner)
            yield from list_id_places(inner, (*at, name))
    if isinstance(schema.get("items"), dict):
        yield from list_id_places(schema["items"], (*at, 0))
    if isinstance(schema.get("additionalProperties"), dict):
        yield from list_id_places(schema["additionalProperties"], (*at, "*"))
    for word in ("allOf", "oneOf", "anyOf"):
        for each in schema.get(word, ()):
            yield from list_id_places(each, at)


def list_path_ids() -> list[tuple[str, str, str]]:
    return [
        (method, path, name)
        for method, path, _ in list_operations()
        for name in re.findall(r"{(\w+)}", path)
        if name not in {"companyId", "originalDate", "month"}
    ]


def list_query_ids() -> list[tuple[str, str, str]]:
    found = []
    for method, path, operation in list_operations():
        for parameter in map(resolve_reference, operation.get("parameters", ())):
            if parameter["in"] == "query" and is_id(parameter["name"], parameter["schema"]):
                found.append((method, path, parameter["name"]))
    return found


FILTERS = [name for _, path, name in list_query_ids() if path.endswith("/transactions")]


def list_body_ids() -> list[tuple[str, str, Place]]:
    """Those of the schemas, and those that stand in what the schemas leave open: a selection's filter has the filters
    of the list, and the keys of the map of categorizations are ids."""
    found = []
    for method, path, operation in list_operations():
        for content in operation.get("requestBody", {}).get("content", {}).values():
            for place, schema in list_id_places(content["schema"]):
                if is_id(place[-1], schema):
                    found.append((method, path, place))
                elif place[-1] == "filter":
                    found += [(method, path, (*place, name)) for name in FILTERS]
                elif place == ("categorizations",):
                    found.append((method, path, (*place, "-")))
    return sorted(set(found), key=str)


def test_every_id_in_openapi_document_is_covered():
    counts = [len(list_path_ids()), len(list_query_ids()), len(list_body_ids())]
    print("ids tried: {} in paths, {} in queries, {} in bodies".format(*counts))  # noqa: T201 - what was asked
    places = [
        *((name,) for *_, name in list_path_ids() + list_query_ids()),
        *(place for *_, place in list_body_ids()),
    ]
    unnamed = {place for place in places if get_row_kind("", place) is None}
    assert unnamed == set(), "Say in NAMED which row it names."
    assert min(counts) > 0
    described = {place[-1] for *_, place in list_body_ids()}
    assert {"accountId", "categoryId", "id", "ids", "excludedIds", "transactionIds", "customerId"} <= described


def get_row_kind(operation: str, place: Place) -> str | None:
    name = str(place[-1])
    return (
        ROW_OF_OPERATION_FIELD.get((operation, name))
        or ROW_OF_FIELD.get(".".join(map(str, place[-2:])))
        or ROW_OF_FIELD.get(name)
    )


# ---------------------------------------------------------------------------------- two companies with everything


def create_tenant_rows(api: Api, owner: Any) -> dict[str, str]:
    """One row of everything of a company: the name that NAMED gives it → its id."""
    rows = create_all_rows(api)
    rows["users"] = str(owner.id)
    member = Membership.objects.for_company(api.company.id).get(user=owner)
    rows["members"] = str(member.id)
    categories = api.get("categories").json()
    rows["other_accounts"] = api.post("accounts", {"type": "bank", "name": "Third"}).json()["id"]
    rows["other_categories"] = next(c["id"] for c in categories if c["systemKey"] == "officeAndAdmin")
    first, second = rows["accounts"], api.post("accounts", {"type": "bank", "name": "Second"}).json()["id"]
    for name, account, amount in (
        ("outgoing", first, "-7.00"), ("incoming", second, "7.00"), ("categorized", first, "-7.00"),
        ("linked", first, "-9.00"), ("partner", second, "9.00"),
    ):  # fmt: skip
        row = {"accountId": account, "date": "2024-02-01", "amountValue": amount, "assignedUserId": rows["users"]}
        row |= {"fromTo": name, "excludeFromAutoCategorization": True}
        rows[name] = api.post("transactions", row).json()["id"]
    customer = {"type": "customer", "id": rows["counterparties"]}
    selection = {"mode": "ids", "ids": [rows["categorized"]]}
    body = {"selection": selection, "categoryId": rows["categories"], "plType": "ga", "counterparty": customer}
    assert api.post("transactions/categorize", body).json()["affected"] == 1
    pair = {"sourceTransactionId": rows["linked"], "targetTransactionId": rows["partner"]}
    assert api.post("transactions/link_transfer", pair).status_code == 200
    for name, of in (("parts", "categorized"), ("legs", "linked")):
        (part,) = Categorization.objects.for_company(api.company.id).filter(transaction_id=rows[of])
        rows[name] = str(part.id)
    assert api.put(f"files/{rows['files']}", {"transactionIds": [rows["transactions"]]}).status_code == 200
    planned = f"planned_transactions/{rows['planned_transactions']}"
    assert api.put(f"{planned}/overrides/2024-01-31", {"name": "x"}).status_code == 200
    rows["notifications"] = str(Notification.objects.for_company(api.company.id).latest("id").id)
    rows["connected_apps"] = str(create_consent(api, owner).id)
    rows["events"] = str(AuditEntry.objects.for_company(api.company.id).earliest("number").id)
    return rows


def create_consent(api: Api, owner: Any) -> ConsentGrant:
    app = register_app(name="Forecaster", redirect_uris=[REDIRECT], allowed=[], confidential=False).application
    flow = OAuthFlow(application=app)
    flow.sign_in(owner)
    flow.tokens(api.company)
    return ConsentGrant.objects.for_company(api.company.id).latest("created_time")


@pytest.fixture
def acme_rows(api, alice) -> dict[str, str]:
    return create_tenant_rows(api, alice)


@pytest.fixture
def globex_rows(globex_api, carol) -> dict[str, str]:
    return create_tenant_rows(globex_api, carol)


def digest_all_rows(company: Any, *, but: Collection[Any] = ()) -> list[Any]:
    """A digest of each table's rows of a company, derived ones and consents too."""
    of_companies = [m for m in apps.get_models() if any(f.name == "company" for f in m._meta.concrete_fields)]
    tables = [model._meta.db_table for model in of_companies if model not in but]
    parts = [
        f"SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) FROM \"{table}\" t WHERE company_id = %(id)s"
        for table in tables
    ]
    parts.append("SELECT md5(c::text) FROM companies_company c WHERE id = %(id)s")
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(parts), {"id": company.id})
        return cursor.fetchall()


# ---------------------------------------------------------------------------------- the calls


class IsolationProbe:
    """Sends Acme's calls, takes back what each does, and looks whether it touched the other company."""

    def __init__(self, api: Api, other: Company):
        self.api, self.other, self.before = api, other, digest_all_rows(other)

    def send(self, method: str, path: str, *, body: Any = None, query: Any = None) -> Any:
        with transaction.atomic():
            answer = send_request(self.api, method, path, body=body, query=query)
            assert digest_all_rows(self.other) == self.before, (method, path, body)
            transaction.set_rollback(True)
        return answer


@pytest.fixture
def isolation_probe(api, globex, globex_rows) -> IsolationProbe:
    return IsolationProbe(api, globex)


def send_request(api: Api, method: str, path: str, *, body: Any, query: Any) -> Any:
    if method == "GET":
        return read_whole_answer(api.get(path, query))
    if method == "DELETE":
        return api.delete(path + "".join(f"?{name}={value}" for name, value in (query or {}).items()))
    if body is not None and path in FILES:
        return api.client.post(api.path(path), build_form(path, body), headers=api.headers)
    return getattr(api, method.lower())(path, body)


def read_whole_answer(answer: Any) -> Any:
    """A file's answer with its content; of a workbook, which says when it was made, the first sheet's."""
    if not answer.streaming or answer.status_code != 200:
        return answer
    content = b"".join(answer.streaming_content)
    if content.startswith(b"PK"):
        content = zipfile.ZipFile(io.BytesIO(content)).read("xl/worksheets/sheet1.xml")
    return HttpResponse(content)


def normalize_answer(answer: Any, row_id: str) -> tuple[int, Any]:
    """Status and body, but for what names the request or repeats the id."""
    text = MOMENT.sub("TIME", answer.content.decode().replace(row_id, "ID"))
    body = json.loads(text) if "json" in answer["Content-Type"] else text
    if isinstance(body, dict):
        body = {name: value for name, value in body.items() if name not in {"instance", "requestId", "runId"}}
    return answer.status_code, body


def build_valid_body(method: str, path: str, rows: dict[str, str]) -> dict[str, Any]:
    body = fill_ids(get_request_body(path), rows) | fill_ids(
        EXTRA_OPERATION_FIELDS.get((f"{method} {path}", ""), {}), rows
    )
    return body | (
        {name: value for name, value in SECOND_ROW_VALUES.items() if name in body} if method == "POST" else {}
    )


def put_id(body: dict[str, Any], place: Place, row_id: str) -> dict[str, Any]:
    """The body with the id at the place; what is on the way is made where it is missing."""
    first, *rest = place
    copy = deepcopy(body)
    if first == "-":
        return {row_id: next(iter(copy.values()))}
    if first == "*":
        first = next(iter(copy), "2024-01-31")
    if not rest:
        copy[str(first)] = [row_id] if str(first).endswith("ds") else row_id
    elif rest[0] == 0:
        copy[str(first)] = [put_id(copy[str(first)][0], tuple(rest[1:]), row_id)]
    else:
        copy[str(first)] = put_id(copy.get(str(first)) or {}, tuple(rest), row_id)
    if first == "counterparty":
        copy["counterparty"]["type"] = "customer"
    return copy


def build_body_with_id(operation: str, place: Place, rows: dict[str, str], row_id: str) -> dict[str, Any]:
    body = build_valid_body(*operation.split(" ", 1), rows)
    dotted = ".".join(map(str, place))
    for start, besides in EXTRA_FIELDS.items():
        body |= deepcopy(besides) if dotted.startswith(start) else {}
    body |= fill_ids(EXTRA_OPERATION_FIELDS.get((operation, dotted), {}), rows)
    return put_id(body, place, row_id)


def build_pointer_pattern(place: Place) -> str:
    """As a regular expression: a map's key may be any."""
    return "#/" + "/".join("[^/]+" if each in ("*", "-") else str(each) for each in place)


def test_id_of_other_company_in_path_is_unknown(isolation_probe, acme_rows, globex_rows):
    wrong = {}
    for method, path, name in list_path_ids():
        operation = f"{method} {strip_company_path(path)}"
        body = build_valid_body(method, strip_company_path(path), acme_rows) if method in ("POST", "PUT") else None
        query = {"startDate": "2024-01-01", "endDate": "2024-12-31"} if path.endswith("/occurrences") else None
        there = path.removeprefix("/companies/{companyId}/").replace("{originalDate}", "2024-01-31")
        for other in set(re.findall(r"{(\w+)}", there)) - {name}:
            there = there.replace(f"{{{other}}}", "2024-01" if other == "month" else acme_rows[ROW_OF_FIELD[other]])
        answers = [
            isolation_probe.send(method, there.replace(f"{{{name}}}", row_id), body=body, query=query)
            for row_id in (acme_rows[ROW_OF_FIELD[name]], globex_rows[ROW_OF_FIELD[name]], UNKNOWN_ID, "x")
        ]
        if [answer.status_code for answer in answers] != [answers[0].status_code, 404, 404, 404]:
            wrong[operation] = [answer.status_code for answer in answers]
        elif answers[0].status_code != OWN_STATUS.get(operation, 200):
            wrong[operation] = answers[0].content
        elif len({str(normalize_answer(answer, "?")) for answer in answers[1:]}) > 1:
            wrong[operation] = [answer.content for answer in answers]
    assert wrong == {}


def test_id_of_other_company_in_query_is_unknown(isolation_probe, acme_rows, globex_rows):
    wrong = {}
    for method, path, name in list_query_ids():
        there = build_path(strip_company_path(path), acme_rows)
        rows = [acme_rows[ROW_OF_FIELD[name]], globex_rows[ROW_OF_FIELD[name]], UNKNOWN_ID]
        mine, theirs, nobodys = (isolation_probe.send(method, there, query={name: row_id}) for row_id in rows)
        if (
            mine.status_code != 200
            or normalize_answer(theirs, rows[1]) != normalize_answer(nobodys, rows[2])
            or mine.content == theirs.content
        ):
            wrong[f"{method} {there} {name}"] = [answer.content for answer in (mine, theirs, nobodys)]
    assert wrong == {}


def test_id_of_other_company_in_body_is_unknown(isolation_probe, acme_rows, globex_rows):
    wrong = {}
    for method, path, place in list_body_ids():
        operation = f"{method} {strip_company_path(path)}"
        name = get_row_kind(operation, place)
        rows = [acme_rows[name], globex_rows[name], UNKNOWN_ID, "x"]
        answers = [
            isolation_probe.send(
                method,
                build_path(strip_company_path(path), acme_rows),
                body=build_body_with_id(operation, place, acme_rows, row_id),
            )
            for row_id in rows
        ]
        found = list(list_differences(operation, place, rows, answers))
        if found:
            wrong[f"{operation} {'.'.join(map(str, place))}"] = (found, [answer.content[:300] for answer in answers])
    assert wrong == {}


def list_differences(operation: str, place: Place, rows: list[str], answers: list[Any]) -> Iterator[str]:
    """What the answers to one's own row, another company's, an unknown and a malformed id should be and are not."""
    own, theirs, unknown, malformed = answers
    field = f"{operation} {'.'.join(map(str, place))}"
    if own.status_code != OWN_STATUS.get(field, own.status_code if own.status_code in {200, 201} else 200):
        yield "one's own row is refused, so that nothing is proved"
    if normalize_answer(theirs, rows[1]) != normalize_answer(unknown, rows[2]):
        yield "not as an unknown one"
    if operation in UNKNOWN_IS_SKIPPED or field in UNKNOWN_IS_SKIPPED or "filter" in place:
        expected = [200]
    elif operation in MISSING_IS_ERROR:
        expected = [404, "not_found"]
    else:
        expected = [400, "validation_failed", "unknown_id", True]
    if get_outcome(theirs, place) != expected:
        yield f"not {expected}"
    if expected[0] != 200 and get_outcome(malformed, place) != expected:
        yield "a malformed one is something else"


def get_outcome(answer: Any, place: Place) -> list[Any]:
    """Status, code, the field's code, and whether the pointer leads to the place."""
    if answer.status_code < 300:
        return [answer.status_code]
    body = answer.json()
    if "errors" not in body:
        return [answer.status_code, body["code"]]
    (entry,) = body["errors"]
    leads = re.fullmatch(build_pointer_pattern(place) + "(/0)?", entry["pointer"]) is not None
    return [answer.status_code, body["code"], entry["code"], leads]
