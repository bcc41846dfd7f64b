"""The document tells callers and generators of clients what they need, of every operation and every type."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analytics.query_window import MAX_BAR_COUNT, MAX_WINDOW_DAYS, MAX_WINDOW_MONTHS
from companies.api import limits
from config import gunicorn
from config.field_descriptions import COMPONENT_DESCRIPTIONS, list_description_keys
from config.field_texts import FIELD_DESCRIPTIONS
from config.openapi_metadata import ENUM_PATHS
from tests.api.test_document import resolve_reference
from tests.openapi_document import load_document

DOCUMENT = load_document()
OPERATIONS = [
    (method.upper(), path, operation) for path, item in DOCUMENT["paths"].items() for method, operation in item.items()
]
APPS = {"companies", "ledger", "planning", "analytics", "notifications", "oauth", "config"}
TAGS = {tag["name"]: tag["description"] for tag in DOCUMENT["tags"]}
COMMON_STATUSES = {400, 401, 406, 429, 500, 503, 507}
ID = "0199a0c1-7a52-7c1e-9d0b-5a1f0c3f4b11"


def test_operation_has_id_summary_description_and_tag():
    assert len(OPERATIONS) > 150
    for _, _, operation in OPERATIONS:
        name = operation["operationId"]
        assert re.fullmatch(r"[a-z]+([A-Z][a-z]+)*", name)
        assert re.fullmatch(r"[A-Z][A-Za-z ]{5,50}", operation["summary"]), name
        described = operation["description"].partition("Permission:")[0].strip()
        assert len(described) > 10, name
        assert described != operation["summary"]
        assert len(operation["tags"]) == 1, name
        assert set(operation["tags"]) <= set(TAGS), name


def test_operation_documents_all_error_statuses_with_codes():
    for method, path, operation in OPERATIONS:
        check_documented_errors(method, path, operation)


def check_documented_errors(method: str, path: str, operation: dict[str, Any]) -> None:
    expected = set(COMMON_STATUSES)
    if path != "/companies":
        expected |= {403, 404}
    if method != "GET":
        expected |= {403, 409, 411, 413, 415}
    if method in ("PUT", "DELETE"):
        expected.add(412)
    assert expected <= {int(status) for status in operation["responses"]}, operation["operationId"]
    for status, answer in operation["responses"].items():
        if int(status) < 400:
            continue
        media = resolve_reference(answer)["content"]["application/problem+json"]
        assert media["schema"] == {"$ref": "#/components/schemas/Problem"}
        assert media["examples"], status
        for code, example in media["examples"].items():
            assert resolve_reference(example)["value"]["status"] == int(status)
            assert f"`{code}`" in resolve_reference(answer)["description"]


def test_operation_summaries_are_unique():
    summaries = [operation["summary"] for _, _, operation in OPERATIONS]
    assert len(set(summaries)) == len(summaries)


def test_every_tag_is_described_and_used():
    assert all(TAGS.values())
    assert set(TAGS) == {tag for _, _, operation in OPERATIONS for tag in operation["tags"]}


def test_schema_names_follow_resource_and_request_convention():
    names = set(DOCUMENT["components"]["schemas"])
    assert {"Account", "AccountRequest", "AccountUpdate", "Transaction", "Problem", "Currency"} <= names
    assert not [name for name in names if "Patched" in name or name.endswith("RequestRequest")]


def test_shared_enums_are_named_schemas():
    schemas = DOCUMENT["components"]["schemas"]
    named = {name for name, schema in schemas.items() if "enum" in schema}
    assert named == set(ENUM_PATHS)
    inline = [
        (name, word)
        for name, schema in schemas.items()
        for word, each in schema.get("properties", {}).items()
        if "enum" in each or "enum" in each.get("items", {})
    ]
    assert inline == []


def test_schema_descriptions_omit_base_serializer_text():
    texts = [schema.get("description", "") for schema in DOCUMENT["components"]["schemas"].values()]
    assert any(texts)
    assert not [text for text in texts if "stored row" in text]


def test_response_schemas_require_every_field():
    schemas = DOCUMENT["components"]["schemas"]
    for name in ("Account", "Transaction", "Category", "PlannedTransaction", "File", "AuditEntry"):
        assert set(schemas[name]["required"]) == set(schemas[name]["properties"]), name
    lines = ["cac", "cogs", "ga", "neutral", "no", "pd", "revenue"]
    assert (schemas["PlSplit"]["required"], schemas["PlSplit"]["properties"]["cogs"]["type"]) == (lines, "number")
    assert sorted(schemas["DateRule"]["required"]) == ["endDate", "invoiceDate", "startDate", "type"]
    assert set(schemas["Recognition"]["required"]) == {*schemas["DateRule"]["required"], "recognizeFrom"}
    assert "required" not in schemas["PlSplitRequest"]


# ---------------------------------------------------------------------------------------------- limits that are stated


def test_server_line_limit_equals_documented_limit():
    assert gunicorn.limit_request_line == gunicorn.limit_request_field_size == limits.MAX_LINE_LENGTH


@pytest.mark.django_db
def test_longest_windows_return_documented_maximum_of_points(api):
    ten_years = {"startDate": "2000-01-01", "endDate": "2010-01-01"}
    flows = api.post("data/cashFlowTimeSeries", ten_years).json()
    assert len(flows["inflow"]) == MAX_WINDOW_DAYS
    assert len(api.post("data/revenueExpensesBar", ten_years).json()) == MAX_BAR_COUNT
    twenty = {"mrrType": "mrr", "startMonth": "2000-01", "endMonth": "2019-12"}
    assert len(api.post("data/monthlyData", twenty).json()) == MAX_WINDOW_MONTHS
    longer = api.post("data/monthlyData", twenty | {"endMonth": "2020-01"})
    assert longer.json()["errors"][0]["code"] == "window_too_long"


@pytest.mark.django_db
@pytest.mark.parametrize("spelled", [ID.replace("-", ""), f"{{{ID}}}", f"urn:uuid:{ID}"])
def test_ids_accept_only_canonical_spelling_in_bodies_and_filters(api, spelled):
    vendor = api.post("counterparties", {"type": "vendor", "name": "x"}).json()["id"]
    wrong = api.post("accounts", {"type": "bank", "name": "x", "accountGroupId": spelled.replace(ID, vendor)})
    assert wrong.json()["errors"][0]["code"] == "unknown_id"
    for path, name in (
        ("transactions", "counterpartyId"),
        ("transactions", "accountId"),
        ("subscriptions", "customerId"),
    ):
        text = spelled.replace(ID, vendor).replace(ID.replace("-", ""), vendor.replace("-", ""))
        assert api.get(path, {name: text}).json()["errors"][0]["code"] == "invalid_filter"
        assert api.get(path, {name: vendor}).status_code == 200


@pytest.mark.django_db
def test_error_details_and_pointers_are_cut_to_documented_length(api):
    body = api.post("accounts", {"type": "y" * 10_000, "name": "x"}).json()
    assert max(len(each["detail"]) for each in body["errors"]) <= limits.MAX_DETAIL_LENGTH
    keys = {"k" * 5_000: {"skipped": True}}
    planned = {"accountId": None, "name": "x", "startDate": "2026-01-01", "amountValue": "1.00", "overrides": keys}
    pointers = [each["pointer"] for each in api.post("planned_transactions", planned).json()["errors"]]
    assert [len(each) for each in pointers] == [limits.MAX_POINTER_LENGTH]


@pytest.mark.django_db
def test_error_list_is_cut_to_documented_maximum(api):
    wrong = api.post("notifications/batch_delete", {"notificationIds": [1] * 5_000})
    assert len(wrong.json()["errors"]) == limits.MAX_ERRORS


@pytest.mark.django_db
def test_filter_text_length_matches_documented_limit(api):
    for path, parameter, longest in [
        ("audit_log", "actor", 64),
        ("audit_log", "entityType", 40),
        ("audit_log", "entityId", 64),
        ("subscriptions", "externalId", 200),
        ("transactions", "q", 500),
    ]:
        assert api.get(path, {parameter: "x" * longest}).status_code == 200
        assert api.get(path, {parameter: "x" * (longest + 1)}).status_code == 400


@pytest.mark.django_db
def test_time_and_list_lengths_match_documented_limits(api):
    time = "2026-01-31T12:00:00.123456+05:30:15.123456"
    assert len(time) <= limits.MAX_TIME_LENGTH
    assert api.get("transactions", {"updatedSince": time}).status_code == 200
    assert api.get("transactions", {"accountId": [ID] * 201}).json()["errors"][0]["code"] == "invalid_filter"
    many = {"name": "x", "plTypes": ["ga"] * 101}
    assert api.post("categories", many).json()["errors"][0]["code"] == "too_long"


# ---------------------------------------------------------------------------------------------- whom it speaks to

# Words for whoever builds the service. What our own code calls its things is found besides, where no shape is named so.
INTERNAL_TERMS = re.compile(
    r"``|\b(Django|DRF|ORM|SQL|PostgreSQL|psycopg|serializers?|query ?sets?|view ?sets?|docstring|middleware|self|"
    r"kwargs|TODO|FIXME|service\.md|decisions\.md)\b"
)
INTERNAL_CLASS = re.compile(r"(?<=[a-z,] )(?:[A-Z][a-z]+)+\b(?!-)")


def list_descriptions(part: Any, where: str = "#") -> Iterator[tuple[str, str]]:
    """Every text of the document for people, with where it stands; not the examples, which are data."""
    if isinstance(part, list):
        for position, each in enumerate(part):
            yield from list_descriptions(each, f"{where}/{position}")
    elif isinstance(part, dict):
        for name, each in part.items():
            if name in {"description", "summary"} and isinstance(each, str):
                yield where, each
            elif name not in {"example", "examples"}:
                yield from list_descriptions(each, f"{where}/{name}")


def list_internal_names() -> set[str]:
    """Classes and modules of ours that the document does not know under the same name."""
    ours = [each for name, each in sys.modules.items() if name.partition(".")[0] in APPS]
    classes = {name for each in ours for name, value in vars(each).items() if isinstance(value, type)}
    return classes - set(DOCUMENT["components"]["schemas"])


def test_descriptions_do_not_mention_internal_names():
    names, result = list_internal_names(), []
    modules = {
        f"{each.rpartition('.')[2]}." for each in sys.modules if each.partition(".")[0] in APPS and "." in each
    } - {"api.", "openapi.", "recurrence."}  # the document itself, and a field
    for where, text in list_descriptions(DOCUMENT):
        of_builders = INTERNAL_TERMS.findall(text)
        of_classes = set(INTERNAL_CLASS.findall(text)) & names
        of_modules = {each for each in re.findall(r"\b([a-z_]+\.)[a-z_]+\b", text) if each in modules}
        if of_builders or of_classes or of_modules:
            result.append((where, of_builders, of_classes, of_modules, text[:80]))
    assert not result, result


def test_transaction_ids_are_documented_as_uuids():
    known = DOCUMENT["components"]["schemas"]["Transaction"]["properties"]
    answer = {name: known[name].get("format") for name in ("id", "accountId", "createdVendorId", "integrationId")}
    assert set(answer.values()) == {"uuid"}


# ---------------------------------------------------------------------------------------------- fields


def list_fields() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for component, schema in DOCUMENT["components"]["schemas"].items():
        for name, field in schema.get("properties", {}).items():
            yield component, name, field


def test_field_has_a_description():
    missing = [f"{component}.{name}" for component, name, field in list_fields() if not field.get("description")]
    assert missing == []


def test_shared_description_is_used_and_short():
    """No text without a field; no text that is longer than a sentence or two."""
    used = {key for component, name, _ in list_fields() for key in (name, *list_description_keys(component, name))}
    assert set(FIELD_DESCRIPTIONS) | set(COMPONENT_DESCRIPTIONS) <= used
    texts = [*FIELD_DESCRIPTIONS.values(), *COMPONENT_DESCRIPTIONS.values()]
    assert [text for text in texts if not text.endswith(".") or len(text.split()) > 25] == []


def test_app_guide_names_redirect_uri_of_api_reference(client):
    page = client.get("/docs").content.decode()
    path = re.search(r'data-redirect-url="([^"]+)"', page)[1]
    guide = (Path(__file__).parents[2] / "docs" / "oauth.md").read_text(encoding="utf-8")
    assert f"http://127.0.0.1:8000{path}" in guide


def test_compressed_document_is_under_100_kib(client):
    answer = client.get("/openapi.json", headers={"accept-encoding": "gzip"})
    assert answer["Content-Encoding"] == "gzip"
    assert len(answer.content) < 100 * 1024
