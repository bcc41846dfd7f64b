"""Check every error response of any test against the OpenAPI document: status and code must be documented."""

import re
from functools import cache
from typing import Any

from companies.api.viewsets import ApiViewSet
from tests.openapi_document import load_document


@cache
def list_documented_codes() -> dict[tuple[str, str], dict[str, set[str]]]:
    """Return {(method, path): {status: error codes}} of the OpenAPI document."""
    document = load_document()
    shared = document["components"]["responses"]
    return {
        (method.upper(), re.sub(r"{\w+}", "{}", path)): {
            status: list_example_codes(shared.get(response.get("$ref", "").rpartition("/")[2], response))
            for status, response in operation["responses"].items()
        }
        for path, item in document["paths"].items()
        for method, operation in item.items()
    }


def list_example_codes(response: dict[str, Any]) -> set[str]:
    return set(response.get("content", {}).get("application/problem+json", {}).get("examples", ()))


def find_undocumented_error(view: Any, response: Any) -> tuple[str, str, int, str] | None:
    """Return (method, path, status, code) of an error response that its operation does not document."""
    request = view.request
    if request.resolver_match is None:
        return None  # a test called the view directly
    method = "GET" if request.method == "HEAD" else request.method
    path = "/" + re.sub(r"<[^>]+>", "{}", request.resolver_match.route)
    known = list_documented_codes().get((method, path))
    if known is None or response.data["code"] in known.get(str(response.status_code), ()):
        return None  # documented, or a method that the path does not have
    return method, path, response.status_code, response.data["code"]


def watch_errors(monkeypatch: Any) -> list[tuple[str, str, int, str]]:
    """Return the list to which undocumented errors are added."""
    undocumented_errors: list[tuple[str, str, int, str]] = []
    original_handle_exception = ApiViewSet.handle_exception

    def handle_exception(view: Any, error: Exception) -> Any:
        response = original_handle_exception(view, error)
        missing = find_undocumented_error(view, response)
        if missing:
            undocumented_errors.append(missing)
        return response

    monkeypatch.setattr(ApiViewSet, "handle_exception", handle_exception)
    return undocumented_errors
