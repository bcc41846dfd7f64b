"""Limits that the OpenAPI document states of every value of a kind, and that the service keeps."""

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db import connection

from companies import emails

LONGEST_LINE = 8190  # of a request's first line and of a header: config/gunicorn.py
LONGEST_BODY = 1024 * 1024  # of all but imports and uploads: MAX_BODY_BYTES
LONGEST_TIME = 48  # 2026-01-31T12:00:00.123456+05:30:15.123456 and a few digits more
LONGEST_POINTER, LONGEST_DETAIL, MOST_ERRORS = 2000, 2000, 1000  # of a refusal
LONGEST_CODE, LONGEST_REQUEST_ID = 64, 64
LONGEST_IGNORED = 2000  # the names in Ignored-Fields
INT32, INT64 = 2**31 - 1, 2**63 - 1
LONGEST = {"uuid": 36, "date": 10, "date-time": LONGEST_TIME, "email": emails.LONGEST}  # by format


def add_limits(part: Any) -> None:
    """Every string of a format has its greatest length, every integer its width."""
    for schema in schemas(part):
        kind = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if "string" in kind and schema.get("format") in LONGEST:
            schema.setdefault("maxLength", LONGEST[schema["format"]])
        if "integer" in kind:
            narrow = max(abs(schema.get(word, INT64)) for word in ("minimum", "maximum")) <= INT32 + 1
            schema["format"] = "int32" if narrow else "int64"


def add_columns_limits(serializer: Any, schema: dict[str, Any]) -> None:
    """Fields of which the framework states no limit, such as those that are only read, hold what their column holds."""
    model = getattr(getattr(serializer, "Meta", None), "model", None)
    for name, each in schema.get("properties", {}).items() if model else ():
        column = column_of(model, serializer.fields[name].source)
        kind = each.get("type", ())
        if column is None or "enum" in each:
            continue
        if each.get("format") == "decimal":
            each["maxLength"] = column.max_digits + 2  # a sign and a point
        elif "string" in kind and "format" not in each and getattr(column, "max_length", None):
            each.setdefault("maxLength", column.max_length)
        if "integer" in kind:
            least, most = connection.ops.integer_field_range(column.get_internal_type())
            each.setdefault("minimum", least)
            each.setdefault("maximum", most)


def column_of(model: Any, source: str) -> Any:
    """The column that a field shows, or None where it shows something else."""
    first, _, rest = source.partition(".")
    try:
        column = model._meta.get_field(first)
    except FieldDoesNotExist:
        return None
    return column_of(column.related_model, rest) if rest else column


def schemas(part: Any) -> Iterator[dict[str, Any]]:
    """Every typed schema in a part of the document; examples are none."""
    if isinstance(part, dict):
        if isinstance(part.get("type"), str | list) and not isinstance(part.get("in"), str):
            yield part
        for word, inner in part.items():
            if word not in ("example", "examples", "default", "enum"):
                yield from schemas(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from schemas(inner)
