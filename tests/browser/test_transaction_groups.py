"""Groups of transactions: "VAT for all" fills the rates that nobody changed, and all groups are accepted at once."""

from decimal import Decimal

import pytest
from playwright.sync_api import expect

from ledger.models import Categorization
from tests import factories
from tests.browser.test_inbox_walk import sign_in_and_open
from tests.ledger.conftest import Books
from tests.run_date import TODAY

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def acme(site):
    return factories.make_company(name="Acme", owner=factories.UserFactory(email="olga@acme.example"))


@pytest.fixture
def rows(make_api, acme, settings):
    """Payments to suppliers in Germany, in Ireland, and in Germany, from top to bottom."""
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]
    books = Books(make_api(acme))
    books.api.put("", {"timeZone": "Europe/Berlin", "standardTaxPercent": 19})
    bank = books.create_account()
    names = ("Hetzner Online GmbH", "AWS EMEA Ltd", "netcup GmbH")
    return [books.create_transaction(bank, "-119.00", str(TODAY), fromTo=name)["id"] for name in names]


def test_rate_for_all_fills_rates_that_were_not_changed(page, complaints, site, acme, rows):
    sign_in_and_open(page, site, acme, "/inbox/groups")
    german, irish, other = (page.locator(f"[name='tax-{row}']") for row in rows)
    for_all = page.get_by_label("VAT for all")
    expect(german).to_have_value("19")
    expect(irish).to_have_value("")
    other.fill("16")
    for_all.fill("7")
    expect(german).to_have_value("7")
    expect(irish).to_have_value("7")
    expect(other).to_have_value("16")
    for_all.fill("")
    expect(german).to_have_value("19")
    expect(irish).to_have_value("")
    for_all.fill("7")
    german.fill("19")  # the suggested one again, which stays
    page.get_by_role("button", name="Categorize as Hosting").click()
    expect(page.get_by_role("status").first).to_contain_text("3 transactions categorized.")
    taxes = dict(Categorization.objects.for_company(acme.id).values_list("transaction_id", "pass_through_tax"))
    assert [taxes[row_id] for row_id in sorted(taxes)] == [Decimal("-19"), Decimal("-7.79"), Decimal("-16.41")]


def test_all_groups_are_accepted_with_the_boxes_and_rates_shown(page, complaints, site, acme, rows, make_api):
    books = Books(make_api(acme))
    bank = books.api.get("accounts").json()[0]["id"]
    unknown = books.create_transaction(bank, "-5.00", str(TODAY), fromTo="Somebody new")["id"]
    chosen = books.create_transaction(bank, "-6.00", str(TODAY), fromTo="Somebody else")["id"]
    sign_in_and_open(page, site, acme, "/inbox/groups")
    page.locator(f"[name='tax-{rows[0]}']").fill("16")
    page.locator(f".transaction-group [value^='{rows[2]}']").uncheck()
    page.get_by_label("Category of Somebody else").select_option(index=1)
    page.get_by_role("button", name="Accept all groups").click()
    expect(page.get_by_role("status").first).to_contain_text("3 transactions categorized.")
    taxes = dict(Categorization.objects.for_company(acme.id).values_list("transaction_id", "pass_through_tax"))
    assert {str(row_id) for row_id in taxes} == {rows[0], rows[1], chosen}
    assert {str(row_id): tax for row_id, tax in taxes.items()}[rows[0]] == Decimal("-16.41")
    assert unknown not in taxes
