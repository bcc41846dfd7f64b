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
from oauth.registration import register
from tests.api.bodies import ANOTHER, FILES, UNKNOWN, address, filled, form, rows_of, taken
from tests.conftest import Api
from tests.oauth.conftest import REDIRECT, Flow
from tests.test_permissions import DOCUMENT, below_company

pytestmark = pytest.mark.django_db

Place = tuple[str | int, ...]  # where in a body: names, 0 in a list, * in a map; - is a key of the map itself
ID = re.compile(r"(?:^i|I)ds?$")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
NO_IDS = {"externalId", "externalIds"}  # what clients call their own rows
NO_IDS |= {"subscriptionExternalId", "customerExternalId", "productExternalId"}
NO_IDS |= {"externalSubscriptionId", "externalInvoiceId"}
IDS_BY_ANOTHER_NAME = {"replaceWith"}

# Whose row an id names, as ``tenant`` calls it.
NAMED = {
    "accountId": "accounts", "accountIds": "accounts", "accountGroupId": "account_groups", "assignedUserId": "users",
    "categorizationId": "legs", "categoryId": "categories", "connectedAppId": "connected_apps",
    "counterpartyId": "counterparties", "customerId": "counterparties", "defaultCategoryId": "categories",
    "entityId": "accounts", "excludedIds": "transactions", "fileId": "files", "importId": "imports",
    "keyId": "api_keys", "memberId": "members", "notificationId": "notifications", "notificationIds": "notifications",
    "plannedTransactionId": "planned_transactions", "planItemId": "plan_items", "productGroupId": "product_groups",
    "productId": "products", "productIds": "products", "recipientUserId": "users", "replaceWith": "other_categories",
    "sourceCategorizationId": "parts", "sourceTransactionId": "outgoing", "subscriptionEventId": "subscription_events",
    "subscriptionId": "subscriptions", "targetTransactionId": "incoming", "transactionId": "transactions",
    "transactionIds": "transactions", "counterparty.id": "counterparties", "selection.ids": "transactions",
    "categorizations.-": "parts", "ruleId": "categorization_rules", "runId": "categorization_runs",
    "ids": "categorization_rules", "endpointId": "webhook_endpoints", "deliveryId": "webhook_deliveries",
    "after": "events",
}  # fmt: skip
# Where the same name stands for another row.
NAMED_THERE = {
    ("POST transactions/unlink_transfer", "transactionId"): "linked",
    ("POST categorization_rules/from_transaction", "transactionId"): "categorized",
}

# What a body has besides, so that the field counts.
BESIDES: dict[str, dict[str, Any]] = {
    "selection.ids": {"selection": {"mode": "ids"}},
    "selection.excludedIds": {"selection": {"mode": "filter", "filter": {"direction": "out"}}},
    "selection.filter": {"selection": {"mode": "filter", "filter": {"direction": "out"}}},
}
BESIDES_THERE: dict[tuple[str, str], dict[str, Any]] = {
    ("POST transactions/import", ""): {"onError": "abort", "duplicates": "keep"},
    ("POST subscription_events/import", ""): {"onError": "abort"},
    ("POST categorization_rules/preview", ""): {
        "rule": {"conditions": {"direction": "in"}, "action": {"categoryId": "categories"}}
    },
    ("POST transactions/link_transfer", ""): {"sourceTransactionId": "outgoing", "targetTransactionId": "incoming"},
    ("POST transactions/link_transfer", "sourceCategorizationId"): {"sourceTransactionId": "categorized"},
    ("POST transactions/unlink_transfer", ""): {"transactionId": "linked", "categorizationId": "legs"},
    ("PUT planned_transactions/{}/overrides/{}", "transactionId"): {"skipped": None, "amountValue": "-1.00"},
}

# decisions.md, section 15: an id in a body is refused with 400, in these with 404 …
MISSING = {"POST transactions/link_transfer", "POST transactions/unlink_transfer"}
# … and sections 7 and 10: these pass over those that they do not know.
PASSED_OVER = {
    "POST transactions/categorization_status", "POST notifications/batch_delete",
    # An id of a categorization is the caller's to choose: one that is free is taken.
    "PUT transactions/{}/categorizations categorizations.-",
}  # fmt: skip

