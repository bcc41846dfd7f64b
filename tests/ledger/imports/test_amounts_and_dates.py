"""Amounts and dates as banks of four countries write them."""

import time
from contextlib import suppress
from datetime import date
from decimal import Decimal

import pytest
from babel.numbers import format_decimal
from hypothesis import given
from hypothesis import strategies as st

from ledger.imports.calc.amounts import (
    DecimalMark,
    UnreadableValueError,
    find_decimal_marks,
    negate_amount,
    parse_bank_amount,
)
from ledger.imports.calc.dates import DateOrder, find_date_orders, parse_bank_date

POINT, COMMA = DecimalMark.POINT, DecimalMark.COMMA
ISO, DAY, MONTH = DateOrder.ISO, DateOrder.DAY_FIRST, DateOrder.MONTH_FIRST
LOCALES = [("en_US", POINT), ("de_DE", COMMA), ("fr_FR", COMMA), ("de_CH", POINT), ("en_IN", POINT)]
MONEY = st.decimals(min_value=-(10**13), max_value=10**13, places=2)


@pytest.fixture(autouse=True)
def clear_date_cache():
    """Clear the cache of parsed dates, so that each test parses its own."""
    parse_bank_date.cache_clear()


@pytest.mark.parametrize(("locale", "sign"), LOCALES)
@given(amount=MONEY)
def test_amounts_of_each_country_are_parsed(locale, sign, amount):
    written = format_decimal(amount, format=None, locale=locale)
    assert Decimal(parse_bank_amount(written, sign)) == amount
    assert Decimal(parse_bank_amount(f"{written} EUR", sign)) == amount


@given(amounts=st.lists(MONEY.filter(lambda each: each % 1), min_size=1, max_size=5))
def test_decimal_mark_is_detected_from_cents(amounts):
    for locale, sign in LOCALES:
        assert list(find_decimal_marks(format_decimal(each, format="#,##0.00", locale=locale) for each in amounts)) == [
            sign
        ]


@pytest.mark.parametrize(
    ("text", "sign", "amount"),
    [
        ("-12.5", POINT, "-12.5"),
        ("+12.50", POINT, "12.50"),
        ("12.50-", POINT, "-12.50"),
        ("(1,234.50)", POINT, "-1234.50"),
        ("($12.50)", POINT, "-12.50"),
        ("$(12.50)", POINT, "-12.50"),
        ("(12.50) EUR", POINT, "-12.50"),
        ("EUR (1.234,50)", COMMA, "-1234.50"),
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
def test_amount_is_parsed_with_sign_currency_and_grouping(text, sign, amount):
    assert parse_bank_amount(text, sign) == amount


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
        ("EUR (5", POINT),
        ("(EUR (5))", POINT),
        ("1e5", POINT),
        ("٣", POINT),
        ("1,234 567", POINT),
        ("1" * 5000 + "x", POINT),
    ],
)
def test_ambiguous_text_is_not_an_amount(text, sign):
    with pytest.raises(UnreadableValueError):
        parse_bank_amount(text, sign)


@pytest.mark.parametrize(
    "text",
    ["-" + "9" * 28, "1" * 40 + "-", f"({'9' * 16}.50)", "-1,000,000,000,000,000.00", f"$-{'1' * 56}"],
)
def test_amount_over_fifteen_digits_is_rejected_as_too_large(text):
    with pytest.raises(UnreadableValueError) as answer:
        parse_bank_amount(text, POINT)
    assert str(answer.value) == f"“{text[:40]}” is too large. Amounts have at most 15 digits before the decimal mark."


def test_amount_of_fifteen_digits_keeps_all_digits():
    assert parse_bank_amount("-00999999999999999.123456789012345678", POINT) == "-999999999999999.123456789012345678"
    assert parse_bank_amount("999.999.999.999.999,99-", COMMA) == "-999999999999999.99"


@given(st.text(max_size=80), st.sampled_from(DecimalMark))
def test_any_text_parses_as_amount_or_is_rejected(text, sign):
    try:
        amount = parse_bank_amount(text, sign)
    except UnreadableValueError:
        return
    assert Decimal(amount) == Decimal(negate_amount(amount)).copy_negate()
    assert not amount.startswith("-") or Decimal(amount) < 0


