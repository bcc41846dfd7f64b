"""Which rate a day has, and what an amount is worth elsewhere."""

from datetime import date, timedelta
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.money.calc.fx import RateLookupError, RateTable, convert_currency

FRIDAY, MONDAY = date(2024, 1, 5), date(2024, 1, 8)


@pytest.fixture
def rates():
    return RateTable(
        [
            ("USD", MONDAY, Decimal("1.0946")),
            ("USD", FRIDAY, Decimal("1.0921")),
            ("JPY", FRIDAY, Decimal("158.67")),
        ]
    )


@pytest.mark.parametrize(
    ("day", "rate"),
    [
        (FRIDAY, "1.0921"),
        (FRIDAY + timedelta(days=1), "1.0921"),
        (MONDAY - timedelta(days=1), "1.0921"),
        (MONDAY, "1.0946"),
        (date(2030, 1, 1), "1.0946"),
        (date(1999, 1, 1), "1.0921"),
    ],
)
def test_rate_is_latest_published_by_day_or_else_the_first(rates, day, rate):
    assert rates.get_rate("USD", day) == Decimal(rate)


def test_rate_date_is_publication_day(rates):
    queries = [FRIDAY - timedelta(days=9), FRIDAY, MONDAY - timedelta(days=1), MONDAY, MONDAY + timedelta(days=1)]
    assert [rates.get_rate_date("USD", day) for day in queries] == [FRIDAY, FRIDAY, FRIDAY, MONDAY, MONDAY]
    assert [rates.get_rate_date("EUR", day) for day in queries] == queries
    with pytest.raises(RateLookupError):
        rates.get_rate_date("GBP", FRIDAY)


def test_currency_without_rate_raises_error(rates):
    with pytest.raises(RateLookupError, match="No exchange rate for GBP") as caught:
        rates.get_rate("GBP", FRIDAY)
    assert caught.value.currency == "GBP"
    for source, target in [("GBP", "EUR"), ("EUR", "GBP"), ("USD", "GBP")]:
        with pytest.raises(RateLookupError):
            convert_currency(Decimal(1), source=source, target=target, day=FRIDAY, rates=rates)


def test_euro_rate_is_one(rates):
    assert rates.get_rate("EUR", FRIDAY) == 1


def test_amount_in_same_currency_needs_no_rate(rates):
    assert convert_currency(Decimal("1.10"), source="GBP", target="GBP", day=FRIDAY, rates=rates) == Decimal("1.10")


@given(
    amount=st.decimals(-(10**15), 10**15, places=4),
    source=st.sampled_from(["EUR", "USD", "JPY"]),
    target=st.sampled_from(["EUR", "USD", "JPY"]),
)
@settings(max_examples=80)
def test_conversion_goes_through_euro_unrounded(amount, source, target):
    table = RateTable([("USD", FRIDAY, Decimal("1.0921")), ("JPY", FRIDAY, Decimal("158.67"))])
    exact = Fraction(amount) * Fraction(table.get_rate(target, FRIDAY)) / Fraction(table.get_rate(source, FRIDAY))
    converted = convert_currency(amount, source=source, target=target, day=FRIDAY, rates=table)
    assert abs(Fraction(converted) - exact) < Fraction(1, 10**25)
    assert abs(Fraction(table.get_cross_rate(source, target, FRIDAY)) * Fraction(amount) - exact) < Fraction(1, 10**25)


def test_exact_conversion_stays_exact():
    table = RateTable([("USD", FRIDAY, Decimal(7))])
    with localcontext(prec=6):
        assert convert_currency(Decimal("0.035"), source="USD", target="EUR", day=FRIDAY, rates=table) == Decimal(
            "0.005"
        )


def test_round_trip_conversion_returns_same_amount(rates):
    there = convert_currency(Decimal("100.00"), source="USD", target="JPY", day=MONDAY, rates=rates)
    back = convert_currency(there, source="JPY", target="USD", day=MONDAY, rates=rates)
    assert abs(back - 100) < Decimal("1e-25")


def test_later_rate_for_same_day_replaces_earlier_one():
    assert RateTable([("USD", FRIDAY, Decimal(1)), ("USD", FRIDAY, Decimal(2))]).get_rate("USD", FRIDAY) == 2


@pytest.mark.parametrize("rate", ["0", "-1"])
def test_a_rate_must_be_positive(rate):
    with pytest.raises(ValueError, match=f"USD on 2024-01-05 is {rate}; it must be positive"):
        RateTable([("USD", FRIDAY, Decimal(rate))])


def test_cross_rates_are_correct_for_every_pair_and_day(rates):
    queries = [("USD", "EUR", FRIDAY), ("USD", "JPY", FRIDAY), ("EUR", "JPY", FRIDAY), ("USD", "EUR", MONDAY)]
    for source, target, day in queries + queries:
        expected = Fraction(rates.get_rate(target, day)) / Fraction(rates.get_rate(source, day))
        assert abs(Fraction(rates.get_cross_rate(source, target, day)) - expected) < Fraction(1, 10**40)
