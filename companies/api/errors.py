"""Error responses: RFC 9457 problem+json with a stable code, the request id and a pointer per field."""

import errno
import logging
import sys
from collections.abc import Iterator
from typing import Any

import orjson
import psycopg
from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import DataError, IntegrityError, InterfaceError, OperationalError
from django.http import Http404, HttpResponse, UnreadablePostError
from django.utils import timezone
from django.utils.translation import gettext_noop
from rest_framework import exceptions, serializers
from rest_framework.response import Response

from companies import db_errors, errors, failed_requests
from companies.api.idempotency import IdempotencyInProgress
from companies.api.limits import MAX_DETAIL_LENGTH, MAX_ERRORS, MAX_POINTER_LENGTH
from companies.auth.authentication import build_challenge_header
from companies.change import ConcurrentChangeRace, ConstraintConflict
from companies.closed_periods import TRIGGER_NAME, PeriodClosed
from companies.counters import count_database_error
from companies.names import BLANK_NAME_CODE
from companies.versions import PreconditionFailed

log = logging.getLogger("api")

STATUS_TITLES = {
    400: "Bad request",
    401: "Not authenticated",
    403: "Permission denied",
    404: "Not found",
    405: "Method not allowed",
    406: "Not acceptable",
    409: "Conflict",
    411: "Length required",
    412: "Precondition failed",
    413: "Too large",
    414: "URI too long",
    415: "Unsupported media type",
    429: "Too many requests",
    431: "Headers too large",
    500: "Internal error",
    503: "Unavailable",
    507: "Insufficient storage",
}
ERROR_STATUSES: dict[type[errors.DomainError], int] = {
    PreconditionFailed: 412,
    errors.InvalidInputError: 400,
    errors.PermissionDeniedError: 403,
    errors.NotFoundError: 404,
    errors.ConflictError: 409,
    errors.TooLargeError: 413,
    errors.UnsupportedMediaTypeError: 415,
    errors.TooManyRequestsError: 429,
}
FRAMEWORK_CODES = {  # DRF's codes → ours, where they are less specific or differ in style
    "required": "required",
    "null": "must_not_be_null",
    "blank": "must_not_be_empty",
    BLANK_NAME_CODE: "blank",
    "invalid": "invalid_value",
    "not_a_list": "invalid_value",
    "not_a_dict": "invalid_value",
    "min_value": "out_of_range",
    "max_value": "out_of_range",
    "max_length": "too_long",
    "min_length": "too_short",
    "max_string_length": "out_of_range",
    "null_characters_not_allowed": "invalid_characters",
    "surrogate_characters_not_allowed": "invalid_characters",
    "empty": "must_not_be_empty",
}
# If the connection is lost at the end of a write, it is unknown whether it was stored; a retry with its key tells.
DATABASE_UNAVAILABLE = (
    503,
    "unavailable",
    "The database is unavailable. Retry with an Idempotency-Key to avoid duplicates.",
)
STORAGE_FULL = (
    507,
    "storage_full",
    "The storage is full. Retry later with an Idempotency-Key to avoid duplicates.",
)
STORAGE_UNAVAILABLE = (
    503,
    "storage_unavailable",
    "The storage is unavailable. Nothing was changed. Try again.",
)
# 503 because the same query may succeed later; the code differs from that of an unavailable database.
QUERY_TIMEOUT = (503, "query_timeout", "The query took too long. Request a shorter period or fewer rows.")
CONCURRENT_CHANGE = (409, ConcurrentChangeRace.code, ConcurrentChangeRace().detail)
UNAVAILABLE_RETRY_SECONDS, STORAGE_FULL_RETRY_SECONDS, CONCURRENT_CHANGE_RETRY_SECONDS = 5, 60, 1  # until a retry
RETRY_SECONDS_BY_STATUS = {503: UNAVAILABLE_RETRY_SECONDS, 507: STORAGE_FULL_RETRY_SECONDS}
ERRORS_BY_SQL_STATE = {
    "53100": STORAGE_FULL,  # disk_full
    "57014": QUERY_TIMEOUT,  # query_canceled, by statement_timeout
    "25006": DATABASE_UNAVAILABLE,  # read_only_sql_transaction: during a failover
}
ERRORS_BY_ERRNO = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), STORAGE_FULL),
    **dict.fromkeys((errno.EROFS, errno.EIO), STORAGE_UNAVAILABLE),
}
NOT_FOUND_TEXT = gettext_noop("This address does not exist, or you do not have access to it.")
INTERNAL_ERROR_TEXT = "An unexpected error occurred. Contact support with the request id."
INVALID_FIELDS_TEXT = "The request has invalid fields."
UNSTORABLE_VALUE = (400, "invalid_value", "A value is out of range or contains characters that cannot be saved.")
CONSTRAINT_CONFLICT = (409, ConstraintConflict.code, ConstraintConflict().detail)
PERIOD_CLOSED = (409, PeriodClosed.code, PeriodClosed().detail)
BODY_TOO_LARGE = (413, "body_too_large", "The request body is too large.")
UNREADABLE_REQUEST = (400, "bad_request", "The request could not be read.")
ERRORS_BY_EXCEPTION: dict[type[Exception], tuple[int, str, str]] = {
    errors.NotFoundError: (404, "not_found", NOT_FOUND_TEXT),
    exceptions.NotFound: (404, "not_found", NOT_FOUND_TEXT),
    Http404: (404, "not_found", NOT_FOUND_TEXT),
    RequestDataTooBig: BODY_TOO_LARGE,
    PermissionDenied: (403, "permission_denied", "You do not have permission to do this."),
    SuspiciousOperation: UNREADABLE_REQUEST,
    UnreadablePostError: UNREADABLE_REQUEST,
    DataError: UNSTORABLE_VALUE,
    IntegrityError: CONSTRAINT_CONFLICT,
    psycopg.DataError: UNSTORABLE_VALUE,  # COPY raises the driver's own errors
    psycopg.IntegrityError: CONSTRAINT_CONFLICT,
    **dict.fromkeys(
        (OperationalError, InterfaceError, psycopg.OperationalError, psycopg.InterfaceError), DATABASE_UNAVAILABLE
    ),
}


