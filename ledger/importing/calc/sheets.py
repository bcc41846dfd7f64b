"""A workbook's sheet as the lines of a table. No database."""

import io
import zipfile
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

from openpyxl import load_workbook

from ledger.calc.tables import MOST_COLUMNS, MOST_EMPTY, Line, NotATable

SHEETS_BEGIN = b"PK\x03\x04"  # how workbooks and other archives begin
MAX_UNPACKED = 512 * 1024 * 1024  # bytes of all parts together
MAX_RATIO = 200  # unpacked bytes for one packed byte; more is made to fill memory


def has_sheets(content: bytes) -> bool:
    """Whether an archive is a workbook."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except (zipfile.BadZipFile, ValueError, OSError):
        return False


def sheet_lines(content: bytes, *, most: int) -> list[Line]:
    """Return the rows of the first sheet that has several columns; formulas are read as their last result.

    Raises:
        NotATable: the workbook is broken, or unpacks to more than any table's.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            unpacked = sum(part.file_size for part in archive.infolist())
        if unpacked > MAX_UNPACKED or unpacked > MAX_RATIO * max(len(content), 1):
            raise NotATable("The workbook is larger than any table.")
        book = load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
        for sheet in book.worksheets:
            lines = list(_lines(sheet, most))
            if any(len(line.cells) > 1 for line in lines):
                return lines
    except NotATable:
        raise
    except Exception as error:  # openpyxl raises whatever broken XML makes it
        raise NotATable("The workbook is broken. Save it again in your spreadsheet, or as CSV.") from error
    return []


def _lines(sheet: Any, most: int) -> Iterator[Line]:
    empty = found = 0
    # A sheet may have 16,384 columns: what is beyond the most is not even filled up with empty cells.
    for number, row in enumerate(sheet.iter_rows(values_only=True, max_col=MOST_COLUMNS + 1), start=1):
        cells = [to_text(value) for value in row]
        while cells and not cells[-1]:
            cells.pop()
        if len(cells) > MOST_COLUMNS:
            raise NotATable("Line {line} has more than {most} columns.", line=str(number), most=MOST_COLUMNS)
        if cells:
            yield Line(number, cells)
            found += 1
            if found >= most:
                return
        else:
            empty += 1
            if empty > MOST_EMPTY:
                raise NotATable("The table has more than {most} empty lines.", most=MOST_EMPTY)


def to_text(value: Any) -> str:
    """A cell as a CSV file would have it.

    >>> to_text(datetime(2026, 1, 31)), to_text(-12.5), to_text(1000.0), to_text(None), to_text(0.1 + 0.2)
    ('2026-01-31', '-12.5', '1000', '', '0.3')
    """
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == value.min.time() else value.isoformat(sep=" ")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float):
        rounded = round(value, 6)
        return f"{rounded:.0f}" if rounded == int(rounded) else f"{rounded:f}".rstrip("0")
    return " ".join(str(value).split())
