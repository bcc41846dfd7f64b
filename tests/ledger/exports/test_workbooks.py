"""Workbooks of transactions, read with a library that did not write them."""

import io
import zipfile
from datetime import date, datetime

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl.utils.escape import unescape

from ledger.exports import workbooks
from ledger.exports.transaction_table import HEADINGS

COLUMNS = list(HEADINGS["transactions"])
AMOUNT, TAX = COLUMNS.index("amount"), COLUMNS.index("tax")
TEXTS = [index for index in range(1, len(COLUMNS)) if index not in (AMOUNT, AMOUNT + 1, TAX)]
LONG_TEXT = "🙂x" * 20_000

ODD_TEXTS = {
    "control characters": "\x01 \x08\x0b\x0c\x0e\x1f\x7f\x85",
    "no characters": "\ufffe\uffff",
    "line breaks": "a\nb\r\nc\rd\u2028e",
    "blanks around": "  a\tb ",
    "blanks alone": " \t ",
    "a mark-up": "<b>&amp;\"'</b> ]]> <!--",
    "an escape": "_x0041_ _x00G1_ _X0041_ x0041_",
    "emoji": "👩‍👩‍👧‍👦 🇩🇪 𐀀",
    "an address": "https://example.com/?a=b&c=d",
    "a formula": "'=1+1",
    "a number": "0012",
    "right to left": "\u202eשלום",
    "the longest": LONG_TEXT,
}
AMOUNTS = {  # text, currency → value and format of its cell
    ("-0.01", "EUR"): (-0.01, "#,##0.00"),
    ("0.00", "EUR"): (0, "#,##0.00"),
    ("12000", "JPY"): (12000, "#,##0"),
    ("1234567890123.45", "EUR"): (1234567890123.45, "#,##0.00"),
    ("12345678901234.56", "EUR"): ("12345678901234.56", "General"),
    ("123456789012345", "JPY"): (123456789012345, "#,##0"),
    ("1234567890123456", "JPY"): ("1234567890123456", "General"),
}


def build_row(text="", day="2026-03-31", amount="1.00", currency="EUR"):
    row = [text] * len(COLUMNS)
    row[0], row[AMOUNT], row[AMOUNT + 1], row[TAX] = day, amount, currency, ""
    return row


def write_workbook(*rows):
    file = io.BytesIO()
    workbooks.write_workbook(
        file, rows, columns=COLUMNS, headings=[str(each) for each in HEADINGS["transactions"].values()]
    )
    return file


def read_sheet(*rows):
    (sheet,) = openpyxl.load_workbook(write_workbook(*rows)).worksheets
    return sheet


def list_texts(*rows):
    """The texts of the row below the header, as somebody wrote them."""
    sheet = read_sheet(*rows)
    return [unescape(sheet.cell(2, index + 1).value or "") for index in TEXTS]


@pytest.mark.parametrize("text", [*ODD_TEXTS.values(), "<r>&</r>", "<r><t>a</t></r>"])
def test_workbook_keeps_text(text):
    expected = text.encode("utf-16-le")[: 2 * 32_767].decode("utf-16-le", "ignore").replace("\r\n", "\n")
    assert {each.replace("\r\n", "\n") for each in list_texts(build_row(text))} == {expected}


@pytest.mark.parametrize(("amount", "currency"), AMOUNTS)
def test_workbook_amount_is_a_number_of_its_currency(amount, currency):
    cell = read_sheet(build_row(amount=amount, currency=currency)).cell(2, AMOUNT + 1)
    assert (cell.value, cell.number_format) == AMOUNTS[amount, currency]


def test_workbook_has_headings_widths_and_frozen_header():
    sheet = read_sheet(build_row("a"), build_row())
    assert [cell.value for cell in sheet[1]] == [str(each) for each in HEADINGS["transactions"].values()]
    assert all(cell.font.bold for cell in sheet[1])
    assert (sheet.freeze_panes, sheet.dimensions) == ("A2", f"A1:{sheet.cell(3, len(COLUMNS)).coordinate}")
    assert round(sheet.column_dimensions["A"].width) == workbooks.WIDTHS["date"] + 1
    assert read_sheet().max_row == 1


@given(
    st.lists(
        st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=30),
        min_size=len(TEXTS),
        max_size=len(TEXTS),
    )
)
@settings(max_examples=30, deadline=None)
def test_workbook_round_trips(texts):
    row = build_row()
    for index, text in zip(TEXTS, texts, strict=True):
        row[index] = text
    assert list_texts(row) == texts


@given(st.dates(min_value=date(1900, 3, 1)), st.decimals(min_value=-(10**12), max_value=10**12, places=2))
@settings(max_examples=30, deadline=None)
def test_workbook_dates_and_amounts_are_typed(day, amount):
    sheet = read_sheet(build_row(day=day.isoformat(), amount=f"{amount:f}"))
    assert sheet["A2"].value == datetime(day.year, day.month, day.day)
    assert sheet["A2"].number_format == "yyyy-mm-dd"
    assert sheet.cell(2, AMOUNT + 1).value == float(amount)


def test_workbook_is_a_plain_zip_of_every_row():
    file = write_workbook(*[build_row(str(number)) for number in range(1200)])
    (sheet,) = openpyxl.load_workbook(file, read_only=True).worksheets
    assert [row[1] for row in sheet.iter_rows(min_row=2, values_only=True)] == [str(number) for number in range(1200)]
    with zipfile.ZipFile(file) as book:
        assert book.testzip() is None
        assert {part.extract_version for part in book.infolist()} == {20}  # 45 would be ZIP64


def test_workbook_over_row_limit_is_rejected(monkeypatch):
    monkeypatch.setattr(workbooks, "MAX_SHEET_ROWS", 2)
    assert write_workbook(build_row(), build_row())
    with pytest.raises(workbooks.TooManyRows):
        write_workbook(*[build_row("a")] * 3)
