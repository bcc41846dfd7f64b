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
    "address_not_public": "An address inside a network, where nothing is called.",
    "blank": "A name is empty, or nothing but spaces.",
    "contradicts_end_type": "The end of a recurrence is of another type.",
    "credentials_in_address": "An address with a user's name or password in it.",
    "cutover_in_future": "The cutover is today at the latest.",
    "end_before_start": "A window or a recurrence ends before it starts.",
    "expires_in_past": "The expiry is not in the future.",
    "invalid_address": "Not an address such as https://example.com/hook in visible ASCII.",
    "invalid_characters": "A character that cannot be stored, such as NUL; in names all control characters.",
    "invalid_choice": "Not one of the values that the field takes.",
    "invalid_cursor": "Not a cursor of this list.",
    "invalid_date": "There is no such day.",
    "invalid_decimal": "Not an amount such as -1234.56.",
    "invalid_email": "An e-mail address whose local part is not ASCII, or whose domain cannot be spelled in ASCII.",
    "invalid_filter": "A filter's value is malformed.",
    "invalid_event_type": "Not one of the types of events that there are, such as transaction.created.",
    "invalid_month": "Not a month, YYYY-MM.",
    "invalid_value": "Not of the JSON type or format that the field takes; nothing is coerced.",
    "last_day_needs_months": "Only a recurrence by months or years has a last day of the month.",
    "must_not_be_empty": "A text or list that must not be empty is.",
    "must_not_be_null": "The field takes no null.",
    "negative_amount": "A recurring amount is not negative.",
    "not_a_customer": "Only counterparties of type customer subscribe.",
    "not_an_occurrence": "The planned transaction does not occur on this date.",
    "not_a_web_address": "The address must begin with https:// or http:// and name a host.",
    "not_https": "The address must begin with https://.",
    "out_of_range": "Below the least or above the most that the field takes.",
    "period_not_in_order": "A period ends before it starts.",
    "pl_type_not_allowed": "The category does not post to this line.",
    "repeated_id": "A list names an id twice.",
    "required": "The field must be sent.",
    "tax_exceeds_amount": "The tax has another sign than the amount, or is larger.",
    "too_deep": "Nested deeper than is kept.",
    "too_long": "A text or list is longer than the field takes.",
    "too_many": "More parts than one transaction has.",
    "too_many_decimals": "More decimals than the currency has.",
    "too_many_ids": "More ids than one call takes.",
    "too_many_items": "More items than one call takes.",
    "too_short": "A text or list is shorter than the field takes.",
    "unknown_id": "Unknown, malformed, or another company's; one and the same answer.",
    "unknown_parameter": "The operation has no such query parameter.",
    "window_too_long": "The window is longer than the query takes.",
    "wrong_sign": "The amount has not the sign that it must have.",
    "wrong_type": "The counterparty is of another type.",
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
    "validation_failed": (400, "Fields are wrong; `errors` says which and why."),
    "invalid_form": (400, "The body is not a form with files as its headers say."),
    "invalid_json": (400, "The body is not JSON in UTF-8."),
    "csrf_failed": (403, "A call by session cookie came without the token of the CSRF cookie."),
    "origin_not_allowed": (403, "A page of another origin called `/mcp`."),
    "unknown_argument": (400, "The tool of `/mcp` has no such argument."),
    "digest_differs": (409, "What was confirmed is not what the tool of `/mcp` would do now: call without `confirm`."),
    "not_authenticated": (401, "No credential was sent."),
    "invalid_credentials": (401, "The credential is unknown, wrong, expired or revoked."),
    "method_not_allowed": (405, "The address has no such method; `Allow` names those it has."),
    "not_acceptable": (406, "Only JSON can be had."),
    "length_required": (411, "The body's length must be announced."),
    "precondition_failed": (412, "`If-Match` names another version."),
    "address_too_long": (414, "The request line is longer than 8,190 bytes."),
    "headers_too_large": (431, "A header is longer than 8,190 bytes, or there are more than 100."),
    "unsupported_media_type": (415, "The operation does not take this media type."),
    "rate_limited": (429, "The budget of requests is spent; see `Retry-After`."),
    "internal_error": (500, "Something went wrong on our side; the request id helps us find it."),
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
