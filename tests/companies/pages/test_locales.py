"""Amounts and days are written and read as the reader's place has them; files and the API stay as they are."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companies.locales import EVERYBODYS, NAMES, locale, reading_as
from companies.models import Currency
from companies.pages.amounts import MINUS, NotAnAmount, amount_typed, as_typed, money
from companies.templatetags.pages import size


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
def test_what_could_be_two_amounts_is_the_one_of_the_readers_place(tag, typed, read):
    with reading_as(locale(tag)):
        assert amount_typed(typed) == read


@pytest.mark.parametrize(
    ("tag", "said"),
    [
        ("de", "Bitte einen Betrag wie 1.234,56 angeben."), ("en-US", "Write an amount such as 1,234.56."),
        ("fr", "Write an amount such as 1\u202f234,56."), ("de-CH", "Bitte einen Betrag wie 1’234.56 angeben."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("typed", ["much", "1.2.3", "1,23,456.78", "1.234.56", ""])
def test_what_fits_no_place_is_refused_in_the_readers_writing(tag, said, typed):
    with reading_as(locale(tag)), pytest.raises(NotAnAmount) as refused:
        amount_typed(typed)
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
def test_a_plus_and_the_sign_of_the_currency_say_nothing_more(tag, typed, currency, read):
    with reading_as(locale(tag) if tag else EVERYBODYS):
        assert amount_typed(typed, currency) == read


@pytest.mark.parametrize(
    ("tag", "typed", "currency", "said"),
    [
        ("de", "$ 12,50", "EUR", "Dieser Betrag ist in EUR, nicht in „$“. Bitte in EUR angeben."),
        ("en-US", "12.50 EUR", "USD", "This amount is in USD, not in “EUR”. Write it in USD."),
        ("en-US", "12.50 €", None, "Write an amount such as 1,234.56."),
        ("en-US", "€ 12.50 €", "EUR", "Write an amount such as 1,234.56."),
        ("en-US", "-€-5", "EUR", "Write an amount such as 1,234.56."),
        ("en-US", "+-5", "EUR", "Write an amount such as 1,234.56."),
        ("en-US", "12.50 pcs", "EUR", "Write an amount such as 1,234.56."),
        ("en-US", "12.50 %", "EUR", "Write an amount such as 1,234.56."),
        ("en-US", "€", "EUR", "Write an amount such as 1,234.56."),
    ],
)  # fmt: skip
def test_another_currency_and_what_is_none_are_refused(tag, typed, currency, said):
    with reading_as(locale(tag)), pytest.raises(NotAnAmount) as refused:
        amount_typed(typed, currency)
    assert str(refused.value) == said


@given(st.decimals(-(10**9), 10**9, places=2), st.sampled_from([*NAMES]), st.sampled_from(Currency.values))
def test_what_a_page_shows_with_its_currency_is_read_back(amount, tag, currency):
    with reading_as(locale(tag)):
        shown = money(amount, currency)
        assert Decimal(amount_typed(shown, currency)) == Decimal(amount_typed(shown, ""))
        assert money(amount_typed(shown, currency), currency) == shown


@given(st.decimals(-(10**15) + 1, 10**15 - 1, places=2), st.sampled_from([*NAMES]))
def test_what_a_page_shows_and_fills_in_is_read_back(amount, tag):
    there = locale(tag)
    with reading_as(there):
        digits = f"{MINUS if amount < 0 else ''}{there.number(abs(amount), 2)}"
        assert digits.lstrip(MINUS) in money(amount, "EUR")
        assert Decimal(amount_typed(digits)) == amount
        assert Decimal(amount_typed(as_typed(f"{amount:f}"))) == amount


@given(st.integers(-(10**9), 10**9), st.sampled_from([*NAMES]))
def test_whole_thousands_are_read_back_as_they_are_shown(amount, tag):
    with reading_as(locale(tag)):
        shown = locale(tag).number(abs(amount))
        assert int(amount_typed(shown)) == abs(amount)


@pytest.mark.parametrize(
    ("tag", "amount", "day"),
    [
        ("en", "−€1,234.50", "31 Dec 2026"), ("en-US", "−€1,234.50", "Dec 31, 2026"),
        ("de", "−1.234,50\u00a0€", "31.12.2026"), ("fr", "−1\u202f234,50\u00a0€", "31/12/2026"),
        ("nl", "−€\u00a01.234,50", "31-12-2026"), ("sv", "−1\u00a0234,50\u00a0€", "2026-12-31"),
    ],
)  # fmt: skip
def test_an_amount_and_a_day_stand_as_the_place_has_them(tag, amount, day):
    with reading_as(locale(tag)):
        assert money("-1234.5", "EUR") == amount
        assert locale(tag).day_of(date(2026, 12, 31)) == day


@pytest.mark.parametrize(("tag", "written"), [("en-GB", "2.2\u00a0KB"), ("de-DE", "2,2\u00a0KB")])
def test_a_size_has_the_readers_decimal_sign(tag, written):
    with reading_as(locale(tag)):
        assert size(2202) == written
