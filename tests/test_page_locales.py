"""Every page is in the locale of who reads it: the profile's, else the browser's; what others read never is."""

from datetime import date
from decimal import Decimal

import pytest

from analytics.charts.key_figures import build_runway_figure
from analytics.queries.runway import Runway
from companies.locales import get_locale, use_locale
from companies.models import User
from tests.conftest import Api
from tests.ledger.conftest import Books

pytestmark = pytest.mark.django_db


@pytest.fixture
def get_page_html(sign_in_browser, alice, acme):
    client = sign_in_browser(alice, acme).client

    def get(path: str, languages: str = "") -> str:
        headers = {"Accept-Language": languages} if languages else {}
        return client.get(f"/app/companies/{acme.id}{path}", headers=headers).content.decode()

    return get


@pytest.fixture
def books(api: Api) -> Books:
    books = Books(api)
    books.create_transaction(books.create_account(), "-12345.60", "2026-01-31")
    return books


def test_page_uses_profile_locale_before_browser_locale(get_page_html, books, alice):
    assert "−€12,345.60" in get_page_html("/transactions")
    assert "31 Jan 2026" in get_page_html("/transactions")
    german = get_page_html("/transactions", "de-DE,de;q=0.9,en;q=0.5")
    assert "−12.345,60\u00a0€" in german
    assert "31.01.2026" in german
    assert "Jan 31, 2026" in get_page_html("/transactions", "en-US")
    User.objects.filter(pk=alice.pk).update(locale="de")
    assert "−12.345,60\u00a0€" in get_page_html("/transactions", "en-US")
    assert "12,345.60" not in get_page_html("/transactions", "en-US")


def test_pages_follow_the_locale_of_each_visit(get_page_html, books):
    period = "?startDate=2026-01-01&endDate=2026-02-28"
    american, german = get_page_html(period, "en-US"), get_page_html(period, "de")
    assert "12,345.60" in american
    assert "Jan 31, 2026" in american
    assert "12.345,60" in german
    assert "31.01.2026" in german
    assert "12,345.60" not in german
    assert "Jan 31, 2026" not in german
    again = get_page_html(period, "en-US")
    assert "12,345.60" in again
    assert "12.345,60" not in again


def test_chart_axes_are_localized(get_page_html, books):
    period = "?startDate=2026-01-01&endDate=2026-02-28"
    german = get_page_html(period, "de")
    assert "−12,5\u202fTsd." in german or "−10\u202fTsd." in german
    assert ">0\u00a0€<" in german, "the currency of the axis"
    assert "−€10k" in get_page_html(period, "en-US")


def test_csv_files_are_written_for_german_readers_and_api_values_are_not(get_page_html, books, api):
    plain = get_page_html("/overview/cash-balance.csv?startDate=2026-01-01&endDate=2026-02-28").splitlines()
    german = get_page_html("/overview/cash-balance.csv?startDate=2026-01-01&endDate=2026-02-28", "de").splitlines()
    assert (plain[0][:4], german[0][:5]) == ("Day,", "\ufeffTag;")
    assert [line.replace(",", ";").replace(".", ",") for line in plain[1:]] == german[1:]
    (row,) = api.get("transactions", headers={"Accept-Language": "de"}).json()
    assert (row["amountValue"], row["date"]) == ("-12345.60", "2026-01-31")


def test_form_parses_amounts_in_user_locale(sign_in_browser, alice, acme, books, api):
    client, base = sign_in_browser(alice, acme).client, f"/app/companies/{acme.id}"
    bank = api.get("accounts").json()[0]["id"]
    sent = {"accountId": bank, "date": "2026-02-01", "fromTo": "x", "description": "german", "amountValue": "1.234"}
    headers = {"Accept-Language": "de"}
    assert client.post(f"{base}/transactions/new", sent, headers=headers).status_code == 303
    made = next(each for each in api.get("transactions").json() if each["description"] == "german")
    assert made["amountValue"] == "1234.00"
    assert 'value="1234,00"' in client.get(f"{base}/transactions/{made['id']}/edit", headers=headers).content.decode()
    refused = client.post(f"{base}/transactions/new", sent | {"amountValue": "1.2.3"}, headers=headers)
    assert "Geben Sie einen Betrag ein, z. B. 1.234,56." in refused.content.decode()
    american = client.post(
        f"{base}/transactions/new", sent | {"description": "us"}, headers={"Accept-Language": "en-US"}
    )
    assert american.status_code == 400, "1.234 is not a valid amount of euros there"


def test_runway_months_are_localized():
    result = Runway(Decimal(4900), Decimal(-200), [date(2026, 1, 1)], Decimal("24.5"))
    with use_locale(get_locale("de")):
        assert build_runway_figure(result, currency="EUR").text == "24,5 Monate"
