"""Every tool of the MCP server and every command is tried on a company whose months are closed."""

import io
from datetime import UTC, datetime

import pytest
from django.core.management import call_command
from django.db import transaction

from companies.admin import CompanyAdmin, ReadOnlyAdminMixin
from tests.assistants.conftest import Assistant
from tests.ledger.closings.conftest import read_closed_figures
from tests.test_audit_coverage import COMMANDS, STAFF_MODELS, site

pytestmark = pytest.mark.django_db

# Commands that run here, with their arguments. The others start servers and databases, or write files.
RUN = {
    "create_company": ["--name", "Initech", "--currency", "EUR", "--owner", "o@initech.example"],
    "create_api_key": ["--company", "ID"],
    "prune": [],
    "rebuild_derived": [],
    "refresh_metrics": [],
    "register_app": ["--name", "App", "--redirect-uri", "https://app.example/back", "--scope", "svc:read"],
    "restore_access": ["alice@acme.example"],
    "update_rates": [],
}
NOT_RUN = {"demo", "distribute", "postgres", "translations", "up", "wait_ready"}


@pytest.fixture
def arguments(books, bank, costs, march, close):
    """What each writing tool is asked about a closed month."""
    savings = books.account(name="Savings")
    away = books.book(bank, "-30.00", "2026-03-20")["id"]
    back = books.book(savings, "30.00", "2026-03-20")["id"]
    planned = {"accountId": bank, "name": "Rent", "startDate": "2026-03-15", "amountValue": "-100.00"}
    planned_id = books.api.post("planned_transactions", planned).json()["id"]
    close()
    return {
        "categorize": {"selection": {"mode": "ids", "ids": [away]}, "categoryId": costs, "plType": "ga"},
        "create_rule": {
            "name": "Rent",
            "conditions": {"fromTo": {"operator": "contains", "value": "landlord"}},
            "action": {"categoryId": costs, "plType": "ga"},
        },
        "link_transfer": {"sourceTransactionId": away, "targetTransactionId": back},
        "plan_payment": {"name": "Rent", "startDate": "2026-03-20", "amountValue": "-9.00", "accountId": bank},
        "settle_planned": {"plannedTransactionId": planned_id, "date": "2026-03-15", "transactionId": march[0]},
    }


def test_no_tool_changes_a_closed_figure(api, acme, arguments):
    assistant, refused = Assistant(api.key), set()
    tools = assistant.result("tools/list")["tools"]
    assert {tool["name"] for tool in tools if not tool["annotations"]["readOnlyHint"]} == arguments.keys()
    before = read_closed_figures(acme)
    for name, asked in arguments.items():
        with transaction.atomic():
            answer = assistant.result("tools/call", {"name": name, "arguments": asked})
            if not answer["isError"]:
                confirmed = asked | {"confirm": answer["structuredContent"]["digest"]}
                answer = assistant.result("tools/call", {"name": name, "arguments": confirmed})
            if answer["isError"]:
                assert '"period_closed"' in answer["content"][0]["text"], (name, answer)
                refused.add(name)
            assert read_closed_figures(acme) == before, name
            transaction.set_rollback(True)
    assert refused == {"categorize", "link_transfer"}


def test_no_command_changes_a_closed_figure(acme, alice, march, close):
    assert RUN.keys() | NOT_RUN == COMMANDS.keys()
    close()
    alice.second_factor_since = datetime.now(tz=UTC)
    alice.save()
    before = read_closed_figures(acme)
    for name, arguments in RUN.items():
        call_command(name, *(str(acme.id) if each == "ID" else each for each in arguments), stdout=io.StringIO())
        assert read_closed_figures(acme) == before, name


def test_the_admin_changes_nothing_that_figures_depend_on():
    writable = {model._meta.label for model, page in site._registry.items() if not isinstance(page, ReadOnlyAdminMixin)}
    assert writable - STAFF_MODELS == {"companies.Company", "companies.User", "oauth.Application"}
    assert {"base_currency", "data_start_date"} <= set(CompanyAdmin.shown_fields)
