"""A sandbox is a copy of a company for its member alone: everything is in it but access, and it ends after its time."""

import io
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.apps import apps
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction

from companies import hooks
from companies.actions.companies import update_company
from companies.actions.company_data import list_company_models
from companies.models import AuditEntry, Company, DirectoryEntry, Membership
from companies.permissions import Role
from ledger.files import quota
from ledger.models import (
    Closing,
    DismissedMatch,
    File,
    ImportDuplicates,
    PendingSnapshot,
    SavedView,
    TransactionSnapshot,
)
from notifications.models import Notification
from tests import factories
from tests.api.example_files import PNG
from tests.api.request_bodies import BODIES, build_form
from tests.conftest import Api
from tests.ledger.files.einvoice_documents import build_ubl
from tests.test_isolation import create_tenant_rows, digest_all_rows

pytestmark = pytest.mark.django_db
BELONGS_TO_ORIGINAL = {  # left out of a copy, by decision
    "companies.ApiKey", "companies.AuditEntry", "companies.FailedRequest",
    "companies.MaintenanceCheckpoint", "companies.Membership", "ledger.AuditEntryTransaction", "ledger.ChangeEntry",
    "ledger.FigureChange", "ledger.ReportLink",
    "notifications.Notification", "oauth.ConsentGrant", "webhooks.WebhookDelivery", "webhooks.WebhookEndpoint",
}  # fmt: skip
MADE_FOR_COPY = {"ledger.Closing", "ledger.Reopening"}  # with digests that name the copy


@pytest.fixture
def alice_api(sign_in_browser, alice, acme):
    """An API client with Alice's session."""
    return sign_in_browser(alice, acme)


@pytest.fixture
def march_payment(api):
    """The id of a payment in March."""
    bank = api.post("accounts", {"name": "Bank", "type": "bank"}).json()["id"]
    return api.post("transactions", {"accountId": bank, "date": "2026-03-15", "amountValue": "-100.00"}).json()["id"]


@pytest.fixture
def create_sandbox(alice_api):
    def create(name="What if", **more):
        answer = alice_api.post("copy", {"name": name, **more})
        assert answer.status_code == 201, answer.content
        return Api(Company.objects.get(id=answer.json()["id"]), session=alice_api.client)

    return create


def refused(answer):
    return answer.status_code, answer.json()["code"]


# ---------------------------------------------------------------------------------------------- the copy


def test_copy_is_a_sandbox_that_expires_after_thirty_days(alice_api, acme):
    before = datetime.now(tz=UTC)
    answer = alice_api.post("copy", {"name": "What if"})
    assert answer.status_code == 201
    sandbox = answer.json()
    assert answer["Location"].endswith(f"/companies/{sandbox['id']}")
    assert (sandbox["name"], sandbox["systemStatus"], sandbox["testToday"]) == ("What if", "sandbox", None)
    expires = datetime.fromisoformat(sandbox["systemSandboxExpireTime"])
    assert timedelta(0) <= expires - before - timedelta(days=30) < timedelta(minutes=5)
    listed = {each["id"]: each["role"] for each in alice_api.get("/companies").json()}
    assert listed == {str(acme.id): "owner", sandbox["id"]: "owner"}
    copied = AuditEntry.objects.for_company(acme.id).get(action="company.copied")
    assert copied.after["sandbox"] == sandbox["id"]


@pytest.mark.parametrize("days", [1, 365])
def test_copy_expires_after_the_days_asked_for(create_sandbox, days):
    sandbox = create_sandbox(expiresInDays=days).company
    assert sandbox.system_sandbox_expire_time - sandbox.created_time == timedelta(days=days)


def test_bad_copy_request_is_refused_and_copies_nothing(alice_api):
    for body in [
        {},
        {"name": ""},
        {"name": "x", "expiresInDays": 0},
        {"name": "x", "expiresInDays": 366},
        {"name": "x", "expiresInDays": "3"},
    ]:
        assert alice_api.post("copy", body).status_code == 400
        assert Company.objects.count() == 1, body


def test_settings_are_copied(api, create_sandbox):
    settings = {"baseCurrency": "USD", "timeZone": "Asia/Tokyo", "plShowAllCategories": True, "domain": "acme.example",
                "dataStartDate": "2024-01-01", "valuationCategory": "aiNative", "autoCategorize": True}  # fmt: skip
    assert api.put("", settings).status_code == 200
    sandbox = create_sandbox().get().json()
    assert {name: sandbox[name] for name in settings} == settings