def build_problem(
    request: Any, *, status: int, code: str, detail: str, fields: list[dict[str, str]] | None = None
) -> dict[str, Any]:
    """Build the body of an error."""
    body: dict[str, Any] = {
        "type": f"{settings.BASE_URL}/docs/errors#{code}",
        "title": STATUS_TITLES.get(status, "Error"),
        "status": status,
        "detail": detail[:MAX_DETAIL_LENGTH],
        "instance": request.path,
        "code": code,
        "requestId": getattr(request, "request_id", ""),
    }
    if fields is not None:
        body["errors"] = fields[:MAX_ERRORS]
    return body


def handle_exception(error: Exception, context: dict[str, Any]) -> Response:
    """DRF exception handler: convert any exception of a view to a problem; unexpected ones to a plain 500."""
    request = context["request"]
    headers: dict[str, str] = {}
    count_database_error(error)
    status, code, detail, fields = translate_exception(error)
    if status >= 500:
        log.exception("request %s failed", getattr(request, "request_id", ""), exc_info=error)
        failed_requests.record_failed_request(request, error, status=status, now=timezone.now())
    if status == 401:
        headers["WWW-Authenticate"] = getattr(error, "auth_header", None) or build_challenge_header()
    headers |= getattr(error, "headers", {})
    if status == 429:
        headers["Retry-After"] = str(int(getattr(error, "wait", None) or 60))
    if seconds := get_retry_seconds(status, code):
        headers["Retry-After"] = str(seconds)
    body = build_problem(request, status=status, code=code, detail=detail, fields=fields)
    body |= getattr(error, "extensions", {})
    return Response(body, status=status, headers=headers, content_type="application/problem+json")


def translate_exception(error: Exception) -> tuple[int, str, str, list[dict[str, str]] | None]:
    """Return (status, code, detail, field errors) of an exception; never its text if that could reveal internals."""
    if system_error := translate_system_error(error):
        return *system_error, None
    for kind, plain_error in ERRORS_BY_EXCEPTION.items():
        if isinstance(error, kind):
            return *plain_error, None
    match error:
        case errors.ValidationFailed():
            return 400, error.code, error.detail, [build_field_error(*each) for each in error.errors]
        case errors.DomainError():
            return translate_domain_error(error)
        case serializers.ValidationError():
            return 400, "validation_failed", INVALID_FIELDS_TEXT, list(list_field_errors(error.get_full_details()))
        case exceptions.APIException():
            return translate_framework_error(error)
    return 500, "internal_error", INTERNAL_ERROR_TEXT, None


def get_retry_seconds(status: int, code: str) -> int | None:
    """Return the seconds to wait before retrying a temporary error, otherwise None."""
    return (
        CONCURRENT_CHANGE_RETRY_SECONDS
        if code in (ConcurrentChangeRace.code, IdempotencyInProgress.code)
        else RETRY_SECONDS_BY_STATUS.get(status)
    )


def is_query_timeout(error: BaseException | None) -> bool:
    """Return whether a statement was cancelled because it took too long."""
    return isinstance(error, Exception) and translate_system_error(error) == QUERY_TIMEOUT


def translate_system_error(error: Exception) -> tuple[int, str, str] | None:
    """Return the error of a database or operating system state that is no bug of ours, otherwise None."""
    if isinstance(error, OSError):
        return ERRORS_BY_ERRNO.get(error.errno or 0)
    driver_error = db_errors.find_driver_error(error)
    if driver_error is None:
        return None
    if db_errors.is_race_error(driver_error):
        return CONCURRENT_CHANGE
    if db_errors.is_lost_worker_error(driver_error):
        return DATABASE_UNAVAILABLE
    name = db_errors.get_constraint_name(driver_error)
    if name is not None and db_errors.is_constraint_named(name, TRIGGER_NAME):
        return PERIOD_CLOSED
    return ERRORS_BY_SQL_STATE.get(driver_error.sqlstate or "") or (None if name is None else CONSTRAINT_CONFLICT)


