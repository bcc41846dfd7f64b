"""A table within a file: its headings, its rows, and the sections of several accounts. No database."""

import re
from array import array
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ledger.calc.tables import Line, Lines, NumberText, usual_width
from ledger.importing.calc.amounts import DecimalMark, is_amount
from ledger.importing.calc.dates import is_date
from ledger.importing.calc.headings import find_fields

LOOKED_AT = 150  # lines among which the headings stand
SAMPLE = 1000  # rows that a detection looks at
_WHOLE = re.compile(r"[-+(]?[^\w\s]?-?[0-9]+")
_REST = re.compile(r"[0-9]{2}\)?|[0-9]{3}(?:[.,][0-9]+)?\)?")
_REST_WITH_CENTS = re.compile(r"[0-9]{3}\.[0-9]{2}")
_WITH_CENTS = re.compile(r"-?[0-9]+\.[0-9]{2}")
_UP_TO_999 = re.compile(r"[-+(]?[^\w\s]?-?[0-9]{1,3}")
NUMBERS = {"amount", "debit", "credit", "balance", "balanceBefore", "fee", "net", "gross", "tax", "number", "original"}
NEEDED = {"date", "valueDate", "amount", "debit", "credit", "net", "gross", "balance"}


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a file behind its headings; ``sections`` has the name of the part that a line stands in."""

    names: list[str]  # as many as the widest row has cells; empty where a column has no heading
    rows: Lines
    heading_line: int = 0  # 0: it has none
    above: Sequence[Line] = ()
    sections: dict[int, str] = field(default_factory=dict)
    named_width: int = 0  # cells of the line of headings, without empty ones at its end; 0: it has none

    @property
    def width(self) -> int:
        return len(self.names)

    @property
    def section_names(self) -> list[str]:
        return list(dict.fromkeys(self.sections.values()))

    def get_account_label(self, line: Line, place: int | None) -> str:
        """What a row says of its account: the cell at a position, or the title of its section."""
        if place is None:
            return self.sections.get(line.number, "")
        cells = line.cells
        return cells[place] if place < len(cells) else ""

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
        if self.named_width and len(cells) > self.named_width:
            return any(_WHOLE.fullmatch(whole) and _REST.fullmatch(rest) for whole, rest in pairwise(cells))
        places = amounts if self.named_width else range(len(cells))
        return any(
            place + 1 < len(cells)
            and _UP_TO_999.fullmatch(cells[place])
            and _REST_WITH_CENTS.fullmatch(cells[place + 1])
            and (not self.named_width or self._has_odd_number(cells, place + 1))
            for place in places
        )

    def _has_odd_number(self, cells: Sequence[str], first: int) -> bool:
        """Whether a number from a position on is odd: in a row that is too short, or under a heading of words."""
        return len(cells) < self.named_width or any(
            _WITH_CENTS.fullmatch(cells[place]) and not NUMBERS & {name for name, _ in find_fields(self.names[place])}
            for place in range(first, len(cells))
        )


def find_table(lines: Sequence[Line], *, skip_above: int | None = None, skip_below: int = 0) -> Table:
    """Return the table of a file. ``skip_above``: lines of the file before its headings, where somebody said so."""
    whole = Lines.pack(lines)
    kept = whole[: len(whole) - skip_below] if skip_below else whole
    if skip_above is not None:
        first = next((place for place, line in enumerate(kept) if line.number > skip_above), len(kept))
        has_headings = first < len(kept) and is_heading(kept[first].cells)
    else:
        first, has_headings = find_first(kept)
    names = list(kept[first].cells) if has_headings and first < len(kept) else []
    while names and not names[-1]:
        names.pop()
    named_width = len(names)
    rows, sections = split_sections(kept, first, names) if has_headings else (kept[first:], {})
    width = max(usual_width([len(line.cells) for line in rows[:SAMPLE]]), len(names))
    names += [""] * (width - len(names))
    return Table(names, rows, kept[first].number if has_headings else 0, kept[:first], sections, named_width)


def find_first(lines: Sequence[Line]) -> tuple[int, bool]:
    """(position of the headings, or of the first row where there are none; whether there are headings)."""
    sample = [line.cells for line in lines[:LOOKED_AT]]
    best, score = -1, 0
    for place, cells in enumerate(sample):
        if not is_heading(cells):
            continue
        fields = {found[0][0] for cell in cells if cell and (found := find_fields(cell))}
        points = len(fields) + (3 if fields & NEEDED else 0)
        if len(fields) >= 2 and fields & NEEDED and points > score:
            best, score = place, points
    if best >= 0:
        return best, True
    first = next((place for place, cells in enumerate(sample) if is_row(cells)), None)
    if first is None:
        return 0, bool(sample) and is_heading(sample[0])
    if (
        first
        and is_heading(before := sample[first - 1])
        and len(before) >= len([cell for cell in sample[first] if cell])
    ):
        return first - 1, True
    return first, False


def is_heading(cells: Sequence[str]) -> bool:
    """Whether a line names columns: it has several words, and no date or amount."""
    filled = [cell for cell in cells if cell]
    return len(filled) > 1 and not any(is_date(cell) or is_number(cell) for cell in filled)


def is_row(cells: Sequence[str]) -> bool:
    """Whether a line has both a day and a number."""
    days = [is_date(cell) for cell in cells]
    return any(days) and any(is_number(cell) for cell, day in zip(cells, days, strict=True) if not day)


def is_number(text: str) -> bool:
    return bool(text) and any(is_amount(text, mark) for mark in DecimalMark)


def split_sections(lines: Lines, first: int, names: list[str]) -> tuple[Lines, dict[int, str]]:
    """(rows without the headings that are repeated, section by line). A line before a repeated heading names what
    follows; where none does, the headings are those of another page and there are no sections."""
    heading = lines[first].packed
    again = [place for place, line in enumerate(lines) if place > first and line.packed == heading]
    if not again:
        return lines[first + 1 :], {}
    starts, titles, skipped = [first, *again], [], set(again)
    for place in starts:
        title = lines[place - 1] if place and not is_row(lines[place - 1].cells) else None
        titles.append(" ".join(cell for cell in title.cells if cell) if title else "")
        if title:
            skipped.add(place - 1)
    rows, sections, current = array("Q"), {}, 0  # type: tuple[array[int], dict[int, str], int]
    for place in range(first + 1, len(lines)):
        while current + 1 < len(starts) and place > starts[current + 1]:
            current += 1
        if place not in skipped:
            rows.append(place)
            sections[lines[place].number] = titles[current]
    named = {title for title in sections.values() if title}
    return lines.take(rows), sections if len(named) > 1 else {}
