"""Rounding, reading, and printing money."""

from decimal import Decimal, localcontext

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.money.calc.money import (
    CURRENCIES,
    InvalidAmount,
    TooManyDecimals,
    UnknownCurrency,
    format_amount,
    get_minor_units,
    get_smallest_unit,
    has_too_many_decimals,
    parse_amount,
    round_half_up,
)

AMOUNTS = st.decimals(min_value=-(10**15), max_value=10**15, places=4)


def test_there_are_thirty_currencies():
    assert len(CURRENCIES) == len(set(CURRENCIES)) == 30


def test_only_jpy_krw_and_isk_have_no_decimals():
    assert {currency for currency in CURRENCIES if get_minor_units(currency) == 0} == {"JPY", "KRW", "ISK"}
    assert {get_minor_units(currency) for currency in CURRENCIES} == {0, 2}


@pytest.mark.parametrize("currency", ["", "eur", "BGN", "XXX"])
def test_unknown_currency_is_rejected(currency):
    with pytest.raises(UnknownCurrency, match=f"'{currency}' is not a supported currency"):
        get_minor_units(currency)
    with pytest.raises(UnknownCurrency, match=f"'{currency}' is not a supported currency"):
        get_smallest_unit(currency)


@pytest.mark.parametrize(
    ("amount", "currency", "rounded"),
    [
        ("0.005", "EUR", "0.01"),
        ("-0.005", "EUR", "-0.01"),
        ("0.0049", "EUR", "0.00"),
        ("-0.0049", "EUR", "0.00"),
        ("2.5", "JPY", "3"),
        ("-2.5", "JPY", "-3"),
        ("3.5", "ISK", "4"),
        ("1E+3", "EUR", "1000.00"),
        ("12.0000", "KRW", "12"),
        ("999999999999999.9950", "IDR", "1000000000000000.00"),
    ],
)
def test_amount_is_rounded_half_up_and_formatted_with_currency_decimals(amount, currency, rounded):
    assert format_amount(Decimal(amount), currency) == rounded
    assert str(round_half_up(Decimal(amount), currency)) == rounded


@given(amount=AMOUNTS, currency=st.sampled_from(CURRENCIES))
@settings(max_examples=80)
def test_amount_format_round_trips(amount, currency):
    printed = format_amount(amount, currency)
    if len(printed.strip("-").partition(".")[0]) <= 15:
        assert parse_amount(printed, currency) == round_half_up(amount, currency)
    assert not printed.startswith("-0.00")
    assert "E" not in printed


@pytest.mark.parametrize(
    ("text", "currency"), [("1.500", "EUR"), ("1.5000", "EUR"), ("0.001", "USD"), ("100.0", "JPY"), ("1.5", "ISK")]
)
def test_too_many_decimals_are_rejected_even_if_zero(text, currency):
    with pytest.raises(TooManyDecimals, match=f"'{text}' has more decimals than {currency}"):
        parse_amount(text, currency)


@pytest.mark.parametrize(
    "text",
    [
        "", "-", "+1", "1.", ".5", "1,50", "1 000", "1e3", "NaN", "Infinity", "--1", "1.23456", "1234567890123456",
        "١٢", "1\n", " 1", "1_000", "0x1", "−1",
    ],
)  # fmt: skip
def test_invalid_decimal_text_is_rejected(text):
    with pytest.raises(InvalidAmount, match=r"is not a valid amount, such as -1234.56."):
        parse_amount(text, "EUR")


def test_negative_zero_is_parsed_as_zero():
    assert str(parse_amount("-0.00", "EUR")) == "0.00"


@pytest.mark.parametrize(
    ("amount", "currency", "fine"),
    [
        ("1.23", "EUR", False),
        ("1.234", "EUR", True),
        ("1.2300", "EUR", False),
        ("1E+2", "EUR", False),
        ("0.5", "JPY", True),
        ("5.000", "JPY", False),
        ("999999999999999.9999", "EUR", True),
    ],
)
def test_trailing_zeros_do_not_count_as_too_many_decimals(amount, currency, fine):
    assert has_too_many_decimals(Decimal(amount), currency) is fine
    with localcontext(prec=2):
        assert has_too_many_decimals(Decimal(amount), currency) is fine
