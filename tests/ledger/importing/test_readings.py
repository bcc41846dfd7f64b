"""Amounts and dates as banks of four countries write them."""

import time
from contextlib import suppress
from datetime import date
from decimal import Decimal

import pytest
from babel.numbers import format_decimal
from hypothesis import given
from hypothesis import strategies as st
from ledger.importing.calc.written import (
    DateOrder,
    DecimalSign,
    Unreadable,
    guessed_order,
    guessed_sign,
    negated,
    read_amount,
    read_date,
)

POINT, COMMA = DecimalSign.POINT, DecimalSign.COMMA
ISO, DAY, MONTH = DateOrder.ISO, DateOrder.DAY_FIRST, DateOrder.MONTH_FIRST
LOCALES = [("en_US", POINT), ("de_DE", COMMA), ("fr_FR", COMMA), ("de_CH", POINT), ("en_IN", POINT)]
MONEY = st.decimals(min_value=-(10**13), max_value=10**13, places=2)


@pytest.fixture(autouse=True)
def nothing_read_before():
    """Dates are remembered: what another test has read would hide how this one's are read."""
    read_date.cache_clear()


@pytest.mark.parametrize(("locale", "sign"), LOCALES)
@given(amount=MONEY)
def test_what_a_country_writes_is_read_as_it_was_meant(locale, sign, amount):
    written = format_decimal(amount, format=None, locale=locale)
    assert Decimal(read_amount(written, sign)) == amount
    assert Decimal(read_amount(f"{written} EUR", sign)) == amount


@given(amounts=st.lists(MONEY.filter(lambda each: each % 1), min_size=1, max_size=5))
def test_the_decimal_sign_is_guessed_from_cents(amounts):
    for locale, sign in LOCALES:
        assert guessed_sign([format_decimal(each, format="#,##0.00", locale=locale) for each in amounts]) == sign


@pytest.mark.parametrize(
    ("text", "sign", "amount"),
    [
        ("-12.5", POINT, "-12.5"),
        ("+12.50", POINT, "12.50"),
        ("12.50-", POINT, "-12.50"),
        ("(1,234.50)", POINT, "-1234.50"),
        ("($12.50)", POINT, "-12.50"),
        ("-$12.50", POINT, "-12.50"),
        ("$ -12.50", POINT, "-12.50"),
        ("−12,50 €", COMMA, "-12.50"),
        ("EUR 1.234,50", COMMA, "1234.50"),
        ("1’234.50", POINT, "1234.50"),
        ("1 234,50", COMMA, "1234.50"),
        ("12,34,567.00", POINT, "1234567.00"),
        (".5", POINT, "0.5"),
        ("007,00", COMMA, "7.00"),
        ("-0,00", COMMA, "0.00"),
        ("1.000", COMMA, "1000"),
    ],
)
def test_an_amount_is_read(text, sign, amount):
    assert read_amount(text, sign) == amount


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("", POINT),
        ("-", POINT),
        ("abc", POINT),
        ("1,23", POINT),  # a comma of German cents, read with the point
        ("1.23", COMMA),
        ("1,2345.00", POINT),
        ("1.234.5", POINT),
        ("-5-", POINT),
        ("(-5)", POINT),
        ("(5", POINT),
        ("5)", POINT),
        ("1e5", POINT),
        ("٣", POINT),
        ("1,234 567", POINT),
        ("1" * 5000 + "x", POINT),
    ],
)
def test_what_could_mean_something_else_is_no_amount(text, sign):
    with pytest.raises(Unreadable):
        read_amount(text, sign)


@pytest.mark.parametrize(
    "text",
    ["-" + "9" * 28, "1" * 40 + "-", f"({'9' * 16}.50)", "-1,000,000,000,000,000.00", f"$-{'1' * 56}"],
)
def test_an_amount_of_more_than_fifteen_digits_is_told_as_too_large(text):
    with pytest.raises(Unreadable) as told:
        read_amount(text, POINT)
    assert str(told.value) == f"“{text[:40]}” is too large: an amount has up to 15 digits before its decimals."


def test_an_amount_of_fifteen_digits_keeps_all_of_them():
    assert read_amount("-00999999999999999.123456789012345678", POINT) == "-999999999999999.123456789012345678"
    assert read_amount("999.999.999.999.999,99-", COMMA) == "-999999999999999.99"


@given(st.text(max_size=80), st.sampled_from(DecimalSign))
def test_any_text_is_an_amount_or_is_refused(text, sign):
    try:
        amount = read_amount(text, sign)
    except Unreadable:
        return
    assert Decimal(amount) == Decimal(negated(amount)).copy_negate()
    assert not amount.startswith("-") or Decimal(amount) < 0


