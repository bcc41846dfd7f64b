"""Transactions as an XLSX workbook with one sheet."""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from datetime import date
from decimal import Decimal
from typing import IO, Any

import xlsxwriter
from django.utils.translation import gettext
from xlsxwriter.exceptions import FileSizeError

from companies.errors import InvalidInputError
from ledger.exports.file_responses import BLOCK_BYTES
from ledger.exports.transaction_table import AMOUNT_COLUMNS, TEXT_COLUMNS, TransactionTable
from ledger.money.calc.money import get_minor_units

WIDTHS = {  # column widths in characters
    name: width
    for width, names in {
        8: ("currency", "status", "pending", "transfer"),
        11: ("date", "service_start", "service_end"),
        12: ("source", "tax"),
        14: ("amount", "transaction_amount"),
        16: ("external_id",),
        20: ("account",),
        24: ("categories", "category", "lines", "line", "counterparties", "counterparty", *TEXT_COLUMNS),
        28: ("from_to",),
        36: ("id",),
        40: ("description",),
    }.items()
    for name in names
}
DAY_COLUMNS = {"date", "service_start", "service_end"}
DAY_FORMAT, AMOUNT_FORMATS = "yyyy-mm-dd", {2: "#,##0.00", 0: "#,##0"}
MAX_SHEET_ROWS = 1_048_575  # rows of a sheet below its header
MAX_NUMBER_DIGITS = 15  # spreadsheets keep 15 digits of a number; longer amounts are written as text
MAX_CELL_CHARACTERS = 32_767  # UTF-16 code units of a cell


class TooManyRows(InvalidInputError):
    """An Excel sheet holds at most 1,048,575 rows and 2 GiB. Choose a shorter period or export CSV."""

    code = "too_many_rows"


def stream_xlsx(table: TransactionTable) -> Iterator[bytes]:
    """Write a table as a workbook with typed days and amounts, and return its pieces. Raises TooManyRows."""
    if table.count_rows() > MAX_SHEET_ROWS:
        raise TooManyRows
    file = tempfile.TemporaryFile()  # noqa: SIM115 - read after this returns
    try:
        with closing(table.iterate_rows()) as rows:
            write_workbook(file, rows, columns=table.columns, headings=table.headings)
    except BaseException:
        file.close()
        raise
    return read_blocks(file)


def read_blocks(file: IO[bytes]) -> Iterator[bytes]:
    """Yield a file from its start; close it at the end."""
    with file:
        file.seek(0)
        while block := file.read(BLOCK_BYTES):
            yield block


def write_workbook(
    file: IO[bytes], rows: Iterable[Sequence[str]], *, columns: Sequence[str], headings: Sequence[str]
) -> None:
    """Write rows of texts as a workbook; `columns` decide the formats. Raises TooManyRows."""
    try:
        with xlsxwriter.Workbook(file, {"constant_memory": True}) as workbook:
            sheet = workbook.add_worksheet(gettext("Transactions"))
            for index, column in enumerate(columns):
                sheet.set_column(index, index, WIDTHS[column])
            sheet.freeze_panes(1, 0)
            sheet.write_row(0, 0, headings, workbook.add_format({"bold": True}))
            write_rows(workbook, sheet, rows, columns)
    except FileSizeError:
        raise TooManyRows from None


def write_rows(workbook: Any, sheet: Any, rows: Iterable[Sequence[str]], columns: Sequence[str]) -> None:
    """Write the rows below the header. Raises TooManyRows."""
    plain_format, day_format = workbook.add_format(), workbook.add_format({"num_format": DAY_FORMAT})
    amount_formats = {
        units: workbook.add_format({"num_format": number_format}) for units, number_format in AMOUNT_FORMATS.items()
    }
    currency_index = columns.index("currency")
    for number, row in enumerate(rows, start=1):
        if number > MAX_SHEET_ROWS:
            raise TooManyRows
        for index, (column, text) in enumerate(zip(columns, row, strict=True)):
            if not text:
                continue
            if column in DAY_COLUMNS:
                sheet.write_datetime(number, index, date.fromisoformat(text), day_format)
            elif column in AMOUNT_COLUMNS and len(text.lstrip("-").replace(".", "")) <= MAX_NUMBER_DIGITS:
                amount_format = amount_formats[get_minor_units(row[currency_index])]
                sheet.write_number(number, index, Decimal(text), amount_format)
            else:
                write_text(sheet, number, index, text, plain_format)


def write_text(sheet: Any, row: int, column: int, text: str, plain_format: Any) -> None:
    """Write a text, cut to what a cell holds."""
    if len(text) > MAX_CELL_CHARACTERS // 2:
        text = text.encode("utf-16-le")[: 2 * MAX_CELL_CHARACTERS].decode("utf-16-le", "ignore")
    if text.startswith("<r>") and text.endswith("</r>"):  # XlsxWriter would take it for its own markup
        sheet.write_rich_string(row, column, text[0], plain_format, text[1:])
    else:
        sheet.write_string(row, column, text)
