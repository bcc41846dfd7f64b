"""Check every error response of any test against the OpenAPI document: status and code must be documented."""

import re
from functools import cache
from typing import Any

from companies.api.viewsets import ApiViewSet
from tests.openapi_document import load_document


@cache
def list_documented_codes() -> dict[tuple[str, str], dict[str, set[str]]]:
    """(method, address) → status → codes."""
    document = load_document()
    shared = document["components"]["responses"]
    return {
        (method.upper(), re.sub(r"{\w+}", "{}", path)): {
            status: list_example_codes(shared.get(answer.get("$ref", "").rpartition("/")[2], answer))
            for status, answer in operation["responses"].items()
        }
        for path, item in document["paths"].items()
        for method, operation in item.items()
    }


def list_example_codes(answer: dict[str, Any]) -> set[str]:
    return set(answer.get("content", {}).get("application/problem+json", {}).get("examples", ()))


def find_undocumented_error(view: Any, answer: Any) -> tuple[str, str, int, str] | None:
    """What an answer refused and its operation does not tell."""
    request = view.request
    if request.resolver_match is None:
        return None  # a view that a test called by itself
    method = "GET" if request.method == "HEAD" else request.method
    path = "/" + re.sub(r"<[^>]+>", "{}", request.resolver_match.route)
    known = list_documented_codes().get((method, path))
    if known is None or answer.data["code"] in known.get(str(answer.status_code), ()):
        return None  # a method that the address does not have
    return method, path, answer.status_code, answer.data["code"]


def watch_errors(monkeypatch: Any) -> list[tuple[str, str, int, str]]:
    """Return the list to which undocumented errors are added."""
    undocumented_errors: list[tuple[str, str, int, str]] = []
    answered = ApiViewSet.handle_exception

    def handle_exception(view: Any, error: Exception) -> Any:
        answer = answered(view, error)
        missing = find_undocumented_error(view, answer)
        if missing:
            undocumented_errors.append(missing)
        return answer

    monkeypatch.setattr(ApiViewSet, "handle_exception", handle_exception)
    return undocumented_errors
