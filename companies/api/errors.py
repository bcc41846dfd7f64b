"""Every refusal as one body: RFC 9457 problem+json, with a stable code, the request's id, and a pointer per field."""

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

from companies import constraints, errors
from companies.api.idempotency import InProgress
from companies.api.limits import LONGEST_DETAIL, LONGEST_POINTER, MOST_ERRORS
from companies.callers.authentication import challenge
from companies.changing import Contradiction, SameMoment
from companies.names import BLANK
from companies.running import failures
from companies.running.counters import note_error
from companies.versions import Stale

log = logging.getLogger("api")

TITLES = {
    400: "Bad request",
    401: "Not authenticated",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    406: "Not acceptable",
    409: "Conflict",
    411: "Length required",
    412: "Precondition failed",
    413: "Too large",
    414: "Address too long",
    415: "Unsupported media type",
    429: "Too many requests",
    431: "Headers too large",
    500: "Internal error",
    503: "Unavailable",
    507: "No room left",
}
STATUS: dict[type[errors.Refusal], int] = {
    Stale: 412,
    errors.Invalid: 400,
    errors.Denied: 403,
    errors.Missing: 404,
    errors.Conflict: 409,
    errors.TooLarge: 413,
    errors.Unsupported: 415,
    errors.TooMany: 429,
}
CODES = {  # codes of the framework's fields that say less than ours, or differ from our style
    "required": "required",
    "null": "must_not_be_null",
    "blank": "must_not_be_empty",
    BLANK: "blank",
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
# An answer that is lost at the very end of a change leaves open whether it was made; only a retry with its key tells.
LOST = (
    503,
    "unavailable",
    "The database does not answer. Try again; an Idempotency-Key makes sure that it counts once.",
)
FULL = (
    507,
    "storage_full",
    "There is no room left on our side. Try again later; with an Idempotency-Key it counts once.",
)
CLOSED = (
    503,
    "storage_unavailable",
    "Nothing can be stored on our side at the moment. Nothing was changed; try again.",
)
# 503 because the same request may be answered in time later; the code tells it from a database that is away.
TIMED_OUT = (503, "query_timeout", "The query took too long. Ask for less: a shorter period, or fewer rows.")
RACE = (409, SameMoment.code, SameMoment().detail)
LOST_FOR, FULL_FOR, RACE_FOR = 5, 60, 1  # seconds after which to try again
RETRY_AFTER = {503: LOST_FOR, 507: FULL_FOR}
SQL_STATES = {
    "53100": FULL,  # disk_full
    "57014": TIMED_OUT,  # query_canceled, by statement_timeout
    "25006": LOST,  # read_only_sql_transaction: another server has taken over, or is about to
}
SYSTEM_ERRORS = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), FULL),
    **dict.fromkeys((errno.EROFS, errno.EIO), CLOSED),
}
NOT_FOUND = gettext_noop("There is nothing at this address, or nothing that you can reach.")
INTERNAL = "Something went wrong on our side. The request id helps us find it."
INVALID_FIELDS = "The request has invalid fields."
UNSTORABLE = (400, "invalid_value", "A value is out of range or has characters that cannot be stored.")
CONTRADICTS = (409, Contradiction.code, Contradiction().detail)
TOO_BIG = (413, "body_too_large", "The body is larger than this operation takes.")
UNREADABLE = (400, "bad_request", "The request could not be read.")
PLAIN: dict[type[Exception], tuple[int, str, str]] = {
    errors.Missing: (404, "not_found", NOT_FOUND),
    exceptions.NotFound: (404, "not_found", NOT_FOUND),
    Http404: (404, "not_found", NOT_FOUND),
    RequestDataTooBig: TOO_BIG,
    PermissionDenied: (403, "permission_denied", "You may not do this."),
    SuspiciousOperation: UNREADABLE,
    UnreadablePostError: UNREADABLE,
    DataError: UNSTORABLE,
    IntegrityError: CONTRADICTS,
    psycopg.DataError: UNSTORABLE,  # COPY raises the driver's own errors
    psycopg.IntegrityError: CONTRADICTS,
    **dict.fromkeys((OperationalError, InterfaceError, psycopg.OperationalError, psycopg.InterfaceError), LOST),
}


def problem(
    request: Any, *, status: int, code: str, detail: str, fields: list[dict[str, str]] | None = None
) -> dict[str, Any]:
    """The body of every error."""
    body: dict[str, Any] = {
        "type": f"{settings.BASE_URL}/docs/errors#{code}",
        "title": TITLES.get(status, "Error"),
        "status": status,
        "detail": detail[:LONGEST_DETAIL],
        "instance": request.path,
        "code": code,
        "requestId": getattr(request, "request_id", ""),
    }
    if fields is not None:
        body["errors"] = fields[:MOST_ERRORS]
    return body


def answer(error: Exception, context: dict[str, Any]) -> Response:
    """The framework's exception handler: whatever a view raised becomes a problem; the unexpected a plain 500."""
    request = context["request"]
    headers: dict[str, str] = {}
    note_error(error)
    status, code, detail, fields = translate(error)
    if status >= 500:
        log.exception("request %s failed", getattr(request, "request_id", ""), exc_info=error)
        failures.keep(request, error, status=status, now=timezone.now())
    if status == 401:
        headers["WWW-Authenticate"] = getattr(error, "auth_header", None) or challenge()
    headers |= getattr(error, "headers", {})
    if status == 429:
        headers["Retry-After"] = str(int(getattr(error, "wait", None) or 60))
    if seconds := retry_after(status, code):
        headers["Retry-After"] = str(seconds)
    body = problem(request, status=status, code=code, detail=detail, fields=fields)
    body |= getattr(error, "more", {})
    return Response(body, status=status, headers=headers, content_type="application/problem+json")


