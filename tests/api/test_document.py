"""The OpenAPI document says what is really answered: parameters, statuses, media types, shapes and headers."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, transaction
from django.urls import get_resolver
from jsonschema import Draft202012Validator

from analytics.views.recurring_revenue import RecurringViewSet
from companies.api.viewsets import ApiViewSet
from ledger.files.content_type import CONTENT_KINDS
from tests.api.request_bodies import (
    FILES,
    SECOND_ROW_VALUES,
    build_form,
    build_path,
    fill_ids,
    get_request_body,
    row_ids,
)
from tests.openapi_document import load_document
from tests.test_permissions import OPERATIONS

pytestmark = pytest.mark.django_db
assert row_ids  # a fixture

DOCUMENT = load_document()
SECTIONS = DOCUMENT["components"]
BY_PATH = {
    (method.upper(), re.sub(r"{\w+}", "{}", path)): operation
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
}
# Those about the protocol, the browser and caches are the same for every answer, documented or not.
COMMON_HEADERS = {
    "X-Request-Id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "ETag", "Location", "Link",
    "X-Total-Count", "X-Total-Amount", "Broken-Changes", "Ignored-Fields", "Idempotency-Replayed",
    "WWW-Authenticate", "Retry-After",
}  # fmt: skip
# Of these, what a success carries whenever a field is sent that the operation does not know.
REQUIRED_HEADERS = {"ETag", "Location", "Ignored-Fields"}
# Rows are changed, so that everything is there to be read, before they are deleted.
METHOD_ORDER = ["PUT", "GET", "POST", "DELETE"]
# These find nothing to work on.
REJECTED_OPERATIONS = {
    "POST transactions/link_transfer", "POST transactions/unlink_transfer", "PUT notifications/{}/read",
    "POST categorization_rules/from_transaction", "POST copy",
    # Nothing is closed, for it would refuse the others: tests/ledger/closings.
    "POST closings", "GET closings/{}", "GET closings/{}/differences", "POST closings/{}/reopen",
    "POST closings/{}/links", "GET closings/{}/links",
}  # fmt: skip


def get_operation(method: str, path: str) -> dict[str, Any]:
    return BY_PATH[method, f"/companies/{{}}/{path}".rstrip("/")]


def resolve_reference(part: dict[str, Any]) -> dict[str, Any]:
    """What a reference stands for."""
    if "$ref" not in part:
        return part
    _, _, section, name = part["$ref"].split("/")
    return SECTIONS[section][name]


def list_query_parameters(operation: dict[str, Any]) -> set[str]:
    parameters = [resolve_reference(each) for each in operation.get("parameters", ())]
    return {each["name"] for each in parameters if each["in"] == "query"}


def list_schemas(part: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of the document with the place where it stands."""
    if isinstance(part, dict):
        yield path, part
    inner = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, value in inner:
        yield from list_schemas(value, f"{path}/{key}")


def find_undocumented(answer: Any, operation: dict[str, Any]) -> list[str]:
    """What an answer has and its operation does not document."""
    if str(answer.status_code) not in operation["responses"]:
        return [f"status {answer.status_code}: {answer.content!r}"]
    reference = resolve_reference(operation["responses"][str(answer.status_code)])
    results = [f"header {name}" for name in COMMON_HEADERS & set(answer.headers) - set(reference.get("headers", ()))]
    if answer.status_code == 304:
        return results
    media = reference["content"].get(answer["Content-Type"].partition(";")[0])
    if media is None:
        return [*results, f"media type {answer['Content-Type']}"]
    if "json" in answer["Content-Type"]:
        schema = Draft202012Validator(media["schema"] | {"components": SECTIONS})
        results += [f"{wrong.json_path}: {wrong.message}" for wrong in schema.iter_errors(answer.json())]
    return results


def find_missing_headers(answer: Any, operation: dict[str, Any]) -> list[str]:
    """What an operation documents and its success does not have."""
    headers = operation["responses"][str(answer.status_code)].get("headers", {})
    return [f"no {name}" for name in REQUIRED_HEADERS & set(headers) - set(answer.headers)]


@pytest.fixture(autouse=True)
def check_reads_write_nothing(monkeypatch) -> None:
    """Run reads in a read-only transaction, except recurring revenue, which stores stale months."""
    call_handler = ApiViewSet.call_handler

    def call_read_only(view: ApiViewSet, request: Any, handler: Any) -> Any:
        if view.is_write or isinstance(view, RecurringViewSet):
            return call_handler(view, request, handler)
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL transaction_read_only = on")
            return call_handler(view, request, handler)

    monkeypatch.setattr(ApiViewSet, "call_handler", call_read_only)