@given(st.dates(min_value=date(1970, 1, 1), max_value=date(2069, 12, 31)))
def test_date_is_parsed_in_every_order(day):
    assert parse_bank_date(f"{day:%Y-%m-%d}", ISO) == parse_bank_date(f"{day:%Y%m%d}", ISO) == day
    assert (
        parse_bank_date(f"{day:%Y/%m/%d %H:%M}", ISO) == parse_bank_date(f"{day:%Y-%m-%d}T23:59:59-08:00", ISO) == day
    )
    assert parse_bank_date(f"{day:%d.%m.%Y}", DAY) == parse_bank_date(f"{day:%d/%m/%y}", DAY) == day
    assert parse_bank_date(f"{day:%m/%d/%Y}", MONTH) == parse_bank_date(f"{day:%-m-%-d-%y}", MONTH) == day
    assert parse_bank_date(f"{day:%d %b %Y}", DAY) == parse_bank_date(f"{day:%B %-d, %Y}", MONTH) == day


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
def test_date_not_matching_the_order_is_rejected(text, order):
    with pytest.raises(UnreadableValueError):
        parse_bank_date(text, order)


@pytest.mark.parametrize(
    ("text", "order"),
    [("2026-11-31", ISO), ("20261131", ISO), ("31.11.26", DAY), ("11/31/2026", MONTH), ("31 Nov 2026", DAY)],
)
def test_day_past_month_end_becomes_last_day_of_month(text, order):
    assert parse_bank_date(text, order) == date(2026, 11, 30)


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
def test_two_digit_years_range_from_1970_to_2069(text, day):
    assert parse_bank_date(text, DAY) == day


@pytest.mark.parametrize(
    ("text", "sign", "said"),
    [
        ("1.5,0", POINT, "“1.5,0” is not an amount with a decimal point."),
        ("1,5.0", COMMA, "“1,5.0” is not an amount with a decimal comma."),
        ("-5-", POINT, "“-5-” is not a valid amount."),
        ("(" + "1" * 49, POINT, f"“({'1' * 39}” is not a valid amount."),
        ("x" * 50, POINT, f"“{'x' * 40}” is not an amount with a decimal point."),
        ("x" * 50, COMMA, f"“{'x' * 40}” is not an amount with a decimal comma."),
    ],
)
def test_amount_error_quotes_forty_characters_and_expected_decimal_mark(text, sign, said):
    with pytest.raises(UnreadableValueError) as refused:
        parse_bank_amount(text, sign)
    assert str(refused.value) == said
    assert refused.value.message.format(**refused.value.values) == said  # which people read in their own language


@pytest.mark.parametrize("sign", DecimalMark)
def test_amount_has_at_most_sixty_characters(sign):
    assert parse_bank_amount("0" * 59 + "5", sign) == "5"
    with pytest.raises(UnreadableValueError):
        parse_bank_amount("0" * 60 + "5", sign)


@given(st.text(max_size=80), st.sampled_from(DateOrder))
def test_any_text_parses_as_date_or_is_rejected(text, order):
    with suppress(UnreadableValueError):
        assert isinstance(parse_bank_date(text, order), date)


@pytest.mark.parametrize(
    ("texts", "orders"),
    [
        (["2026-01-31"], [ISO]),
        (["31.01.2026", "01.02.2026"], [DAY]),
        (["03.04.2026"], [DAY]),  # nobody writes the month first with points
        (["01/31/2026", "02/01/2026"], [MONTH]),
        (["03/04/2026", "03/05/2026", "03/06/2026"], [DAY, MONTH]),
        (["07/07/2024"], [DAY]),
        (["31.01.2026", "rubbish", "01.02.2026"], [DAY]),
        (["16 Oktober 2024", "1. März 2024", "15 févr. 2024", "4 dic 2024"], [ISO]),
        ([], [ISO]),
    ],
)
def test_date_orders_are_those_that_fit_the_data(texts, orders):
    assert find_date_orders(texts) == orders


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("500.00 Dr", "-500.00"),
        ("120.50 CR", "120.50"),
        ("Rs. 5.00", "5.00"),
        ("7.00 GBP", "7.00"),
        ("US$ 7.00", "7.00"),
        ("(£7.00)", "-7.00"),
    ],
)
def test_words_beside_amount_are_sign_or_currency(text, amount):
    assert parse_bank_amount(text, POINT) == amount


@pytest.mark.parametrize(
    "text", ["VWZ1", "D1042", "R123", "12.3.4", "1,2.3", "123 45", "1e3", "5-5", "-5.00 Dr", "0,750"]
)
def test_text_resembling_an_amount_is_rejected(text):
    with pytest.raises(UnreadableValueError):
        parse_bank_amount(text, POINT)


@pytest.mark.parametrize(
    "text", [" " * 60, "(" + " " * 58 + "x", "1" + " " * 58 + "x", "+" + " " * 28 + "EUR" + " " * 28]
)
@pytest.mark.parametrize("sign", DecimalMark)
def test_blank_cell_is_rejected_as_amount_quickly(text, sign):
    begun = time.process_time()
    for _ in range(100):
        with pytest.raises(UnreadableValueError):
            parse_bank_amount(text, sign)
    assert time.process_time() - begun < 1