def translate(error: Exception) -> tuple[int, str, str, list[dict[str, str]] | None]:
    """(status, code, detail, errors) of an exception; never its text where that could show internals."""
    if below := from_below(error):
        return *below, None
    for kind, told in PLAIN.items():
        if isinstance(error, kind):
            return *told, None
    match error:
        case errors.FieldErrors():
            return 400, error.code, error.detail, [entry(*each) for each in error.errors]
        case errors.Refusal():
            return of_domain(error)
        case serializers.ValidationError():
            return 400, "validation_failed", INVALID_FIELDS, list(field_errors(error.get_full_details()))
        case exceptions.APIException():
            return of_framework(error)
    return 500, "internal_error", INTERNAL, None


def retry_after(status: int, code: str) -> int | None:
    """Return the seconds after which to try again what failed for a passing reason, else None."""
    return RACE_FOR if code in (SameMoment.code, InProgress.code) else RETRY_AFTER.get(status)


def is_timeout(error: BaseException | None) -> bool:
    """Whether a statement was cancelled because it took too long."""
    return isinstance(error, Exception) and from_below(error) == TIMED_OUT


def from_below(error: Exception) -> tuple[int, str, str] | None:
    """What the database or the operating system says by a code of its own, where it is a state and no fault of ours."""
    if isinstance(error, OSError):
        return SYSTEM_ERRORS.get(error.errno or 0)
    told = constraints.of_driver(error)
    if told is None:
        return None
    if constraints.lost_a_race(told):
        return RACE
    if constraints.lost_a_machine(told):
        return LOST
    return SQL_STATES.get(told.sqlstate or "") or (None if constraints.violated(told) is None else CONTRADICTS)


def of_domain(error: errors.Refusal) -> tuple[int, str, str, list[dict[str, str]] | None]:
    status = next(status for kind, status in STATUS.items() if isinstance(error, kind))
    if error.pointer:
        return status, "validation_failed", INVALID_FIELDS, [entry(error.pointer, error.code, error.detail)]
    return status, error.code, error.detail, None


def of_framework(error: exceptions.APIException) -> tuple[int, str, str, None]:
    codes = {
        exceptions.AuthenticationFailed: "invalid_credentials",
        exceptions.NotAuthenticated: "not_authenticated",
        exceptions.PermissionDenied: "csrf_failed",  # the framework itself refuses nothing else with 403
        exceptions.Throttled: "rate_limited",
    }
    code = codes.get(type(error)) or str(error.get_codes())
    if error.status_code == 404:
        return 404, "not_found", NOT_FOUND, None
    return error.status_code, code, str(error.detail), None


def refusal_of(error: serializers.ValidationError) -> errors.FieldErrors:
    """What a shape found wrong, as a refusal like any other."""
    entries = field_errors(error.get_full_details())
    return errors.FieldErrors([(each["pointer"], each["code"], each["detail"]) for each in entries])


def field_errors(details: Any, pointer: str = "#") -> Iterator[dict[str, str]]:
    """Flattens the framework's nested error details into one entry a message, with a JSON pointer."""
    if isinstance(details, list):
        for index, item in enumerate(details):
            leaf = isinstance(item, dict) and set(item) == {"message", "code"}
            yield from field_errors(item, pointer if leaf else f"{pointer}/{index}")
    elif isinstance(details, dict) and set(details) == {"message", "code"} and isinstance(details["message"], str):
        yield entry(pointer, CODES.get(str(details["code"]), str(details["code"])), str(details["message"]))
    elif isinstance(details, dict):
        for key, item in details.items():
            own = key == "non_field_errors"
            escaped = str(key).replace("~", "~0").replace("/", "~1")
            yield from field_errors(item, pointer if own else f"{pointer}/{escaped}")


def entry(pointer: str | None, code: str, detail: str) -> dict[str, str]:
    """One field's fault; what was sent can make neither text longer than the document says."""
    return {"pointer": (pointer or "#")[:LONGEST_POINTER], "code": code, "detail": detail[:LONGEST_DETAIL]}


def plain(request: Any, *, status: int, code: str, detail: str) -> HttpResponse:
    """The same body outside the API's views."""
    body = problem(request, status=status, code=code, detail=detail)
    return HttpResponse(orjson.dumps(body), status=status, content_type="application/problem+json")


def page_not_found(request: Any, exception: Exception) -> HttpResponse:
    return plain(request, status=404, code="not_found", detail=NOT_FOUND)


def server_error(request: Any) -> HttpResponse:
    """Outside the API's views, and where an answer of theirs could not be written."""
    note_error(sys.exception())
    log.exception("request %s failed", getattr(request, "request_id", ""))
    status, code, detail = trouble(sys.exception())
    failures.keep(request, sys.exception(), status=status, now=timezone.now())
    response = plain(request, status=status, code=code, detail=detail)
    if seconds := retry_after(status, code):
        response["Retry-After"] = str(seconds)
    return response


def trouble(error: BaseException | None) -> tuple[int, str, str]:
    """(status, code, detail) of what no caller can help: the database away, the disk full; else a plain 500."""
    status, code, detail, _ = translate(error) if isinstance(error, Exception) else (500, "", "", None)
    return (status, code, detail) if retry_after(status, code) else (500, "internal_error", INTERNAL)


def bad_request(request: Any, exception: Exception) -> HttpResponse:
    status, code, detail = TOO_BIG if isinstance(exception, RequestDataTooBig) else UNREADABLE
    return plain(request, status=status, code=code, detail=detail)


def permission_denied(request: Any, exception: Exception) -> HttpResponse:
    return plain(request, status=403, code="permission_denied", detail="You may not do this.")