@pytest.fixture
def operation_results(api, row_ids) -> list[tuple[str, Any, dict[str, Any]]]:
    """Call each operation with a valid body and an unknown field: (name, response, documentation)."""
    calls = []
    for path, method in sorted(
        OPERATIONS, key=lambda each: (METHOD_ORDER.index(each[1]), each[0].endswith("batch_delete"))
    ):
        where, headers = api.path(build_path(path, row_ids)), api.headers
        if path in FILES and method == "POST":
            body = fill_ids(get_request_body(path), row_ids) | {"colour": "red"}
            answer = api.client.post(where, build_form(path, body), headers=headers)
        elif method in ("GET", "DELETE"):
            query = (
                {"startDate": "2024-01-01", "endDate": "2024-12-31"}
                if path.endswith(("/occurrences", "/due"))
                else None
            )
            answer = api.get(where, query) if method == "GET" else api.delete(where)
        else:
            body = fill_ids(get_request_body(path), row_ids)
            if method == "POST":
                body |= {name: value for name, value in SECOND_ROW_VALUES.items() if name in body}
            body["colour"] = "red"
            answer = getattr(api, method.lower())(where, body)
        calls.append((f"{method} {path}", answer, get_operation(method, path)))
    return calls


def test_openapi_documents_every_response_of_each_operation(operation_results):
    wrong = {
        name: undocumented
        for name, answer, operation in operation_results
        if (undocumented := find_undocumented(answer, operation))
    }
    assert wrong == {}
    refused = {
        name for name, answer, _ in operation_results if answer.status_code >= 300 and not name.startswith("DELETE")
    }
    assert refused == REJECTED_OPERATIONS


def test_success_responses_have_their_documented_headers(operation_results):
    wrong = {
        name: missing_headers
        for name, answer, operation in operation_results
        if answer.status_code < 300 and (missing_headers := find_missing_headers(answer, operation))
    }
    assert wrong == {}


def test_openapi_documents_exactly_the_accepted_list_parameters(api, row_ids):
    """Unknown parameters are refused, so that the answers tell which are known."""
    for path, method in OPERATIONS:
        if method != "GET" or "{}" in path:
            continue
        documented = list_query_parameters(get_operation(method, path))
        for name in documented | {"limit", "cursor"}:
            answer = api.get(path, {name: "\u2603"})
            errors = answer.json() if "json" in answer["Content-Type"] else {}  # of a file, which was given out
            codes = {each["code"] for each in errors["errors"]} if "errors" in errors else set()
            known = "unknown_parameter" not in codes and path != ""
            assert known == (name in documented), (path, name)


def test_openapi_documents_every_filter_of_each_view():
    seen = 0
    for route, view in list_filtered_views():
        seen += 1
        assert set(view.filterset_class.base_filters) <= list_query_parameters(BY_PATH["GET", route]), route
    assert seen


def list_filtered_views() -> Iterator[tuple[str, Any]]:
    for pattern in get_resolver().url_patterns:
        for each in getattr(pattern, "url_patterns", ()):
            view = getattr(each.callback, "cls", None)
            if view is None or not issubclass(view, ApiViewSet) or not hasattr(view, "filterset_class"):
                continue
            if each.callback.actions.get("get") == "list":
                yield "/" + re.sub(r"<[^>]+>", "{}", str(each.pattern)), view


def test_openapi_documents_link_header_on_paginated_lists_only():
    for (method, path), operation in BY_PATH.items():
        headers = operation["responses"].get("200", {}).get("headers", {})
        assert ("Link" in headers) == bool({"cursor", "after"} & list_query_parameters(operation)), (method, path)


def test_openapi_alternatives_never_accept_any_value():
    """With oneOf a null would be both null and anything, and so be neither."""
    wrong = [
        path
        for path, part in list_schemas(DOCUMENT)
        for word in ("oneOf", "anyOf")
        if isinstance(part.get(word), list) and {} in part[word]
    ]
    assert wrong == []


def test_audit_entry_before_and_after_are_documented_as_object_or_null():
    shown = SECTIONS["schemas"]["AuditEntry"]["properties"]
    assert [shown["before"]["type"], shown["after"]["type"]] == [["object", "null"]] * 2


def test_company_creation_by_api_key_returns_documented_403(api):
    answer = api.post("/companies", {"name": "Initech"})
    assert answer.status_code == 403
    assert find_undocumented(answer, BY_PATH["POST", "/companies"]) == []


