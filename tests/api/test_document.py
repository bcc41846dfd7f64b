"""The OpenAPI document says what is really answered: parameters, statuses, media types, shapes and headers."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import get_resolver
from drf_spectacular.generators import SchemaGenerator

from companies.api.viewsets import ApiViewSet
from ledger.sniffing import KINDS
from tests.api.test_fuzz import ids
from tests.test_permissions import OPERATIONS

pytestmark = pytest.mark.django_db
assert ids  # a fixture

DOCUMENT: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
SECTIONS = DOCUMENT["components"]
BY_PATH = {
    (method.upper(), re.sub(r"{\w+}", "{}", path)): operation
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
}
# Those about the protocol, the browser and caches are the same for every answer, documented or not.
TOLD = {
    "X-Request-Id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "ETag", "Location", "Link",
    "Ignored-Fields", "Idempotency-Replayed", "WWW-Authenticate", "Retry-After",
}  # fmt: skip
# Of these, what a success carries whenever a field is sent that the operation does not know.
ALWAYS = {"ETag", "Location", "Ignored-Fields"}
# Rows are changed, so that everything is there to be read, before they are deleted.
ORDER = ["PUT", "GET", "POST", "DELETE"]
# What may be there once only: not as in the rows that are there already.
ANOTHER = {"externalId": "another", "externalIds": ["another"], "email": "another@acme.example"}
# These find nothing to work on.
REFUSED = {
    "POST transactions/link_transfer", "POST transactions/unlink_transfer", "PUT logo", "PUT notifications/{}/read",
}  # fmt: skip


def operation_of(method: str, path: str) -> dict[str, Any]:
    return BY_PATH[method, f"/companies/{{}}/{path}".rstrip("/")]


def resolved(part: dict[str, Any]) -> dict[str, Any]:
    """What a reference stands for."""
    if "$ref" not in part:
        return part
    _, _, section, name = part["$ref"].split("/")
    return SECTIONS[section][name]


def query_of(operation: dict[str, Any]) -> set[str]:
    parameters = [resolved(each) for each in operation.get("parameters", ())]
    return {each["name"] for each in parameters if each["in"] == "query"}


def schemas(part: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of the document with the place where it stands."""
    if isinstance(part, dict):
        yield path, part
    inner = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, value in inner:
        yield from schemas(value, f"{path}/{key}")


def test_a_list_documents_the_parameters_that_it_takes_and_no_others(api, ids):
    """Unknown parameters are refused, so that the answers tell which are known."""
    for path, method in OPERATIONS:
        if method != "GET" or "{}" in path:
            continue
        documented = query_of(operation_of(method, path))
        for name in documented | {"limit", "cursor"}:
            errors = api.get(path, {name: "\u2603"}).json()
            codes = {each["code"] for each in errors["errors"]} if "errors" in errors else set()
            known = "unknown_parameter" not in codes and path != ""
            assert known == (name in documented), (path, name)


def test_every_filter_of_a_view_is_documented():
    seen = 0
    for route, view in lists_with_filters():
        seen += 1
        assert set(view.filterset_class.base_filters) <= query_of(BY_PATH["GET", route]), route
    assert seen


def lists_with_filters() -> Iterator[tuple[str, Any]]:
    for pattern in get_resolver().url_patterns:
        for each in getattr(pattern, "url_patterns", ()):
            view = getattr(each.callback, "cls", None)
            if view is None or not issubclass(view, ApiViewSet) or not hasattr(view, "filterset_class"):
                continue
            if each.callback.actions.get("get") == "list":
                yield "/" + re.sub(r"<[^>]+>", "{}", str(each.pattern)), view


def test_no_alternative_takes_everything():
    """With oneOf a null would be both null and anything, and so be neither."""
    wrong = [
        path
        for path, part in schemas(DOCUMENT)
        for word in ("oneOf", "anyOf")
        if isinstance(part.get(word), list) and {} in part[word]
    ]
    assert wrong == []


def test_states_before_and_after_are_an_object_or_null():
    shown = SECTIONS["schemas"]["AuditEntryShape"]["properties"]
    assert [shown["before"]["type"], shown["after"]["type"]] == [["object", "null"]] * 2


def test_documents_come_as_what_they_are():
    content = operation_of("GET", "files/{}/content")["responses"]["200"]["content"]
    assert set(content) == {kind.content_type for kind in KINDS}
