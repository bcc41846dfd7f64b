"""The field "VAT for all" of a group fills the rates of its transactions, except those that somebody changed."""

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
