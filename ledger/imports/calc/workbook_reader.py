"""Read a workbook's sheet as the lines of a table. No database."""

import io
import math
import re
import zipfile
from collections.abc import Collection, Iterator
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

from openpyxl.reader.excel import ExcelReader
from openpyxl.styles.stylesheet import Stylesheet
from openpyxl.worksheet._reader import FORMULA_TAG, WorkSheetParser

from ledger.calc.delimited_text import (
    MAX_CELL_CHARACTERS,
    MAX_COLUMNS,
    Line,
    Lines,
    MalformedTable,
    NumberText,
    TableLimit,
)
from ledger.calc.zip_files import ZIP_BEGINS, BadArchive, open_archive
from ledger.imports.calc.currencies import find_currencies
from ledger.imports.calc.table import find_table, is_data_row

ZIP_SIGNATURE = ZIP_BEGINS  # how workbooks and other archives begin
MAX_PARTS = 5000  # files of which a workbook is made
MAX_UNPACKED_BYTES = 512 * 1024 * 1024  # bytes of all parts together
MAX_ROWS = 1_048_576  # of a sheet, whose format has no more
WORKBOOK, STYLES = "xl/workbook.xml", "xl/styles.xml"
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
AT_ONCE = 64 * 1024  # bytes
DECIMALS = 6  # behind the point; more are what binary numbers add
BRACKETED = re.compile(r"\[\$([^][-]{1,40})(?:-[0-9A-Fa-f]+)?\]")  # [$€-407]
QUOTED = re.compile(r'"([^"]+)"')
BARE_SIGN = re.compile(r"[$€£¥]")


class UnsafeWorkbook(MalformedTable):
    """A part of the workbook has a document type or entities."""


class SeveralTables(MalformedTable):
    """More than one sheet has movements."""


class NoResult(MalformedTable):
    """A formula's result is not in the file."""


def build_broken_workbook_error() -> MalformedTable:
    return MalformedTable("The workbook is damaged. Save it again, or as CSV.")


def has_workbook(content: bytes) -> bool:
    """Whether an archive is a workbook."""
    try:
        with open_archive(content, max_files=MAX_PARTS, max_unpacked=MAX_UNPACKED_BYTES) as archive:
            return WORKBOOK in archive.namelist()
    except BadArchive:
        return False


def read_workbook_lines(content: bytes, *, max_lines: int) -> Lines:
    """Return the rows of the one visible sheet that has movements, else of the first that has several columns.

    Formulas are read as their last result.

    Raises:
        NotATable: the workbook is broken.
        NoResult: it has a formula whose result was not saved.
        UnsafeWorkbook: its XML has a document type.
        SeveralTables: several sheets have movements.
        TableLimit: a row or a cell is longer than any table's.
    """
    try:
        with open_archive(content, max_files=MAX_PARTS, max_unpacked=MAX_UNPACKED_BYTES) as archive:
            refuse_document_types(archive)
            formats = read_formats(archive) if STYLES in archive.namelist() else []
        return choose_sheet(content, formats, max_lines)
    except BadArchive as error:
        raise MalformedTable(error.message, **error.values) from error
    except MalformedTable:
        raise
    except Exception as error:  # openpyxl raises whatever broken XML makes it
        raise build_broken_workbook_error() from error


