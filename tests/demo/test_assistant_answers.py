"""What an assistant reads about the demo company by default is short."""

import json
from datetime import UTC, datetime

import pytest
from jsonschema import Draft202012Validator

from companies.models import Company
from tests.assistants.conftest import Assistant

pytestmark = pytest.mark.django_db
NOW = datetime.now(tz=UTC).replace(hour=10, minute=0)
MAX_BYTES = 8 * 1024
YEAR = {"startDate": str(NOW.date().replace(year=NOW.year - 1, day=1)), "endDate": str(NOW.date())}
TOOL_ARGUMENTS = {
    "list_companies": {},
    "get_balances": YEAR,
    "get_cash_flow": YEAR,
    "get_forecast": {"endDate": str(NOW.date().replace(year=NOW.year + 1, day=1))},
    "get_profit_and_loss": {"startMonth": YEAR["startDate"][:7], "endMonth": f"{NOW:%Y-%m}"},
    "get_recurring_revenue": {},
    "search_transactions": {},
    "list_open_transactions": {},
    "list_categories": {},
    "list_planned": {},
    "list_due": YEAR,
}


@pytest.fixture(scope="module")
def company(make_demo_company):
    with make_demo_company(name="Demo", months=24, now=NOW) as shown:
        yield Company.objects.get(id=shown.company_id)


@pytest.fixture
def assistant(company, make_api):
    return Assistant(make_api(company).key)


def find_nulls_and_urls(value):
    if isinstance(value, dict):
        return [name for name in value if name.lower().endswith(("url", "urls"))] + [
            result for part in value.values() for result in find_nulls_and_urls(part)
        ]
    if isinstance(value, list):
        return [result for part in value for result in find_nulls_and_urls(part)]
    return [None] if value is None else []


def test_default_assistant_answer_is_at_most_8_kib(assistant):
    tools = {tool["name"]: tool for tool in assistant.get_result("tools/list")["tools"]}
    assert set(TOOL_ARGUMENTS) == {name for name, tool in tools.items() if tool["annotations"]["readOnlyHint"]}
    sizes = {}
    for name, arguments in TOOL_ARGUMENTS.items():
        answer = assistant.call_tool(name, **arguments)
        Draft202012Validator(tools[name]["outputSchema"]).validate(answer)
        assert find_nulls_and_urls(answer) == [], name
        assert answer.get("items", answer), name
        sizes[name] = len(json.dumps(answer, separators=(",", ":"), ensure_ascii=False).encode())
    print(sizes)  # noqa: T201
    assert {name: size for name, size in sizes.items() if size > MAX_BYTES} == {}


def test_assistant_list_has_20_rows_and_totals(assistant):
    result = assistant.call_tool("search_transactions")
    assert len(result["items"]) == 20
    assert result["totalCount"] > 2000
    assert float(result["totalAmount"])
    assert result["nextCursor"]


def test_assistant_profit_and_loss_has_urls_on_request(assistant):
    get_profit_and_loss = TOOL_ARGUMENTS["get_profit_and_loss"]
    result = assistant.call_tool("get_profit_and_loss", **get_profit_and_loss, withUrls=True, limit=2)
    assert len(result["items"]) == 2
    assert all(len(row["transactionsUrls"]) == len(result["months"]) for row in result["items"])


def test_assistant_cash_flow_is_monthly_by_default(assistant):
    assert len(assistant.call_tool("get_cash_flow", **YEAR)["inflow"]) == 13
    assert len(assistant.call_tool("get_cash_flow", **YEAR, interval="day")["inflow"]) > 300
