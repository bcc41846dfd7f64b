"""Error responses of the OpenAPI document: status codes with their error codes, and the body of all errors."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings

from companies.api.errors import STATUS_TITLES
from companies.api.limits import (
    MAX_CODE_LENGTH,
    MAX_DETAIL_LENGTH,
    MAX_ERRORS,
    MAX_LINE_LENGTH,
    MAX_POINTER_LENGTH,
    MAX_REQUEST_ID_LENGTH,
)
from companies.api.openapi.components import COMMON_HEADERS, build_header_refs
from companies.api.openapi.error_codes import list_error_codes

EXAMPLE_ID = "0199a0c1-7a52-7c1e-9d0b-5a1f0c3f4b11"
SAFE_METHODS = ("GET", "HEAD")
STATUS_DESCRIPTIONS = {
    400: "Invalid body or parameter: `validation_failed` with a pointer per field, `invalid_json`, or a specific code.",
    401: "The credential is missing, invalid, expired or revoked.",
    403: "Permission denied. `csrf_failed`: missing CSRF token. `second_factor_required`: two-factor authentication required. `company_expired`: the company is read-only because its trial or subscription ended.",
    404: "The id is unknown, malformed or not accessible.",
    406: "Only application/json is available.",
    409: "The request conflicts with the current state; see `code`.",
    411: "Send a Content-Length header.",
    412: "`If-Match` does not match the current version in `ETag`.",
    413: "The request body is too large.",
    415: "The media type is not supported.",
    429: "Rate limit or limit of concurrent requests exceeded; see `Retry-After`.",
    500: "Unexpected error. Contact support with the request id.",
    503: "Service unavailable or query timeout; see `Retry-After`.",
    507: "The storage is full; see `Retry-After`.",
}
# Codes that every operation can return with a status, and additional ones of writes.
COMMON_CODES = {
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
WRITE_CODES = {
    400: ("invalid_json", "invalid_idempotency_key", "idempotency_key_reused"),
    403: ("csrf_failed", "company_expired"),
    409: ("idempotency_in_progress", "idempotency_answer_lost", "concurrent_change", "conflict", "period_closed"),
}
PROBLEM_SCHEMA = {
    "type": "object",
    "description": "RFC 9457 problem details.",
    "required": ["type", "title", "status", "detail", "instance", "code", "requestId"],
    "properties": {
        "type": {
            "type": "string",
            "format": "uri",
            "maxLength": 2000,
            "description": "URL of the error code's description.",
        },
        "title": {"type": "string", "maxLength": 100},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": {"type": "string", "maxLength": MAX_DETAIL_LENGTH, "description": "For people."},
        "instance": {"type": "string", "maxLength": MAX_LINE_LENGTH, "description": "Path of the request."},
        "code": {"type": "string", "maxLength": MAX_CODE_LENGTH, "description": "Stable, snake_case."},
        "requestId": {"type": "string", "maxLength": MAX_REQUEST_ID_LENGTH, "description": "As in `X-Request-Id`."},
        "errors": {
            "type": "array",
            "maxItems": MAX_ERRORS,
            "description": "With `validation_failed` each field that is wrong, with `period_closed` what is closed.",
            "items": {"$ref": "#/components/schemas/FieldError"},
        },
        "closedThrough": {
            "type": ["string", "null"],
            "format": "date",
            "description": "With `period_closed`: the last closed day.",
        },
        "plannedTransactionIds": {
            "type": "array",
            "maxItems": 100,
            "description": "With `invoices_settled`: the first 100 invoices that are settled or written off.",
            "items": {"type": "string", "format": "uuid", "maxLength": 36},
        },
        "firstOpenMonth": {
            "type": "string",
            "maxLength": 7,
            "description": "With `period_closed`, where a recognition period begins in a closed month: YYYY-MM.",
        },
    },
}
FIELD_ERROR_SCHEMA = {
    "type": "object",
    "required": ["pointer", "code", "detail"],
    "properties": {
        "pointer": {
            "type": "string",
            "maxLength": MAX_POINTER_LENGTH,
            "description": "A JSON pointer into the body, or `#/` and a parameter's name.",
            "examples": ["#/transactions/3/amountValue"],
        },
        "code": {"type": "string", "maxLength": MAX_CODE_LENGTH, "description": "Stable, snake_case."},
        "detail": {"type": "string", "maxLength": MAX_DETAIL_LENGTH, "description": "For people."},
    },
}
ERROR_HEADERS = {
    400: ["WWW-Authenticate"],  # with `invalid_request`
    401: ["WWW-Authenticate"],
    403: ["WWW-Authenticate"],  # an app that lacks a scope is told which one
    409: ["Retry-After"],  # with `concurrent_change` and `idempotency_in_progress`
    412: ["ETag"],
    429: ["Retry-After"],
    503: ["Retry-After"],
    507: ["Retry-After"],
}


def add_error_responses(components: dict[str, Any]) -> None:
    """Add the error responses that operations share, and an example of each code."""
    components["examples"] = {
        code: {"value": build_problem_example(status, code, text)}
        for code, (status, text) in list_error_codes().items()
    }
    components["schemas"] |= {"FieldError": FIELD_ERROR_SCHEMA, "Problem": PROBLEM_SCHEMA}
    components["responses"] |= {
        get_shared_response_name(status, is_write=is_write): build_error_response(
            status, get_code_meanings(status, is_write=is_write), {}
        )
        for status in STATUS_DESCRIPTIONS
        for is_write in (False, True)
    }


def get_shared_response_name(status: int, *, is_write: bool) -> str:
    """Return the name of the shared response of a status; writes have their own if they add codes."""
    return (
        f"Problem{status}OfChange"
        if is_write and status in COMMON_CODES and status in WRITE_CODES
        else f"Problem{status}"
    )


def list_codes_for_status(status: int, *, is_write: bool) -> tuple[str, ...]:
    """Return the codes of a status that every operation, or every write, can return."""
    write_codes = WRITE_CODES.get(status, ()) if is_write or status not in COMMON_CODES else ()
    return (*COMMON_CODES.get(status, ()), *write_codes)


def build_error_responses(method: str, path: str, own_errors: Iterable[tuple[int, str, str]]) -> dict[str, Any]:
    """Build the error responses of an operation by status: shared ones and its own (status, code, meaning)."""
    statuses, is_write = {400, 401, 403, 404, 406, 429, 500, 503, 507}, method not in SAFE_METHODS
    if "{" not in path:
        statuses -= {404} if is_write else {403, 404}  # no id in the path, so nothing can be missing
    if is_write:
        statuses |= {409, 411, 413, 415}
    if method in ("PUT", "DELETE"):
        statuses.add(412)
    own_codes: dict[int, dict[str, str]] = {}
    for status, code, text in own_errors:
        own_codes.setdefault(status, {})[code] = text
    return {
        str(status): build_error_response(status, own_codes[status], get_code_meanings(status, is_write=is_write))
        if status in own_codes
        else {"$ref": f"#/components/responses/{get_shared_response_name(status, is_write=is_write)}"}
        for status in sorted(statuses | set(own_codes))
    }


def get_code_meanings(status: int, *, is_write: bool) -> dict[str, str]:
    """Return the shared codes of a status with their meaning."""
    all_codes = list_error_codes()
    return {code: all_codes[code][1] for code in list_codes_for_status(status, is_write=is_write)}


def build_error_response(status: int, codes: dict[str, str], other_codes: dict[str, str]) -> dict[str, Any]:
    """Build the response of a status with an example for each code. It describes `codes` and names `other_codes`, which
    a shared response describes.
    """
    description = "\n".join(f"- `{code}`: {text}" for code, text in codes.items())
    other_text = ", ".join(f"`{code}`" for code in other_codes if code not in codes)
    shared = list_error_codes()
    examples = {
        code: {"$ref": f"#/components/examples/{code}"}
        if shared.get(code) == (status, text)
        else {"value": build_problem_example(status, code, text)}
        for code, text in (codes | other_codes).items()
    }
    return {
        "description": f"{STATUS_DESCRIPTIONS[status]}\n\n{description}"
        + (f"\n\nAlso {other_text}." if other_text else ""),
        "headers": build_header_refs([*COMMON_HEADERS, *ERROR_HEADERS.get(status, ())]),
        "content": {
            "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}, "examples": examples}
        },
    }


def build_problem_example(status: int, code: str, text: str) -> dict[str, Any]:
    """Build the example body of an error."""
    body = {
        "type": f"{settings.BASE_URL}/docs/errors#{code}",
        "title": STATUS_TITLES[status],
        "status": status,
        "detail": text,
        "instance": f"/companies/{EXAMPLE_ID}/accounts",
        "code": code,
        "requestId": EXAMPLE_ID,
    }
    if code == "validation_failed":
        body["errors"] = [{"pointer": "#/name", "code": "required", "detail": "This field is required."}]
    return body
