"""Whichever door a change comes through, it leaves its row in the company's audit log: API, admin, command line.

Each table names every door of its kind; a new one fails a test until it stands there.
"""

import base64
import io
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.admin import site
from django.core.management import call_command, get_commands
from django.db import transaction
from django.test import Client

from companies.admin import ReadOnlyAdminMixin
from companies.models import AuditEntry, Company, User
from companies.models.audit_context import Audited
from oauth.models import Application
from oauth.protocol.scopes import ALL_SCOPES
from tests.api.request_bodies import BODIES, fill_ids, get_second_id
from tests.oauth.conftest import alice_flow, alice_tokens, application, flow
from tests.oauth.test_admin import build_png
from tests.row_factory import list_company_models
from tests.test_isolation import build_valid_body, create_tenant_rows, digest_all_rows, send_request
from tests.test_permissions import OPERATIONS

pytestmark = pytest.mark.django_db
assert all((application, flow, alice_tokens, alice_flow))  # fixtures
BACKEND = "django.contrib.auth.backends.ModelBackend"


def list_log_entries(company: Any) -> list[AuditEntry]:
    return list(AuditEntry.objects.for_company(company.id).order_by("time", "id"))


# ---------------------------------------------------------------------------------- the API

# What differs from the row that is there.
DIFFERENT: dict[str, dict[str, Any]] = {
    "PUT accounts/{}/change_group": {"accountGroupId": None},
    "PUT files/{}": {"parseStatus": "parsed"},
    "PUT logo": {"imageBase64": base64.b64encode(build_png().read()).decode()},
    "PUT plan_items/{}": {"duration": 7},
    "PUT reports/{}/commentary": {"text": "Other"},
    "PUT subscriptions/{}": {"externalId": "other"},
    "PUT transactions/{}": {"description": "Other"},
    "POST closings": {"month": "2024-01"},
    "PUT webhook_endpoints/{}": {"description": "Other"},
    "POST notifications/batch_delete": {"notificationIds": ["notifications"]},
    "POST transactions/uncategorize": {"selection": {"mode": "ids", "ids": ["categorized"]}},
    "POST categorization_rules/from_transaction": {"transactionId": "categorized"},
    "POST transactions/import": {"duplicates": "keep", "transactions": [
        {"accountId": "accounts", "date": "2024-05-01", "amountValue": "-1.00"}]},
}  # fmt: skip
# They change nothing.
READING_POSTS = {f"POST {path}" for path, method in OPERATIONS if path.startswith("data/") and method == "POST"}
READING_POSTS |= {"POST transactions/categorization_status", "POST planned_transactions/matches"}
READING_POSTS |= {"POST planned_transactions/proposals", "POST plan_items/proposals"}
READING_POSTS |= {"POST transactions/proposals", "POST transactions/transfer_proposals"}
READING_POSTS |= {f"POST categorization_rules/{name}" for name in ("preview", "from_transaction")}
READING_POSTS |= {"POST notifications/read_all"}  # a key has none of its own
READING_POSTS |= {"DELETE logo"}  # there is none
# A key is no member and has no sandbox; tests/companies/actions/test_invitations.py, tests/companies/test_sandboxes.py
SESSION_ONLY = {"DELETE members/me", "POST copy", "DELETE "}


def test_every_changing_operation_adds_one_audit_entry(api, acme, alice):
    """Of the operations of the document, each with a body that it takes and another value than there is."""
    rows, still, wrong = create_tenant_rows(api, alice), set(), {}
    # What moves lastOverallUpdatedTime alone has changed nothing.
    Company.objects.filter(id=acme.id).update(last_overall_updated_time=datetime(2999, 1, 1, tzinfo=UTC))
    for path, method in OPERATIONS:
        operation = f"{method} {path}"
        if method == "GET" or operation in SESSION_ONLY:
            continue
        with transaction.atomic():
            there = path.replace("{}", get_row_id(operation, api, rows), 1).replace("{}", get_second_id(path, rows))
            entries, before = len(list_log_entries(acme)), digest_all_rows(acme, but={AuditEntry})
            answer = send_request(
                api, method, there, body=None if method == "DELETE" else build_changed_body(operation, rows), query=None
            )
            moved = digest_all_rows(acme, but={AuditEntry}) != before
            left = len(list_log_entries(acme)) - entries
            transaction.set_rollback(True)
        if not moved:
            still.add(operation)
        if left != moved or answer.status_code >= 300:
            wrong[operation] = (answer.status_code, f"changed: {moved}, rows in the log: {left}", answer.content)
    assert wrong == {}
    assert still == READING_POSTS


