"""Why a table cannot be read whatever is answered: other tables, titles of rows that are not booked, cut amounts."""

import re
from collections.abc import Sequence

from ledger.calc.delimited_text import CELL_DELIMITER, Line, Lines, NumberText
from ledger.imports.calc.column_mapping import AMOUNT_FIELDS, ColumnMapping
from ledger.imports.calc.columns import is_date_like_cell
from ledger.imports.calc.currencies import count_currency_decimals
from ledger.imports.calc.detection_result import FileFault
from ledger.imports.calc.headings import find_heading_fields, fold_heading
from ledger.imports.calc.table import Table, is_data_row, is_heading_row
from ledger.imports.calc.vocabulary import is_unbooked_title

CODE = "statement_unreadable"
_DIGIT = re.compile(rb"[0-9]")
_WHOLE = re.compile(r"[-+(]?[^\w\s]?-?[0-9]+")
_TWO_DIGITS = re.compile(r"[0-9]{2}\)?")
DATES, AMOUNTS = {"date", "valueDate"}, {"amount", "debit", "credit", "net", "gross"}
MAX_TITLE_LENGTH = 60


def find_table_fault(table: Table, mapping: ColumnMapping, *, own_currency: str, is_proven: bool) -> FileFault | None:
    """Return why a table cannot be read; None where nothing speaks against it."""
    fault = find_second_table_fault(table) or find_unbooked_title_fault(table.rows)
    if fault or is_proven or mapping.is_minor or not count_currency_decimals(mapping.currency or own_currency):
        return fault
    return find_cut_amount_fault(table, mapping)


def find_second_table_fault(table: Table) -> FileFault | None:
    """Refuse a file with a second line of headings that names other columns, and rows under both."""
    if not table.heading_line:
        return None
    names = trim_headings(table.names)
    others = (
        position
        for position, line in enumerate(table.rows)
        if not _DIGIT.search(line.packed) and is_second_heading(line.cells, names)
    )
    position = next(others, None)
    if position is not None and has_dated_row(table.rows[position:]):
        return build_second_table_fault(table.rows[position].number, first=table.heading_line)
    position = next(
        (position for position, line in enumerate(table.above) if is_second_heading(line.cells, names)), None
    )
    if position is not None and any(is_data_row(line.cells) for line in table.above[position + 1 :]):
        return build_second_table_fault(table.heading_line, first=table.above[position].number)
    return None


def build_second_table_fault(line: int, *, first: int) -> FileFault:
    return FileFault(
        CODE,
        "Line {line} has other column headings than line {first}. Import each table as a separate file.",
        {"line": str(line), "first": str(first)},
    )


def is_second_heading(cells: Sequence[str], names: Sequence[str]) -> bool:
    """Whether a line names a date, an amount and another column, and not those of the table."""
    if not is_heading_row(cells) or trim_headings(cells) == list(names):
        return False
    fields = {
        heading_fields[0][0]
        for cell in cells
        if (heading_fields := find_heading_fields(cell)) and heading_fields[0][1] > 1
    }
    return len(fields) > 2 and bool(fields & DATES) and bool(fields & AMOUNTS)


def trim_headings(cells: Sequence[str]) -> list[str]:
    """Return headings as they are compared, without empty ones at the end."""
    names = list(map(fold_heading, cells))
    while names and not names[-1]:
        names.pop()
    return names


def has_dated_row(lines: Lines) -> bool:
    return any(any(map(is_date_like_cell, line.cells)) for line in lines)


def find_unbooked_title_fault(rows: Lines) -> FileFault | None:
    """Refuse a table in which a title says that the rows below it are declined, planned or pending."""
    titles = (
        (position, title)
        for position, line in enumerate(rows)
        if (title := get_title(line)) and is_unbooked_title(title)
    )
    position, title = next(titles, (0, ""))
    if not title or not has_dated_row(rows[position:]):
        return None
    return FileFault(
        CODE,
        "Line {line}: the rows below “{title}” may not be booked. Remove them, or import them separately.",
        {"line": str(rows[position].number), "title": title},
    )


def get_title(line: Line) -> str:
    """Return the text of a line that has one alone, in its first cell; empty for any other line."""
    if CELL_DELIMITER in line.packed.rstrip(CELL_DELIMITER):
        return ""
    title = line.cells[0]
    return title if len(title) <= MAX_TITLE_LENGTH else ""


def find_cut_amount_fault(table: Table, mapping: ColumnMapping) -> FileFault | None:
    """Refuse a table where no amount has decimals, and two digits alone always stand behind it: a decimal comma has
    cut the amounts in two."""
    for name in AMOUNT_FIELDS:
        position = mapping.columns.get(name)
        if position is None or position + 1 >= (table.named_width or table.width):
            continue
        first = 0
        for line in table.rows:
            cells = line.cells
            if position + 1 >= len(cells) or not cells[position] or not any(map(is_date_like_cell, cells)):
                continue
            if not is_amount_cut(cells[position], cells[position + 1]):
                first = 0
                break
            first = first or line.number
        if first:
            return FileFault(
                CODE,
                "Line {line}: A comma may split an amount. Put amounts in quotation marks.",
                {"line": str(first)},
            )
    return None


def is_amount_cut(integer_part: str, fraction: str) -> bool:
    return type(integer_part) is not NumberText and bool(
        _WHOLE.fullmatch(integer_part) and _TWO_DIGITS.fullmatch(fraction)
    )
