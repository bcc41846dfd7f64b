"""Rows of a workbook that are written as text, held against what XlsxWriter makes of them."""

import io
import zipfile
import zlib
from datetime import date, datetime
from decimal import Decimal
from xml.etree import ElementTree

import openpyxl
import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st
from isal import isal_zlib
from openpyxl.utils.escape import unescape

from ledger.exports import workbooks
from ledger.exports.transaction_table import HEADINGS

LAYOUT = workbooks.SheetLayout(
    list(HEADINGS["transactions"]), [str(heading) for heading in HEADINGS["transactions"].values()]
)
AMOUNT = LAYOUT.columns.index("amount")
CELL = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}c"
TEXTS = [number for number in range(1, len(LAYOUT.headings)) if number not in (AMOUNT, AMOUNT + 1)]
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
AMOUNTS = {
    "-0.01": "EUR", "0.00": "EUR", "12000": "JPY", "-7": "JPY", "1234567890123.45": "EUR", "12345678901234.56": "EUR",
    "-99999999999999.99": "EUR", "123456789012345": "JPY", "1234567890123456": "JPY",
}  # fmt: skip


def build_row(text="", day="2026-03-31", amount="1.00", currency="EUR"):
    row = [text] * len(LAYOUT.headings)
    row[0], row[AMOUNT], row[AMOUNT + 1] = day, amount, currency
    return row


def write_workbook(*rows):
    return io.BytesIO(b"".join(workbooks.stream_workbook(rows, LAYOUT, workbooks.build_workbook_template(LAYOUT))))


def write_with_xlsxwriter(*rows):
    """The same, cell by cell."""
    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"constant_memory": True, "default_date_format": "yyyy-mm-dd"}) as book:
        sheet = book.add_worksheet("Transactions")
        for place, column in enumerate(LAYOUT.columns):
            sheet.set_column(place, place, workbooks.WIDTHS[column])
        sheet.freeze_panes(1, 0)
        sheet.write_row(0, 0, LAYOUT.headings, book.add_format({"bold": True}))
        shown = {"EUR": book.add_format({"num_format": "#,##0.00"}), "JPY": book.add_format({"num_format": "#,##0"})}
        for number, row in enumerate(rows, start=1):
            sheet.write_datetime(number, 0, date.fromisoformat(row[0]))
            for column, value in enumerate(row[1:], start=1):
                if column == AMOUNT and sum(map(str.isdigit, value)) <= 15:
                    sheet.write_number(number, column, Decimal(value), shown[row[AMOUNT + 1]])
                elif value:
                    sheet.write_string(number, column, value)
    return file


def read_sheet(file):
    """All that a reader sees of the only sheet."""
    (sheet,) = openpyxl.load_workbook(file).worksheets
    cells = [
        [(cell.value, cell.data_type, cell.number_format, cell.font.bold, cell.coordinate) for cell in row]
        for row in sheet.iter_rows()
    ]
    widths = [sheet.column_dimensions[letter].width for letter in workbooks.COLUMN_LETTERS[: len(LAYOUT.columns)]]
    return sheet.title, sheet.freeze_panes, sheet.dimensions, widths, cells


def list_texts(file):
    """The texts of the row below the header, as somebody wrote them."""
    (sheet,) = openpyxl.load_workbook(file).worksheets
    return [unescape(sheet.cell(2, number + 1).value or "") for number in TEXTS]


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
def test_workbook_text_matches_xlsxwriter(text):
    rows = build_row(text), build_row(), build_row(text[:3])
    assert read_sheet(write_workbook(*rows)) == read_sheet(write_with_xlsxwriter(*rows))


def test_workbook_preserves_leading_and_trailing_spaces():
    with zipfile.ZipFile(write_workbook(build_row(" a"), build_row("a "), build_row("a b"))) as book:
        marked = book.read(workbooks.SHEET_PATH).decode().count('xml:space="preserve"')
    assert marked == 2 * (len(TEXTS) + 1)  # the currency too: a row is written in one way


@pytest.mark.parametrize(("amount", "currency"), AMOUNTS.items())
def test_workbook_amount_matches_xlsxwriter(amount, currency):
    row = build_row(amount=amount, currency=currency)
    assert read_sheet(write_workbook(row)) == read_sheet(write_with_xlsxwriter(row))


def test_empty_workbook_matches_xlsxwriter():
    assert read_sheet(write_workbook()) == read_sheet(write_with_xlsxwriter())


