"""Text in columns, as banks and spreadsheets write it: bytes → text → lines with their numbers. No database."""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")
SEPARATORS = (";", "\t", "|", ",")  # the comma last: texts and amounts have commas of their own
NAMED_SEPARATOR = re.compile(r"sep=(.)[\r\n]+")  # what Excel understands as the first line
SAMPLE_CHARACTERS = 50_000
SAMPLE_LINES = 50
MOST_COLUMNS = 250  # far more than any bank's; each can be chosen for each of our fields
LONGEST_CELL = 131_072  # the reader's own limit: a longer one is a quotation mark that nobody closed


class NotATable(ValueError):
    """The bytes are no text in columns; the message says why, for people."""


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a table: its cells, and the number of the text's line on which it begins; 1 is the first."""

    number: int
    cells: list[str]


def decoded(content: bytes) -> str | None:
    """The text in UTF-8, UTF-16 or Windows' Western encoding, without its mark; None where it is in none of them.

    >>> decoded("Müller".encode("cp1252")), decoded("Müller".encode("utf-16-le"))
    ('Müller', 'Müller')
    """
    for encoding in encodings(content):
        try:
            return content.decode(encoding).removeprefix("\ufeff")
        except UnicodeDecodeError:
            continue
    return None


def encodings(content: bytes) -> tuple[str, ...]:
    """Which encodings to try, judged by a mark or by where the zeros of two-byte characters stand."""
    if content[:2] in BYTE_ORDER_MARKS:
        return ("utf-16",)
    start = content[:400]
    half = len(start) // 2
    if half and start[1::2].count(0) * 2 > half and start[0::2].count(0) == 0:
        return ("utf-16-le",)
    if half and start[0::2].count(0) * 2 > half and start[1::2].count(0) == 0:
        return ("utf-16-be",)
    return ("utf-8-sig", "cp1252")


def separator_of(text: str) -> str:
    """The separator that cuts most of the first lines into equally many cells, and into the most.

    >>> separator_of("Datum;Betrag\\n31.01.2026;-1,50\\n"), separator_of("one column\\n")
    (';', ',')
    """
    sample = text[:SAMPLE_CHARACTERS]
    if len(text) > SAMPLE_CHARACTERS:
        sample = sample[: sample.rfind("\n") + 1] or sample
    best = max(SEPARATORS, key=lambda separator: evenness(sample, separator))
    return best if evenness(sample, best) else ","


def evenness(sample: str, separator: str) -> float:
    """How well a separator fits: the share of lines of the usual width, times the cuts in each of them."""
    try:
        reader = csv.reader(io.StringIO(sample, newline=""), delimiter=separator, skipinitialspace=True)
        widths = [len(cells) for cells in reader if any(cells)][:SAMPLE_LINES]
    except csv.Error:
        return 0
    usual = usual_width(widths)
    return widths.count(usual) / len(widths) * (usual - 1) if usual else 0


def usual_width(widths: list[int]) -> int:
    """The number of cells that most lines have, of lines with more than one; 0 where there are none."""
    counted = Counter(width for width in widths if width > 1)
    return max(counted, key=lambda width: (counted[width], width)) if counted else 0


def lines_of(text: str, *, most: int) -> list[Line]:
    """The lines that have anything in them, cells without blanks around them; reading ends after ``most`` of them.

    Quoted cells may go over several lines of the text. Raises NotATable for a quotation mark that is never closed and
    for more than MOST_COLUMNS cells.

    >>> lines_of('a,b\\n\\n"1\\n2",3\\n', most=10)
    [Line(number=1, cells=['a', 'b']), Line(number=3, cells=['1\\n2', '3'])]
    """
    named = NAMED_SEPARATOR.match(text)
    skipped = 0
    if named:
        separator, skipped, text = named[1], 1, text[named.end() :]
    else:
        separator = separator_of(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
    found: list[Line] = []
    begins = skipped + 1
    try:
        for row in reader:
            if len(row) > MOST_COLUMNS:
                raise NotATable(f"Line {begins} has {len(row):,} columns; a table has at most {MOST_COLUMNS}.")
            cells = [cell.strip() for cell in row]
            if any(cells):
                found.append(Line(begins, cells))
                if len(found) >= most:
                    break
            begins = skipped + reader.line_num + 1
    except csv.Error:
        raise NotATable(f"Line {begins}: a quotation mark is opened there and never closed.") from None
    return found


def first_of_usual_width(lines: Sequence[Line]) -> int:
    """The position of the first line that is as wide as most of the first ones: what stands before is no table."""
    sample = lines[:SAMPLE_LINES]
    usual = usual_width([len(line.cells) for line in sample])
    return next((place for place, line in enumerate(sample) if len(line.cells) == usual), 0)