def test_logo_is_copied_and_stays_when_the_original_changes_it(api, create_sandbox):
    path = api.put("logo", {"imageBase64": PNG}).json()["customLogoPath"]
    sandbox = create_sandbox()
    copied_path = sandbox.get().json()["customLogoPath"]
    assert copied_path not in (None, path)
    api.delete("logo")
    assert sandbox.client.get(f"/assets/{copied_path}").status_code == 200


def list_rows(model, company):
    """A table's rows of a company as texts, without the company."""
    columns = ", ".join(
        f'"{field.column}"::text' for field in model._meta.concrete_fields if field.column and field.name != "company"
    )
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT {columns} FROM "{model._meta.db_table}" WHERE company_id = %s', [company.id])
        return sorted(cursor.fetchall(), key=str)


def test_every_table_is_copied_or_named_as_left_out(api, alice, create_sandbox, acme):
    """A new table without a row here fails: make one in create_tenant_rows, or leave the table out by name."""
    fill_rare_tables(api, create_tenant_rows(api, alice))
    sandbox, wrong, empty = create_sandbox().company, [], []
    uncopied = {model._meta.label for model in hooks.UNCOPIED_MODELS}
    assert uncopied == BELONGS_TO_ORIGINAL | MADE_FOR_COPY
    with_company = [m for m in apps.get_models() if any(each.name == "company" for each in m._meta.fields)]
    assert set(list_company_models()) == set(with_company)
    for model in with_company:
        if model._meta.label in BELONGS_TO_ORIGINAL | MADE_FOR_COPY:
            continue
        rows = list_rows(model, acme)
        if not rows:
            empty.append(model._meta.label)
        elif list_rows(model, sandbox) != rows:
            wrong.append(model._meta.label)
    assert (wrong, empty) == ([], [])
    check_derived(sandbox)


def fill_rare_tables(api, rows):
    """Rows of the tables that the tenant of the isolation tests has none of."""
    assert api.put("reports/2024-01/commentary", {"text": "x"}).status_code == 200
    company_id, batch = api.company.id, {"import_batch_id": rows["imports"]}
    transaction_id = rows["transactions"]
    TransactionSnapshot.objects.create(
        company_id=company_id, run_id=rows["categorization_runs"], transaction_id=transaction_id, auto_assigned=False,
        parts=[],
    )  # fmt: skip
    DismissedMatch.objects.create(company_id=company_id, transaction_id=transaction_id, other_id=rows["partner"])
    PendingSnapshot.objects.create(company_id=company_id, transaction_id=transaction_id, facts={}, **batch)
    ImportDuplicates.objects.create(company_id=company_id, transaction_ids=[transaction_id], **batch)
    SavedView(company_id=company_id, person_id=rows["users"], name="Mine", query="open=true").mark_created(
        factories.make_audit_context()
    ).save(force_insert=True)
    body = build_form("statements", {"accountId": rows["accounts"]})
    assert api.client.post(api.path("statements"), body, headers=api.headers).status_code == 200
    api.post("data/monthlyData", BODIES["data/monthlyData"] | {"productIds": None})
    document = SimpleUploadedFile("invoice.xml", build_ubl(), content_type="application/xml")
    file = api.client.post(api.path("files"), {"file": document}, headers=api.headers).json()["id"]
    planned = api.post(f"files/{file}/plan", {"accountId": rows["accounts"], "direction": "out"}).json()
    write_off = {"date": planned["startDate"], "reason": "Disputed"}
    answer = api.post(f"planned_transactions/{planned['id']}/write_off", write_off)
    assert answer.status_code == 200, answer.content


def check_derived(company):
    call_command("rebuild_derived", check=True, company=str(company.id), stdout=io.StringIO())


def test_only_what_belongs_to_the_member_is_copied_of_other_people(
    api, alice, bob, create_sandbox, acme, sign_in_browser
):
    for person in (alice, bob):
        SavedView(company=acme, person=person, name="Open", shared=True).mark_created(
            factories.make_audit_context()
        ).save(force_insert=True)
    sandbox = create_sandbox()
    assert [view.person_id for view in SavedView.objects.for_company(sandbox.company.id)] == [alice.id]
    assert [each["email"] for each in sandbox.get("members").json()] == ["alice@acme.example"]
    assert sandbox.get("api_keys").json() == []
    assert Api(sandbox.company, key=api.key).get().status_code == 404
    assert sign_in_browser(bob, sandbox.company).get().status_code == 404


def test_changes_in_a_copy_leave_the_original_alone_and_the_reverse(api, alice, create_sandbox, acme):
    rows = create_tenant_rows(api, alice)
    sandbox = create_sandbox()
    before = digest_all_rows(acme)
    assert sandbox.delete(f"transactions/{rows['transactions']}").status_code == 200
    assert sandbox.put(f"accounts/{rows['accounts']}", {"name": "Other"}).status_code == 200
    assert sandbox.delete(f"files/{rows['files']}").status_code == 200
    assert digest_all_rows(acme) == before
    there = digest_all_rows(sandbox.company)
    assert api.put(f"accounts/{rows['accounts']}", {"name": "Third"}).status_code == 200
    assert digest_all_rows(sandbox.company) == there
    check_derived(sandbox.company)


