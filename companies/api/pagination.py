"""Query parameters and pages of lists. Unknown and repeated parameters are rejected, never ignored.

Keyset pagination: a page starts after the last row of the previous one, so inserts neither repeat nor hide rows.
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Collection, Sequence
from typing import Any

import orjson
from django.conf import settings
from django.db.models import Q, QuerySet
from rest_framework.exceptions import ErrorDetail, ValidationError

PAGING_NAMES = {"limit", "cursor"}
DEFAULT_LIMIT, MAX_LIMIT = 100, 1000


def refuse_unknown_parameters(names: set[str]) -> None:
    """Raise ValidationError (unknown_parameter) if there are unknown parameters."""
    if names:
        raise ValidationError(
            {name: [ErrorDetail("Unknown query parameter.", code="unknown_parameter")] for name in sorted(names)}
        )


def refuse_repeated_parameters(params: Any, *, allowed: Collection[str] = ()) -> None:
    """Raise ValidationError for parameters given more than once."""
    refuse_parameters(
        [name for name in params if name not in allowed and len(params.getlist(name)) > 1], "Must be sent only once."
    )


def refuse_empty_parameters(params: Any) -> None:
    """Raise ValidationError for parameters without a value."""
    refuse_parameters([name for name in params if "" in params.getlist(name)], "Must have a value.")


def refuse_parameters(names: Collection[str], message: str) -> None:
    """Raise ValidationError (invalid_filter) for the named parameters."""
    if names:
        raise ValidationError({name: [ErrorDetail(message, code="invalid_filter")] for name in sorted(names)})


def parse_page_limit(params: Any) -> int:
    """Parse the ``limit`` parameter: 1 to 1000, 100 by default."""
    refuse_repeated_parameters(params, allowed=set(params) - PAGING_NAMES)
    text = params.get("limit", str(DEFAULT_LIMIT))
    if not re.fullmatch(r"\d{1,4}", text, re.ASCII) or not 1 <= int(text) <= MAX_LIMIT:
        raise ValidationError({"limit": [ErrorDetail(f"Must be between 1 and {MAX_LIMIT}.", code="out_of_range")]})
    return int(text)


def encode_cursor(request: Any, order: Sequence[str], values: Sequence[Any]) -> str:
    """Encode a row's sort values as an opaque cursor, valid for this list and order."""
    return base64.urlsafe_b64encode(orjson.dumps([compute_list_digest(request, order), *values])).rstrip(b"=").decode()


def decode_cursor(request: Any, order: Sequence[str], cursor: str) -> list[str]:
    """Decode a cursor to its sort values. Raises ValidationError for a cursor of another list."""
    try:
        values = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error):
        values = None
    if not isinstance(values, list) or len(values) != len(order) + 1 or not all(isinstance(v, str) for v in values):
        raise build_cursor_error()
    if values.pop(0) != compute_list_digest(request, order):
        raise build_cursor_error()
    return values


def compute_list_digest(request: Any, order: Sequence[str]) -> str:
    """Return a digest of list and order: in another one the same values would cut off other rows."""
    return hashlib.blake2s(f"{request.path} {' '.join(order)}".encode(), digest_size=6).hexdigest()


def build_cursor_error(parameter: str = "cursor") -> ValidationError:
    """Build the error of an invalid cursor."""
    return ValidationError({parameter: [ErrorDetail("Must be a cursor returned by this list.", code="invalid_cursor")]})


def build_next_link(request: Any, cursor: str, parameter: str = "cursor") -> str:
    """Build the Link header of the next page (RFC 8288), with the same filters."""
    query = request.GET.copy()
    query[parameter] = cursor
    return f'<{settings.BASE_URL}{request.path}?{query.urlencode()}>; rel="next"'


def build_after_condition(fields: Sequence[str], values: Sequence[Any]) -> Q:
    """Build the condition for rows after the values in the order of the fields, all in one direction
    (``-field`` descends).
    """
    operator = "lt" if fields[0].startswith("-") else "gt"
    names = [field.lstrip("-") for field in fields]
    condition = Q(**{f"{names[-1]}__{operator}": values[-1]})
    for name, value in zip(reversed(names[:-1]), reversed(values[:-1]), strict=True):
        condition = Q(**{f"{name}__{operator}": value}) | (Q(**{name: value}) & condition)
    # Redundant, but lets the database start at the right place of its index.
    return Q(**{f"{names[0]}__{operator}e": values[0]}) & condition


def paginate_by_keyset(request: Any, rows: QuerySet[Any], *, order: Sequence[str]) -> tuple[list[Any], dict[str, str]]:
    """Return (page of rows, headers) with a Link to the next page if there is one."""
    page, cursor = list_keyset_page(request, rows, order=order, limit=parse_page_limit(request.GET))
    return page, {"Link": build_next_link(request, cursor)} if cursor else {}


def paginate_list(request: Any, rows: Sequence[Any]) -> tuple[list[Any], dict[str, str]]:
    """Return (page of rows, headers) of rows in memory, which are sorted by id, the latest first."""
    limit, cursor, order = parse_page_limit(request.GET), request.GET.get("cursor"), ("-id",)
    if cursor is not None:
        (last_id,) = decode_cursor(request, order, cursor)
        rows = [row for row in rows if str(row.id) < last_id]
    page = list(rows[:limit])
    if len(rows) <= limit:
        return page, {}
    return page, {"Link": build_next_link(request, encode_cursor(request, order, [str(page[-1].id)]))}


def list_keyset_page(
    request: Any,
    rows: QuerySet[Any],
    *,
    order: Sequence[str],
    limit: int,
    parameter: str = "cursor",
) -> tuple[list[Any], str | None]:
    """Return (page of rows, cursor of the next page or None).

    ``order`` ends with the id and has one direction, such as ``("-created_time", "-id")``; ``parameter`` is
    the name of the cursor.
    """
    cursor = request.GET.get(parameter)
    if cursor is not None:
        values = parse_cursor_values(rows, order, decode_cursor(request, order, cursor))
        rows = rows.filter(build_after_condition(order, values))
    page = list(rows.order_by(*order)[: limit + 1])
    if len(page) <= limit:
        return page, None
    page.pop()
    return page, build_cursor(request, page[-1], order=order)


def build_cursor(request: Any, row: Any, *, order: Sequence[str]) -> str:
    """Build the cursor of what follows a row."""
    return encode_cursor(request, order, to_cursor_values([getattr(row, name.lstrip("-")) for name in order]))


def reverse_order(order: Sequence[str]) -> tuple[str, ...]:
    """Return the order in the other direction."""
    return tuple(name[1:] if name.startswith("-") else f"-{name}" for name in order)


def to_cursor_values(values: Sequence[Any]) -> list[str]:
    """Return sort values as strings."""
    return [value.isoformat() if hasattr(value, "isoformat") else str(value) for value in values]


def parse_cursor_values(rows: QuerySet[Any], order: Sequence[str], values: list[str]) -> list[Any]:
    """Convert a cursor's values to the types of the columns; a forged value is an invalid cursor, not a
    database error.
    """
    try:
        return [rows.model._meta.get_field(n.lstrip("-")).to_python(v) for n, v in zip(order, values, strict=True)]
    except Exception:  # noqa: BLE001 - each field type raises its own kind
        raise build_cursor_error() from None
