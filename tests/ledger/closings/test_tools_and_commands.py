"""Every tool of the MCP server and every command is tried on a company whose months are closed."""

import io
from datetime import UTC, datetime

import pytest
from django.core.management import call_command
from django.db import transaction
from django.test import Client
from django.urls import reverse

from companies.admin import CompanyAdmin, ReadOnlyAdminMixin
from companies.models import Company, User
from tests.assistants.conftest import Assistant
from tests.ledger.closings.conftest import read_closed_figures
from tests.ledger.closings.page_forms import parse_forms
from tests.ledger.closings.test_page_forms import change_field, list_bodies
from tests.oauth.conftest import application
from tests.test_audit_coverage import BACKEND, COMMANDS, STAFF_MODELS, site

pytestmark = pytest.mark.django_db
assert application  # a fixture

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
NOT_RUN = {"demo", "distribute", "migrate", "postgres", "translations", "up", "wait_ready"}


@pytest.fixture
def tool_arguments(books, bank, office, transaction_ids, close_month):
    """Arguments of each writing tool that would change a closed month."""
    savings = books.create_account(name="Savings")
    away = books.create_transaction(bank, "-30.00", "2026-03-20")["id"]
    back = books.create_transaction(savings, "30.00", "2026-03-20")["id"]
    planned = {"accountId": bank, "name": "Rent", "startDate": "2026-03-15", "amountValue": "-100.00"}
    planned_id = books.api.post("planned_transactions", planned).json()["id"]
    close_month()
    return {
        "categorize": {"selection": {"mode": "ids", "ids": [away]}, "categoryId": office, "plType": "ga"},
        "create_rule": {
            "name": "Rent",
            "conditions": {"fromTo": {"operator": "contains", "value": "landlord"}},
            "action": {"categoryId": office, "plType": "ga"},
        },
        "link_transfer": {"sourceTransactionId": away, "targetTransactionId": back},
        "plan_payment": {"name": "Rent", "startDate": "2026-03-20", "amountValue": "-9.00", "accountId": bank},
        "settle_planned": {
            "plannedTransactionId": planned_id,
            "date": "2026-03-15",
            "transactionId": transaction_ids[0],
        },
    }


def test_no_tool_changes_a_closed_figure(api, acme, tool_arguments):
    assistant, refused = Assistant(api.key), set()
    tools = assistant.get_result("tools/list")["tools"]
    assert {tool["name"] for tool in tools if not tool["annotations"]["readOnlyHint"]} == tool_arguments.keys()
    before = read_closed_figures(acme)
    for name, query in tool_arguments.items():
        with transaction.atomic():
            answer = assistant.get_result("tools/call", {"name": name, "arguments": query})
            if not answer["isError"]:
                confirmed = query | {"confirm": answer["structuredContent"]["digest"]}
                answer = assistant.get_result("tools/call", {"name": name, "arguments": confirmed})
            if answer["isError"]:
                assert '"period_closed"' in answer["content"][0]["text"], (name, answer)
                refused.add(name)
            assert read_closed_figures(acme) == before, name
            transaction.set_rollback(True)
    assert refused == {"categorize", "link_transfer"}


def test_no_command_changes_a_closed_figure(acme, alice, transaction_ids, close_month):
    assert RUN.keys() | NOT_RUN == COMMANDS.keys()
    close_month()
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


# Models whose rows staff can change, and what a form could carry beside its fields.
PROTECTED = {"base_currency": "USD", "data_start_date": "2020-01-01", "closed_through": "", "demonstration": "{}"}


def list_admin_pages(company):
    """The addresses of the admin's lists, and of the forms that add, change and delete a row."""
    for model in site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        yield reverse(f"{name}_changelist"), model
        owned = any(each.name == "company" for each in model._meta.concrete_fields)
        row = (
            company
            if model is Company
            else model._base_manager.filter(**({"company": company} if owned else {})).first()
        )
        if row is not None:
            yield from ((reverse(f"{name}_{page}", args=[row.pk]), model) for page in ("change", "delete"))
        yield reverse(f"{name}_add"), model


def list_admin_bodies(form):
    """A form as in the walk over pages, and with each action over all rows; always with hidden fields."""
    actions = [each for each in form.fields if each.name == "action"]
    yield from list_bodies(form)
    for value in {value for each in actions for value in each.offered}:
        yield form.build_body(change_field) | {"action": [value]}


def test_no_admin_form_changes_a_closed_figure(acme, alice, transaction_ids, close_month, application):
    staff = Client()
    staff.force_login(User.objects.create_superuser("staff@example.com"), backend=BACKEND)
    close_month()
    before, sent = read_closed_figures(acme), set()
    for page, model in list_admin_pages(acme):
        answer = staff.get(page)
        forms = parse_forms(page, answer.content.decode()) if answer.status_code == 200 else []
        requests = [(page, PROTECTED)]  # without a form too
        requests += [
            (form.action, body | PROTECTED)
            for form in forms
            if form.action.startswith(page)
            for body in list_admin_bodies(form)
        ]
        for address, body in requests:
            with transaction.atomic():
                answer = staff.post(address, body)
                assert answer.status_code < 500, (address, answer.content)
                assert read_closed_figures(acme) == before, (address, body)
                transaction.set_rollback(True)
        sent |= {(model._meta.label, page.rstrip("/").rpartition("/")[2])} if len(requests) > 1 else set()
    writable = {model._meta.label for model, page in site._registry.items() if not isinstance(page, ReadOnlyAdminMixin)}
    assert {label for label, page in sent if page == "change"} >= writable - STAFF_MODELS
