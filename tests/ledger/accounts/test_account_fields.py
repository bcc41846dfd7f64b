"""Every field of accounts and groups, and what each operation does to it."""

import pytest

from ledger.models import Account
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db

FIELDS = {
    "id", "companyId", "type", "name", "accountNumber", "includeInCashBalance", "accountGroupId", "archived",
    "expectedAnnualReturn", "order", "defaultCurrency", "defaultCategoryId", "importType", "transitCurrency",
    "importSettings", "bankConnection", "createdTime", "createdUserId", "lastUpdatedTime", "lastUpdatedUserId",
}  # fmt: skip
CONNECTION = {
    "type": "bankProviderA", "countryCode": "DE", "status": "active", "integrationId": "i-1",
    "expireTime": "2027-01-01T00:00:00Z", "lastSyncTime": "2026-01-01T00:00:00Z",
    "balanceMismatchReportedBalances": [1.5, 2], "balanceMismatchCalculatedBalance": 1.25, "balanceMismatchSince": None,
    "bankProviderAAccount": {
        "id": 7, "iban": "DE00", "accountHolderName": "A",
        "institution": {"id": 1, "name": "B", "bic": "C", "logoStored": True},
    },
    "createdUserId": None,
}  # fmt: skip


@pytest.fixture
def bank(api):
    return api.post("accounts", {"type": "bank", "name": "Main"}).json()


@pytest.fixture
def group(api):
    return api.post("account_groups", {"name": "Banks"}).json()


def test_account_has_every_field_and_listed_account_its_integration(api, bank):
    assert set(bank) == FIELDS
    (listed,) = api.get("accounts").json()
    assert set(listed) == FIELDS | {"integration"}
    assert listed["integration"] is None


def test_bank_and_cash_accounts_count_as_cash_by_default(api):
    for kind, cash in [
        ("bank", True),
        ("cash", True),
        ("creditCard", False),
        ("loan", False),
        ("transit", False),
        ("other", False),
    ]:
        with undo_changes():
            assert api.post("accounts", {"type": kind, "name": "x"}).json()["includeInCashBalance"] is cash
            body = api.post("accounts", {"type": kind, "name": "x", "includeInCashBalance": not cash}).json()
            assert body["includeInCashBalance"] is not cash, kind


def test_each_writable_account_field_can_be_changed_alone(api, bank):
    for field, value in [
        ("type", "transit"),
        ("name", "New"),
        ("accountNumber", "DE02"),
        ("accountNumber", None),
        ("includeInCashBalance", False),
        ("expectedAnnualReturn", -8388608),
        ("expectedAnnualReturn", None),
        ("order", 8388607),
        ("importType", "csv"),
        ("transitCurrency", "USD"),
        ("transitCurrency", None),
        ("importSettings", {"csv": {"separator": ";"}, "snake_case": {"a_b": 1}}),
        ("importSettings", None),
        ("defaultCurrency", "CHF"),
    ]:
        with undo_changes():
            changed = api.put(f"accounts/{bank['id']}", {field: value})
            assert changed.status_code == 200, changed.content
            assert changed.json()[field] == value
            assert {n for n in FIELDS if changed.json()[n] != bank[n]} <= {
                field,
                "lastUpdatedTime",
                *(["includeInCashBalance"] if field == "type" else []),
            }


def test_read_only_account_fields_do_not_change(api, bank):
    for field in ["archived", "bankConnection", "companyId", "id", "createdTime"]:
        answer = api.put(f"accounts/{bank['id']}", {field: {"type": "x"} if field == "bankConnection" else True})
        assert (answer.status_code, answer.json()) == (200, bank), field
        assert "Ignored-Fields" not in answer, field


def test_bank_connection_is_returned_as_stored(api, bank):
    Account.objects.filter(id=bank["id"]).update(bank_connection=CONNECTION)
    (listed,) = api.get("accounts").json()
    assert listed["bankConnection"] == CONNECTION
    assert listed["integration"] == {"id": "i-1", "type": "bankProviderA", "status": "active"}
    assert api.get(f"accounts/{bank['id']}").json()["bankConnection"] == CONNECTION


def test_account_group_has_every_field_and_can_be_changed(api, bank, group):
    assert set(group) == {
        "id", "companyId", "name", "archived", "order", "createdTime", "createdUserId", "lastUpdatedTime",
        "lastUpdatedUserId",
    }  # fmt: skip
    api.put(f"accounts/{bank['id']}/change_group", {"accountGroupId": group["id"]})
    changed = api.put(f"account_groups/{group['id']}", {"name": "Old", "archived": True, "order": -3}).json()
    assert (changed["name"], changed["archived"], changed["order"]) == ("Old", True, -3)
    (account,) = api.get("accounts").json()
    assert (account["accountGroupId"], account["archived"]) == (group["id"], False)


def test_archived_account_groups_are_listed_only_on_request(api, group):
    old = api.post("account_groups", {"name": "Old", "archived": True}).json()
    names_by_filter = {
        wanted: {g["name"] for g in api.get("account_groups", {"archived": wanted} if wanted else {}).json()}
        for wanted in ("", "true", "false", "all")
    }
    mine, theirs = {group["name"]}, {old["name"]}
    assert names_by_filter == {"": mine, "true": theirs, "false": mine, "all": mine | theirs}
    refused = api.get("account_groups", {"archived": "maybe"})
    assert [e["code"] for e in refused.json()["errors"]] == ["invalid_filter"]
    assert api.get(f"account_groups/{old['id']}").json() == old


def test_invalid_group_change_is_rejected_and_account_keeps_its_group(api, bank, group):
    path = f"accounts/{bank['id']}/change_group"
    api.put(path, {"accountGroupId": group["id"]})
    for body, pointer, code in [
        ({}, "#/accountGroupId", "required"),
        ({"accountGroupId": ""}, "#/accountGroupId", "unknown_id"),
        ({"accountGroupId": 5}, "#/accountGroupId", "unknown_id"),
        ({"accountGroupId": "00000000-0000-7000-8000-000000000000"}, "#/accountGroupId", "unknown_id"),
        ([], "#", "invalid_value"),
    ]:
        answer = api.put(path, body)
        assert answer.status_code == 400, body
        assert [(e["pointer"], e["code"]) for e in answer.json()["errors"]] == [(pointer, code)], body
        assert api.get(f"accounts/{bank['id']}").json()["accountGroupId"] == group["id"], body


def test_archiving_and_unarchiving_account_is_idempotent(api, bank):
    path = f"accounts/{bank['id']}"
    first = api.put(f"{path}/archive").json()
    assert api.put(f"{path}/archive").json() == first
    restored = api.put(f"{path}/unarchive").json()
    assert api.put(f"{path}/unarchive", {"anything": 1}).json() == restored
    assert restored["archived"] is False


def test_include_in_cash_balance_follows_type_until_set_explicitly(api):
    account = api.post("accounts", {"type": "bank", "name": "x"}).json()["id"]

    def cash(**values):
        answer = api.put(f"accounts/{account}", values)
        assert answer.status_code == 200, answer.content
        return answer.json()["includeInCashBalance"]

    assert [cash(type="loan"), cash(type="cash"), cash(name="y"), cash(type="creditCard")] == [False, True, True, False]
    whole = api.get(f"accounts/{account}").json()
    assert [cash(**whole), cash(**whole | {"name": "z"}), cash(**whole | {"type": "bank"})] == [False, False, True]
    assert [cash(includeInCashBalance=False), cash(type="cash"), cash(type="loan")] == [False, False, False]
    assert [cash(includeInCashBalance=True), cash(type="other"), cash(type="bank")] == [True, True, True]
