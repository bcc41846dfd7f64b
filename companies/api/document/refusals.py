"""What an operation of the OpenAPI document can refuse: each status with its codes, and the body of all refusals."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings

from companies.api.document.codes import documented
from companies.api.document.components import EVERYWHERE, referred
from companies.api.errors import TITLES
from companies.api.limits import (
    LONGEST_CODE,
    LONGEST_DETAIL,
    LONGEST_LINE,
    LONGEST_POINTER,
    LONGEST_REQUEST_ID,
    MOST_ERRORS,
)

EXAMPLE_ID = "0199a0c1-7a52-7c1e-9d0b-5a1f0c3f4b11"
SAFE = ("GET", "HEAD")
REFUSALS = {
    400: "A body or parameter is wrong: `validation_failed` with a pointer a field, `invalid_json`, or a refusal's own code.",
    401: "No credential, or one that is unknown, wrong, expired or revoked.",
    403: "The permission named in `detail` is missing; a session sent no CSRF token (`csrf_failed`); the act is for people only; the company demands a second factor that the person lacks (`second_factor_required`); or the company is read-only because its trial or subscription ended (`company_expired`).",
    404: "Unknown or malformed id, another company's id, or a company out of the caller's reach; one and the same body.",
    406: "Only application/json (and problem+json) can be had.",
    409: "The state of the data forbids it; the code says why.",
    411: "The body came in chunks, without its length.",
    412: "`If-Match` names another version; `ETag` is the current one.",
    413: "The body is larger than the operation takes.",
    415: "The body's media type is not one that the operation takes.",
    429: "The credential's budget of requests is spent, or too many requests are in work at the same time; see `Retry-After`.",
    500: "Something went wrong on our side; the request id helps us find it.",
    503: "The database does not answer or takes too long, or nothing can be stored. See `Retry-After`.",
    507: "There is no room left to store anything. See `Retry-After`.",
}
# The codes that every operation can answer with a status, and those that come with a body or a change besides.
OF_ALL = {
    400: ("validation_failed", "invalid_value", "bad_request", "invalid_request"),
    401: ("not_authenticated", "invalid_credentials"),
    403: ("permission_denied", "second_factor_required"),
    404: ("not_found",),
    406: ("not_acceptable",),
    411: ("length_required",),
    412: ("precondition_failed",),
    413: ("body_too_large",),
    415: ("unsupported_media_type",),
    429: ("rate_limited", "too_many_in_work"),
    500: ("internal_error",),
    503: ("unavailable", "storage_unavailable", "query_timeout"),
    507: ("storage_full",),
}
OF_CHANGES = {
    400: ("invalid_json", "invalid_idempotency_key", "idempotency_key_reused"),
    403: ("csrf_failed", "company_expired"),
    409: ("idempotency_in_progress", "idempotency_answer_lost", "concurrent_change", "conflict"),
}
PROBLEM = {
    "type": "object",
    "description": "RFC 9457 problem details.",
    "required": ["type", "title", "status", "detail", "instance", "code", "requestId"],
    "properties": {
        "type": {"type": "string", "format": "uri", "maxLength": 2000, "description": "Where the code is explained."},
        "title": {"type": "string", "maxLength": 100},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": {"type": "string", "maxLength": LONGEST_DETAIL, "description": "For people."},
        "instance": {"type": "string", "maxLength": LONGEST_LINE, "description": "The path that was called."},
        "code": {"type": "string", "maxLength": LONGEST_CODE, "description": "Stable, snake_case."},
        "requestId": {"type": "string", "maxLength": LONGEST_REQUEST_ID, "description": "As in `X-Request-Id`."},
        "errors": {
            "type": "array",
            "maxItems": MOST_ERRORS,
            "description": "With `validation_failed` only: each field that is wrong.",
            "items": {"$ref": "#/components/schemas/FieldError"},
        },
    },
}
FIELD_ERROR = {
    "type": "object",
    "required": ["pointer", "code", "detail"],
    "properties": {
        "pointer": {
            "type": "string",
            "maxLength": LONGEST_POINTER,
            "description": "A JSON pointer into the body, or `#/` and a parameter's name.",
            "examples": ["#/transactions/3/amountValue"],
        },
        "code": {"type": "string", "maxLength": LONGEST_CODE, "description": "Stable, snake_case."},
        "detail": {"type": "string", "maxLength": LONGEST_DETAIL, "description": "For people."},
    },
}
REFUSAL_HEADERS = {
    400: ["WWW-Authenticate"],  # with `invalid_request`
    401: ["WWW-Authenticate"],
    403: ["WWW-Authenticate"],  # an app that lacks a scope is told which
    409: ["Retry-After"],  # with `concurrent_change` and `idempotency_in_progress`
    412: ["ETag"],
    429: ["Retry-After"],
    503: ["Retry-After"],
    507: ["Retry-After"],
}


def add_refusals(components: dict[str, Any]) -> None:
    """What operations have in common."""
    components["schemas"] |= {"FieldError": FIELD_ERROR, "Problem": PROBLEM}
    components["responses"] |= {
        shared(status, changes=changes): refusal(status, meanings(status, changes=changes))
        for status in REFUSALS
        for changes in (False, True)
    }


def shared(status: int, *, changes: bool) -> str:
    """The shared answer of a status; one of its own for changes where they have codes of their own."""
    return f"Problem{status}OfChange" if changes and status in OF_ALL and status in OF_CHANGES else f"Problem{status}"


def codes_of(status: int, *, changes: bool) -> tuple[str, ...]:
    of_changes = OF_CHANGES.get(status, ()) if changes or status not in OF_ALL else ()
    return (*OF_ALL.get(status, ()), *of_changes)


def refusals_of(method: str, path: str, own: Iterable[tuple[int, str, str]]) -> dict[str, Any]:
    """Status → the refusals that an operation can answer: what all can, and its own (status, code, meaning)."""
    statuses, changes = {400, 401, 403, 404, 406, 429, 500, 503, 507}, method not in SAFE
    if "{" not in path:
        statuses -= {404} if changes else {403, 404}  # nothing there can be missing, nor closed to a caller
    if changes:
        statuses |= {409, 411, 413, 415}
    if method in ("PUT", "DELETE"):
        statuses.add(412)
    told: dict[int, dict[str, str]] = {}
    for status, code, text in own:
        told.setdefault(status, {})[code] = text
    return {
        str(status): refusal(status, told[status] | meanings(status, changes=changes))
        if status in told
        else {"$ref": f"#/components/responses/{shared(status, changes=changes)}"}
        for status in sorted(statuses | set(told))
    }


def meanings(status: int, *, changes: bool) -> dict[str, str]:
    """The codes that a status has everywhere, with what they mean."""
    every = documented()
    return {code: every[code][1] for code in codes_of(status, changes=changes)}


def refusal(status: int, codes: dict[str, str]) -> dict[str, Any]:
    """One status with each of its codes as an example."""
    listed = "\n".join(f"- `{code}`: {text}" for code, text in codes.items())
    examples = {code: {"summary": text, "value": example(status, code, text)} for code, text in codes.items()}
    return {
        "description": f"{REFUSALS[status]}\n\n{listed}",
        "headers": referred([*EVERYWHERE, *REFUSAL_HEADERS.get(status, ())]),
        "content": {
            "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}, "examples": examples}
        },
    }


def example(status: int, code: str, text: str) -> dict[str, Any]:
    body = {
        "type": f"{settings.BASE_URL}/docs/errors#{code}",
        "title": TITLES[status],
        "status": status,
        "detail": text,
        "instance": f"/companies/{EXAMPLE_ID}/accounts",
        "code": code,
        "requestId": EXAMPLE_ID,
    }
    if code == "validation_failed":
        body["errors"] = [{"pointer": "#/name", "code": "required", "detail": "This field is required."}]
    return body