def get_row_id(operation: str, api: Any, rows: dict[str, str]) -> str:
    """The id in the address: to delete, that of a new row that nothing refers to."""
    method, path = operation.split(" ", 1)
    of = path.partition("/")[0]
    if operation == "PUT accounts/{}/unarchive":
        assert api.put(f"accounts/{rows[of]}/archive").status_code == 200
    if operation in ("POST closings/{}/reopen", "POST closings/{}/links", "DELETE closings/{}/links/{}"):
        closed = api.post("closings", {"month": "2024-01", "acknowledge": True})
        assert closed.status_code in (201, 409), closed.content  # where the whole company is closed already
        if method == "DELETE":
            rows["closing_links"] = api.post("closings/2024-01/links", BODIES["closings/{}/links"]).json()["id"]
        return "2024-01"
    if operation == "POST planned_transactions/{}/unsettle":
        settle = f"planned_transactions/{rows[of]}/settle"
        assert api.post(settle, build_valid_body("POST", "planned_transactions/{}/settle", rows)).status_code == 200
    if operation == "DELETE scenarios/{}/adopt":
        assert api.post(f"scenarios/{rows[of]}/adopt").status_code == 200
    to_delete = method == "DELETE" and path == f"{of}/{{}}" and of in BODIES
    if to_delete or operation == "POST members/{}/resend":
        return send_request(api, "POST", of, body=build_valid_body("POST", of, rows), query=None).json()["id"]
    return rows.get(of, "")


def build_changed_body(operation: str, rows: dict[str, str]) -> dict[str, Any]:
    method, path = operation.split(" ", 1)
    body = build_valid_body(method, path, rows)
    if method == "PUT" and "name" in body:
        body["name"] = "Other"
    return body | fill_ids(DIFFERENT.get(operation, {}), rows)


# ---------------------------------------------------------------------------------- the admin


@pytest.fixture
def staff(db):
    client = Client()
    client.force_login(User.objects.create_superuser("staff@example.com"), backend=BACKEND)
    return client


def submit_admin_form(staff: Client, row: Any, values: dict[str, Any]) -> None:
    """Saves the form of a row as it is shown, but for these values; a None is a box without its tick."""
    address = f"/admin/{row._meta.app_label}/{row._meta.model_name}/{row.pk}/change/"
    shown = staff.get(address).context["adminform"].form
    form = {name: shown.get_initial_for_field(field, name) for name, field in shown.fields.items()}
    moments = {name: value for name, value in form.items() if isinstance(value, datetime)}
    form |= {f"{name}_0": str(value.date()) for name, value in moments.items()}
    form |= {f"{name}_1": str(value.time().replace(microsecond=0)) for name, value in moments.items()}
    form = {name: value for name, value in (form | values).items() if value not in (None, False)}
    answer = staff.post(address, form | NO_INLINES)
    assert answer.status_code == 303, answer.context["errors"]


def disable_in_list(staff: Client, app: Any) -> None:
    form = {"form-TOTAL_FORMS": "1", "form-INITIAL_FORMS": "1", "form-0-id": str(app.pk), "_save": "Save"}
    assert staff.post("/admin/oauth/application/", form).status_code == 303


NO_INLINES = {
    f"{name}-{kind}_FORMS": "0"
    for name in ("consents", "", "-1", "-2", "-3", "-4", "-5", "-6", "-7", "-8")
    for kind in ("TOTAL", "INITIAL")
}
# (model, what is done, the row that it leaves: action, before, after)
ADMIN = [
    ("companies.Company", lambda s, w: submit_admin_form(s, w.acme, {"system_status": "paid"}),
     ("company.updated", {"system_status": "trial"}, {"system_status": "paid"})),
    ("companies.User", lambda s, w: submit_admin_form(s, w.alice, {"is_active": None}),
     ("member.updated", {"is_active": True}, {"is_active": False})),
    ("companies.User", lambda s, w: submit_admin_form(s, w.alice, {"email": "a@acme.example", "name": "Alice"}),
     ("member.updated", {"email": "alice@acme.example", "name": "Some Person"},
      {"email": "a@acme.example", "name": "Alice"})),
    ("oauth.Application", lambda s, w: submit_admin_form(s, w.app, {"enabled": None}),
     ("app.updated", {"enabled": True}, {"enabled": False})),
    ("oauth.Application", lambda s, w: disable_in_list(s, w.app),
     ("app.updated", {"enabled": True}, {"enabled": False})),
    ("oauth.Application", lambda s, w: submit_admin_form(s, w.app, {"allowed_scopes": ["svc:read"]}),
     ("app.updated", {"allowed_scopes": list(ALL_SCOPES)}, {"allowed_scopes": ["svc:read"]})),
]  # fmt: skip
# Of staff alone: hosts of apps, and what their groups may do in the admin.
STAFF_MODELS = {"oauth.ClientHost", "auth.Group"}


