"""Keyset paging: a page starts after the last row of the one before, so inserts neither repeat nor hide a row."""

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Sequence
from typing import Any

import orjson
from django.conf import settings
from django.db.models import Q, QuerySet
from rest_framework.exceptions import ErrorDetail, ValidationError

from companies.api.filters import PAGING, refuse_repeated

DEFAULT_LIMIT, MOST = 100, 1000


Near = Callable[[Any], Q]
"""What surely comes first in a list, given where its page begins: the first sort value of the cursor, or None."""


def page_limit(params: Any) -> int:
    """``limit`` of the query, 1..1000, 100 where it is left out."""
    refuse_repeated(params, but=set(params) - PAGING)
    text = params.get("limit", str(DEFAULT_LIMIT))
    if not re.fullmatch(r"\d{1,4}", text, re.ASCII) or not 1 <= int(text) <= MOST:
        raise ValidationError({"limit": [ErrorDetail(f"Must be from 1 to {MOST}.", code="out_of_range")]})
    return int(text)


def encode(request: Any, order: Sequence[str], values: Sequence[Any]) -> str:
    """An opaque cursor of a row's sort values, good for this list in this order."""
    return base64.urlsafe_b64encode(orjson.dumps([place(request, order), *values])).rstrip(b"=").decode()


def decode(request: Any, order: Sequence[str], cursor: str) -> list[str]:
    """The sort values of a cursor as strings. Raises ValidationError for anything that is none of this list's."""
    try:
        values = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error):
        values = None
    if not isinstance(values, list) or len(values) != len(order) + 1 or not all(isinstance(v, str) for v in values):
        raise bad_cursor()
    if values.pop(0) != place(request, order):
        raise bad_cursor()
    return values


def place(request: Any, order: Sequence[str]) -> str:
    """Names a list and its order: in another, the same values would silently cut off another part."""
    return hashlib.blake2s(f"{request.path} {' '.join(order)}".encode(), digest_size=6).hexdigest()


def bad_cursor(parameter: str = "cursor") -> ValidationError:
    return ValidationError({parameter: [ErrorDetail("Not a cursor of this list.", code="invalid_cursor")]})


def next_link(request: Any, cursor: str, parameter: str = "cursor") -> str:
    """RFC 8288: the address of the next page, with the same filters."""
    query = request.GET.copy()
    query[parameter] = cursor
    return f'<{settings.BASE_URL}{request.path}?{query.urlencode()}>; rel="next"'


def after(fields: Sequence[str], values: Sequence[Any]) -> Q:
    """Rows that come after the values in the order of the fields (``-field`` descends); all fields in one direction."""
    operator = "lt" if fields[0].startswith("-") else "gt"
    names = [field.lstrip("-") for field in fields]
    condition = Q(**{f"{names[-1]}__{operator}": values[-1]})
    for name, value in zip(reversed(names[:-1]), reversed(values[:-1]), strict=True):
        condition = Q(**{f"{name}__{operator}": value}) | (Q(**{name: value}) & condition)
    # What follows says no more, but it lets the database begin at the right place of its index.
    return Q(**{f"{names[0]}__{operator}e": values[0]}) & condition


def keyset(
    request: Any, rows: QuerySet[Any], *, order: Sequence[str], near: Near | None = None
) -> tuple[list[Any], dict[str, str]]:
    """(one page, headers): the rows in order, and a Link to the next page where there is one."""
    page, cursor = keyset_rows(request, rows, order=order, limit=page_limit(request.GET), near=near)
    return page, {"Link": next_link(request, cursor)} if cursor else {}


def keyset_rows(
    request: Any,
    rows: QuerySet[Any],
    *,
    order: Sequence[str],
    limit: int,
    parameter: str = "cursor",
    near: Near | None = None,
) -> tuple[list[Any], str | None]:
    """(one page, the next page's cursor where there is one).

    ``order`` ends with the id and goes one way, e.g. ``("-created_time", "-id")``; ``parameter`` is the cursor's name.
    Where ``near`` is given, what comes first is asked for alone, and all only where that fills no page.
    """
    cursor, begins = request.GET.get(parameter), None
    if cursor is not None:
        values = checked(rows, order, decode(request, order, cursor))
        rows, begins = rows.filter(after(order, values)), values[0]
    rows = rows.order_by(*order)
    page = [] if near is None else list(rows.filter(near(begins))[: limit + 1])
    if len(page) <= limit:
        page = list(rows[: limit + 1])
    if len(page) <= limit:
        return page, None
    page.pop()
    return page, cursor_at(request, page[-1], order=order)


def cursor_at(request: Any, row: Any, *, order: Sequence[str]) -> str:
    """The cursor of what comes after a row."""
    return encode(request, order, last_values([getattr(row, name.lstrip("-")) for name in order]))


def reversed_order(order: Sequence[str]) -> tuple[str, ...]:
    """The same columns, the other way round."""
    return tuple(name[1:] if name.startswith("-") else f"-{name}" for name in order)


def last_values(values: Sequence[Any]) -> list[str]:
    return [value.isoformat() if hasattr(value, "isoformat") else str(value) for value in values]


def checked(rows: QuerySet[Any], order: Sequence[str], values: list[str]) -> list[Any]:
    """The cursor's strings as the columns' own types; a forged value is a bad cursor, not a database error."""
    try:
        return [rows.model._meta.get_field(n.lstrip("-")).to_python(v) for n, v in zip(order, values, strict=True)]
    except Exception:  # noqa: BLE001 - each field type raises its own kind
        raise bad_cursor() from None
