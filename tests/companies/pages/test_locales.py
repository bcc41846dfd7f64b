"""Amounts and days are written and read as the reader's place has them; files and the API stay as they are."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companies.locales import DEFAULT_LOCALE, LOCALE_NAMES, get_locale, use_locale
from companies.models import Currency
from companies.pages.amount_formats import (
    MINUS,
    AmountParseError,
    format_amount_for_input,
    format_money,
    parse_typed_amount,
)
from companies.templatetags.pages import format_file_size


@pytest.mark.parametrize(
    ("tag", "typed", "read"),
    [
        ("de", "1.234", "1234"), ("en-US", "1.234", "1.234"), ("de", "1,234", "1.234"), ("en-US", "1,234", "1234"),
        ("de", "1.234,56", "1234.56"), ("de", "1,234.56", "1234.56"), ("de", "12.50", "12.50"),
        ("de", "-12,50", "-12.50"),
        ("en-US", "1.234,56", "1234.56"), ("en-US", "12,50", "12.50"), ("en-US", "1,234,567", "1234567"),
        ("fr", "1\u202f234,5", "1234.5"), ("fr", "1 234", "1234"), ("fr", "1.234", "1.234"), ("fr", "1,234", "1.234"),
        ("de-CH", "1’234.50", "1234.50"), ("de-CH", "1,234", "1234"), ("de-CH", "1.234", "1.234"),
        ("de", "0.125", "0.125"), ("en-US", "0,125", "0.125"), ("sv", "−7", "-7"), ("de", "-1.234.567", "-1234567"),
    ],
)  # fmt: skip
def test_ambiguous_amount_is_read_by_the_users_locale(tag, typed, read):
    with use_locale(get_locale(tag)):
        assert parse_typed_amount(typed) == read


@pytest.mark.parametrize(
    ("tag", "said"),
    [
        ("de", "Geben Sie einen Betrag ein, z. B. 1.234,56."), ("en-US", "Enter an amount such as 1,234.56."),
        ("fr", "Enter an amount such as 1 234,56."), ("de-CH", "Geben Sie einen Betrag ein, z. B. 1’234.56."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("typed", ["much", "1.2.3", "1,23,456.78", "1.234.56", ""])
def test_unreadable_amount_error_uses_the_users_locale(tag, said, typed):
    with use_locale(get_locale(tag)), pytest.raises(AmountParseError) as refused:
        parse_typed_amount(typed)
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("tag", "typed", "currency", "read"),
    [
        ("de", "+12,50", "EUR", "12.50"), ("de", "12,50 €", "EUR", "12.50"),
        ("de", "-1.234,5\u00a0€", "EUR", "-1234.5"),
        ("de", "EUR 12,50", "EUR", "12.50"), ("de", "€ −12,50", "", "-12.50"), ("de", "12,50 eur", "EUR", "12.50"),
        ("en-US", "+12.50", "USD", "12.50"), ("en-US", "$1,234", "USD", "1234"), ("en-US", "-$12.50", "USD", "-12.50"),
        ("en-US", "€ 12.50", "EUR", "12.50"), ("en-US", "EUR 12.50", "EUR", "12.50"), ("en-US", "$5", "CAD", "5"),
        ("en-GB", "+£5", "GBP", "5"), ("de", "5 kr", "SEK", "5"),
        ("da", "5 kr.", "DKK", "5"), ("pl", "5 zł", "PLN", "5"),
        ("en-US", "¥500", "JPY", "500"), ("de", "$ 5", "", "5"), ("", "+1234", None, "1234"),
    ],
)  # fmt: skip
def test_amount_accepts_plus_sign_and_own_currency_sign(tag, typed, currency, read):
    with use_locale(get_locale(tag) if tag else DEFAULT_LOCALE):
        assert parse_typed_amount(typed, currency) == read


@pytest.mark.parametrize(
    ("tag", "typed", "currency", "said"),
    [
        ("de", "$ 12,50", "EUR", "Dieser Betrag ist in EUR, nicht in „$“. Geben Sie ihn in EUR ein."),
        ("en-US", "12.50 EUR", "USD", "This amount is in USD, not “EUR”. Enter it in USD."),
        ("en-US", "12.50 €", None, "Enter an amount such as 1,234.56."),
        ("en-US", "€ 12.50 €", "EUR", "Enter an amount such as 1,234.56."),
        ("en-US", "-€-5", "EUR", "Enter an amount such as 1,234.56."),
        ("en-US", "+-5", "EUR", "Enter an amount such as 1,234.56."),
        ("en-US", "12.50 pcs", "EUR", "Enter an amount such as 1,234.56."),
        ("en-US", "12.50 %", "EUR", "Enter an amount such as 1,234.56."),
        ("en-US", "€", "EUR", "Enter an amount such as 1,234.56."),
    ],
)  # fmt: skip
def test_amount_with_other_or_unknown_currency_is_rejected(tag, typed, currency, said):
    with use_locale(get_locale(tag)), pytest.raises(AmountParseError) as refused:
        parse_typed_amount(typed, currency)
    assert str(refused.value) == said


@given(st.decimals(-(10**9), 10**9, places=2), st.sampled_from([*LOCALE_NAMES]), st.sampled_from(Currency.values))
def test_displayed_amount_with_currency_is_read_back(amount, tag, currency):
    with use_locale(get_locale(tag)):
        shown = format_money(amount, currency)
        assert Decimal(parse_typed_amount(shown, currency)) == Decimal(parse_typed_amount(shown, ""))
        assert format_money(parse_typed_amount(shown, currency), currency) == shown


@given(st.decimals(-(10**15) + 1, 10**15 - 1, places=2), st.sampled_from([*LOCALE_NAMES]))
def test_displayed_amount_is_read_back(amount, tag):
    there = get_locale(tag)
    with use_locale(there):
        digits = f"{MINUS if amount < 0 else ''}{there.format_number(abs(amount), 2)}"
        assert digits.lstrip(MINUS) in format_money(amount, "EUR")
        assert Decimal(parse_typed_amount(digits)) == amount
        assert Decimal(parse_typed_amount(format_amount_for_input(f"{amount:f}"))) == amount


@given(st.integers(-(10**9), 10**9), st.sampled_from([*LOCALE_NAMES]))
def test_displayed_whole_thousands_are_read_back(amount, tag):
    with use_locale(get_locale(tag)):
        shown = get_locale(tag).format_number(abs(amount))
        assert int(parse_typed_amount(shown)) == abs(amount)


@pytest.mark.parametrize(
    ("tag", "amount", "day"),
    [
        ("en", "−€1,234.50", "31 Dec 2026"), ("en-US", "−€1,234.50", "Dec 31, 2026"),
        ("de", "−1.234,50\u00a0€", "31.12.2026"), ("fr", "−1\u202f234,50\u00a0€", "31/12/2026"),
        ("nl", "−€\u00a01.234,50", "31-12-2026"), ("sv", "−1\u00a0234,50\u00a0€", "2026-12-31"),
    ],
)  # fmt: skip
def test_amount_and_date_are_formatted_by_locale(tag, amount, day):
    with use_locale(get_locale(tag)):
        assert format_money("-1234.5", "EUR") == amount
        assert get_locale(tag).format_day(date(2026, 12, 31)) == day


@pytest.mark.parametrize(("tag", "written"), [("en-GB", "2.2\u00a0KB"), ("de-DE", "2,2\u00a0KB")])
def test_file_size_uses_decimal_separator_of_locale(tag, written):
    with use_locale(get_locale(tag)):
        assert format_file_size(2202) == written
