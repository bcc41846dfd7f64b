"""Pages with the longest names and amounts, on the narrowest screen, and on paper."""

import pytest
from playwright.sync_api import expect

from ledger.accounts import opening
from ledger.transactions import booking
from planning import scheduling
from planning.models import Source
from tests import factories
from tests.browser.fonts import too_wide
from tests.days import TODAY

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PASSWORD = "correct horse battery"
WORD = "Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbeamtengesellschaft"
AMOUNT = "-987654321012345.67"


@pytest.fixture
def desk(page, live_server):
    """A company whose names are words without an end, its amounts of fifteen digits; a browser of its owner."""
    owner = factories.UserFactory(email="olga@acme.example", password=PASSWORD)
    company, stamp = factories.company(name=WORD, base_currency="IDR", owner=owner), factories.stamp()
    values = {"type": "bank", "name": WORD * 2, "account_number": "x" * 60}
    bank = opening.open_account(company=company, stamp=stamp, values=values)
    values = {"account_id": bank.id, "date": TODAY, "amount_value": AMOUNT, "from_to": WORD * 2, "description": WORD}
    row = booking.book(company=company, stamp=stamp, values=values)
    values = {"account_id": bank.id, "name": WORD * 2, "start_date": TODAY, "amount_value": AMOUNT}
    planned = scheduling.plan(company=company, stamp=stamp, source=Source.MANUAL, values=values)
    page.goto(f"{live_server.url}/app/companies/{company.id}")
    page.get_by_label("E-mail address").fill(owner.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    paths = (
        "", "/transactions", f"/transactions/{row.id}", f"/transactions/{row.id}/split",
        f"/transactions/{row.id}/link", "/accounts", f"/accounts/{bank.id}", "/planned", "/planned/rules",
        f"/planned/{planned.id}", "/settings", "/settings/members", "/settings/activity", "/settings/api-keys",
    )  # fmt: skip
    return page, [f"{live_server.url}/app/companies/{company.id}{path}" for path in paths]


@pytest.mark.browser_context_args(bypass_csp=True)
@pytest.mark.parametrize("width", [1280, 360])
def test_no_name_and_no_amount_is_wider_than_the_page(desk, width):
    page, addresses = desk
    page.set_viewport_size({"width": width, "height": 800})
    wide = []
    for address in addresses:
        page.goto(address)
        wide += too_wide(page, width)
    assert wide == []


def test_every_part_of_a_company_is_in_sight_on_a_phone(desk):
    page, addresses = desk
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(addresses[0])
    for name in ("Overview", "Transactions", "Accounts", "Cash plan", "Settings"):
        expect(page.get_by_role("link", name=name, exact=True)).to_be_in_viewport(ratio=1)


def test_on_paper_stand_the_company_and_the_numbers_and_nothing_to_press(desk):
    page, addresses = desk
    page.emulate_media(media="print")
    page.goto(addresses[0])
    expect(page.get_by_text(WORD, exact=True)).to_be_visible()
    expect(page.get_by_role("table", name="Accounts in IDR")).to_be_visible()
    page.goto(addresses[1])
    expect(page.get_by_role("table", name="Transactions")).to_be_visible()
    assert page.get_by_role("button").count() == 0