# What is answered about one's own row where that is no success.
OWN_IS_REFUSED = {
    "DELETE accounts/{}": 409,  # they are in use
    "DELETE account_groups/{}": 409,
    "DELETE categories/{}": 409,
    "DELETE counterparties/{}": 409,
    "DELETE products/{}": 409,
    "DELETE product_groups/{}": 409,
    "DELETE subscriptions/{}": 409,
    "POST members/{}/resend": 409,  # they have joined
    "POST planned_transactions/{}/unsettle": 409,  # nothing settles it
    "PUT transactions/{}/categorizations categorizations.-": 400,  # another transaction has it
}


# ---------------------------------------------------------------------------------- the ids of the document


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(method, path below the company, what the document says)"""
    for path, item in DOCUMENT["paths"].items():
        for method, operation in item.items():
            if "{companyId}" in path:
                yield method.upper(), path, operation


def resolved(part: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in part:
        _, _, section, name = part["$ref"].split("/")
        part = DOCUMENT["components"][section][name]
    return part


def is_id(name: str | int, schema: dict[str, Any]) -> bool:
    if not isinstance(name, str) or name in NO_IDS:
        return False
    return bool(ID.search(name)) or name in IDS_BY_ANOTHER_NAME or schema.get("format") == "uuid"


def places(schema: dict[str, Any], at: Place = ()) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Every field of a request's schema with the place where it stands."""
    schema = resolved(schema)
    for name, inner in schema.get("properties", {}).items():
        if not resolved(inner).get("readOnly"):
            yield (*at, name), resolved(inner)
            yield from places(inner, (*at, name))
    if isinstance(schema.get("items"), dict):
        yield from places(schema["items"], (*at, 0))
    if isinstance(schema.get("additionalProperties"), dict):
        yield from places(schema["additionalProperties"], (*at, "*"))
    for word in ("allOf", "oneOf", "anyOf"):
        for each in schema.get(word, ()):
            yield from places(each, at)


def names_in_path() -> list[tuple[str, str, str]]:
    return [
        (method, path, name)
        for method, path, _ in operations()
        for name in re.findall(r"{(\w+)}", path)
        if name not in {"companyId", "originalDate"}
    ]


def names_in_query() -> list[tuple[str, str, str]]:
    found = []
    for method, path, operation in operations():
        for parameter in map(resolved, operation.get("parameters", ())):
            if parameter["in"] == "query" and is_id(parameter["name"], parameter["schema"]):
                found.append((method, path, parameter["name"]))
    return found


FILTERS = [name for _, path, name in names_in_query() if path.endswith("/transactions")]


def places_in_bodies() -> list[tuple[str, str, Place]]:
    """Those of the schemas, and those that stand in what the schemas leave open: a selection's filter has the filters
    of the list, and the keys of the map of categorizations are ids."""
    found = []
    for method, path, operation in operations():
        for content in operation.get("requestBody", {}).get("content", {}).values():
            for place, schema in places(content["schema"]):
                if is_id(place[-1], schema):
                    found.append((method, path, place))
                elif place[-1] == "filter":
                    found += [(method, path, (*place, name)) for name in FILTERS]
                elif place == ("categorizations",):
                    found.append((method, path, (*place, "-")))
    return sorted(set(found), key=str)


def test_every_id_of_the_document_is_tried():
    counts = [len(names_in_path()), len(names_in_query()), len(places_in_bodies())]
    print("ids tried: {} in paths, {} in queries, {} in bodies".format(*counts))  # noqa: T201 - what was asked
    places = [
        *((name,) for *_, name in names_in_path() + names_in_query()),
        *(place for *_, place in places_in_bodies()),
    ]
    unnamed = {place for place in places if row_named("", place) is None}
    assert unnamed == set(), "Say in NAMED which row it names."
    assert min(counts) > 0
    described = {place[-1] for *_, place in places_in_bodies()}
    assert {"accountId", "categoryId", "id", "ids", "excludedIds", "transactionIds", "customerId"} <= described


def row_named(operation: str, place: Place) -> str | None:
    name = str(place[-1])
    return (
        NAMED_THERE.get((operation, name)) or NAMED.get(".".join(map(str, place[-2:]))) or NAMED.get(name)
    )  # fmt: skip


# ---------------------------------------------------------------------------------- two companies with everything


