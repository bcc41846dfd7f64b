"""All error codes with status and meaning. Domain errors describe themselves; codes of fields are listed
here.
"""

from collections.abc import Iterator

from companies import errors
from companies.api.errors import (
    CONCURRENT_CHANGE,
    ERROR_STATUSES,
    ERRORS_BY_EXCEPTION,
    QUERY_TIMEOUT,
    STORAGE_FULL,
    STORAGE_UNAVAILABLE,
)

FIELD_CODES = {
    "address_not_public": "The URL is not public.",
    "ambiguous": "The file can be read in several ways; this field tells which is right.",
    "blank": "The name is empty.",
    "contradicting_fields": "Two fields exclude each other.",
    "contradicting_changes": "Two changes of a scenario contradict each other on one occurrence.",
    "contradicts_amount": "The amount states another currency.",
    "contradicts_end_type": "The fields of the recurrence end do not match its type.",
    "contradicts_kind": "The field does not belong to this kind of change.",
    "credentials_in_address": "The URL contains a user name or password.",
    "cutover_in_future": "The cutover must not be after today.",
    "end_before_start": "The end is before the start.",
    "expires_in_past": "The expiry must be in the future.",
    "expires_too_late": "The expiry is more than 400 days ahead.",
    "invalid_address": "Not a URL such as https://example.com/hook.",
    "invalid_characters": "The text contains NUL or, in names, control characters.",
    "invalid_choice": "Not one of the allowed values.",
    "invalid_cursor": "Not a cursor returned by this list.",
    "invalid_date": "The date does not exist.",
    "invalid_decimal": "Not an amount such as -1234.56.",
    "invalid_email": "Not a valid email address.",
    "invalid_filter": "The value of the filter is invalid.",
    "invalid_event_type": "Not an event type such as transaction.created.",
    "invalid_month": "Not a month (YYYY-MM).",
    "invalid_value": "Wrong JSON type or format.",
    "last_day_needs_months": "lastDayOfMonth needs a monthly or yearly recurrence.",
    "must_not_be_empty": "The text or list must not be empty.",
    "must_not_be_null": "The field must not be null.",
    "negative_amount": "A recurring amount must not be negative.",
    "not_in_order": "The days of the interval do not increase.",
    "not_a_customer": "The counterparty must be a customer.",
    "not_an_occurrence": "The planned transaction has no occurrence on this date.",
    "not_a_web_address": "The URL must start with https:// or http:// and contain a host.",
    "not_https": "The URL must start with https://.",
    "out_of_range": "The value is out of the allowed range.",
    "period_not_in_order": "The period ends before it starts.",
    "pl_type_not_allowed": "The category does not post to this P&L line.",
    "repeated_id": "The list contains an id twice.",
    "several_files": "The form has several files, but the operation takes one.",
    "same_account": "The two accounts of a transfer are the same.",
    "required": "The field is required.",
    "tax_exceeds_amount": "The tax exceeds the amount or has a different sign.",
    "too_deep": "Too many nested levels.",
    "too_long": "The text or list is too long.",
    "too_many": "Too many categorizations for one transaction.",
    "too_many_decimals": "More decimals than the currency allows.",
    "too_many_ids": "Too many ids in one request.",
    "too_many_items": "Too many items in one request.",
    "too_short": "The text or list is too short.",
    "unknown_id": "The id is unknown, malformed or belongs to another company.",
    "unknown_parameter": "Unknown query parameter.",
    "window_too_long": "The period is too long.",
    "wrong_sign": "The amount has the wrong sign.",
    "wrong_type": "The counterparty has a different type.",
}
EDGE_CODES = {
    **{
        code: (status, text)
        for status, code, text in (
            *ERRORS_BY_EXCEPTION.values(),
            CONCURRENT_CHANGE,
            STORAGE_FULL,
            STORAGE_UNAVAILABLE,
            QUERY_TIMEOUT,
        )
    },
    "validation_failed": (400, "One or more fields are invalid; see `errors`."),
    "invalid_form": (400, "The body is not a valid multipart form."),
    "invalid_json": (400, "The body is not valid UTF-8 JSON."),
    "csrf_failed": (403, "The request uses a session without a CSRF token."),
    "origin_not_allowed": (403, "The origin is not allowed to call `/mcp`."),
    "unknown_argument": (400, "The tool of `/mcp` does not have this argument."),
    "missing_argument": (400, "The tool of `/mcp` needs an argument; `detail` names it."),
    "invalid_argument": (400, "An argument of the tool of `/mcp` is not an ID; `detail` names it."),
    "digest_differs": (409, "Arguments or data changed since the preview. Call without `confirm`."),
    "not_authenticated": (401, "No credential was sent."),
    "invalid_credentials": (401, "The credential is invalid, expired or revoked."),
    "method_not_allowed": (405, "The method is not supported; see `Allow`."),
    "not_acceptable": (406, "Only JSON is available."),
    "length_required": (411, "Send a Content-Length header."),
    "precondition_failed": (412, "`If-Match` does not match the current version."),
    "address_too_long": (414, "The request line is longer than 8,190 bytes."),
    "headers_too_large": (431, "A header is longer than 8,190 bytes, or there are more than 100."),
    "unsupported_media_type": (415, "The media type is not supported."),
    "rate_limited": (429, "Rate limit exceeded; see `Retry-After`."),
    "internal_error": (500, "Unexpected error. Contact support with the request id."),
}


def list_error_classes(base_class: type[errors.DomainError] = errors.DomainError) -> Iterator[type[errors.DomainError]]:
    """Yield every loaded error class with a code of its own."""
    for error_class in base_class.__subclasses__():
        if (
            issubclass(error_class, tuple(ERROR_STATUSES))
            and "code" in vars(error_class)
            and error_class not in ERROR_STATUSES
        ):
            yield error_class
        yield from list_error_classes(error_class)


def get_error_status(kind: type[errors.DomainError]) -> int:
    """Return the HTTP status of an error class."""
    return next(status for ground, status in ERROR_STATUSES.items() if issubclass(kind, ground))


def describe_error(kind: type[errors.DomainError] | str) -> tuple[int, str, str]:
    """Return (status, code, meaning) of an error class or of a code."""
    if isinstance(kind, str):
        return list_error_codes()[kind][0], kind, list_error_codes()[kind][1]
    return get_error_status(kind), kind.code, kind.get_default_detail()


def list_error_codes() -> dict[str, tuple[int, str]]:
    """Return all codes at the top of a response: code → (status, meaning)."""
    codes = {code: (status, text) for status, code, text in map(describe_error, list_error_classes())}
    return dict(sorted((codes | EDGE_CODES).items()))
