"""Where a company has one account that can be booked into, forms that ask for an account have it chosen."""

import re

import pytest

pytestmark = pytest.mark.django_db
CHOSEN = re.compile(r'<option value="([^"]+)" selected>')


@pytest.fixture
def list_chosen_accounts(sign_in_browser, alice, acme):
    def list_chosen_accounts(path, **posted):
        client, address = sign_in_browser(alice, acme).client, f"/app/companies/{acme.id}/{path}"
        answer = client.post(address, posted) if posted else client.get(address)
        select = re.search(r'<select id="accountId".*?</select>', answer.content.decode(), re.DOTALL)
        return CHOSEN.findall(select[0])

    return list_chosen_accounts


@pytest.fixture
def bank(api):
    old = api.post("accounts", {"name": "Old", "type": "bank"}).json()["id"]
    assert api.put(f"accounts/{old}/archive").status_code == 200
    return api.post("accounts", {"name": "Main", "type": "bank"}).json()["id"]


@pytest.mark.parametrize("path", ["transactions/new", "planned/new"])
def test_form_preselects_the_only_account(list_chosen_accounts, bank, path):
    assert list_chosen_accounts(path) == [bank]


@pytest.mark.parametrize("path", ["transactions/new", "planned/new"])
def test_form_preselects_no_account_of_several(list_chosen_accounts, api, bank, path):
    api.post("accounts", {"name": "Savings", "type": "bank"})
    assert list_chosen_accounts(path) == []


def test_form_with_submitted_empty_account_keeps_none(list_chosen_accounts, bank):
    assert list_chosen_accounts("planned/new", name="", accountId="", startDate="2026-01-01", amountValue="x") == []
