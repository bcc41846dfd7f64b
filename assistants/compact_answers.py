"""Compact tool answers, since an assistant reads and pays for every word.

Null members and members outside the tool's output schema are left out, and URLs unless requested. A list
has 20 rows by default, with its total.
"""

import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

import orjson

from assistants.jsonrpc import decode_value
from assistants.tool_calls import Arguments, ToolAnswer
from assistants.tool_definition import DEFAULT_ROWS, MAX_ROWS, Tool

MAX_INT_DIGITS = 18  # the largest integers that orjson writes


def condense_answer(tool: Tool, tool_answer: ToolAnswer, arguments: Arguments) -> ToolAnswer:
    """Return the answer of a reading tool as its output schema describes it; an error stays as it is."""
    if tool_answer.is_error:
        return tool_answer
    body = json.loads(tool_answer.body, parse_float=Decimal, parse_int=parse_int)
    if tool.name == "get_profit_and_loss":
        broken_changes = tool_answer.totals.get("brokenChanges")
        body = {**pivot_profit_and_loss(body, arguments), "brokenChanges": broken_changes}
    elif tool.name == "get_balances":
        body = condense_balances(list(body.values()), arguments)
    elif isinstance(body, list):
        rows, totals = body, tool_answer.totals
        if tool.has_row_limit:
            rows, totals = body[: get_row_limit(arguments, default=tool.default_rows)], {"totalCount": len(body)}
        body = {"items": rows, "nextCursor": tool_answer.next_cursor, **totals}
    return ToolAnswer(tool_answer.status, orjson.dumps(prune_value(body, tool.output_schema), default=encode_decimal))


def parse_int(digits: str) -> int | Decimal:
    return int(digits) if len(digits) <= MAX_INT_DIGITS else Decimal(digits)


def encode_decimal(value: Any) -> orjson.Fragment:
    """Write a number with all its digits."""
    return orjson.Fragment(format(value, "f"))


def prune_value(value: Any, schema: Mapping[str, Any]) -> Any:
    """Leave out null members, and those that the schema of an object does not have."""
    if isinstance(value, list):
        return [prune_value(part, schema.get("items", {})) for part in value]
    if not isinstance(value, dict):
        return value
    named_properties, other_schema = schema.get("properties"), schema.get("additionalProperties", {})
    parts = {
        name: part
        for name, part in value.items()
        if part is not None and (named_properties is None or name in named_properties)
    }
    return {
        name: prune_value(part, other_schema if named_properties is None else named_properties[name])
        for name, part in parts.items()
    }


def get_row_limit(arguments: Arguments, *, default: int = DEFAULT_ROWS) -> int:
    limit = decode_value(arguments["limit"]) if "limit" in arguments else None
    return limit if isinstance(limit, int) and 0 < limit <= MAX_ROWS else default


def pivot_profit_and_loss(rows: list[dict[str, Any]], arguments: Arguments) -> dict[str, Any]:
    """Turn rows of a month and category into one row a category, with an amount for each month.

    Amounts are in the base currency, in the order of `months`; null where there is no comparison. Categories with the
    largest amounts come first. `totals` are of all categories, by line of the P&L.
    """
    months = sorted({row["month"] for row in rows})
    cells = {(row["plType"], row["categoryId"], row["month"]): row for row in rows}
    categories = {(row["plType"], row["categoryId"]): row["categoryName"] for row in rows}
    items = []
    for (line, category_id), name in categories.items():
        row_cells = [cells.get((line, category_id, month), {}) for month in months]
        items.append(
            {
                "plType": line,
                "categoryId": category_id,
                "categoryName": name,
                "actual": [cell.get("actual", 0) for cell in row_cells],
                "planned": list_amounts_unless_zero(cell.get("planned", 0) for cell in row_cells),
                "comparisonActual": list_amounts_unless_zero(cell.get("comparisonActual") or 0 for cell in row_cells),
                "transactionsUrls": [cell.get("transactionsUrl", "") for cell in row_cells]
                if has_urls_requested(arguments)
                else None,
            }
        )
    totals = [
        {"plType": line, "actual": sum_items(items, line, "actual"), "planned": sum_items(items, line, "planned")}
        for line in dict.fromkeys(item["plType"] for item in items)
    ]
    items.sort(key=lambda item: -sum(map(abs, (*item["actual"], *(item["planned"] or ())))))
    items_shown = items[: get_row_limit(arguments)]
    return {"months": months, "items": items_shown, "totalCount": len(items), "totals": totals}


def condense_balances(rows: list[dict[str, Any]], arguments: Arguments) -> dict[str, Any]:
    """Return the accounts with the largest balances first, and the totals of all of them.

    Amounts are in the base currency.
    """
    rows.sort(key=lambda row: -abs(row["value"]))
    totals = {name: sum(row[name] for row in rows) for name in ("value", "valuePreviousPeriod", "valueChange")}
    return {"items": rows[: get_row_limit(arguments)], "totalCount": len(rows), "totals": totals}


def list_amounts_unless_zero(amounts: Iterable[Any]) -> list[Any] | None:
    """Return the amounts; None if all are 0."""
    amounts_listed = list(amounts)
    return amounts_listed if any(amounts_listed) else None


def sum_items(items: Iterable[Mapping[str, Any]], line: str, name: str) -> Any:
    return sum(sum(item[name] or ()) for item in items if item["plType"] == line)


def has_urls_requested(arguments: Arguments) -> bool:
    return "withUrls" in arguments and decode_value(arguments["withUrls"]) is True
