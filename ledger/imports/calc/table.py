"""Find the table in a file: its headings, its rows, and the sections of several accounts. No database."""

import re
from array import array
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ledger.calc.delimited_text import CELL_DELIMITER, Line, Lines, NumberText, find_common_width
from ledger.imports.calc.amounts import DecimalMark, is_amount_text
from ledger.imports.calc.dates import is_date_text
from ledger.imports.calc.headings import find_heading_fields
from ledger.imports.calc.vocabulary import is_unbooked_title

HEADING_SEARCH_LINES = 150  # lines among which the headings stand
SAMPLE_ROWS = 1000  # rows that a detection looks at
_WHOLE = re.compile(r"[-+(]?[^\w\s]?-?[0-9]+")
_REST = re.compile(r"[0-9]{2}\)?|[0-9]{3}(?:[.,][0-9]+)?\)?")
_REST_WITH_CENTS = re.compile(r"[0-9]{3}\.[0-9]{2}")
_WITH_CENTS = re.compile(r"-?[0-9]+\.[0-9]{2}")
_UP_TO_999 = re.compile(r"[-+(]?[^\w\s]?-?[0-9]{1,3}")
NUMBERS = {"amount", "debit", "credit", "balance", "balanceBefore", "fee", "net", "gross", "tax", "number", "original"}
NEEDED_FIELDS = {"date", "valueDate", "amount", "debit", "credit", "net", "gross", "balance"}


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a file after its headings; ``sections`` has the section title by line number."""

    names: list[str]  # as many as the widest row has cells; empty where a column has no heading
    rows: Lines
    heading_line: int = 0  # 0: it has none
    above: Sequence[Line] = ()
    sections: dict[int, str] = field(default_factory=dict)
    named_width: int = 0  # cells of the line of headings, without empty ones at its end; 0: it has none
    ends_in_separator: bool = False  # whether each row has one empty cell behind those with headings

    @property
    def width(self) -> int:
        return len(self.names)

    @property
    def section_names(self) -> list[str]:
        return list(dict.fromkeys(self.sections.values()))

    def get_account_label(self, line: Line, position: int | None) -> str:
        """Return what a row says about its account: the cell at a position, or its section's title."""
        if position is None:
            return self.sections.get(line.number, "")
        cells = line.cells
        return cells[position] if position < len(cells) else ""

    def find_row_width(self, has_day: Callable[[Line], bool]) -> int:
        """The cells that a row may have: those with headings, or more where all rows with a day have equally many."""
        if not self.named_width or all(line.width <= self.named_width for line in self.rows):
            return self.width
        widths = {line.width for line in self.rows if has_day(line)}
        return self.width if len(widths) == 1 else self.named_width

    def has_split_amount(self, cells: Sequence[str], amounts: Collection[int]) -> bool:
        """Whether a comma within an amount seems to have made two cells of it: in a row wider than the headings, or
        where a word or nothing should stand behind an amount. ``amounts`` are their positions. No number of a
        spreadsheet is a part of one."""
        if any(type(cell) is NumberText for cell in cells):
            return False
        if self.named_width and len(cells) > self.named_width + self.ends_in_separator:
            return any(_WHOLE.fullmatch(whole) and _REST.fullmatch(rest) for whole, rest in pairwise(cells))
        positions = amounts if self.named_width else range(len(cells))
        return any(
            position + 1 < len(cells)
            and _UP_TO_999.fullmatch(cells[position])
            and _REST_WITH_CENTS.fullmatch(cells[position + 1])
            and (not self.named_width or self._has_odd_number(cells, position + 1))
            for position in positions
        )

    def _has_odd_number(self, cells: Sequence[str], first: int) -> bool:
        """Whether a number from a position on is odd: in a row that is too short, or under a heading of words."""
        return len(cells) < self.named_width or any(
            _WITH_CENTS.fullmatch(cells[position])
            and not NUMBERS & {name for name, _ in find_heading_fields(self.names[position])}
            for position in range(first, len(cells))
        )


