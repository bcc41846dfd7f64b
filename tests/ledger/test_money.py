"""Rounding, reading, printing and dividing money."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.calc.money import (
    CURRENCIES,
    InvalidAmount,
    MixedCurrencies,
    Money,
    TooManyDecimals,
    UnknownCurrency,
    allocate,
    format_amount,
    minor_units,
    parse_amount,
    round_half_up,
)

AMOUNTS = st.decimals(min_value=-(10**15), max_value=10**15, places=4)


def test_there_are_thirty_currencies():
    assert len(CURRENCIES) == len(set(CURRENCIES)) == 30


def test_yen_won_and_krona_have_no_decimals_and_all_others_two():
    assert {currency for currency in CURRENCIES if minor_units(currency) == 0} == {"JPY", "KRW", "ISK"}
    assert {minor_units(currency) for currency in CURRENCIES} == {0, 2}


@pytest.mark.parametrize("currency", ["", "eur", "BGN", "XXX"])
def test_a_currency_that_is_not_one_of_the_thirty_is_refused(currency):
    with pytest.raises(UnknownCurrency):
        minor_units(currency)


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
def test_halves_go_away_from_zero_and_text_has_exactly_the_currencys_decimals(amount, currency, rounded):
    assert format_amount(Decimal(amount), currency) == rounded
    assert str(round_half_up(Decimal(amount), currency)) == rounded


@given(amount=AMOUNTS, currency=st.sampled_from(CURRENCIES))
@settings(max_examples=80)
def test_an_amount_reads_as_it_was_printed(amount, currency):
    printed = format_amount(amount, currency)
    if len(printed.strip("-").partition(".")[0]) <= 15:
        assert parse_amount(printed, currency) == round_half_up(amount, currency)
    assert not printed.startswith("-0.00")
    assert "E" not in printed


@pytest.mark.parametrize(
    ("text", "currency"), [("1.500", "EUR"), ("1.5000", "EUR"), ("0.001", "USD"), ("100.0", "JPY"), ("1.5", "ISK")]
)
def test_more_decimals_than_the_currency_has_are_too_many_even_as_zeros(text, currency):
    with pytest.raises(TooManyDecimals):
        parse_amount(text, currency)


@pytest.mark.parametrize(
    "text",
    [
        "", "-", "+1", "1.", ".5", "1,50", "1 000", "1e3", "NaN", "Infinity", "--1", "1.23456", "1234567890123456",
        "١٢", "1\n", " 1", "1_000", "0x1", "−1",
    ],
)  # fmt: skip
def test_text_that_is_no_plain_decimal_is_refused(text):
    with pytest.raises(InvalidAmount):
        parse_amount(text, "EUR")


def test_a_written_negative_zero_is_zero():
    assert str(parse_amount("-0.00", "EUR")) == "0.00"


def test_a_hundred_by_three_is_34_33_33():
    assert allocate(Decimal(100), "JPY", weights=[1, 1, 1]) == [34, 33, 33]
    assert allocate(Decimal("-1.00"), "EUR", weights=[1, 1, 1]) == [
        Decimal("-0.34"),
        Decimal("-0.33"),
        Decimal("-0.33"),
    ]


def test_the_largest_remainder_takes_the_unit_that_is_left():
    assert allocate(Decimal("0.05"), "EUR", weights=[3, 7]) == [Decimal("0.02"), Decimal("0.03")]
    assert allocate(Decimal("10"), "JPY", weights=[1, 1, 4]) == [2, 2, 6]
    assert allocate(Decimal("11"), "JPY", weights=[1, 1, 4]) == [2, 2, 7]


@given(
    units=st.integers(-(10**17), 10**17),
    weights=st.lists(st.integers(0, 1000), min_size=1, max_size=8).filter(any),
    currency=st.sampled_from(["EUR", "JPY"]),
)
@settings(max_examples=80)
def test_parts_add_up_to_the_amount_and_stay_within_a_unit_of_their_share(units, weights, currency):
    amount = Decimal(units).scaleb(-minor_units(currency))
    parts = allocate(amount, currency, weights=weights)
    assert sum(parts) == amount
    for part, weight in zip(parts, weights, strict=True):
        share = amount * weight / sum(weights)
        assert abs(part - share) < Decimal(10) ** -minor_units(currency)
    assert allocate(-amount, currency, weights=weights) == [-part for part in parts]


@pytest.mark.parametrize("weights", [[], [0, 0], [1, -1, 3]])
def test_nothing_can_be_divided_by_no_weight_or_a_negative_one(weights):
    with pytest.raises(ValueError, match="weights"):
        allocate(Decimal(1), "EUR", weights=weights)


def test_an_amount_finer_than_its_currency_cannot_be_divided():
    with pytest.raises(ValueError, match="smallest"):
        allocate(Decimal("0.001"), "EUR", weights=[1])


def test_money_of_one_currency_adds_subtracts_and_turns_round():
    one, two = Money(Decimal("1.10"), "EUR"), Money(Decimal("2.20"), "EUR")
    assert one + two == Money(Decimal("3.30"), "EUR")
    assert one - two == -one
    assert Money(Decimal("1.005"), "EUR").rounded() == Money(Decimal("1.01"), "EUR")
    assert sum((part.amount for part in Money(Decimal("1.00"), "EUR").allocate(1, 1, 1)), Decimal()) == 1


def test_money_of_two_currencies_does_not_mix():
    with pytest.raises(MixedCurrencies):
        Money(Decimal(1), "EUR") + Money(Decimal(1), "USD")
    with pytest.raises(MixedCurrencies):
        Money(Decimal(1), "EUR") - Money(Decimal(1), "USD")
