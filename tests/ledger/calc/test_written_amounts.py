"""Amounts as bank files write them, read by one strict parser."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.calc.written_amounts import GarbledAmountError, parse_written_amount

GARBLED = ["12.3.4", "1,2.3", "1.2,3", "123 45", "1e3", "5-5", "1,23,456", "12,34.5", "1.234.56", "1,234,56", "1 23"]
GARBLED += [
    "1'2",
    "--1",
    "+-1",
    "1-",
    "",
    ".",
    "-",
    ",",
    " ",
    "x",
    "1_0",
    "١",
    "1.234 567",
    "0x1",
    "NaN",
    "1,234.567.8",
]


@pytest.mark.parametrize("text", GARBLED)
def test_garbled_amount_is_rejected(text):
    with pytest.raises(GarbledAmountError):
        parse_written_amount(text)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("12", "12"), ("12.5", "12.5"), ("12,5", "12.5"), ("-12.50", "-12.50"), ("+12", "12"), ("- 12", "-12"),
        ("1,234.50", "1234.50"), ("1.234,50", "1234.50"), ("1 234,50", "1234.50"), ("1'234.50", "1234.50"),
        ("1,234,567", "1234567"), ("1.234.567", "1234567"), ("1,050", "1050"), ("0,500", "0.500"), ("12.500", "12.500"),
        ("1050,000", "1050.000"), (".5", "0.5"), ("7.", "7"), ("0001", "0001"),
    ],
)  # fmt: skip
def test_amount_is_parsed_with_either_decimal_mark(text, amount):
    assert parse_written_amount(text) == amount


def test_amount_has_at_most_fifteen_integer_digits():
    assert parse_written_amount("9" * 15) == "9" * 15
    with pytest.raises(GarbledAmountError):
        parse_written_amount("1" + "0" * 15)


@given(
    st.decimals(Decimal("-999999999999"), Decimal("999999999999"), places=2),
    st.sampled_from([",.", ".,", " ,", "'."]),
)
def test_amount_is_same_in_every_number_format(value, marks):
    group, point = marks
    text = f"{value:,.2f}".replace(",", "\0").replace(".", point).replace("\0", group)
    assert Decimal(parse_written_amount(text)) == value