def tenant(api: Api, owner: Any) -> dict[str, str]:
    """One row of everything of a company: the name that NAMED gives it → its id."""
    rows = rows_of(api)
    rows["users"] = str(owner.id)
    member = Membership.objects.of(api.company.id).get(user=owner)
    rows["members"] = str(member.id)
    categories = api.get("categories").json()
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
        (part,) = Categorization.objects.of(api.company.id).filter(transaction_id=rows[of])
        rows[name] = str(part.id)
    assert api.put(f"files/{rows['files']}", {"transactionIds": [rows["transactions"]]}).status_code == 200
    planned = f"planned_transactions/{rows['planned_transactions']}"
    assert api.put(f"{planned}/overrides/2024-01-31", {"name": "x"}).status_code == 200
    rows["notifications"] = str(Notification.objects.of(api.company.id).latest("id").id)
    rows["connected_apps"] = str(consent(api, owner).id)
    rows["events"] = str(AuditEntry.objects.of(api.company.id).earliest("number").id)
    return rows


def consent(api: Api, owner: Any) -> ConsentGrant:
    app = register(name="Forecaster", redirect_uris=[REDIRECT], allowed=[], confidential=False).application
    flow = Flow(application=app)
    flow.sign_in(owner)
    flow.tokens(api.company)
    return ConsentGrant.objects.of(api.company.id).latest("created_time")


@pytest.fixture
def own(api, alice) -> dict[str, str]:
    return tenant(api, alice)


@pytest.fixture
def foreign(globex_api, carol) -> dict[str, str]:
    return tenant(globex_api, carol)


def all_rows_of(company: Any, *, but: Collection[Any] = ()) -> list[Any]:
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


class Watched:
    """Sends Acme's calls, takes back what each does, and looks whether it touched the other company."""

    def __init__(self, api: Api, other: Company):
        self.api, self.other, self.before = api, other, all_rows_of(other)

    def send(self, method: str, path: str, *, body: Any = None, query: Any = None) -> Any:
        with transaction.atomic():
            answer = sent(self.api, method, path, body=body, query=query)
            assert all_rows_of(self.other) == self.before, (method, path, body)
            transaction.set_rollback(True)
        return answer


@pytest.fixture
def calls(api, globex, foreign) -> Watched:
    return Watched(api, globex)


def sent(api: Api, method: str, path: str, *, body: Any, query: Any) -> Any:
    if method == "GET":
        return whole(api.get(path, query))
    if method == "DELETE":
        return api.delete(path + "".join(f"?{name}={value}" for name, value in (query or {}).items()))
    if body is not None and path in FILES:
        return api.client.post(api.path(path), form(path, body), headers=api.headers)
    return getattr(api, method.lower())(path, body)


def whole(answer: Any) -> Any:
    """A file's answer with its content; of a workbook, which says when it was made, the first sheet's."""
    if not answer.streaming or answer.status_code != 200:
        return answer
    content = b"".join(answer.streaming_content)
    if content.startswith(b"PK"):
        content = zipfile.ZipFile(io.BytesIO(content)).read("xl/worksheets/sheet1.xml")
    return HttpResponse(content)


def told(answer: Any, row_id: str) -> tuple[int, Any]:
    """Status and body, but for what names the request or repeats the id."""
    text = MOMENT.sub("TIME", answer.content.decode().replace(row_id, "ID"))
    body = json.loads(text) if "json" in answer["Content-Type"] else text
    if isinstance(body, dict):
        body = {name: value for name, value in body.items() if name not in {"instance", "requestId", "runId"}}
    return answer.status_code, body


def valid_body(method: str, path: str, rows: dict[str, str]) -> dict[str, Any]:
    body = filled(taken(path), rows) | filled(BESIDES_THERE.get((f"{method} {path}", ""), {}), rows)
    return body | ({name: value for name, value in ANOTHER.items() if name in body} if method == "POST" else {})


def with_row(body: dict[str, Any], place: Place, row_id: str) -> dict[str, Any]:
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
        copy[str(first)] = [with_row(copy[str(first)][0], tuple(rest[1:]), row_id)]
    else:
        copy[str(first)] = with_row(copy.get(str(first)) or {}, tuple(rest), row_id)
    if first == "counterparty":
        copy["counterparty"]["type"] = "customer"
    return copy


def body_about(operation: str, place: Place, rows: dict[str, str], row_id: str) -> dict[str, Any]:
    body = valid_body(*operation.split(" ", 1), rows)
    dotted = ".".join(map(str, place))
    for start, besides in BESIDES.items():
        body |= deepcopy(besides) if dotted.startswith(start) else {}
    body |= filled(BESIDES_THERE.get((operation, dotted), {}), rows)
    return with_row(body, place, row_id)