def test_closed_months_are_copied_with_a_chain_of_their_own(api, march_payment, create_sandbox, acme):
    for path, body in (
        ("closings", {"month": "2026-03", "acknowledge": True}),
        ("closings/2026-03/reopen", {"reason": "Late invoice"}),
        ("closings", {"month": "2026-03", "acknowledge": True}),
    ):
        assert api.post(path, body).status_code in (200, 201)
    sandbox = create_sandbox()
    assert sandbox.get().json()["closedThrough"] == "2026-03-31"
    own, copied = (caller.get("closings/2026-03").json() for caller in (api, sandbox))
    assert (copied["figures"], copied["version"]) == (own["figures"], 2)
    assert copied["digest"] != own["digest"]
    assert refused(sandbox.delete(f"transactions/{march_payment}")) == (409, "period_closed")
    assert sandbox.get("closings/2026-03/differences").json() == []
    assert sandbox.post("closings/2026-03/reopen", {"reason": "Try"}).status_code == 200
    assert sandbox.delete(f"transactions/{march_payment}").status_code == 200
    (difference,) = (d for d in sandbox.get("closings/2026-03/differences").json() if d["figure"] == "balance")
    assert len(difference["because"]) == 1
    check_derived(sandbox.company)
    check_derived(acme)
    assert api.get().json()["closedThrough"] == "2026-03-31"


def test_derived_tables_are_computed_for_all_but_the_copied_company(api, march_payment, create_sandbox, acme):
    """The setting with which a copy skips triggers is of no use for another company, or one with closed months."""
    assert api.post("closings", {"month": "2026-03", "acknowledge": True}).status_code == 201
    sandbox = create_sandbox()
    for caller in (api, sandbox):
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('tidebook.copied_company', %s, true)", [str(caller.company.id)])
        bank = caller.get("accounts").json()[0]["id"]
        for day, status in (("2026-03-20", 409), ("2026-04-20", 201)):
            payment = {"accountId": bank, "date": day, "amountValue": "-5.00"}
            assert caller.post("transactions", payment).status_code == status
        check_derived(caller.company)


# ---------------------------------------------------------------------------------------------- files


@pytest.fixture
def file_id(api):
    file = SimpleUploadedFile("a.csv", b"a,b\n1,2\n", content_type="text/csv")
    answer = api.client.post(api.path("files"), {"file": file}, headers=api.headers)
    return answer.json()["id"]


@pytest.mark.parametrize("first", ["original", "copy"])
def test_file_content_is_shared_and_deleted_with_its_last_row(
    api, create_sandbox, file_id, first, django_capture_on_commit_callbacks
):
    sandbox = create_sandbox()
    path = File.objects.for_company(api.company.id).get().storage_path
    holders = [api, sandbox] if first == "original" else [sandbox, api]
    for holder, is_left in zip(holders, (True, False), strict=True):
        assert b"".join(holder.get(f"files/{file_id}/content").streaming_content) == b"a,b\n1,2\n"
        with django_capture_on_commit_callbacks(execute=True):
            assert holder.delete(f"files/{file_id}").status_code == 200
        assert default_storage.exists(path) == is_left


def test_copied_files_count_in_the_storage_quota(api, create_sandbox, alice_api, file_id, monkeypatch):
    create_sandbox()
    monkeypatch.setattr(quota, "MIB", 0.001)
    assert refused(alice_api.post("copy", {"name": "x"})) == (413, "quota_exceeded")
    assert Company.objects.count() == 2


# ---------------------------------------------------------------------------------------------- who may copy, and what


def test_only_a_session_copies_a_company(api, acme, viewer):
    assert refused(api.post("copy", {"name": "x"})) == (403, "permission_denied")
    assert refused(Api(acme, session=viewer).post("copy", {"name": "x"})) == (403, "permission_denied")


def test_member_has_the_same_permissions_in_the_copy(acme, sign_in_browser):
    held = ["company:read", "company:manage", "accounts:read"]
    person = factories.make_member(acme, "dan@acme.example", role=Role.EDITOR, permissions=held)
    answer = sign_in_browser(person, acme).post("copy", {"name": "x"})
    sandbox = Company.objects.get(id=answer.json()["id"])
    membership = Membership.objects.for_company(sandbox.id).get()
    assert (membership.role, sorted(membership.permissions)) == (Role.EDITOR, sorted(held))
    assert sign_in_browser(person, sandbox).get("transactions").status_code == 403


