"""Accounts, their groups and initial balances over HTTP."""

import pytest

from ledger.models import Account, AccountGroup, DayMovement, Transaction

pytestmark = pytest.mark.django_db


@pytest.fixture
def bank(api):
    return api.post("accounts", {"type": "bank", "name": "Main"}).json()


def test_new_account_takes_defaults_from_company_and_type(api):
    made = api.post("accounts", {"type": "bank", "name": "Main"})
    assert made.status_code == 201, made.content
    body = made.json()
    assert made["Location"] == f"/companies/{api.company.id}/accounts/{body['id']}"
    assert body["defaultCurrency"] == "EUR"
    assert body["includeInCashBalance"] is True
    assert body["importType"] == "manual"
    assert api.post("accounts", {"type": "loan", "name": "Loan"}).json()["includeInCashBalance"] is False
    assert api.get(f"accounts/{body['id']}").json() == body


def test_invalid_account_is_rejected_and_not_stored(api):
    for body, pointer, code in [
        ({"name": "Main"}, "#/type", "required"),
        ({"type": "bank"}, "#/name", "required"),
        ({"type": "vault", "name": "x"}, "#/type", "invalid_choice"),
        ({"type": "bank", "name": 1}, "#/name", "invalid_value"),
        ({"type": "bank", "name": "x", "order": "1"}, "#/order", "invalid_value"),
        ({"type": "bank", "name": "x", "order": 8388608}, "#/order", "out_of_range"),
        ({"type": "bank", "name": "x", "defaultCurrency": "XXX"}, "#/defaultCurrency", "invalid_choice"),
        ({"type": "bank", "name": "x", "includeInCashBalance": "yes"}, "#/includeInCashBalance", "invalid_value"),
        ({"type": "bank", "name": "x", "accountGroupId": "nope"}, "#/accountGroupId", "unknown_id"),
        (
            {"type": "bank", "name": "x", "accountGroupId": "00000000-0000-7000-8000-000000000000"},
            "#/accountGroupId",
            "unknown_id",
        ),
    ]:
        answer = api.post("accounts", body)
        assert answer.status_code == 400, body
        assert answer.json()["code"] == "validation_failed", body
        assert [(e["pointer"], e["code"]) for e in answer.json()["errors"]] == [(pointer, code)], body
        assert not Account.objects.exists(), body


def test_archived_accounts_leave_the_list_and_can_be_restored(api, bank):
    assert api.put(f"accounts/{bank['id']}/archive").json()["archived"] is True
    assert api.get("accounts").json() == []
    assert [a["id"] for a in api.get("accounts", {"archived": "true"}).json()] == [bank["id"]]
    assert [a["id"] for a in api.get("accounts", {"archived": "all"}).json()] == [bank["id"]]
    assert api.put(f"accounts/{bank['id']}/unarchive").json()["archived"] is False
    assert api.get("accounts").json()[0]["integration"] is None
    assert api.get("accounts", {"archived": "maybe"}).status_code == 400
    assert api.get("accounts", {"limit": "5"}).json()["errors"][0]["code"] == "unknown_parameter"


def test_account_group_with_accounts_cannot_be_deleted(api, bank):
    group = api.post("account_groups", {"name": "Banks"}).json()
    moved = api.put(f"accounts/{bank['id']}/change_group", {"accountGroupId": group["id"]})
    assert moved.json()["accountGroupId"] == group["id"]
    api.put(f"accounts/{bank['id']}/archive")
    refused = api.delete(f"account_groups/{group['id']}")
    assert (refused.status_code, refused.json()["code"]) == (409, "account_group_not_empty")
    assert AccountGroup.objects.count() == 1
    assert api.put(f"accounts/{bank['id']}/change_group", {}).status_code == 400
    assert api.put(f"accounts/{bank['id']}/change_group", {"accountGroupId": None}).status_code == 200
    assert api.delete(f"account_groups/{group['id']}").json() == {"success": True}
    assert api.get(f"account_groups/{group['id']}").status_code == 404


def test_initial_balance_is_a_transaction_of_the_account(api, bank):
    path = f"accounts/{bank['id']}/initial_balance"
    assert api.get(path).json() == {"transaction": None}
    stored = api.put(path, {"date": "2024-01-01", "amountValue": "100.00"})
    assert stored.status_code == 200, stored.content
    assert stored.json()["transaction"]["source"] == "initialBalance"
    assert stored.json()["transaction"]["amountValue"] == "100.00"
    assert stored["ETag"]
    api.put(path, {"date": "2024-02-01", "amountValue": "-7.50"})
    assert api.get(path).json()["transaction"]["amountValue"] == "-7.50"
    assert Transaction.objects.count() == 1
    moved = {str(m.date): m.amount for m in DayMovement.objects.exclude(count=0)}
    assert moved == {"2024-02-01": -7.5}
    assert api.delete(f"accounts/{bank['id']}").json() == {"success": True}
    assert not Transaction.objects.exists()


def test_account_with_transactions_cannot_be_deleted(api, bank):
    item = {"accountId": bank["id"], "date": "2024-01-01", "amountValue": "1.00"}
    assert api.post("transactions/import", {"transactions": [item]}).json()["count"] == 1
    api.put(f"accounts/{bank['id']}/initial_balance", {"date": "2024-01-01", "amountValue": "5"})
    refused = api.delete(f"accounts/{bank['id']}")
    assert (refused.status_code, refused.json()["code"]) == (409, "account_not_empty")
    assert Transaction.objects.count() == 2
