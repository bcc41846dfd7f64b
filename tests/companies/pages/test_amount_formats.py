"""Amounts as people type them: however their country parts thousands and decimals, or refused with a sentence."""

import html
from decimal import Decimal

import pytest
from babel.numbers import format_decimal
from hypothesis import given
from hypothesis import strategies as st

from companies.pages.amount_formats import AmountParseError, parse_typed_amount
from tests.ledger.conftest import Books


@given(
    st.decimals(-(10**15) + 1, 10**15 - 1, places=2),
    st.sampled_from(["en", "de", "fr", "de_CH", "sv", "pl", "it_CH"]),
)
def test_amount_with_cents_is_parsed_as_formatted_by_every_locale(amount, locale):
    assert Decimal(parse_typed_amount(format_decimal(amount, "#,##0.00;-#,##0.00", locale=locale))) == amount


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("1,234.56", "1234.56"), ("1.234,56", "1234.56"), ("1 234,56", "1234.56"), ("1'234.56", "1234.56"),
        ("1’234.56", "1234.56"), ("1\u202f234\u00a0567,8", "1234567.8"), ("1,234,567", "1234567"),
        ("1.234.567", "1234567"),
        ("12,5", "12.5"), ("-0,125", "-0.125"), ("−7", "-7"), (" 12.50 ", "12.50"), ("1234567,89", "1234567.89"),
        ("1 234", "1234"), ("1.234", "1.234"),
    ],
)  # fmt: skip
def test_unambiguous_separators_are_parsed(text, read):
    assert parse_typed_amount(text) == read


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1,234", "“1,234” could mean 1234 or 1.234. Enter it without thousands separators."),
        ("-12,345", "“-12,345” could mean -12345 or -12.345. Enter it without thousands separators."),
        *(
            (text, "Enter an amount such as 1234.56.")
            for text in (
                "much", "1,23,456.78", "1,234,56", "1.234.56", "12,34.56", "1,234,567.8.9", "1,,234.00", "1e3", "--1",
                "", ".5", "5.", "١٢", "1" * 16, "1,111,111,111,111,111.00", "1 234'567.00",
            )
        ),
    ],
)  # fmt: skip
def test_invalid_or_ambiguous_amount_shows_an_error(text, said):
    with pytest.raises(AmountParseError) as refused:
        parse_typed_amount(text)
    assert str(refused.value) == said


@pytest.mark.django_db
def test_amount_forms_accept_localized_amounts_and_reject_ambiguous_ones(sign_in_browser, alice, acme, api):
    books, client, base = Books(api), sign_in_browser(alice, acme).client, f"/app/companies/{acme.id}"
    bank = books.create_account()
    sent = {"accountId": bank, "date": "2026-01-10", "fromTo": "x", "description": "y"}
    assert client.post(f"{base}/transactions/new", sent | {"amountValue": "-1.234,56"}).status_code == 303
    (made,) = api.get("transactions").json()
    assert made["amountValue"] == "-1234.56"
    refused = client.post(f"{base}/transactions/new", sent | {"amountValue": "1,234"})
    assert refused.status_code == 400
    assert "“1,234” could mean 1234 or 1.234." in refused.content.decode()
    assert 'value="1,234"' in refused.content.decode(), "what was typed stays"
    client.post(f"{base}/accounts/{bank}/initial-balance", {"date": "2026-01-01", "amountValue": "10 000,00"})
    assert api.get(f"accounts/{bank}/initial_balance").json()["transaction"]["amountValue"] == "10000.00"
    planned = {
        "name": "Rent", "direction": "out", "amountValue": "1'500.00", "amountCurrency": "EUR", "accountId": bank,
        "startDate": "2026-12-01", "interval": "1", "endType": "never",
    }  # fmt: skip
    assert client.post(f"{base}/planned/new", planned).status_code == 303
    assert api.get("planned_transactions").json()[0]["amountValue"] == "-1500.00"
    office = books.get_category_id("officeAndAdmin")
    rule = {"row": f"{office}:ga", "month": "2026-02", "amount": "2,500.50", "currency": "EUR", "frequency": "1"}
    assert (
        client.post(f"{base}/plan/fill", rule | {"growth": "fixed", "duration": "", "percent": ""}).status_code == 303
    )
    assert api.get("plan_items").json()[0]["amount"]["amount"]["value"] == 2500.5
    page_text = client.get(f"{base}/transactions?maxAmount=-1%27234%2C00").content.decode()
    assert f"/transactions/{made['id']}" in page_text
    assert "could mean 1234 or 1.234" in client.get(f"{base}/transactions?minAmount=1,234").content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("language", "written", "message"),
    [
        ("de", "{} €", "Dieser Betrag ist in EUR, nicht in „$“. Geben Sie ihn in EUR ein."),
        ("en", "€{}", "This amount is in EUR, not “$”. Enter it in EUR."),
    ],
)
def test_amount_forms_accept_own_currency_sign_and_reject_others(
    sign_in_browser, alice, acme, api, language, written, message
):
    books, client, base = Books(api), sign_in_browser(alice, acme).client, f"/app/companies/{acme.id}"
    bank, office = books.create_account(), books.get_category_id("officeAndAdmin")
    row = books.create_transaction(bank, "-100.00")["id"]
    plain = {"accountId": bank, "date": "2026-01-10", "fromTo": "x", "description": "y"}
    planned = {
        "name": "Rent", "direction": "out", "accountId": bank, "startDate": "2026-12-01", "interval": "1",
        "endType": "never",
    }  # fmt: skip
    rule = {
        "row": f"{office}:ga", "month": "2026-02", "currency": "EUR", "frequency": "1", "growth": "fixed",
        "duration": "", "percent": "",
    }  # fmt: skip
    forms = [
        ("transactions/new", plain, "amountValue"),
        (f"transactions/{row}/edit", {"fromTo": "z"}, "amountValue"),
        (f"accounts/{bank}/initial-balance", {"date": "2026-01-01"}, "amountValue"),
        ("planned/new", planned, "amountValue"),
        ("plan/fill", rule, "amount"),
    ]
    for place, body, field in forms:
        sent = {field: written.format("+12.50" if language == "en" else "12,50")}
        done = client.post(f"{base}/{place}", body | sent, headers={"accept-language": language})
        assert done.status_code == 303, (place, done.content.decode()[:2000])
        refused = client.post(f"{base}/{place}", body | {field: "$ 12"}, headers={"accept-language": language})
        assert refused.status_code == 400, place
        assert message in html.unescape(refused.content.decode()), place
    results = {each["amountValue"] for each in api.get("transactions").json()}
    assert results == {"12.50"}
    minus = client.post(f"{base}/planned/new", planned | {"amountValue": "€ -5"})
    assert "Enter the amount without a minus sign." in minus.content.decode()