def test_every_writable_admin_page_is_covered():
    assert {
        model._meta.label for model, page in site._registry.items() if not isinstance(page, ReadOnlyAdminMixin)
    } == {label for label, *_ in ADMIN} | STAFF_MODELS


@pytest.mark.parametrize(("label", "act", "row"), ADMIN)
def test_staff_change_is_audited_in_each_affected_company(world, staff, label, act, row):
    before = list_log_entries(world.acme), list_log_entries(world.globex)
    act(staff, world)
    action, was, became = row
    left = list_log_entries(world.acme)[len(before[0]) :]
    (entry,) = [each for each in left if each.action != "app.revoked"]  # of one switched off the apps end too
    assert (entry.action, entry.credential.partition(":")[0]) == (action, "staff")
    assert (entry.before.items() >= was.items(), entry.after.items() >= became.items()) == (True, True)
    assert list_log_entries(world.globex) == before[1]


def test_unchanged_admin_forms_are_not_audited(world, staff):
    before = list_log_entries(world.acme)
    for row in (world.acme, world.alice, world.app):
        submit_admin_form(staff, row, {})
    assert list_log_entries(world.acme) == before


@dataclass
class AuditWorld:
    acme: Company
    globex: Company
    alice: User
    app: Application


@pytest.fixture
def world(acme, globex, alice, carol, alice_flow, alice_tokens) -> AuditWorld:
    """Acme and Globex, with an app that Alice allowed into Acme."""
    return AuditWorld(acme=acme, globex=globex, alice=alice, app=alice_flow.application)


# ---------------------------------------------------------------------------------- the command line

# What each command leaves in the log of the company that it made or changed; None for those that touch no facts.
COMMANDS: dict[str, tuple[list[str], set[str]] | None] = {
    "create_company": (["--name", "Initech", "--currency", "EUR", "--owner", "o@initech.example"], {"company.created"}),
    "create_api_key": (["--company", "ID"], {"apiKey.created"}),
    "demo": (["--months", "3", "--transactions", "300", "--json"], set()),
    "register_app": None,  # it is in no company until somebody lets it in
    "refresh_metrics": None,  # figures that follow from the facts
    "rebuild_derived": None,
    "update_rates": None,  # the same for all companies
    "translations": None,  # texts
    "prune": None,  # what has expired already
    "wait_ready": None,
    "distribute": None,
    "migrate": None,  # the schema
    "postgres": None,
    "restore_access": (["alice@acme.example"], {"member.secondFactorRemoved"}),
    "up": None,  # calls demo
}
OUR_APPS = {"config", "companies", "ledger", "planning", "analytics", "notifications", "oauth", "demo"}


def run_command(name: str, *arguments: str) -> str:
    output = io.StringIO()
    call_command(name, *arguments, stdout=output)
    return output.getvalue().strip()


def test_every_command_is_covered():
    assert {name for name, app in get_commands().items() if app in OUR_APPS} == set(COMMANDS)


def test_companies_and_api_keys_created_by_command_are_audited(acme):
    arguments, left = COMMANDS["create_company"]
    company = Company.objects.get(id=run_command("create_company", *arguments))
    assert {entry.action for entry in list_log_entries(company)} == left
    arguments, left = COMMANDS["create_api_key"]
    before = len(list_log_entries(acme))
    run_command("create_api_key", *(str(acme.id) if each == "ID" else each for each in arguments))
    assert {entry.action for entry in list_log_entries(acme)[before:]} == left
    assert {(entry.actor, entry.credential) for entry in list_log_entries(acme)[before:]} == {(None, "")}


def test_restore_access_command_is_audited(acme, alice):
    alice.second_factor_since = datetime.now(tz=UTC)
    alice.save()
    arguments, left = COMMANDS["restore_access"]
    before = len(list_log_entries(acme))
    run_command("restore_access", *arguments)
    assert {entry.action for entry in list_log_entries(acme)[before:]} == left


def test_demo_data_is_audited():
    company = Company.objects.get(id=json.loads(run_command("demo", *COMMANDS["demo"][0]))["companyId"])
    logged = {entry.entity_type for entry in list_log_entries(company)}
    made = [
        model
        for model in list_company_models()
        if issubclass(model, Audited) and model.objects.for_company(company.id).exists()
    ]
    with_company = {"category"}  # the system's categories come with the company, which has an entry
    assert {get_entity_type(model) for model in made} - {None} - with_company <= logged
    assert "transaction" in {get_entity_type(model) for model in made}


def get_entity_type(model: type) -> str | None:
    """What the log calls a row, or the bulk act that made it; None for what is no fact of the company."""
    name = model.__name__[:1].lower() + model.__name__[1:]
    return {"membership": "member", "subscription": "subscriptionEvent", "notification": None}.get(name, name)
