"""Short answers: an assistant reads, and pays for, every word of them.

Null members and members that the tool's output schema does not name are left out, and addresses unless they are asked
for. A list has at most 20 rows by default, with the total beside them.
"""

import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

import orjson

from assistants.calling import Answer, Arguments
from assistants.catalogue import DEFAULT_ROWS, MAX_ROWS, Tool
from assistants.messages import value_of

MAX_INT_DIGITS = 18  # of an integer that orjson writes


def condense(tool: Tool, answer: Answer, arguments: Arguments) -> Answer:
    """Return the answer of a reading tool as its output schema describes it; a refusal stays as it is."""
    if answer.refused:
        return answer
    body = json.loads(answer.body, parse_float=Decimal, parse_int=parse_int)
    if tool.name == "get_profit_and_loss":
        body = pivot_profit_and_loss(body, arguments)
    elif tool.name == "get_balances":
        body = list_balances(list(body.values()), arguments)
    elif isinstance(body, list):
        rows, totals = body, answer.totals
        if tool.limits_rows:
            rows, totals = body[: count_rows(arguments, default=tool.default_rows)], {"totalCount": len(body)}
        body = {"items": rows, "nextCursor": answer.next_cursor, **totals}
    return Answer(answer.status, orjson.dumps(prune(body, tool.answers), default=write_decimal))


def parse_int(digits: str) -> int | Decimal:
    return int(digits) if len(digits) <= MAX_INT_DIGITS else Decimal(digits)


def write_decimal(value: Any) -> orjson.Fragment:
    """Write a number with all its digits."""
    return orjson.Fragment(format(value, "f"))


def prune(value: Any, schema: Mapping[str, Any]) -> Any:
    """Leave out null members, and those that the schema of an object does not name."""
    if isinstance(value, list):
        return [prune(part, schema.get("items", {})) for part in value]
    if not isinstance(value, dict):
        return value
    named, others = schema.get("properties"), schema.get("additionalProperties", {})
    parts = {name: part for name, part in value.items() if part is not None and (named is None or name in named)}
    return {name: prune(part, others if named is None else named[name]) for name, part in parts.items()}


def count_rows(arguments: Arguments, *, default: int = DEFAULT_ROWS) -> int:
    limit = value_of(arguments["limit"]) if "limit" in arguments else None
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
        found = [cells.get((line, category_id, month), {}) for month in months]
        items.append(
            {
                "plType": line,
                "categoryId": category_id,
                "categoryName": name,
                "actual": [cell.get("actual", 0) for cell in found],
                "planned": list_unless_empty(cell.get("planned", 0) for cell in found),
                "comparisonActual": list_unless_empty(cell.get("comparisonActual") or 0 for cell in found),
                "transactionsUrls": [cell.get("transactionsUrl", "") for cell in found]
                if wants_urls(arguments)
                else None,
            }
        )
    totals = [
        {"plType": line, "actual": sum_of(items, line, "actual"), "planned": sum_of(items, line, "planned")}
        for line in dict.fromkeys(item["plType"] for item in items)
    ]
    items.sort(key=lambda item: -sum(map(abs, (*item["actual"], *(item["planned"] or ())))))
    shown = items[: count_rows(arguments)]
    return {"months": months, "items": shown, "totalCount": len(items), "totals": totals}


def list_balances(rows: list[dict[str, Any]], arguments: Arguments) -> dict[str, Any]:
    """Return the accounts with the largest balances first, and the totals of all of them.

    Amounts are in the base currency.
    """
    rows.sort(key=lambda row: -abs(row["value"]))
    totals = {name: sum(row[name] for row in rows) for name in ("value", "valuePreviousPeriod", "valueChange")}
    return {"items": rows[: count_rows(arguments)], "totalCount": len(rows), "totals": totals}


def list_unless_empty(amounts: Iterable[Any]) -> list[Any] | None:
    """Return the amounts; None if all are 0."""
    found = list(amounts)
    return found if any(found) else None


def sum_of(items: Iterable[Mapping[str, Any]], line: str, name: str) -> Any:
    return sum(sum(item[name] or ()) for item in items if item["plType"] == line)


def wants_urls(arguments: Arguments) -> bool:
    return "withUrls" in arguments and value_of(arguments["withUrls"]) is True
