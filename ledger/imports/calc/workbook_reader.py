"""Read a workbook's sheet as the lines of a table. No database."""

import math
import re
import zipfile
from collections.abc import Collection, Iterator
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from typing import Any
from xml.etree import ElementTree

from openpyxl.reader.excel import ExcelReader
from openpyxl.styles.stylesheet import Stylesheet
from openpyxl.worksheet._reader import CELL_TAG, FORMULA_TAG, ROW_TAG, WorkSheetParser
from openpyxl.xml.constants import SHARED_STRINGS

from ledger.calc.delimited_text import (
    MAX_CELL_CHARACTERS,
    MAX_COLUMNS,
    Line,
    Lines,
    MalformedTable,
    NumberText,
    TableLimit,
)
from ledger.imports.calc.currencies import find_currencies
from ledger.imports.calc.table import find_table, is_data_row
from ledger.imports.calc.workbook_parts import (
    MAIN,
    SharedStrings,
    WorkbookArchive,
    build_broken_workbook_error,
    check_parts,
    decode_escapes,
    iter_shared_strings,
    open_workbook_archive,
)

ROW_DEPTH = 2  # elements around a row
MAX_ROWS = 1_048_576  # of a sheet, whose format has no more
STYLES = "xl/styles.xml"
MAX_SHEET_COLUMNS = 16_384  # of a sheet, whose format has no more
DECIMALS = 6  # behind the point; more are what binary numbers add
BRACKETED = re.compile(r"\[\$([^][-]{1,40})(?:-[0-9A-Fa-f]+)?\]")  # [$€-407]
QUOTED = re.compile(r'"([^"]+)"')
BARE_SIGN = re.compile(r"[$€£¥]")


class SeveralTables(MalformedTable):
    """More than one sheet has movements."""


class NoResult(MalformedTable):
    """A formula's result is not in the file."""


def read_workbook_lines(content: bytes, *, max_lines: int) -> Lines:
    """Return the rows of the one visible sheet that has movements, else of the first that has several columns.

    Formulas are read as their last result.

    Raises:
        MalformedTable: the archive has no workbook, or a broken or protected one.
        NoResult: it has a formula whose result was not saved.
        UnsafeWorkbook: its XML has a document type.
        SeveralTables: several sheets have movements.
        TableLimit: a row or a cell is longer than any table's, or the archive is too large.
        TooManyCells: it has more cells than are read.
    """
    with open_workbook_archive(content) as archive:
        try:
            check_parts(archive)
            formats = read_formats(archive) if STYLES in archive.namelist() else []
            return choose_sheet(archive, formats, max_lines)
        except MalformedTable:
            raise
        except Exception as error:  # openpyxl raises whatever broken XML makes it
            raise build_broken_workbook_error() from error


def choose_sheet(archive: WorkbookArchive, formats: list[str], max_lines: int) -> Lines:
    reader = WorkbookReader(archive.fp, read_only=True, data_only=True, keep_links=False)
    reader.archive = archive
    reader.read()
    date_formats = read_date_formats(reader.archive)
    unread_parts = set(reader.valid_files)
    tables: dict[str, Lines] = {}
    other = Lines.pack(())
    for sheet, part in reader.parser.find_sheets():
        if sheet.state != "visible" or "chartsheet" in part.Type or part.target not in unread_parts:
            continue
        unread_parts.remove(part.target)
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


class WorkbookReader(ExcelReader):
    """Reads shared strings with the characters that are escaped in them."""

    def read_strings(self) -> None:
        part = self.package.find(SHARED_STRINGS)
        if part is not None:
            with self.archive.open(part.PartName[1:]) as source:
                self.shared_strings = SharedStrings(iter_shared_strings(source))


class SheetParser(WorkSheetParser):
    """Reads cells as openpyxl does, and refuses a formula whose result is not in the file."""

    def parse(self) -> Iterator[tuple[int, list[dict[str, Any]]]]:
        """Yield (number, cells) of each row, and keep no element behind it."""
        open_elements: list[Any] = []
        cell_count = 0
        for event, element in ElementTree.iterparse(self.source, events=("start", "end")):  # noqa: S314 - as above
            if event == "start":
                open_elements.append(element)
                cell_count += element.tag == CELL_TAG
                if cell_count > MAX_SHEET_COLUMNS:
                    raise build_broken_workbook_error()
                continue
            open_elements.pop()
            if element.tag == ROW_TAG:
                yield self.parse_row(element)
                self.row_dimensions.clear()
                cell_count = 0
            if 0 < len(open_elements) <= ROW_DEPTH:
                open_elements[-1].clear()

    def parse_cell(self, element: Any) -> dict[str, Any]:
        cell: dict[str, Any] = super().parse_cell(element)
        if cell["value"] is None and element.get("t") != "str" and element.find(FORMULA_TAG) is not None:
            raise NoResult(
                "Cell {cell} has a formula without its result. Open the workbook in your spreadsheet and save it.",
                cell=str(element.get("r") or ""),
            )
        if element.get("t") in {"inlineStr", "str"} and cell["value"]:
            cell["value"] = decode_escapes(cell["value"])
        return cell


def iter_sheet_rows(
    reader: ExcelReader, part: str, formats: list[str], date_formats: tuple[Collection[int], Collection[int]]
) -> Iterator[Line]:
    """Yield the rows that have anything in them, without the empty cells and rows that openpyxl's own iteration adds.

    Raises MalformedTable, TableLimit.
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
