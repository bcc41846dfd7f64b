"""The audit log: one row a change, of who, when and what, that nobody can alter."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction

from companies.models import AuditEntry
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db


def get_last_entry(api, **filters):
    return api.get("audit_log", filters | {"limit": "1"}).json()[0]


def test_audit_entry_has_actor_time_request_id_and_change(api):
    group = api.post("account_groups", {"name": "Banks"}, x_request_id="req-1").json()
    row = get_last_entry(api)
    assert set(row) == {"id", "time", "actor", "action", "entityType", "entityId", "requestId", "before", "after"}
    assert row["actor"] == f"apiKey:{api.key[4:40]}"
    assert (row["action"], row["entityType"], row["entityId"]) == ("accountGroup.created", "accountGroup", group["id"])
    assert row["requestId"] == "req-1"
    assert row["time"] == group["createdTime"]
    assert row["before"] is None
    assert row["after"]["name"] == "Banks"


def test_audit_entry_shows_before_and_after_under_api_field_names(api):
    api.put("", {"plShowAllCategories": True, "dataStartDate": "2024-01-01", "name": "Acme"})
    row = get_last_entry(api)
    assert row["before"] == {"plShowAllCategories": False, "dataStartDate": None}
    assert row["after"] == {"plShowAllCategories": True, "dataStartDate": "2024-01-01"}


CHANGES = [
    ("account.created", lambda a, f: a.post("accounts", {"type": "bank", "name": "x"})),
    ("account.updated", lambda a, f: a.put(f"accounts/{f['account']}", {"name": "y"})),
    ("account.archived", lambda a, f: a.put(f"accounts/{f['account']}/archive")),
    ("account.groupChanged", lambda a, f: a.put(f"accounts/{f['account']}/change_group", {"accountGroupId": f["group"]})),
    ("account.deleted", lambda a, f: a.delete(f"accounts/{f['account']}")),
    ("initialBalance.created", lambda a, f: a.put(f"accounts/{f['account']}/initial_balance", {"date": "2024-01-01", "amountValue": "1"})),
    ("accountGroup.created", lambda a, f: a.post("account_groups", {"name": "x"})),
    ("accountGroup.updated", lambda a, f: a.put(f"account_groups/{f['group']}", {"archived": True})),
    ("accountGroup.deleted", lambda a, f: a.delete(f"account_groups/{f['group']}")),
    ("member.invited", lambda a, f: a.post("members", {"email": "d@acme.example", "role": "viewer"})),
    ("member.updated", lambda a, f: a.put(f"members/{f['member']}", {"role": "editor"})),
    ("member.removed", lambda a, f: a.delete(f"members/{f['member']}")),
    ("apiKey.created", lambda a, f: a.post("api_keys", {"name": "x", "permissions": ["accounts:read"]})),
    ("apiKey.revoked", lambda a, f: a.delete(f"api_keys/{f['key']}")),
    ("company.updated", lambda a, f: a.put("", {"name": "New"})),
    ("import.finished", lambda a, f: a.post("transactions/import", {"transactions": [{"accountId": f["account"], "date": "2024-05-01", "amountValue": "1"}] * 3})),
]  # fmt: skip


@pytest.fixture
def row_ids(api):
    return {
        "account": api.post("accounts", {"type": "bank", "name": "Main"}).json()["id"],
        "group": api.post("account_groups", {"name": "Banks"}).json()["id"],
        "member": api.post("members", {"email": "e@acme.example", "role": "viewer"}).json()["id"],
        "key": api.post("api_keys", {"name": "k", "permissions": ["accounts:read"]}).json()["id"],
    }


def test_each_change_creates_one_audit_entry(api, row_ids):
    before = AuditEntry.objects.count()
    for action, change in CHANGES:
        with undo_changes():
            assert change(api, row_ids).status_code in (200, 201), action
            rows = api.get("audit_log").json()
            assert len(rows) == before + 1, action
            assert rows[0]["action"] == action
            for values in (rows[0]["before"], rows[0]["after"]):
                assert not {name for name in values or {} if "_" in name or name in ("digest", "company")}, action


def test_import_creates_one_audit_entry_with_count(api, row_ids):
    row = {"accountId": row_ids["account"], "date": "2024-05-01", "amountValue": "1"}
    answer = api.post("transactions/import", {"transactions": [row] * 5}).json()
    logged = get_last_entry(api)
    assert (logged["entityId"], logged["after"]["count"]) == (answer["importId"], 5)


def test_rejected_and_empty_changes_create_no_audit_entry(api, row_ids):
    before = AuditEntry.objects.count()
    api.post("account_groups", {"name": 1})
    api.put(f"account_groups/{row_ids['group']}", {})
    api.put(f"accounts/{row_ids['account']}", {"name": "Main"})
    api.put(f"accounts/{row_ids['account']}/unarchive")
    api.put(f"members/{row_ids['member']}", {"role": "viewer"})
    api.delete("logo")
    assert AuditEntry.objects.count() == before


def test_audit_log_can_be_filtered(api, row_ids, sign_in_browser, alice, acme, now):
    sign_in_browser(alice, acme).put("", {"name": "New"})
    assert [row["action"] for row in api.get("audit_log", {"actor": str(alice.id)}).json()] == ["company.updated"]
    assert {row["entityType"] for row in api.get("audit_log", {"entityType": "accountGroup"}).json()} == {
        "accountGroup"
    }
    (row,) = api.get("audit_log", {"entityId": row_ids["group"]}).json()
    assert row["action"] == "accountGroup.created"
    whole = api.get("audit_log").json()
    assert api.get("audit_log", {"since": row["time"]}).json() == [
        each for each in whole if each["time"] >= row["time"]
    ]
    assert api.get("audit_log", {"since": (now + timedelta(days=1)).isoformat()}).json() == []
    assert api.get("audit_log", {"actor": "nobody", "entityType": "accountGroup"}).json() == []


def test_audit_log_shows_latest_entries_of_own_company_first(api, row_ids, globex_api):
    times = [row["time"] for row in api.get("audit_log").json()]
    assert times == sorted(times, reverse=True)
    theirs = {row["id"] for row in globex_api.get("audit_log").json()}
    assert not theirs & {row["id"] for row in api.get("audit_log").json()}


@pytest.mark.parametrize(
    "statement", ["UPDATE companies_auditentry SET actor = 'me'", "DELETE FROM companies_auditentry"]
)
def test_database_rejects_update_and_delete_of_audit_log(api, row_ids, statement):
    before = api.get("audit_log").json()
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert api.get("audit_log").json() == before


def test_database_rejects_truncate_of_audit_log():
    with connection.cursor() as cursor:
        cursor.execute(
            "ALTER TABLE companies_auditentry ENABLE TRIGGER audit_is_never_emptied"
        )  # see tests/conftest.py
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
            cursor.execute("TRUNCATE companies_company CASCADE")


def test_audit_log_cannot_be_changed_by_api(api, row_ids):
    row = get_last_entry(api)
    assert api.delete("audit_log").status_code == api.put("audit_log", {}).status_code == 405
    assert api.delete(f"audit_log/{row['id']}").status_code == 404
