"""Builders of JSON schemas for tools. Short, since an assistant reads all schemas at every start."""

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer"}
ID: Schema = {"type": "string", "format": "uuid"}
DAY: Schema = {"type": "string", "format": "date"}
MONTH: Schema = {"type": "string", "pattern": "^\\d{4}-\\d{2}$"}
MONTH_OR_DAY: Schema = {"type": "string", "pattern": "^\\d{4}-\\d{2}(-\\d{2})?$"}
AMOUNT: Schema = {"type": "string", "description": "decimal such as -12.50; negative is money out"}
OBJECT: Schema = {"type": "object"}
PL_TYPE: Schema = {"enum": ["revenue", "cogs", "cac", "pd", "ga", "no", "neutral"]}


def add_schema_description(schema: Schema, description: str) -> Schema:
    return {**schema, "description": description}


def build_enum(*values: str) -> Schema:
    return {"enum": list(values)}


def build_array(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def allow_null(schema: Schema) -> Schema:
    return {**schema, "type": [schema["type"], "null"]}


def build_object(required: str = "", /, **fields: Schema) -> Schema:
    """Build an object schema; `required` names the fields that must be present."""
    schema: Schema = {"type": "object", "properties": fields}
    return schema | {"required": required.split()} if required else schema


def disallow_other_fields(schema: Schema) -> Schema:
    """Disallow fields that the schema does not name."""
    return {**schema, "additionalProperties": False}


def build_list_schema(row: Schema) -> Schema:
    """Build the schema of a complete list."""
    return build_object("items", items=build_array(row))


def build_page_schema(row: Schema, **totals: Schema) -> Schema:
    """Build the schema of a page of rows, with the cursor of the next page."""
    return build_object("items", items=build_array(row), nextCursor=TEXT, **totals)


def build_totalled_page_schema(row: Schema) -> Schema:
    """Build the schema of a page with the number and sum of rows on all pages."""
    return build_page_schema(row, totalCount=COUNT, totalAmount=TEXT)


def build_id_map_schema(row: Schema) -> Schema:
    return {"type": "object", "additionalProperties": row}


TIME_SERIES = build_array(build_object("date value", date=DAY, value=NUMBER))
