"""A tool needs exactly what its endpoint needs."""

import pytest

from companies.permissions import Permission
from tests.assistants.conftest import Assistant
from tests.assistants.sample_company import SampleCompany
from tests.assistants.test_reading_tools import TOOL_CALLS
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db

NEEDS = {
    "list_companies": None,
    "get_balances": "balances:read",
    "get_cash_flow": "balances:read",
    "get_forecast": "balances:read",
    "get_profit_and_loss": "financials:read",
    "get_recurring_revenue": "subscriptions:read",
    "search_transactions": "transactions:read",
    "list_open_transactions": "transactions:read",
    "list_categories": "categories:read",
    "list_planned": "planning:read",
    "list_due": "planning:read",
    "categorize": "transactions:write",
    "create_rule": "transactions:write",
    "link_transfer": "transactions:write",
    "plan_payment": "planning:write",
    "settle_planned": "planning:write",
}


def test_permission_table_lists_every_tool(assistant):
    assert {tool["name"] for tool in assistant.get_result("tools/list")["tools"]} == set(NEEDS)


def test_tool_needs_exactly_its_listed_permission(api, acme, make_api):
    for name in NEEDS:
        with undo_changes():
            books, needed = SampleCompany(api), NEEDS[name]
            arguments = books.build_tool_arguments().get(name) or TOOL_CALLS[name][0]
            if needed is None:
                assert Assistant(make_api(acme, "files:read").key).call_tool(name, **arguments)
                continue
            result = Assistant(make_api(acme, needed).key).call_tool(name, **arguments)
            if needed.endswith(":write"):
                assert result["done"] is False, name
            others = [each.value for each in Permission if each.value != needed]
            before = books.read_state()
            answer = Assistant(make_api(acme, *others).key).get_tool_error(name, **arguments)
            assert (answer["status"], answer["code"]) == (403, "permission_denied"), name
            assert needed in answer["detail"], name
            assert books.read_state() == before, name