def find_table(lines: Sequence[Line], *, skip_above: int | None = None, skip_below: int = 0) -> Table:
    """Return the table of a file. ``skip_above``: given number of lines before its headings."""
    all_lines = Lines.pack(lines)
    kept_lines = all_lines[: len(all_lines) - skip_below] if skip_below else all_lines
    if skip_above is not None:
        first = next(
            (position for position, line in enumerate(kept_lines) if line.number > skip_above), len(kept_lines)
        )
        has_headings = first < len(kept_lines) and is_heading_row(kept_lines[first].cells)
    else:
        first, has_headings = find_heading_position(kept_lines)
    names = list(kept_lines[first].cells) if has_headings and first < len(kept_lines) else []
    while names and not names[-1]:
        names.pop()
    named_width = len(names)
    rows, sections = split_table_sections(kept_lines, first, names) if has_headings else (kept_lines[first:], {})
    width = max(find_common_width([len(line.cells) for line in rows[:SAMPLE_ROWS]]), len(names))
    names += [""] * (width - len(names))
    heading_line = kept_lines[first].number if has_headings else 0
    ends_in_separator = all(
        line.width == named_width + 1 and line.packed.endswith(CELL_DELIMITER) for line in rows[:SAMPLE_ROWS]
    )
    return Table(names, rows, heading_line, kept_lines[:first], sections, named_width, ends_in_separator)


def find_heading_position(lines: Sequence[Line]) -> tuple[int, bool]:
    """Return (position of the headings, or of the first row if there are none; whether there are headings)."""
    sample = [line.cells for line in lines[:HEADING_SEARCH_LINES]]
    best_position, best_score = -1, 0
    for position, cells in enumerate(sample):
        if not is_heading_row(cells):
            continue
        fields = {heading_fields[0][0] for cell in cells if cell and (heading_fields := find_heading_fields(cell))}
        points = len(fields) + (3 if fields & NEEDED_FIELDS else 0)
        if len(fields) >= 2 and fields & NEEDED_FIELDS and points > best_score:
            best_position, best_score = position, points
    if best_position >= 0:
        return best_position, True
    first = next((position for position, cells in enumerate(sample) if is_data_row(cells)), None)
    if first is None:
        return 0, bool(sample) and is_heading_row(sample[0])
    if (
        first
        and is_heading_row(before := sample[first - 1])
        and len(before) >= len([cell for cell in sample[first] if cell])
    ):
        return first - 1, True
    return first, False


def is_heading_row(cells: Sequence[str]) -> bool:
    """Whether a line names columns: it has several words, and no date or amount."""
    filled = [cell for cell in cells if cell]
    return len(filled) > 1 and not any(is_date_text(cell) or is_number_text(cell) for cell in filled)


def is_data_row(cells: Sequence[str]) -> bool:
    """Whether a line has both a date and a number."""
    return any(map(is_date_text, cells)) and any(is_number_text(cell) and not is_date_text(cell) for cell in cells)


def is_last_row_cut(lines: Lines) -> bool:
    """Whether the last row has a date and a number, and fewer cells than each of the other rows that have."""
    others = lines[-SAMPLE_ROWS:-1]
    if not any(line.width > lines[-1].width for line in others) or not is_data_row(lines[-1].cells):
        return False
    widths = [line.width for line in others if is_data_row(line.cells)]
    return bool(widths) and lines[-1].width < min(widths)


def is_number_text(text: str) -> bool:
    return bool(text) and any(is_amount_text(text, mark) for mark in DecimalMark)


def split_table_sections(lines: Lines, first: int, names: list[str]) -> tuple[Lines, dict[int, str]]:
    """Return (rows without repeated headings, section by line). A line before a repeated heading is the title of
    what follows; if there is none, the headings are those of another page and there are no sections.
    """
    heading = lines[first].packed
    repeated_positions = [
        position for position, line in enumerate(lines) if position > first and line.packed == heading
    ]
    if not repeated_positions:
        return lines[first + 1 :], {}
    starts, titles, skipped_positions = [first, *repeated_positions], [], set(repeated_positions)
    for position in starts:
        title = lines[position - 1] if position and not is_data_row(lines[position - 1].cells) else None
        titles.append(" ".join(cell for cell in title.cells if cell) if title else "")
        if title:
            skipped_positions.add(position - 1)
    rows, sections, section_index = array("Q"), {}, 0  # type: tuple[array[int], dict[int, str], int]
    for position in range(first + 1, len(lines)):
        while section_index + 1 < len(starts) and position > starts[section_index + 1]:
            section_index += 1
        if position not in skipped_positions:
            rows.append(position)
            sections[lines[position].number] = titles[section_index]
    if len({title for title in sections.values() if title}) > 1:
        return lines.select_lines(rows), sections
    unbooked = [
        position - 1 for position, title in zip(starts[1:], titles[1:], strict=True) if is_unbooked_title(title)
    ]
    return lines.select_lines(sorted([*rows, *unbooked])), {}
