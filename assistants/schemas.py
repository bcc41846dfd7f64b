"""The words that the schemas of tools are made of. Short on purpose: an assistant reads all of them at every start."""

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
ANY: Schema = {"type": "object"}
LINE: Schema = {"enum": ["revenue", "cogs", "cac", "pd", "ga", "no", "neutral"]}


def told(schema: Schema, description: str) -> Schema:
    return {**schema, "description": description}


def one_of(*words: str) -> Schema:
    return {"enum": list(words)}


def many(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def or_null(schema: Schema) -> Schema:
    return {**schema, "type": [schema["type"], "null"]}


def shaped(required: str = "", /, **fields: Schema) -> Schema:
    """An object of these fields, of which those named in ``required`` must be there."""
    found: Schema = {"type": "object", "properties": fields}
    return found | {"required": required.split()} if required else found


def closed(schema: Schema) -> Schema:
    """What is sent to a tool: nothing that it does not know."""
    return {**schema, "additionalProperties": False}


def listed(row: Schema) -> Schema:
    """All rows of a list."""
    return shaped("items", items=many(row))


def paged(row: Schema, **totals: Schema) -> Schema:
    """The rows of a page, and where the next page begins."""
    return shaped("items", items=many(row), nextCursor=TEXT, **totals)


def totalled(row: Schema) -> Schema:
    """The rows of a page, how many there are on all pages, and what they come to in the base currency."""
    return paged(row, totalCount=COUNT, totalAmount=TEXT)


def by_id(row: Schema) -> Schema:
    return {"type": "object", "additionalProperties": row}


POINTS = many(shaped("date value", date=DAY, value=NUMBER))