def translate_domain_error(error: errors.DomainError) -> tuple[int, str, str, list[dict[str, str]] | None]:
    """Return (status, code, detail, field errors) of a domain error."""
    status = next(status for kind, status in ERROR_STATUSES.items() if isinstance(error, kind))
    if error.pointers:
        return (
            status,
            error.code,
            error.detail,
            [build_field_error(each, error.code, error.detail) for each in error.pointers],
        )
    if error.pointer:
        return (
            status,
            "validation_failed",
            INVALID_FIELDS_TEXT,
            [build_field_error(error.pointer, error.code, error.detail)],
        )
    return status, error.code, error.detail, None


def translate_framework_error(error: exceptions.APIException) -> tuple[int, str, str, None]:
    """Return (status, code, detail, None) of a DRF exception."""
    codes = {
        exceptions.AuthenticationFailed: "invalid_credentials",
        exceptions.NotAuthenticated: "not_authenticated",
        exceptions.PermissionDenied: "csrf_failed",  # DRF itself raises 403 for nothing else
        exceptions.Throttled: "rate_limited",
    }
    code = codes.get(type(error)) or str(error.get_codes())
    if error.status_code == 404:
        return 404, "not_found", NOT_FOUND_TEXT, None
    return error.status_code, code, str(error.detail), None


def build_validation_error(error: serializers.ValidationError) -> errors.ValidationFailed:
    """Convert a serializer's validation error to a domain error."""
    entries = list_field_errors(error.get_full_details())
    return errors.ValidationFailed([(each["pointer"], each["code"], each["detail"]) for each in entries])


def list_field_errors(details: Any, pointer: str = "#") -> Iterator[dict[str, str]]:
    """Yield one entry per message of DRF's nested error details, with a JSON pointer."""
    if isinstance(details, list):
        for index, item in enumerate(details):
            leaf = isinstance(item, dict) and set(item) == {"message", "code"}
            yield from list_field_errors(item, pointer if leaf else f"{pointer}/{index}")
    elif isinstance(details, dict) and set(details) == {"message", "code"} and isinstance(details["message"], str):
        yield build_field_error(
            pointer, FRAMEWORK_CODES.get(str(details["code"]), str(details["code"])), str(details["message"])
        )
    elif isinstance(details, dict):
        for key, item in details.items():
            is_whole_object = key == "non_field_errors"
            escaped_key = str(key).replace("~", "~0").replace("/", "~1")
            yield from list_field_errors(item, pointer if is_whole_object else f"{pointer}/{escaped_key}")


def build_field_error(pointer: str | None, code: str, detail: str) -> dict[str, str]:
    """Build the entry of one field error; texts are truncated to the documented length."""
    return {"pointer": (pointer or "#")[:MAX_POINTER_LENGTH], "code": code, "detail": detail[:MAX_DETAIL_LENGTH]}


def build_problem_response(request: Any, *, status: int, code: str, detail: str) -> HttpResponse:
    """Build an error response outside the API's views."""
    body = build_problem(request, status=status, code=code, detail=detail)
    return HttpResponse(orjson.dumps(body), status=status, content_type="application/problem+json")


def respond_not_found(request: Any, exception: Exception) -> HttpResponse:
    """Return the 404 response."""
    return build_problem_response(request, status=404, code="not_found", detail=NOT_FOUND_TEXT)


def respond_server_error(request: Any) -> HttpResponse:
    """Return the 500 response for errors outside the API's views, or while writing a response."""
    count_database_error(sys.exception())
    log.exception("request %s failed", getattr(request, "request_id", ""))
    status, code, detail = find_server_error(sys.exception())
    failed_requests.record_failed_request(request, sys.exception(), status=status, now=timezone.now())
    response = build_problem_response(request, status=status, code=code, detail=detail)
    if seconds := get_retry_seconds(status, code):
        response["Retry-After"] = str(seconds)
    return response


def find_server_error(error: BaseException | None) -> tuple[int, str, str]:
    """Return (status, code, detail): of an unavailable database or full storage, otherwise of a plain 500."""
    status, code, detail, _ = translate_exception(error) if isinstance(error, Exception) else (500, "", "", None)
    return (status, code, detail) if get_retry_seconds(status, code) else (500, "internal_error", INTERNAL_ERROR_TEXT)


def respond_bad_request(request: Any, exception: Exception) -> HttpResponse:
    """Return the response to a request that cannot be read or is too large."""
    status, code, detail = BODY_TOO_LARGE if isinstance(exception, RequestDataTooBig) else UNREADABLE_REQUEST
    return build_problem_response(request, status=status, code=code, detail=detail)


def respond_permission_denied(request: Any, exception: Exception) -> HttpResponse:
    """Return the 403 response."""
    return build_problem_response(
        request, status=403, code="permission_denied", detail="You do not have permission to do this."
    )