def choose_sheet(content: bytes, formats: list[str], max_lines: int) -> Lines:
    reader = ExcelReader(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
    reader.read()
    date_formats = read_date_formats(reader.archive)
    tables: dict[str, Lines] = {}
    other = Lines.pack(())
    for sheet, part in reader.parser.find_sheets():
        if sheet.state != "visible" or "chartsheet" in part.Type or part.target not in reader.valid_files:
            continue
        lines = Lines.pack(islice(iter_sheet_rows(reader, part.target, formats, date_formats), max_lines))
        if has_movements(lines):
            tables[sheet.name] = lines
        elif not other and any(len(line.cells) > 1 for line in lines):
            other = lines
    if len(tables) > 1:
        names = ", ".join(f"“{name[:40]}”" for name in tables)
        raise SeveralTables("Several sheets contain transactions: {names}. Save each as a separate file.", names=names)
    return next(iter(tables.values()), other)


def has_movements(lines: Lines) -> bool:
    """Whether there are headings with rows below that have a day and a number."""
    table = find_table(lines) if lines else None
    return table is not None and bool(table.heading_line) and any(is_data_row(line.cells) for line in table.rows)


def refuse_document_types(archive: zipfile.ZipFile) -> None:
    """Look at what stands before the first element of each part. Raises UnsafeWorkbook."""
    for member in archive.infolist():
        parser = expat.ParserCreate()
        document_started: list[bool] = []
        parser.StartDoctypeDeclHandler = refuse_document_type
        parser.StartElementHandler = lambda _name, _attributes, document_started=document_started: (
            document_started.append(True)
        )
        with archive.open(member) as part:
            while not document_started and (piece := part.read(AT_ONCE)):
                try:
                    parser.Parse(piece)
                except expat.ExpatError:  # a picture, or broken, which its reader will tell
                    break


def refuse_document_type(*_declared: Any) -> None:
    raise UnsafeWorkbook("The workbook has a document type.")


def read_formats(archive: zipfile.ZipFile) -> list[str]:
    """The number format of each style as the file writes it; empty for one that is built in, which each country's
    spreadsheets show in their own currency."""
    root = ElementTree.fromstring(archive.read(STYLES))  # noqa: S314 - without a document type
    codes = {each.get("numFmtId"): each.get("formatCode", "") for each in root.iter(f"{MAIN}numFmt")}
    styles = root.find(f"{MAIN}cellXfs")
    return [codes.get(style.get("numFmtId"), "") for style in styles] if styles is not None else []


def read_date_formats(archive: zipfile.ZipFile) -> tuple[Collection[int], Collection[int]]:
    """Return the styles of dates and those of durations."""
    if STYLES not in archive.namelist():
        return (), ()
    root = ElementTree.fromstring(archive.read(STYLES))  # noqa: S314 - without a document type
    styles = Stylesheet.from_tree(root)
    return styles.date_formats, styles.timedelta_formats


class SheetParser(WorkSheetParser):
    """Reads cells as openpyxl does, and refuses a formula whose result is not in the file."""

    def parse_cell(self, element: Any) -> dict[str, Any]:
        cell: dict[str, Any] = super().parse_cell(element)
        if cell["value"] is None and element.get("t") != "str" and element.find(FORMULA_TAG) is not None:
            raise NoResult(
                "Cell {cell} has a formula without its result. Open the workbook in your spreadsheet and save it.",
                cell=str(element.get("r") or ""),
            )
        return cell


def iter_sheet_rows(
    reader: ExcelReader, part: str, formats: list[str], date_formats: tuple[Collection[int], Collection[int]]
) -> Iterator[Line]:
    """Yield the rows that have anything in them, without the empty cells and rows that openpyxl's own iteration adds.

    Raises NotATable, TableLimit.
    """
    dates, durations = date_formats
    with reader.archive.open(part) as source:
        parser = SheetParser(
            source,
            reader.shared_strings,
            data_only=True,
            epoch=reader.wb.epoch,
            date_formats=dates,
            timedelta_formats=durations,
        )
        for number, row in parser.parse():
            if not 0 < number <= MAX_ROWS:
                raise build_broken_workbook_error()
            if cells := align_cell_texts(number, row, formats):
                yield Line(number, cells)


def align_cell_texts(number: int, row: list[dict[str, Any]], formats: list[str]) -> list[str]:
    """The texts of a row at their columns, up to the last that has any. Raises TableLimit."""
    filled = {}
    for cell in row:
        style = cell["style_id"]
        if text := to_cell_text(cell["value"], formats[style] if style < len(formats) else ""):
            filled[cell["column"]] = text
        if len(text) > MAX_CELL_CHARACTERS:
            raise TableLimit(
                "Line {line} has a cell of more than {most} characters.", line=str(number), most=MAX_CELL_CHARACTERS
            )
    width = max(filled, default=0)
    if width > MAX_COLUMNS:
        raise TableLimit(
            "Line {line} has {count} columns. The limit is {most}.",
            line=str(number),
            count=width,
            most=MAX_COLUMNS,
        )
    return [filled.get(position, "") for position in range(1, width + 1)]


def to_cell_text(value: Any, code: str = "") -> str:
    """A cell as a CSV file would have it; a number with the currency of its format, such as ``-€12.50``.

    >>> [to_cell_text(value) for value in (datetime(2026, 1, 31), -12.5, 1000.0, None, 0.1 + 0.2)]
    ['2026-01-31', '-12.50', '1000', '', '0.30']
    >>> to_cell_text(-1.234, "[$£-809]#,##0.000"), to_cell_text(5, '#,##0.00\\\\ "€"')
    ('-£1.234', '€5.00')
    """
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == value.min.time() else value.isoformat(sep=" ")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return NumberText(format_cell_number(value, code))
    return " ".join(str(value).split())


def format_cell_number(value: float, code: str) -> str:
    """A number with a point, as many decimals as it has, or two where its format shows some, and its currency."""
    plain = format(Decimal(repr(round(value, DECIMALS))), "f")
    integer_part, _, cents = plain.removeprefix("-").partition(".")
    cents = cents.rstrip("0")
    minus = "-" if plain.startswith("-") and (integer_part != "0" or cents) else ""
    sign = find_currency_sign(code)
    blank = " " if sign[-1:].isalpha() else ""
    return f"{minus}{sign}{blank}{integer_part}" + (f".{cents:0<2}" if cents or "0.0" in code else "")


def find_currency_sign(code: str) -> str:
    """The currency that a number format shows, as it writes it; empty where it shows none.

    >>> find_currency_sign("[$£-809]#,##0.00"), find_currency_sign("_-* #,##0.00 [$EUR]_-"), find_currency_sign("0.00")
    ('£', 'EUR', '')
    """
    positive = code.partition(";")[0]
    words = [*BRACKETED.findall(positive), *QUOTED.findall(positive), *BARE_SIGN.findall(positive)]
    return next((word.strip() for word in words if find_currencies(word.strip())), "")
