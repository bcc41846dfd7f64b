"""Limits of values: stated in the OpenAPI document and enforced by the service."""

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db import connection

from companies import email_addresses

MAX_LINE_LENGTH = 8190  # request line and headers: config/gunicorn.py
MAX_BODY_LENGTH = 1024 * 1024  # except imports and uploads: MAX_BODY_BYTES
MAX_TIME_LENGTH = 48  # 2026-01-31T12:00:00.123456+05:30:15.123456 and a few digits more
MAX_POINTER_LENGTH, MAX_DETAIL_LENGTH, MAX_ERRORS = 2000, 2000, 1000  # of an error
MAX_CODE_LENGTH, MAX_REQUEST_ID_LENGTH = 64, 64
MAX_IGNORED_FIELDS_LENGTH = 2000  # of the Ignored-Fields header
INT32, INT64 = 2**31 - 1, 2**63 - 1
MAX_LENGTH_BY_FORMAT = {
    "uuid": 36,
    "date": 10,
    "date-time": MAX_TIME_LENGTH,
    "email": email_addresses.MAX_EMAIL_LENGTH,
}  # by format


def add_format_limits(part: Any) -> None:
    """Set the maximum length of strings by format and the width of integers."""
    for schema in iter_typed_schemas(part):
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if "string" in types and schema.get("format") in MAX_LENGTH_BY_FORMAT:
            schema.setdefault("maxLength", MAX_LENGTH_BY_FORMAT[schema["format"]])
        if "integer" in types:
            fits_int32 = max(abs(schema.get(word, INT64)) for word in ("minimum", "maximum")) <= INT32 + 1
            schema["format"] = "int32" if fits_int32 else "int64"


def add_column_limits(serializer: Any, schema: dict[str, Any]) -> None:
    """Set the limits of fields from their database columns where the serializer states none."""
    model = getattr(getattr(serializer, "Meta", None), "model", None)
    for name, field_schema in schema.get("properties", {}).items() if model else ():
        column = find_column(model, serializer.fields[name].source)
        kind = field_schema.get("type", ())
        if column is None or "enum" in field_schema:
            continue
        if field_schema.get("format") == "decimal":
            field_schema["maxLength"] = column.max_digits + 2  # sign and decimal point
        elif "string" in kind and "format" not in field_schema and getattr(column, "max_length", None):
            field_schema.setdefault("maxLength", column.max_length)
        if "integer" in kind:
            minimum, maximum = connection.ops.integer_field_range(column.get_internal_type())
            field_schema.setdefault("minimum", minimum)
            field_schema.setdefault("maximum", maximum)


def find_column(model: Any, source: str) -> Any:
    """Return the column that a field shows; None if it shows something else."""
    field_name, _, remaining_path = source.partition(".")
    try:
        column = model._meta.get_field(field_name)
    except FieldDoesNotExist:
        return None
    return find_column(column.related_model, remaining_path) if remaining_path else column


def iter_typed_schemas(part: Any) -> Iterator[dict[str, Any]]:
    """Yield every typed schema in a part of the document, without examples."""
    if isinstance(part, dict):
        if isinstance(part.get("type"), str | list) and not isinstance(part.get("in"), str):
            yield part
        for keyword, inner_part in part.items():
            if keyword not in ("example", "examples", "default", "enum"):
                yield from iter_typed_schemas(inner_part)
    elif isinstance(part, list):
        for inner_part in part:
            yield from iter_typed_schemas(inner_part)
