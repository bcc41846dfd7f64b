"""Shortcuts in the groups of the inbox: a key opens a folded group before it acts on it."""

import pytest
from playwright.sync_api import expect

from tests import factories
from tests.browser.conftest import sign_in_by_cookie

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_key_opens_folded_group(page, live_server, make_api):
    owner = factories.UserFactory(email="olga@acme.example")
    acme = factories.make_company(name="Acme", owner=owner)
    api = make_api(acme)
    bank = api.post("accounts", {"type": "bank", "name": "Bank"}).json()["id"]
    for number in range(9):
        row = {"accountId": bank, "date": "2026-03-01", "amountValue": "-5.00", "fromTo": f"Shop {number}"}
        assert api.post("transactions", row).status_code == 201
    sign_in_by_cookie(page, live_server.url, owner)
    page.goto(f"{live_server.url}/app/companies/{acme.id}/inbox/groups")
    group = page.locator("#o-9")
    group.focus()
    expect(group.locator("details.group-details")).not_to_have_attribute("open", "")
    page.keyboard.press("c")
    expect(group.locator("details.group-details")).to_have_attribute("open", "")
    page.keyboard.press("c")
    expect(group.locator("select")).to_be_focused()