def pointer(place: Place) -> str:
    """As a regular expression: a map's key may be any."""
    return "#/" + "/".join("[^/]+" if each in ("*", "-") else str(each) for each in place)


def test_another_companys_id_in_a_path_is_an_unknown_one(calls, own, foreign):
    wrong = {}
    for method, path, name in names_in_path():
        operation = f"{method} {below_company(path)}"
        body = valid_body(method, below_company(path), own) if method in ("POST", "PUT") else None
        query = {"startDate": "2024-01-01", "endDate": "2024-12-31"} if path.endswith("/occurrences") else None
        there = path.removeprefix("/companies/{companyId}/").replace("{originalDate}", "2024-01-31")
        for other in set(re.findall(r"{(\w+)}", there)) - {name}:
            there = there.replace(f"{{{other}}}", own[NAMED[other]])
        answers = [
            calls.send(method, there.replace(f"{{{name}}}", row_id), body=body, query=query)
            for row_id in (own[NAMED[name]], foreign[NAMED[name]], UNKNOWN, "x")
        ]
        if [answer.status_code for answer in answers] != [answers[0].status_code, 404, 404, 404]:
            wrong[operation] = [answer.status_code for answer in answers]
        elif answers[0].status_code != OWN_IS_REFUSED.get(operation, 200):
            wrong[operation] = answers[0].content
        elif len({str(told(answer, "?")) for answer in answers[1:]}) > 1:
            wrong[operation] = [answer.content for answer in answers]
    assert wrong == {}


def test_another_companys_id_in_a_query_is_an_unknown_one(calls, own, foreign):
    wrong = {}
    for method, path, name in names_in_query():
        there = address(below_company(path), own)
        rows = [own[NAMED[name]], foreign[NAMED[name]], UNKNOWN]
        mine, theirs, nobodys = (calls.send(method, there, query={name: row_id}) for row_id in rows)
        if mine.status_code != 200 or told(theirs, rows[1]) != told(nobodys, rows[2]) or mine.content == theirs.content:
            wrong[f"{method} {there} {name}"] = [answer.content for answer in (mine, theirs, nobodys)]
    assert wrong == {}


def test_another_companys_id_in_a_body_is_an_unknown_one(calls, own, foreign):
    wrong = {}
    for method, path, place in places_in_bodies():
        operation = f"{method} {below_company(path)}"
        name = row_named(operation, place)
        rows = [own[name], foreign[name], UNKNOWN, "x"]
        answers = [
            calls.send(method, address(below_company(path), own), body=body_about(operation, place, own, row_id))
            for row_id in rows
        ]
        found = list(differences(operation, place, rows, answers))
        if found:
            wrong[f"{operation} {'.'.join(map(str, place))}"] = (found, [answer.content[:300] for answer in answers])
    assert wrong == {}


def differences(operation: str, place: Place, rows: list[str], answers: list[Any]) -> Iterator[str]:
    """What the answers to one's own row, another company's, an unknown and a malformed id should be and are not."""
    own, theirs, unknown, malformed = answers
    field = f"{operation} {'.'.join(map(str, place))}"
    if own.status_code != OWN_IS_REFUSED.get(field, own.status_code if own.status_code in {200, 201} else 200):
        yield "one's own row is refused, so that nothing is proved"
    if told(theirs, rows[1]) != told(unknown, rows[2]):
        yield "not as an unknown one"
    if operation in PASSED_OVER or field in PASSED_OVER or "filter" in place:
        expected = [200]
    elif operation in MISSING:
        expected = [404, "not_found"]
    else:
        expected = [400, "validation_failed", "unknown_id", True]
    if outcome(theirs, place) != expected:
        yield f"not {expected}"
    if expected[0] != 200 and outcome(malformed, place) != expected:
        yield "a malformed one is something else"


def outcome(answer: Any, place: Place) -> list[Any]:
    """Status, code, the field's code, and whether the pointer leads to the place."""
    if answer.status_code < 300:
        return [answer.status_code]
    body = answer.json()
    if "errors" not in body:
        return [answer.status_code, body["code"]]
    (entry,) = body["errors"]
    leads = re.fullmatch(pointer(place) + "(/0)?", entry["pointer"]) is not None
    return [answer.status_code, body["code"], entry["code"], leads]
