"""Check every successful response of any test against the OpenAPI document: its status and its JSON schema."""

import re
from functools import cache
from itertools import islice
from typing import Any

import jsonschema_rs
import orjson

from companies.api.viewsets import ApiViewSet
from tests.openapi_document import load_document

JSON = "application/json"
MAX_MISTAKES = 5  # reported per response


@cache
def list_operations() -> dict[tuple[str, str], dict[str, Any]]:
    """Return {(method, path): operation}, with {} for each path parameter."""
    return {
        (method.upper(), re.sub(r"{\w+}", "{}", path)): operation
        for path, item in load_document()["paths"].items()
        for method, operation in item.items()
    }


@cache
def build_validator(method: str, path: str, status: str) -> Any:
    """Return the compiled schema of a response, None if it has no JSON. Raise KeyError for an undocumented status."""
    media = list_operations()[method, path]["responses"][status].get("content", {}).get(JSON)
    if media is None:
        return None
    schema = media["schema"] | {"components": load_document()["components"]}
    return jsonschema_rs.Draft202012Validator(schema, validate_formats=True)


def find_operation(view: Any) -> tuple[str, str] | None:
    """Return (method, path) as in the document; None for a view that a test called directly."""
    request = view.request
    if request.resolver_match is None:
        return None
    method = "GET" if request.method == "HEAD" else request.method
    return method, "/" + re.sub(r"<[^>]+>", "{}", request.resolver_match.route)


def find_mistakes(operation: tuple[str, str], response: Any) -> list[str]:
    """Return how a rendered successful response differs from its operation in the document."""
    if operation not in list_operations():
        return []
    try:
        validator = build_validator(*operation, str(response.status_code))
    except KeyError:
        return [f"status {response.status_code} is not described"]
    if validator is None or not response.get("Content-Type", "").startswith(JSON):
        return []
    errors = validator.iter_errors(orjson.loads(response.content))
    return [
        f"{'/'.join(map(str, error.instance_path))}: {error.message[:300]}" for error in islice(errors, MAX_MISTAKES)
    ]


def watch_responses(monkeypatch: Any) -> list[tuple[str, str, list[str]]]:
    """Return the list to which (method, path, mistakes) of each wrong response is added."""
    mistaken_responses: list[tuple[str, str, list[str]]] = []
    original_finalize = ApiViewSet.finalize_response

    def finalize_response(view: Any, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = original_finalize(view, request, response, *args, **kwargs)
        operation = find_operation(view)
        # Callers who may not read what they changed get an id or a count instead (tests/api/test_write_only_access.py).
        # Apps that may only identify the user get the names of companies (tests/oauth/test_resource.py).
        sees_less = getattr(view, "is_blind", False) or not getattr(
            getattr(view, "caller", None), "has_data_access", True
        )
        if operation and 200 <= response.status_code < 300 and not sees_less:

            def check(rendered: Any) -> None:
                mistakes = find_mistakes(operation, rendered)
                if mistakes:
                    mistaken_responses.append((*operation, mistakes))

            if hasattr(response, "add_post_render_callback"):
                response.add_post_render_callback(check)
        return response

    monkeypatch.setattr(ApiViewSet, "finalize_response", finalize_response)
    return mistaken_responses
