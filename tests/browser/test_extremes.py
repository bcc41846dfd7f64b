"""Pages with the longest names and amounts, on the narrowest screen, and on paper."""

import pytest
from playwright.sync_api import expect

from ledger.accounts.actions import accounts
from ledger.transactions.actions import transactions
from planning.models import PlannedSource
from planning.planned_transactions.actions import planned_transactions
from tests import factories
from tests.browser.conftest import sign_in_by_cookie
from tests.browser.fonts import list_too_wide
from tests.run_date import TODAY

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LONG_WORD = "Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbeamtengesellschaft"
AMOUNT = "-987654321012345.67"


@pytest.fixture
def desk(page, live_server):
    """A company whose names are words without an end, its amounts of fifteen digits; a browser of its owner."""
    owner = factories.UserFactory(email="olga@acme.example")
    company, audit_context = (
        factories.make_company(name=LONG_WORD, base_currency="IDR", owner=owner),
        factories.make_audit_context(),
    )
    values = {"type": "bank", "name": LONG_WORD * 2, "account_number": "x" * 60}
    bank = accounts.create_account(company=company, context=audit_context, values=values)
    values = {
        "account_id": bank.id,
        "date": TODAY,
        "amount_value": AMOUNT,
        "from_to": LONG_WORD * 2,
        "description": LONG_WORD,
    }
    row = transactions.create_transaction(company=company, context=audit_context, values=values)
    values = {"account_id": bank.id, "name": LONG_WORD * 2, "start_date": TODAY, "amount_value": AMOUNT}
    planned = planned_transactions.create_planned_transaction(
        company=company, context=audit_context, source=PlannedSource.MANUAL, values=values
    )
    sign_in_by_cookie(page, live_server.url, owner)
    paths = (
        "", "/transactions", f"/transactions/{row.id}", f"/transactions/{row.id}/split",
        f"/transactions/{row.id}/link", "/accounts", f"/accounts/{bank.id}", "/planned", "/planned/rules",
        f"/planned/{planned.id}", "/settings", "/settings/members", "/settings/activity", "/settings/api-keys",
    )  # fmt: skip
    return page, [f"{live_server.url}/app/companies/{company.id}{path}" for path in paths]


def test_long_names_and_amounts_do_not_exceed_page_width(desk):
    page, addresses = desk
    wide = []
    for address in addresses:
        page.goto(address)
        wide += list_too_wide(page, 1280, 360)
    assert wide == []


def test_company_navigation_is_visible_on_phone(desk):
    page, addresses = desk
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(addresses[0])
    page.locator(".menu-toggle summary").click()
    for name in ("Overview", "Transactions", "Accounts", "Cash plan", "Settings"):
        expect(page.get_by_role("link", name=name, exact=True)).to_be_in_viewport(ratio=1)


def test_printed_pages_show_company_and_numbers_without_buttons(desk):
    page, addresses = desk
    page.emulate_media(media="print")
    page.goto(addresses[0])
    expect(page.get_by_text(LONG_WORD, exact=True)).to_be_visible()
    expect(page.get_by_role("table", name="Accounts in IDR")).to_be_visible()
    page.goto(addresses[1])
    expect(page.get_by_role("table", name="Transactions")).to_be_visible()
    assert page.get_by_role("button").count() == 0
