"""Transactions as an XLSX workbook with one sheet.

XlsxWriter writes the workbook; the rows are written here as text while they arrive, which is seven times as
fast (docs/decisions/21-worksheet-rows-as-text.md).
"""

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile
from zlib import DEFLATED, MAX_WBITS

import xlsxwriter
from django.utils.translation import gettext
from isal import isal_zlib

from companies.errors import InvalidInputError
from ledger.exports.file_responses import BLOCK_BYTES, encode_chunks
from ledger.exports.transaction_table import TEXT_COLUMNS, TransactionTable
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
AMOUNT_COLUMNS = {"amount", "tax", "transaction_amount"}
DAY_FORMAT, AMOUNT_FORMATS = "yyyy-mm-dd", {2: "#,##0.00", 0: "#,##0"}
MAX_SHEET_ROWS = 1_048_575  # rows of a sheet below its header
MAX_SHEET_BYTES = 2**31 - 1  # of a sheet; a larger one needs ZIP64, which Excel reports as damaged
MAX_NUMBER_DIGITS = 15  # spreadsheets keep 15 digits of a number; longer amounts are written as text
MAX_CELL_CHARACTERS = 32_767  # UTF-16 code units of a cell

SHEET_PATH = "xl/worksheets/sheet1.xml"
DIMENSION_TAG, FORMAT_ROW = re.compile("<dimension [^>]*>"), re.compile('(<row r="2".*</row>)')
COLUMN_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
CELL_TAGS = [f'<c r="{letter}' for letter in COLUMN_LETTERS]
SPECIAL_CHARACTERS = re.compile("[&<>\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
PLAIN_BYTES = bytes(
    byte for byte in range(0x20, 0x100) if byte not in b"&<>\x7f\xef"
)  # in UTF-8; U+FFFF begins with EF
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
DAY_ZERO = date(1899, 12, 31).toordinal()


class TooManyRows(InvalidInputError):
    """An Excel sheet holds at most 1,048,575 rows and 2 GiB. Choose a shorter period or export CSV."""

    code = "too_many_rows"


@dataclass(frozen=True, slots=True)
class SheetLayout:
    """The columns of a sheet: their names, which decide the format, and their headings."""

    columns: Sequence[str]
    headings: Sequence[str]

    def find_columns(self, names: set[str]) -> list[int]:
        return [place for place, column in enumerate(self.columns) if column in names]


class ChunkBuffer:
    """A writable file whose content is taken out piece by piece."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self.size = 0

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        """Do nothing: everything is written at once."""

    def take(self) -> bytes:
        """Return what was written since the last call."""
        written = b"".join(self._pieces)
        self._pieces.clear()
        self.size = 0
        return written


def stream_xlsx(table: TransactionTable) -> Iterator[bytes]:
    """Return the pieces of a table as a workbook with typed days and amounts. Raises TooManyRows at once."""
    if table.count_rows() > MAX_SHEET_ROWS:
        raise TooManyRows
    layout = SheetLayout(table.columns, table.headings)
    return stream_table_workbook(table, layout, build_workbook_template(layout))


def stream_table_workbook(table: TransactionTable, layout: SheetLayout, template: IO[bytes]) -> Iterator[bytes]:
    """Yield the pieces of a table's workbook; closes the rows at the end."""
    with closing(table.iterate_rows()) as rows:
        yield from stream_workbook(rows, layout, template)


def stream_workbook(rows: Iterable[Sequence[str]], layout: SheetLayout, template: IO[bytes]) -> Iterator[bytes]:
    """Yield the pieces of a workbook; `template` is from `build_workbook_template`. Raises TooManyRows."""
    buffer: Any = ChunkBuffer()
    with ZipFile(template) as template_archive, ZipFile(buffer, "w", ZIP_DEFLATED, compresslevel=1) as archive:
        for part in template_archive.infolist():
            if part.filename != SHEET_PATH:
                archive.writestr(part, template_archive.read(part))
        head, formats, tail = FORMAT_ROW.split(DIMENSION_TAG.sub("", template_archive.read(SHEET_PATH).decode()))
        day, *money = re.findall('s="([0-9]+)"', formats)
        xml_rows = format_rows_as_xml(rows, layout, day=day, money=dict(zip(AMOUNT_FORMATS, money, strict=True)))
        with archive.open(SHEET_PATH, "w") as sheet:
            set_compressor(sheet, isal_zlib.compressobj(1, DEFLATED, -MAX_WBITS))
            byte_count = sheet.write(head.encode())
            yield buffer.take()
            for piece in encode_chunks(xml_rows):
                if (byte_count := byte_count + len(piece)) > MAX_SHEET_BYTES - len(tail):
                    raise TooManyRows
                sheet.write(piece)
                if buffer.size >= BLOCK_BYTES:
                    yield buffer.take()
            sheet.write(tail.encode())
    yield buffer.take()


def set_compressor(part: Any, compressor: Any) -> None:
    """Compress a part of a ZIP archive with ISA-L, in a third of zlib's time.

    Python has no public API for this; if the attribute moves, zlib is used.
    """
    part._compressor = compressor  # noqa: SLF001


def build_workbook_template(layout: SheetLayout) -> IO[bytes]:
    """Build a workbook with the header row and one row with a cell of each number format."""
    template = io.BytesIO()
    with xlsxwriter.Workbook(template, {"in_memory": True}) as workbook:
        sheet = workbook.add_worksheet(gettext("Transactions"))
        for column_index, column in enumerate(layout.columns):
            sheet.set_column(column_index, column_index, WIDTHS[column])
        sheet.freeze_panes(1, 0)
        sheet.write_row(0, 0, layout.headings, workbook.add_format({"bold": True}))
        for column_index, number_format in enumerate([DAY_FORMAT, *AMOUNT_FORMATS.values()]):
            sheet.write_blank(1, column_index, None, workbook.add_format({"num_format": number_format}))
    return template


def format_rows_as_xml(
    rows: Iterable[Sequence[str]], layout: SheetLayout, *, day: str, money: dict[int, str]
) -> Iterator[str]:
    """Yield each row as XML. Raises TooManyRows.

    Args:
        day: the workbook's format number for days.
        money: its format numbers for amounts, by decimals.
    """
    cell_tags, currency_index = CELL_TAGS[: len(layout.columns)], layout.columns.index("currency")
    day_indexes, amount_indexes = layout.find_columns(DAY_COLUMNS), layout.find_columns(AMOUNT_COLUMNS)
    for number, row in enumerate(rows, start=2):
        if number > MAX_SHEET_ROWS + 1:
            raise TooManyRows
        if is_plain_row(row):
            attributes = f'{number}" t="str"><v>'
            cells = [
                f"{begun}{attributes}{text}</v></c>" if text else "" for begun, text in zip(cell_tags, row, strict=True)
            ]
        else:
            attributes = f'{number}" t="inlineStr"><is><t xml:space="preserve">'
            texts = zip(cell_tags, map(escape_xml_text, row), strict=True)
            cells = [f"{begun}{attributes}{text}</t></is></c>" if text else "" for begun, text in texts]
        for column_index in day_indexes:
            cells[column_index] = (
                f'<c r="{COLUMN_LETTERS[column_index]}{number}" s="{day}"><v>{to_day_number(row[column_index])}</v></c>'
            )
        style = money[get_minor_units(row[currency_index])]
        for column_index in amount_indexes:
            amount = row[column_index]
            if amount and len(amount.lstrip("-").replace(".", "")) <= MAX_NUMBER_DIGITS:
                cells[column_index] = f'<c r="{COLUMN_LETTERS[column_index]}{number}" s="{style}"><v>{amount}</v></c>'
        yield f'<row r="{number}">{"".join(cells)}</row>'


def is_plain_row(row: Sequence[str]) -> bool:
    """Return whether a row needs no XML escaping and no preserved blanks; most rows, in half the time.

    The row is checked as one text; it starts with a day and ends with an id.

    >>> [is_plain_row(["2026-03-31", text, "01a2"]) for text in ("a – b", "", "b ", " b", "a & b", "_x0041_")]
    [True, True, False, False, False, False]
    """
    joined = "|".join(row)
    return not (
        joined.encode().translate(None, PLAIN_BYTES)
        or ("| " in joined or " |" in joined or ("_" in joined and "_x" in joined))
        or len(joined) > MAX_CELL_CHARACTERS // 2
    )


def escape_xml_text(text: str) -> str:
    """Escape a text for XML, with characters that XML forbids as in ECMA-376 (ST_Xstring); cut to a cell.

    >>> escape_xml_text("a < b"), escape_xml_text("_x0041_")
    ('a &lt; b', '_x005F_x0041_')
    """
    text_in_cell = text.encode("utf-16-le")[: 2 * MAX_CELL_CHARACTERS].decode("utf-16-le", "ignore")
    return SPECIAL_CHARACTERS.sub(lambda found: ENTITIES.get(found[0]) or f"_x{ord(found[0]):04X}_", text_in_cell)


@lru_cache(1000)
def to_day_number(text: str) -> int:
    """Return the serial number of a day in spreadsheets, which believe that 1900 had a 29 February.

    >>> [to_day_number(day) for day in ("1900-01-01", "1900-02-28", "1900-03-01", "2026-03-31")]
    [1, 59, 61, 46112]
    """
    number = date.fromisoformat(text).toordinal() - DAY_ZERO
    return number + (number > 59)
