"""Folded groups of the inbox: a key opens one before it acts on it, and small ones are open on wide screens."""

import pytest
from playwright.sync_api import expect

from tests import factories
from tests.browser.conftest import sign_in_by_cookie
from tests.browser.page_length import PHONE

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def groups_page(page, live_server, make_api):
    """Nine groups of three payments, and one of a single payment."""
    owner = factories.UserFactory(email="olga@acme.example")
    acme = factories.make_company(name="Acme", owner=owner)
    api = make_api(acme)
    bank = api.post("accounts", {"type": "bank", "name": "Bank"}).json()["id"]
    for number in (*range(9), *range(9), *range(10)):
        row = {"accountId": bank, "date": "2026-03-01", "amountValue": "-5.00", "fromTo": f"Shop {number}"}
        assert api.post("transactions", row).status_code == 201
    sign_in_by_cookie(page, live_server.url, owner)
    page.goto(f"{live_server.url}/app/companies/{acme.id}/inbox/groups")
    return page


def test_key_opens_folded_group(groups_page):
    page, group = groups_page, groups_page.locator("#o-9")
    group.focus()
    expect(group.locator("details.group-details")).not_to_have_attribute("open", "")
    page.keyboard.press("c")
    expect(group.locator("details.group-details")).to_have_attribute("open", "")
    page.keyboard.press("c")
    expect(group.locator("select")).to_be_focused()


def test_small_group_is_open_on_wide_screens(groups_page):
    page, group = groups_page, groups_page.locator("#o-10")
    expect(group.locator(".group-row")).to_be_visible()
    expect(group.locator("summary")).to_be_hidden()
    group.focus()
    page.keyboard.press("c")
    expect(group.locator("select")).to_be_focused()
    page.set_viewport_size(PHONE)
    expect(group.locator(".group-row")).to_be_hidden()
    group.locator("summary").click()
    expect(group.locator(".group-row")).to_be_visible()
