"""Reading tools over HTTP: each is its endpoint under another name."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from assistants import views
from tests.assistants.sample_company import SampleCompany, format_day
from tests.rollback import undo_changes
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db

MONTH = f"{TODAY:%Y-%m}"
# Tool → what it is asked, and the call of the API that asks the same.
TOOL_CALLS: dict[str, tuple[dict[str, Any], str, str, Any]] = {
    "list_companies": ({}, "GET", "/companies", None),
    "get_balances": (
        {"startDate": format_day(-60), "endDate": format_day(0), "accountTypes": ["bank"]},
        "POST",
        "data/accountBalanceByAccount",
        {"startDate": format_day(-60), "endDate": format_day(0), "accountTypes": ["bank"]},
    ),
    "get_cash_flow": (
        {"startDate": format_day(-60), "endDate": format_day(0), "interval": "month"},
        "POST",
        "data/cashFlowTimeSeries",
        {"startDate": format_day(-60), "endDate": format_day(0), "interval": "month"},
    ),
    "get_forecast": (
        {"endDate": format_day(60)},
        "POST",
        "data/forecastBalanceTimeSeries",
        {"endDate": format_day(60), "interval": "month"},
    ),
    "get_profit_and_loss": (
        {"startMonth": format_day(-60)[:7], "endMonth": MONTH, "showAllCategories": True},
        "POST",
        "data/profitAndLoss",
        {"startMonth": format_day(-60)[:7], "endMonth": MONTH, "showAllCategories": True},
    ),
    "get_recurring_revenue": ({"month": MONTH}, "POST", "data/recurringRevenueSummary", {"month": MONTH}),
    "search_transactions": (
        {"q": "a", "direction": "out", "open": True, "limit": 1, "sort": "amount"},
        "GET",
        "transactions",
        {"q": "a", "direction": "out", "open": "true", "limit": 1, "sort": "amount"},
    ),
    "list_open_transactions": (
        {"endDate": format_day(-8)},
        "GET",
        "transactions",
        {"open": "true", "endDate": format_day(-8)},
    ),
    "list_categories": ({}, "GET", "categories", None),
    "list_planned": ({"limit": 5}, "GET", "planned_transactions", {"limit": 5}),
    "list_due": (
        {"startDate": format_day(-60), "endDate": format_day(60)},
        "GET",
        "planned_transactions/due",
        {"startDate": format_day(-60), "endDate": format_day(60)},
    ),
}


@pytest.fixture
def books(api):
    return SampleCompany(api)


@pytest.fixture
def tools(assistant):
    return {tool["name"]: tool for tool in assistant.get_result("tools/list")["tools"]}


def test_tool_call_table_lists_every_reading_tool(tools):
    assert {name for name, tool in tools.items() if tool["annotations"]["readOnlyHint"]} == set(TOOL_CALLS)


def test_reading_tool_returns_answer_of_its_endpoint(books, api, assistant, tools):
    for name in TOOL_CALLS:
        with undo_changes():
            arguments, method, path, sent = TOOL_CALLS[name]
            answer = api.get(path, sent) if method == "GET" else api.post(path, sent)
            assert answer.status_code == 200, name
            expected = answer.json()
            assert expected, name  # of nothing it would be true whatever the tool does
            found = assistant.call_tool(name, **arguments)
            if name == "get_profit_and_loss":
                sums = {(row["plType"], row["categoryId"]): sum(row["actual"]) for row in found["items"]}
                assert sums == sum_by_category(expected), name
            elif name == "get_balances":
                assert {row["accountId"]: row for row in found["items"]} == expected, name
                assert found["totals"]["value"] == sum(row["value"] for row in expected.values()), name
            else:
                schema = tools[name]["outputSchema"]
                rows = isinstance(expected, list)
                assert (found["items"] if rows else found) == shorten(
                    expected, schema["properties"]["items"] if rows else schema
                ), name
            Draft202012Validator(tools[name]["outputSchema"]).validate(found)
            Draft202012Validator(tools[name]["inputSchema"]).validate(arguments)


def test_reading_tools_apply_a_scenario(books, api, assistant):
    change = {"kind": "scale", "plannedTransactionId": books.plan, "percent": 100}
    item = {
        "month": MONTH,
        "plType": "ga",
        "categoryId": books.office,
        "amount": {"type": "fixed", "amount": {"value": 70, "currency": "EUR"}},
    }
    made = api.post("scenarios", {"name": "Double", "changes": [change, {"kind": "add", "planItem": item}]})
    scenario = {"scenarioId": made.json()["id"]}
    days = {"endDate": format_day(30), "interval": "month"}
    plain, changed = (assistant.call_tool("get_forecast", **days, **each) for each in ({}, scenario))
    assert (plain["plannedOutflow"], changed["plannedOutflow"]) == (950, 1900)
    months = {"startMonth": MONTH, "endMonth": MONTH}
    assert assistant.call_tool("get_profit_and_loss", **months, **scenario)["items"][0]["planned"] == [70]
    assert api.delete(f"planned_transactions/{books.plan}").status_code == 200
    for name, arguments in (("get_forecast", days), ("get_profit_and_loss", months)):
        assert assistant.call_tool(name, **arguments, **scenario)["brokenChanges"] == [0]


def sum_by_category(rows):
    keys = {(row["plType"], row["categoryId"]) for row in rows}
    return {key: sum(row["actual"] for row in rows if (row["plType"], row["categoryId"]) == key) for key in keys}


def shorten(value, schema):
    """What the schema names and is not null."""
    if isinstance(value, list):
        return [shorten(part, schema["items"]) for part in value]
    if not isinstance(value, dict) or ("properties" not in schema and "additionalProperties" not in schema):
        return value
    named = schema.get("properties") or dict.fromkeys(value, schema.get("additionalProperties"))
    return {name: shorten(part, named[name]) for name, part in value.items() if name in named and part is not None}


def test_list_tools_return_totals(books, assistant):
    found = assistant.call_tool("search_transactions", accountId=[books.bank], limit=1)
    assert (found["totalCount"], found["totalAmount"]) == (4, "737.50")
    due = assistant.call_tool("list_due", startDate=format_day(-60), endDate=format_day(60), limit=1)
    assert (len(due["items"]), due["totalCount"]) == (1, 1)


def test_balances_tool_is_limited_and_returns_totals(books, api, assistant):
    for number in range(30):
        account = books.create_row("accounts", {"name": f"Account {number}", "type": "bank", "currency": "EUR"})
        books.create_transaction(account, -3, f"{number + 1}.25")
    arguments = {"startDate": format_day(-60), "endDate": format_day(0)}
    rows = api.post("data/accountBalanceByAccount", arguments).json().values()
    found = assistant.call_tool("get_balances", **arguments)
    assert [row["value"] for row in found["items"]] == sorted((row["value"] for row in rows), reverse=True)[:20]
    assert (found["totalCount"], found["totals"]["value"]) == (32, sum(row["value"] for row in rows))
    assert len(assistant.call_tool("get_balances", **arguments, limit=500)["items"]) == 32


def test_list_tool_is_paginated(books, assistant):
    ids, cursor = [], {}
    for _ in range(3):
        page = assistant.call_tool("search_transactions", limit=2, **cursor)
        ids += [row["id"] for row in page["items"]]
        cursor = {"cursor": page.get("nextCursor")}
    assert sorted(ids) == sorted([books.rent, books.fee, books.sale, books.outgoing, books.incoming])
    assert cursor == {"cursor": None}


def test_list_tool_applies_repeated_filter_values(books, assistant):
    arguments = {"accountId": [books.savings, books.bank]}
    assert len(assistant.call_tool("search_transactions", **arguments)["items"]) == 5
    assert len(assistant.call_tool("search_transactions", accountId=[books.savings])["items"]) == 1


def test_company_id_argument_is_optional(books, acme, assistant):
    assert assistant.call_tool("list_categories", companyId=str(acme.id)) == assistant.call_tool("list_categories")


def test_tool_amounts_keep_all_digits(books, assistant):
    books.create_transaction(books.bank, -3, "-90071992547409.93")
    found = assistant.call_tool("search_transactions", maxAmount="-90071992547409.92")
    assert [row["amountValue"] for row in found["items"]] == ["-90071992547409.93"]


def test_invalid_tool_arguments_return_tool_error(books, assistant):
    for name, arguments, status, code in [
        ("get_balances", {"startDate": "yesterday", "endDate": format_day(0)}, 400, "validation_failed"),
        ("get_balances", {}, 400, "validation_failed"),
        (
            "get_balances",
            {"startDate": format_day(0), "endDate": format_day(0), "account": "x"},
            400,
            "unknown_argument",
        ),
        ("search_transactions", {"q": {"a": 1}, "limit": 0}, 400, "validation_failed"),
        ("search_transactions", {"limit": "many"}, 400, "validation_failed"),
        ("list_categories", {"companyId": "no id"}, 400, "invalid_argument"),
        ("list_categories", {"companyId": 7}, 400, "invalid_argument"),
        ("list_categories", {"companyId": "../../companies"}, 400, "invalid_argument"),
        ("list_categories", {"confirm": "x"}, 400, "unknown_argument"),
    ]:
        error = assistant.get_tool_error(name, **arguments)
        assert (error["status"], error["code"]) == (status, code), name


def test_tool_error_names_invalid_and_missing_ids(books, assistant):
    for name, arguments, code, detail in [
        ("list_categories", {"companyId": 7}, "invalid_argument", "companyId must be an ID (UUID), in quotes."),
        ("settle_planned", {}, "missing_argument", "plannedTransactionId is required."),
        (
            "settle_planned",
            {"plannedTransactionId": "rent"},
            "invalid_argument",
            "plannedTransactionId must be an ID (UUID), in quotes.",
        ),
    ]:
        error = assistant.get_tool_error(name, **arguments)
        assert (error["status"], error["code"], error["detail"]) == (400, code, detail)


def test_tool_error_asks_for_the_company_of_a_credential_with_several(monkeypatch, books, assistant):
    monkeypatch.setattr(views, "get_company_id", lambda arguments, caller: "")
    error = assistant.get_tool_error("list_categories")
    assert (error["status"], error["code"]) == (400, "missing_argument")
    assert error["detail"].startswith("companyId is required.")


def test_tool_error_names_argument_and_request_id(books, assistant):
    error = assistant.get_tool_error("get_balances", startDate="yesterday", endDate=format_day(0))
    assert error["errors"][0]["pointer"] == "#/startDate"
    assert error["requestId"]


def test_tool_error_is_same_for_other_and_unknown_company(books, globex, globex_api, assistant):
    unknown = assistant.get_tool_error("list_categories", companyId="0190a5b4-7d5c-7000-8000-000000000000")
    foreign = assistant.get_tool_error("list_categories", companyId=str(globex.id))
    for error in (unknown, foreign):
        error.pop("requestId"), error.pop("instance")
    assert foreign == unknown
    assert str(globex.id) not in json.dumps(assistant.call_tool("list_companies"))


def test_tool_list_is_small_and_same_for_every_credential(books, assistant, globex_api):
    mine = assistant.send_request("tools/list")
    assistant.key = globex_api.key
    assert assistant.send_request("tools/list").content == mine.content
    assert len(mine.content) <= 24 * 1024
    assert len(mine.json()["result"]["tools"]) <= 16
    for word in ("Acme", "Globex", "Landlord", books.bank):
        assert word.encode() not in mine.content


def test_every_tool_has_schemas_and_hints(tools):
    for tool in tools.values():
        Draft202012Validator.check_schema(tool["inputSchema"])
        Draft202012Validator.check_schema(tool["outputSchema"])
        assert tool["inputSchema"]["type"] == tool["outputSchema"]["type"] == "object"
        assert set(tool["annotations"]) >= {"readOnlyHint", "destructiveHint", "idempotentHint"}
        assert tool["description"]