def test_sandbox_cannot_be_copied(create_sandbox):
    assert refused(create_sandbox().post("copy", {"name": "x"})) == (409, "copy_of_sandbox")


@pytest.mark.parametrize("status", ["expired", "cancelled"])
def test_read_only_company_cannot_be_copied(alice_api, acme, status):
    Company.objects.filter(id=acme.id).update(system_status=status)
    assert refused(alice_api.post("copy", {"name": "x"})) == (403, "company_expired")


def test_user_has_up_to_five_sandboxes(create_sandbox, alice_api):
    sandboxes = [create_sandbox() for _ in range(5)]
    assert refused(alice_api.post("copy", {"name": "x"})) == (409, "too_many_sandboxes")
    assert sandboxes[0].delete().status_code == 200
    create_sandbox()


# ---------------------------------------------------------------------------------------------- the end


def test_deleting_a_sandbox_leaves_no_row_of_it(api, alice, create_sandbox, acme):
    fill_rare_tables(api, create_tenant_rows(api, alice))
    sandbox = create_sandbox()
    assert sandbox.post("api_keys", {"name": "k", "permissions": ["company:read"]}).status_code == 201
    before = digest_all_rows(acme)
    assert sandbox.delete().json() == {"success": True}
    left = [
        model._meta.label
        for model in list_company_models()
        if model._base_manager.filter(company_id=sandbox.company.id).exists()
    ]
    assert left == []
    assert not DirectoryEntry.objects.filter(company_id=sandbox.company.id).exists()
    assert sandbox.get().status_code == 404
    assert digest_all_rows(acme) == before


def test_sandbox_with_closed_months_is_deleted(api, march_payment, create_sandbox):
    api.post("closings", {"month": "2026-03", "acknowledge": True})
    sandbox = create_sandbox()
    assert sandbox.delete().status_code == 200
    assert not Closing.objects.for_company(sandbox.company.id).exists()
    assert Closing.objects.for_company(api.company.id).count() == 1


def test_only_a_sandbox_can_be_deleted(api, alice_api, viewer, acme):
    assert refused(api.delete()) == refused(alice_api.delete()) == (409, "not_a_sandbox")
    assert refused(Api(acme, session=viewer).delete()) == (403, "permission_denied")
    assert Company.objects.filter(id=acme.id).exists()


def test_log_of_other_companies_stays_append_only(api, create_sandbox, acme):
    sandbox = create_sandbox().company
    for deleted, owner_of_rows in (("", sandbox), (sandbox.id, acme), (acme.id, acme)):
        with pytest.raises(IntegrityError), transaction.atomic():
            delete_log(owner_of_rows, deleted=deleted)


def delete_log(company, *, deleted):
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('tidebook.deleted_company', %s, true)", [str(deleted)])
        cursor.execute("DELETE FROM companies_auditentry WHERE company_id = %s", [company.id])


def test_daily_command_warns_a_week_before_and_deletes_at_the_end(create_sandbox, acme, alice):
    sandbox = create_sandbox().company
    end = sandbox.system_sandbox_expire_time
    notifications = Notification.objects.filter(type="sandbox.expiring")
    for time, count in ((end - timedelta(days=8), 0), (end - timedelta(days=7), 1), (end - timedelta(days=6), 1)):
        with time_machine.travel(time, tick=False):
            call_command("refresh_metrics", stdout=io.StringIO())
        assert notifications.count() == count
    (notification,) = notifications
    assert (notification.company_id, notification.recipient_id) == (sandbox.id, alice.id)
    assert notification.payload["title"].startswith("What if will be deleted on ")
    assert Company.objects.get(id=sandbox.id).system_deletion_warning == 7
    output = io.StringIO()
    with time_machine.travel(end, tick=False):
        call_command("refresh_metrics", "--round", "last", stdout=output)
    assert "1 expired sandboxes deleted." in output.getvalue()
    assert list(Company.objects.values_list("id", flat=True)) == [acme.id]


def test_sandbox_that_becomes_a_customer_has_no_end(create_sandbox, audit_context):
    sandbox = create_sandbox()
    sandbox.put("", {"testToday": "2026-02-01"})
    update_company(
        company=sandbox.company, context=audit_context, permissions=frozenset(), values={"system_status": "trial"}
    )
    company = sandbox.get().json()
    assert (company["systemStatus"], company["systemSandboxExpireTime"], company["testToday"]) == ("trial", None, None)
    with time_machine.travel(datetime.now(tz=UTC) + timedelta(days=40), tick=False):
        call_command("refresh_metrics", stdout=io.StringIO())
    assert Company.objects.filter(id=sandbox.company.id).exists()
