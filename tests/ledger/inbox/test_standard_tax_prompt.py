"""The inbox asks for the standard VAT rate of a company that has not answered yet."""

import re

import pytest

from companies.permissions import Role
from tests import factories
from tests.ledger.conftest import get_page_text

pytestmark = pytest.mark.django_db
QUESTION = "Which VAT rate do your invoices usually have?"


@pytest.fixture(params=["inbox", "inbox/groups"])
def page_path(request, acme):
    return f"/app/companies/{acme.id}/{request.param}"


@pytest.fixture
def admin(sign_in_browser, acme):
    return sign_in_browser(factories.make_member(acme, "admin@acme.example", role=Role.ADMIN), acme).client


@pytest.fixture
def payment(books, bank):
    return books.create_transaction(bank, "-119.00", fromTo="Hetzner Online GmbH")["id"]


def save_rate(browser, path, **fields):
    return browser.post(path, {"act": "set-standard-tax", **fields}, follow=True)


@pytest.mark.parametrize(
    ("time_zone", "language", "rate"),
    [
        ("Europe/Berlin", "en", "19"),
        ("Europe/Zurich", "de", "8,1"),
        ("Europe/Helsinki", "en", "25.5"),
        ("UTC", "en", ""),
    ],
)
def test_question_is_filled_from_the_country_of_the_time_zone(
    admin, page_path, api, payment, time_zone, language, rate
):
    api.put("", {"timeZone": time_zone})
    page = admin.get(page_path, headers={"accept-language": language}).content.decode()
    assert re.search(r'name="standardTaxPercent"[^>]* value="([^"]*)"', page)[1] == rate
    assert ("Set your time zone" in page) == (time_zone == "UTC")


def test_saved_rate_is_suggested_and_the_question_is_gone(admin, page_path, api, payment):
    api.put("", {"timeZone": "Europe/Berlin"})
    assert QUESTION in get_page_text(admin.get(page_path))
    done = get_page_text(save_rate(admin, page_path, standardTaxPercent="19"))
    assert "Standard VAT rate saved: 19 %." in done
    assert "19 % VAT suggested" in done
    assert QUESTION not in done
    assert api.get("").json()["standardTaxPercent"] == 19


def test_no_vat_is_stored_as_zero_and_suggests_none(admin, page_path, api, payment):
    done = get_page_text(save_rate(admin, page_path, standardTaxPercent="19", none="1"))
    assert "No VAT is suggested." in done
    assert QUESTION not in done
    assert "% VAT" not in done
    assert api.get("").json()["standardTaxPercent"] == 0


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("", "Enter a percentage, such as 19 %."),
        ("much", "Enter a percentage, such as 19 %."),
        ("101", "Must be between 0 and 100."),
    ],
)
def test_invalid_rate_is_refused_and_shown_again(admin, page_path, api, payment, typed, message):
    refused = save_rate(admin, page_path, standardTaxPercent=typed)
    assert refused.status_code == 400
    assert message in get_page_text(refused)
    assert re.search(r'name="standardTaxPercent"[^>]* value="([^"]*)"', refused.content.decode())[1] == typed
    assert api.get("").json()["standardTaxPercent"] is None


def test_rate_that_was_set_meanwhile_is_not_overwritten(admin, page_path, api, payment):
    api.put("", {"standardTaxPercent": 7})
    for fields in ({"standardTaxPercent": "19"}, {"none": "1"}):
        answer = save_rate(admin, page_path, **fields)
        assert answer.status_code == 400
        assert "The standard VAT rate is already set. Change it in the settings." in get_page_text(answer)
    assert api.get("").json()["standardTaxPercent"] == 7


def test_question_needs_transactions_to_review(admin, page_path):
    assert QUESTION not in get_page_text(admin.get(page_path))


READS = ["company:read", "accounts:read", "categories:read", "transactions:read"]


@pytest.mark.parametrize("more", [[], ["transactions:write"], ["company:write"]])
def test_question_needs_permission_to_change_the_company(sign_in_browser, acme, api, page_path, payment, more):
    member = factories.make_member(acme, "member@acme.example", permissions=READS + more)
    browser = sign_in_browser(member, acme).client
    shown = browser.get(page_path)
    assert shown.status_code == 200
    assert QUESTION not in get_page_text(shown)
    assert save_rate(browser, page_path, standardTaxPercent="19").status_code == 403
    assert api.get("").json()["standardTaxPercent"] is None
