"""ETag, If-None-Match and If-Match on every single resource."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from ledger.models import Account, AccountGroup
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def resources(api, sign_in_browser, alice, acme):
    """Path → a valid change of the resource."""
    account = api.post("accounts", {"type": "bank", "name": "Main"}).json()["id"]
    group = api.post("account_groups", {"name": "Banks"}).json()["id"]
    api.put(f"accounts/{account}/initial_balance", {"date": "2024-01-01", "amountValue": "1.00"})
    return {
        "": {"name": "New"},
        f"accounts/{account}": {"name": "New"},
        f"account_groups/{group}": {"name": "New"},
        f"accounts/{account}/initial_balance": {"date": "2024-01-02", "amountValue": "2.00"},
    }


def test_matching_if_none_match_returns_304_without_body(api, resources):
    for path in resources:
        read = api.get(path)
        tag = read["ETag"]
        assert tag.startswith('"'), path
        for given in (tag, f"W/{tag}", f'"x", {tag}', "*"):
            answer = api.get(path, if_none_match=given)
            assert (answer.status_code, answer.content, answer["ETag"]) == (304, b"", tag), (path, given)
            assert answer["RateLimit-Limit"]
        for given in ('"x"', "", "garbage", 'W/"'):
            assert api.get(path, if_none_match=given).status_code == 200


def test_etag_changes_with_a_change_but_not_with_an_empty_update(api, resources):
    for path, change in resources.items():
        before = api.get(path)["ETag"]
        assert api.put(path, {} if "initial" not in path else api.get(path).json()["transaction"])["ETag"] == before, (
            path
        )
        changed = api.put(path, change)
        assert changed["ETag"] != before
        assert api.get(path)["ETag"] == changed["ETag"], path
        assert api.get(path, if_none_match=before).status_code == 200


def test_stale_if_match_returns_412_with_current_etag_and_changes_nothing(api, resources):
    for path, change in resources.items():
        current = api.get(path)["ETag"]
        for given in ('W/"other"', '"other"', "garbage", '"a", "b"'):
            answer = api.put(path, change, if_match=given)
            assert (answer.status_code, answer.json()["code"]) == (412, "precondition_failed")
            assert answer["Content-Type"] == "application/problem+json"
            assert answer["ETag"] == current
        assert api.get(path)["ETag"] == current


def test_if_match_accepts_current_etag_wildcard_and_lists(api, resources):
    for path, change in resources.items():
        assert api.put(path, change, if_match="*").status_code == 200
        tag = api.get(path)["ETag"]
        assert api.put(path, change, if_match=f'"old", {tag}').status_code == 200
        assert api.put(path, change, if_match=f'W/"old", {api.get(path)["ETag"]}').status_code == 200


def test_weak_tag_does_not_satisfy_if_match(api, resources):
    for path, change in resources.items():
        tag = api.get(path)["ETag"]
        for given in (f"W/{tag}", f'W/"old", W/{tag}'):
            answer = api.put(path, change, if_match=given)
            assert (answer.status_code, answer.json()["code"]) == (412, "precondition_failed"), path
            assert "weak tags" in answer.json()["detail"]
        assert api.get(path)["ETag"] == tag


def test_change_with_if_none_match_any_is_refused_if_the_resource_exists(api, resources):
    for path, change in resources.items():
        answer = api.put(path, change, if_none_match="*")
        assert (answer.status_code, answer.json()["code"]) == (412, "precondition_failed"), path
        assert answer["ETag"] == api.get(path)["ETag"]


def test_change_with_if_none_match_any_creates_missing_resource(api):
    account = api.post("accounts", {"type": "bank", "name": "Main"}).json()["id"]
    path, balance = f"accounts/{account}/initial_balance", {"date": "2024-01-01", "amountValue": "1.00"}
    assert api.put(path, balance, if_none_match="*").status_code == 200
    assert api.put(path, balance, if_none_match="*").status_code == 412


def test_if_match_without_any_etag_is_rejected(api, resources):
    """What a client sends that lost the tag must not overwrite what it did not see."""
    for path, change in resources.items():
        for given in ("", ",", " , "):
            answer = api.put(path, change, if_match=given)
            assert answer.status_code == 412, (path, given)
            assert answer["ETag"] == api.get(path)["ETag"]


def test_delete_with_stale_if_match_is_rejected(api, resources):
    for path in resources:
        if path.count("/") != 1:
            continue
        assert api.delete(path, if_match='"other"').status_code == 412
        assert api.delete(path, if_match=api.get(path)["ETag"]).status_code == 200
        assert api.get(path).status_code == 404
    assert not Account.objects.exists()
    assert not AccountGroup.objects.exists()


def test_account_actions_check_if_match(api, resources):
    account = next(path for path in resources if path.startswith("accounts/"))
    for act, body in (("archive", None), ("unarchive", None), ("change_group", {"accountGroupId": None})):
        assert api.put(f"{account}/{act}", body, if_match='"other"').status_code == 412


def test_create_returns_etag_of_the_resource(api):
    made = api.post("accounts", {"type": "bank", "name": "Main"})
    assert api.get(made["Location"])["ETag"] == made["ETag"]


def test_company_etag_changes_with_related_data(api, acme):
    acme.last_overall_updated_time = acme.last_overall_updated_time.replace(year=2020)
    acme.save(update_fields=["last_overall_updated_time"])
    tag = api.get("")["ETag"]
    api.post("account_groups", {"name": "Banks"})
    again = api.get("", if_none_match=tag)
    assert again.status_code == 200
    assert not again.json()["lastOverallUpdatedTime"].startswith("2020")
    assert api.put("", {"name": "New"}, if_match=tag).status_code == 200


def test_responses_are_private_and_vary_by_credential(api):
    answer = api.get("")
    assert "private" in answer["Cache-Control"]
    assert {"Authorization", "Cookie"} <= {name.strip() for name in answer["Vary"].split(",")}


@pytest.fixture
def extended_resources(api, acme):
    """Path → a change of a resource whose representation has more than its own row: uses, current value."""
    account = api.post("accounts", {"type": "bank", "name": "Main"}).json()["id"]
    booked = {"accountId": account, "date": "2024-01-01", "amountValue": "-5.00"}
    transaction = api.post("transactions", booked).json()["id"]
    category = api.post("categories", {"name": "Trips", "plTypes": ["ga"]}).json()["id"]
    part = {"categoryId": category, "plSplit": {"ga": -5}}
    api.put(f"transactions/{transaction}/categorizations", {"categorizations": {"a": part}})
    sent = {"file": SimpleUploadedFile("a.csv", b"a;b\n1;2\n"), "transactionIds": transaction}
    file = api.client.post(api.path("files"), sent, headers=api.headers).json()["id"]
    subscription = api.post("subscriptions", {"customerId": str(factories.make_customer(acme).id)}).json()["id"]
    event = {"effectiveDate": "2024-01-01", "amountValue": "10.00", "amountCurrency": "EUR"}
    api.post("subscription_events", event | {"subscriptionId": subscription})
    return {
        f"categories/{category}": {"name": "New"},
        f"files/{file}": {"parseStatus": "parsed"},
        f"subscriptions/{subscription}": {"externalId": "new"},
    }


def test_etag_of_412_equals_etag_of_resource_with_related_data(api, extended_resources):
    """A client that takes the tag of the 412 for the current one is told 304 when it reads."""
    for path, change in extended_resources.items():
        current = api.get(path)["ETag"]
        for answer in (
            api.put(path, change, if_match='"other"'),
            api.put(path, change, if_match='"other"', idempotency_key=path),
            api.delete(path, if_match='"other"'),
        ):
            assert (answer.status_code, answer["ETag"]) == (412, current), path
        assert api.get(path, if_none_match=answer["ETag"]).status_code == 304
        changed = api.put(path, change, if_match=answer["ETag"])
        assert (changed.status_code, changed["ETag"]) == (200, api.get(path)["ETag"]), path