def test_workbook_rows_omit_empty_cells():
    rows = [build_row("a" * (number % 3), f"2026-01-{number:02}", f"{number}.00") for number in range(1, 32)]
    assert read_sheet(write_workbook(*rows)) == read_sheet(write_with_xlsxwriter(*rows))
    assert (
        sum(1 for _ in list_cells(write_workbook(build_row()))) == len(LAYOUT.headings) + 3
    )  # the day, the amount and its currency


@pytest.mark.parametrize("day", ["0001-01-01", "1899-12-31", "1900-01-01", "1900-02-28", "1900-03-01", "9999-12-31"])
def test_workbook_date_number_matches_xlsxwriter(day):
    ours, theirs = (
        [cell[0].text for cell in list_cells(make(build_row(day=day)))]
        for make in (write_workbook, write_with_xlsxwriter)
    )
    assert ours[len(LAYOUT.headings)] == theirs[len(LAYOUT.headings)]


def list_cells(file):
    with zipfile.ZipFile(file) as book, book.open(workbooks.SHEET_PATH) as sheet:
        return [each for _, each in ElementTree.iterparse(sheet) if each.tag == CELL]


@given(st.lists(st.text(max_size=30), min_size=len(TEXTS), max_size=len(TEXTS)))
@settings(max_examples=150, deadline=None)
def test_workbook_round_trips(texts):
    row = build_row()
    for number, text in zip(TEXTS, texts, strict=True):
        row[number] = text
    assert list_texts(write_workbook(row)) == texts


@pytest.mark.parametrize("text", ["<r>&</r>", "<r><t>a</t></r>", "_x0041_x0042_"])
def test_workbook_writes_markup_as_plain_text(text):
    assert set(list_texts(write_workbook(build_row(text)))) == {text}


@given(st.text(alphabet="_x004aAF&<\x07\uffff", max_size=24))
@settings(deadline=None)
def test_workbook_text_is_never_read_as_escape_sequence(text):
    assert set(list_texts(write_workbook(build_row(text)))) == {text}


@given(st.dates(min_value=date(1900, 3, 1)), st.decimals(min_value=-(10**12), max_value=10**12, places=2))
@settings(deadline=None)
def test_workbook_dates_and_amounts_are_typed(day, amount):
    (sheet,) = openpyxl.load_workbook(write_workbook(build_row(day=day.isoformat(), amount=f"{amount:f}"))).worksheets
    assert sheet["A2"].value == datetime(day.year, day.month, day.day)
    assert sheet.cell(2, AMOUNT + 1).value == float(amount)


def test_workbook_streams_every_row_from_a_plain_zip():
    file = write_workbook(*[build_row(str(number)) for number in range(1200)])
    (sheet,) = openpyxl.load_workbook(file, read_only=True).worksheets
    assert [row[1] for row in sheet.iter_rows(min_row=2, values_only=True)] == [str(number) for number in range(1200)]
    with zipfile.ZipFile(file) as book:
        assert book.testzip() is None
        assert {part.extract_version for part in book.infolist()} == {20}  # 45 would be ZIP64
        assert len(set(book.namelist())) == len(book.namelist())


@pytest.mark.parametrize(("name", "value"), [("MAX_SHEET_ROWS", 2), ("MAX_SHEET_BYTES", 6000)])
def test_workbook_over_spreadsheet_limits_is_rejected(monkeypatch, name, value):
    monkeypatch.setattr(workbooks, name, value)
    assert write_workbook(build_row(), build_row())
    with pytest.raises(workbooks.TooManyRows):
        write_workbook(*[build_row("a" * 100)] * 3)


def test_workbook_rows_are_compressed_with_given_compressor():
    """Python keeps what packs a part where it likes; a change of that would pass without a word, and take longer."""
    given = []

    class Packer:
        def __init__(self):
            self.itself = isal_zlib.compressobj(1, zlib.DEFLATED, -zlib.MAX_WBITS)

        def compress(self, data):
            given.append(bytes(data))
            return self.itself.compress(data)

        def flush(self):
            return self.itself.flush()

    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as whole, whole.open("part", "w") as part:
        workbooks.set_compressor(part, Packer())
        part.write(b"rows" * 1000)
    assert given == [b"rows" * 1000]
    assert zipfile.ZipFile(file).read("part") == b"rows" * 1000
