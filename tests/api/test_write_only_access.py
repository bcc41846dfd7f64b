"""Who may write a resource and not read it: changes are made, and nothing of what is there comes back."""

import pytest

from companies.models import ApiKey, Membership
from ledger.models import Account
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def writer(make_api, acme):
    """An API client of Acme that may write everything and read nothing."""
    names = ("accounts", "transactions", "categories", "counterparties", "planning", "products", "subscriptions")
    return make_api(acme, *(f"{name}:write" for name in (*names, "company", "notifications")))


def test_create_without_read_permission_returns_the_id(writer, api, acme):
    made = writer.post("accounts", {"type": "bank", "name": "Main"})
    account = Account.objects.get()
    assert (made.status_code, made.json()) == (201, {"id": str(account.id)})
    assert made["Location"] == f"/companies/{acme.id}/accounts/{account.id}"
    assert "ETag" not in made
    body = {"accountId": str(account.id), "date": "2026-01-01", "amountValue": "1.00"}
    booked = writer.post("transactions", body)
    assert booked.json() == {"id": api.get("transactions").json()[0]["id"]}
    for path, sent in (
        ("categories", {"name": "Own", "plTypes": ["ga"]}),
        ("counterparties", {"type": "vendor", "name": "Nimbus"}),
        ("planned_transactions", body | {"name": "Rent", "startDate": "2026-01-01"}),
        ("products", {"name": "Plan"}),
    ):
        answer = writer.post(path, sent)
        assert (answer.status_code, set(answer.json())) == (201, {"id"}), path
        changed = writer.put(f"{path}/{answer.json()['id']}", {"name": "Else"})
        assert (changed.status_code, changed.json()) == (200, answer.json()), path
        assert "ETag" not in changed
        assert writer.delete(f"{path}/{answer.json()['id']}").json() == {"success": True}


def test_update_without_read_permission_returns_the_id(writer, acme, bank):
    for answer in (
        writer.put(f"accounts/{bank}", {}),
        writer.put(f"accounts/{bank}/archive"),
        writer.put(f"accounts/{bank}/change_group", {"accountGroupId": None}),
    ):
        assert (answer.status_code, answer.json()) == (200, {"id": bank})
    assert writer.put("", {"name": "Renamed"}).json() == {"id": str(acme.id)}
    balance = writer.put(f"accounts/{bank}/initial_balance", {"date": "2026-01-01", "amountValue": "5.00"})
    assert set(balance.json()) == {"id"}
    assert "ETag" not in balance


def test_bulk_change_without_read_permission_returns_no_counts(writer, api, bank):
    row = {"accountId": bank, "date": "2026-01-01", "amountValue": "-1.00", "externalId": "x"}
    stored = writer.post("transactions/import", {"transactions": [row, row], "onError": "skip"}).json()
    assert stored["importId"] == api.get("imports").json()[0]["id"]
    assert {name: stored[name] for name in stored if name != "importId"} == {
        "success": True,
        "count": None,
        "skippedBeforeDataStart": None,
        "skippedClosed": None,
        "dataStartDate": None,
        "duplicates": None,
        "possibleDuplicates": None,
        "errors": [],
        "dryRun": False,
    }
    ids = [api.get("transactions").json()[0]["id"]]
    category = api.get_category_id("hosting")
    chosen = {"selection": {"mode": "ids", "ids": ids}}
    assert writer.post("transactions/categorize", chosen | {"categoryId": category}).json() == {
        "success": True,
        "affected": None,
    }
    assert set(writer.post("transactions/uncategorize", chosen).json().values()) == {True, None}
    assert writer.post("transactions/batch_delete", {"transactionIds": ids}).json() == {
        "success": True,
        "deletedCount": None,
    }
    assert writer.delete(f"imports/{stored['importId']}").json() == {
        "success": True,
        "deletedCount": None,
        "changedCount": None,
    }


def test_rejected_write_without_read_permission_returns_no_etag(writer, api, bank):
    stale = writer.put(f"accounts/{bank}", {"name": "x"}, if_match='"other"')
    assert (stale.status_code, stale.json()["code"]) == (412, "precondition_failed")
    assert "ETag" not in stale
    assert "ETag" in api.put(f"accounts/{bank}", {"name": "x"}, if_match='"other"')


def test_idempotent_replay_respects_lost_read_permission(make_api, acme):
    caller = make_api(acme, "accounts:read", "accounts:write")
    body = {"type": "bank", "name": "Main"}
    first = caller.post("accounts", body, idempotency_key="k")
    assert first.json()["name"] == "Main"
    ApiKey.objects.filter(id=caller.key[4:40]).update(permissions=["accounts:write"])
    again = caller.post("accounts", body, idempotency_key="k")
    assert (again.status_code, again.json()) == (201, {"id": first.json()["id"]})
    assert again["Idempotency-Replayed"] == "true"
    assert again["Location"] == first["Location"]
    assert "ETag" not in again


def test_write_with_read_permission_returns_the_resource(make_api, acme):
    caller = make_api(acme, "accounts:read", "accounts:write")
    made = caller.post("accounts", {"type": "bank", "name": "Main"})
    assert made.json()["name"] == "Main"
    assert made["ETag"]


def test_edit_pages_require_read_permission(sign_in_browser, acme, bank):
    dora = factories.make_member(acme, "dora@acme.example", permissions=["accounts:write", "planning:write"])
    client, base = sign_in_browser(dora, acme).client, f"/app/companies/{acme.id}"
    for path in ("accounts/new", f"accounts/{bank}/edit", "planned/new"):
        assert client.get(f"{base}/{path}").status_code == 403, path
        assert client.post(f"{base}/{path}", {"name": ""}).status_code == 403, path
    Membership.objects.filter(user=dora).update(permissions=["accounts:write", "accounts:read"])
    assert client.get(f"{base}/accounts/{bank}/edit").status_code == 200