def test_company_list_and_creation_match_the_document(sign_in_browser, alice, acme):
    browser = sign_in_browser(alice, acme)
    for method, answer in (
        ("GET", browser.get("/companies")),
        ("POST", browser.post("/companies", {"name": "Initech"})),
    ):
        operation = BY_PATH[method, "/companies"]
        assert answer.status_code < 300
        assert find_undocumented(answer, operation) == []


def test_openapi_documents_403_for_every_write():
    assert all("403" in operation["responses"] for (method, _), operation in BY_PATH.items() if method != "GET")


def test_file_content_documents_every_content_type():
    content = get_operation("GET", "files/{}/content")["responses"]["200"]["content"]
    assert set(content) == {kind.content_type for kind in CONTENT_KINDS}


def test_idempotent_replay_has_documented_headers(api):
    for _ in range(2):
        answer = api.post("account_groups", {"name": "x"}, idempotency_key="k")
    assert answer["Idempotency-Replayed"] == "true"
    assert find_undocumented(answer, get_operation("POST", "account_groups")) == []


def test_not_modified_is_a_documented_response(api, row_ids):
    for path in ("", "accounts", "transactions"):
        where = f"{path}/{row_ids[path]}" if path else ""
        answer = api.get(where, if_none_match=api.get(where)["ETag"])
        assert answer.status_code == 304
        assert find_undocumented(answer, get_operation("GET", f"{path}/{{}}" if path else "")) == []


def test_every_documented_if_match_is_enforced(api, row_ids):
    """All but ending an app's connection, which shows no version, and links of closings, of which there are none."""
    api.put(f"accounts/{row_ids['accounts']}/initial_balance", {"date": "2024-01-01", "amountValue": "1.00"})
    for path, method in OPERATIONS:
        operation = get_operation(method, path)
        if any(resolve_reference(each)["name"] == "If-Match" for each in operation["parameters"]):
            body = fill_ids(get_request_body(path), row_ids) if method == "PUT" else None
            where, headers = api.path(build_path(path, row_ids)), api.headers | {"If-Match": '"old"'}
            send = getattr(api.client, method.lower())
            answer = send(where, body, content_type="application/json", headers=headers)
            missing = path.startswith(("connected_apps", "notifications", "members/me", "closings"))
            assert answer.status_code == (404 if missing else 412), (method, path)
            assert find_undocumented(answer, operation) == [], (method, path)


def test_error_responses_match_the_document(api, client, settings, acme):
    stale = api.put("", {"name": "x"}, if_match='"old"')
    assert (stale.status_code, find_undocumented(stale, get_operation("PUT", ""))) == (412, [])
    nobody = client.get("/companies")
    assert (nobody.status_code, find_undocumented(nobody, BY_PATH["GET", "/companies"])) == (401, [])
    settings.RATE_LIMIT = 0
    spent = api.get("/companies")
    assert (spent.status_code, find_undocumented(spent, BY_PATH["GET", "/companies"])) == (429, [])


def test_openapi_headers_are_defined_once_and_referenced():
    for place, part in list_schemas(DOCUMENT["paths"] | {"responses": SECTIONS["responses"]}):
        if place.endswith("/headers"):
            for name, header in part.items():
                assert header == {"$ref": f"#/components/headers/{name}"}, place
    assert set(SECTIONS["headers"]) == COMMON_HEADERS
    assert all(header["description"] and header["schema"] for header in SECTIONS["headers"].values())


def test_request_body_is_optional_if_none_of_its_fields_is_required():
    for key, operation in BY_PATH.items():
        if "requestBody" in operation:
            (content,) = operation["requestBody"]["content"].values()
            assert operation["requestBody"]["required"] == bool(resolve_reference(content["schema"]).get("required")), (
                key
            )


def test_openapi_documents_min_items_of_nonempty_lists(api):
    for path, body, name in (
        ("categories", {"name": "x", "plTypes": []}, "plTypes"),
        ("api_keys", {"name": "x", "permissions": []}, "permissions"),
    ):
        (error,) = api.post(path, body).json()["errors"]
        assert error["code"] == "must_not_be_empty"
        (content,) = get_operation("POST", path)["requestBody"]["content"].values()
        assert resolve_reference(content["schema"])["properties"][name]["minItems"] == 1


def test_openapi_month_patterns_reject_year_zero():
    months = [part["pattern"] for _, part in list_schemas(DOCUMENT) if "0[1-9]|1[0-2]" in str(part.get("pattern"))]
    assert months
    assert not [pattern for pattern in months if re.match(pattern, "0000-01")]
    assert all(re.match(pattern, "0001-01") for pattern in months)