@given(st.dates(min_value=date(1970, 1, 1), max_value=date(2069, 12, 31)))
def test_a_day_is_read_in_every_order(day):
    assert read_date(f"{day:%Y-%m-%d}", ISO) == read_date(f"{day:%Y%m%d}", ISO) == day
    assert read_date(f"{day:%Y/%m/%d %H:%M}", ISO) == read_date(f"{day:%Y-%m-%d}T23:59:59-08:00", ISO) == day
    assert read_date(f"{day:%d.%m.%Y}", DAY) == read_date(f"{day:%d/%m/%y}", DAY) == day
    assert read_date(f"{day:%m/%d/%Y}", MONTH) == read_date(f"{day:%-m-%-d-%y}", MONTH) == day
    assert read_date(f"{day:%d %b %Y}", DAY) == read_date(f"{day:%B %-d, %Y}", MONTH) == day


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("", ISO),
        ("31.01.2026", ISO),
        ("31/01/2026", MONTH),
        ("2026-02-32", ISO),
        ("32.04.2026", DAY),
        ("0.4.2026", DAY),
        ("1.0.2026", DAY),
        ("0000-01-01", ISO),
        ("2026-01", ISO),
        ("yesterday", DAY),
        ("1.2/2026", DAY),
        ("31 Foo 2026", DAY),
        ("2026-01-31" + "0" * 100, ISO),
    ],
)
def test_what_is_no_day_of_the_order_is_refused(text, order):
    with pytest.raises(Unreadable):
        read_date(text, order)


@pytest.mark.parametrize(
    ("text", "order"),
    [("2026-11-31", ISO), ("20261131", ISO), ("31.11.26", DAY), ("11/31/2026", MONTH), ("31 Nov 2026", DAY)],
)
def test_a_day_that_its_month_has_not_is_the_months_last(text, order):
    assert read_date(text, order) == date(2026, 11, 30)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("31.12.69", date(2069, 12, 31)),
        ("01.01.70", date(1970, 1, 1)),
        ("01.01.00", date(2000, 1, 1)),
        ("31 Dec 69", date(2069, 12, 31)),
        ("Jan 1, 70", date(1970, 1, 1)),
    ],
)
def test_two_digits_are_a_year_from_1970_to_2069(text, day):
    assert read_date(text, DAY) == day


@pytest.mark.parametrize(
    ("text", "sign", "said"),
    [
        ("1.5,0", POINT, "“1.5,0” is no amount with a decimal point."),
        ("1,5.0", COMMA, "“1,5.0” is no amount with a decimal comma."),
        ("-5-", POINT, "“-5-” is no amount."),
        ("(" + "1" * 49, POINT, f"“({'1' * 39}” is no amount."),
        ("x" * 50, POINT, f"“{'x' * 40}” is no amount with a decimal point."),
        ("x" * 50, COMMA, f"“{'x' * 40}” is no amount with a decimal comma."),
    ],
)
def test_a_refused_amount_is_told_with_its_first_forty_letters_and_how_it_was_to_be_written(text, sign, said):
    with pytest.raises(Unreadable) as refused:
        read_amount(text, sign)
    assert str(refused.value) == said
    assert refused.value.why.format(**refused.value.values) == said  # which people read in their own language


@pytest.mark.parametrize("sign", DecimalSign)
def test_an_amount_has_sixty_characters_at_most(sign):
    assert read_amount("0" * 59 + "5", sign) == "5"
    with pytest.raises(Unreadable):
        read_amount("0" * 60 + "5", sign)


@given(st.text(max_size=80), st.sampled_from(DateOrder))
def test_any_text_is_a_day_or_is_refused(text, order):
    with suppress(Unreadable):
        assert isinstance(read_date(text, order), date)


@pytest.mark.parametrize(
    ("texts", "order"),
    [
        (["2026-01-31"], ISO),
        (["31.01.2026", "01.02.2026"], DAY),
        (["01/31/2026", "02/01/2026"], MONTH),
        (["03/04/2026", "03/05/2026", "03/06/2026"], MONTH),
        (["04/03/2026", "05/03/2026", "06/03/2026"], DAY),
        (["31.01.2026", "rubbish", "01.02.2026"], DAY),
        ([], ISO),
    ],
)
def test_the_order_is_guessed_from_the_data(texts, order):
    assert guessed_order(texts) == order


@pytest.mark.parametrize(
    "text", [" " * 60, "(" + " " * 58 + "x", "1" + " " * 58 + "x", "+" + " " * 28 + "EUR" + " " * 28]
)
@pytest.mark.parametrize("sign", DecimalSign)
def test_a_cell_of_blanks_is_no_amount_and_takes_no_time(text, sign):
    begun = time.process_time()
    for _ in range(100):
        with pytest.raises(Unreadable):
            read_amount(text, sign)
    assert time.process_time() - begun < 1
