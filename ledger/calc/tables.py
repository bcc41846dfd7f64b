"""Text in columns, as banks and spreadsheets write it: bytes → text → lines with their numbers. No database."""

import codecs
import csv
import io
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TextIO, overload

from ledger.calc.encodings import KNOWN, find_encodings, is_mostly_utf8

BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")
SEPARATORS = (";", "\t", "|", ",")  # the comma last: texts and amounts have commas of their own
NAMED_SEPARATOR = re.compile(r"sep=(.)[\r\n]+")  # what Excel understands as the first line
SAMPLE_CHARACTERS = 50_000
SAMPLE_LINES = 50
MOST_COLUMNS = 250  # far more than any bank's; each can be chosen for each of our fields
MOST_EMPTY = 200_000  # lines with nothing in them; a table of 100,000 rows may well have one after each
LONGEST_ROW = 1024 * 1024  # characters; what is longer has no ends of lines
CELLS_END = b"\xff"  # no text in UTF-8 has this byte, nor the next one
NUMBER_BEGINS = b"\xfe"
AT_ONCE = 64 * 1024
LONGEST_CELL = 131_072  # the reader's own limit: a longer one is a quotation mark that nobody closed


def pack_cells(cells: Sequence[str]) -> bytes:
    """Return cells in one piece."""
    if NumberText in map(type, cells):
        return CELLS_END.join(NUMBER_BEGINS * (type(cell) is NumberText) + cell.encode() for cell in cells)
    return CELLS_END.join(map(str.encode, cells))


class NotATable(ValueError):
    """The bytes are no text in columns: ``why`` says so to people, with ``values`` in its braces."""

    def __init__(self, why: str, **values: str | int):
        self.why, self.values = why, values
        super().__init__(why.format(**values))


class TableLimit(NotATable):
    """A table with a longer or wider row than is read."""


class NumberText(str):
    """A number that a spreadsheet holds as one: with a point whatever its country, and its currency before it.

    It is never equal to a text of the same characters, which may mean another number.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is NumberText and str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((NumberText, str.__hash__(self)))


class Line:
    """One row of a table: the number of the text's line on which it begins, 1 is the first, and its cells."""

    __slots__ = ("number", "packed")

    def __init__(self, number: int, cells: Sequence[str] = (), *, packed: bytes | None = None):
        self.number, self.packed = number, pack_cells(cells) if packed is None else packed

    @property
    def width(self) -> int:
        """How many cells it has."""
        return self.packed.count(CELLS_END) + 1

    @property
    def cells(self) -> list[str]:
        pieces = self.packed.split(CELLS_END)
        if NUMBER_BEGINS not in self.packed:
            return list(map(bytes.decode, pieces))
        return [NumberText(piece[1:].decode()) if piece[:1] == NUMBER_BEGINS else piece.decode() for piece in pieces]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Line) and (self.number, self.packed) == (other.number, other.packed)

    def __hash__(self) -> int:
        return hash((self.number, self.packed))

    def __repr__(self) -> str:
        return f"Line({self.number}, {self.cells})"


class Lines(Sequence[Line]):
    """The lines of a table, kept in one piece of memory, for a file may have millions; parts of them share it."""

    __slots__ = ("ends", "numbers", "places", "text")

    def __init__(self, text: bytes, numbers: "array[int]", ends: "array[int]", places: Sequence[int]):
        self.text, self.numbers, self.ends, self.places = text, numbers, ends, places

    @classmethod
    def pack(cls, lines: Iterable[Line]) -> "Lines":
        """Return lines in one piece; those that are already stay as they are."""
        if isinstance(lines, Lines):
            return lines
        text, numbers, ends = io.BytesIO(), array("I"), array("Q", [0])
        for line in lines:
            text.write(line.packed)
            numbers.append(line.number)
            ends.append(text.tell())
        return cls(text.getvalue(), numbers, ends, range(len(numbers)))

    def take(self, places: Iterable[int]) -> "Lines":
        """Return the lines at some positions."""
        return Lines(self.text, self.numbers, self.ends, array("Q", [self.places[place] for place in places]))

    def join(self, others: Iterable["Lines"]) -> "Lines":
        """Return these lines and others of the same table, in its order."""
        places = array("Q", sorted(chain(self.places, *(each.places for each in others))))
        return Lines(self.text, self.numbers, self.ends, places)

    def get_line(self, place: int) -> Line:
        """The line at a position of the whole table."""
        return Line(self.numbers[place], packed=self.text[self.ends[place] : self.ends[place + 1]])

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, place: int) -> Line: ...

    @overload
    def __getitem__(self, place: slice) -> "Lines": ...

    def __getitem__(self, place: int | slice) -> "Line | Lines":
        if isinstance(place, int):
            return self.get_line(self.places[place])
        return Lines(self.text, self.numbers, self.ends, self.places[place])

    def __iter__(self) -> Iterator[Line]:
        return map(self.get_line, self.places)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment] # as lists have none


def opened(content: bytes, encoding: str | None = None) -> TextIO | None:
    """The text without its byte order mark, in the encoding that is named or found; None where it is in none.

    UTF-8 with single broken letters is UTF-8, with U+FFFD in their places.

    >>> opened("Müller".encode("cp1252")).read(), opened("Müller".encode("utf-16-le")).read()
    ('Müller', 'Müller')
    """
    named = KNOWN.get(encoding.lower()) if encoding else None
    if named:
        errors = "strict" if named == "utf-16" else "replace"
        return io.TextIOWrapper(
            io.BytesIO(content), encoding=named.replace("utf-8", "utf-8-sig"), newline="", errors=errors
        )
    for each in encodings(content):
        if each != "utf-8-sig" and content[:2] not in BYTE_ORDER_MARKS and not each.startswith("utf-16"):
            break
        if is_decodable(content, each):
            return io.TextIOWrapper(io.BytesIO(content), encoding=each, newline="")
    if has_zeros(content):
        return None
    if is_mostly_utf8(content):
        return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="", errors="replace")
    found = next((each for each in find_encodings(content) if is_decodable(content, each)), None)
    return io.TextIOWrapper(io.BytesIO(content), encoding=found, newline="") if found else None


def has_zeros(content: bytes) -> bool:
    """Whether there is a zero byte among the first, which no text in single bytes has."""
    return b"\0" in content[:AT_ONCE]


def is_decodable(content: bytes, encoding: str) -> bool:
    try:
        for _ in codecs.iterdecode(pieces(content), encoding):
            pass
    except UnicodeDecodeError:
        return False
    return True


def pieces(content: bytes) -> Iterator[bytes]:
    return (content[start : start + AT_ONCE] for start in range(0, len(content), AT_ONCE))


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
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=separator, skipinitialspace=True)
    widths = [len(cells) for cells in reader if any(cells)][:SAMPLE_LINES]
    usual = usual_width(widths)
    return widths.count(usual) / len(widths) * (usual - 1) if usual else 0


def usual_width(widths: list[int]) -> int:
    """The number of cells that most lines have, of lines with more than one; 0 where there are none."""
    counted = Counter(width for width in widths if width > 1)
    return max(counted, key=lambda width: (counted[width], width)) if counted else 0


def lines_of(text: TextIO, *, most: int, separator: str | None = None) -> Lines:
    """The lines that have anything in them, cells without blanks around them; reading ends after ``most`` of them.

    Quoted cells may go over several lines of the text.

    Raises:
        NotATable: a quotation mark is never closed.
        TableLimit: more than MOST_COLUMNS cells, MOST_EMPTY lines with nothing in them, or rows or cells longer than
            any table's.

    >>> list(lines_of(io.StringIO('a,b\\n\\n"1\\n2",3\\n'), most=10))
    [Line(1, ['a', 'b']), Line(3, ['1\\n2', '3'])]
    """
    return Lines.pack(islice(iterate_lines(text, separator=separator), most))


def iterate_lines(text: TextIO, *, separator: str | None) -> Iterator[Line]:
    sample = text.read(SAMPLE_CHARACTERS + 1)
    text.seek(0)
    named = NAMED_SEPARATOR.match(sample)
    skipped = 1 if named else 0
    if named:
        text.readline()
    feed = Feed(text)
    delimiter = chosen_separator(separator, named, sample)
    reader = csv.reader(feed, delimiter=delimiter, skipinitialspace=True)
    empty = 0
    begins = skipped + 1
    try:
        for row in reader:
            cells = cells_of(row, line=begins)
            check_quotes(feed, delimiter, line=begins)
            if any(cells):
                yield Line(begins, cells)
            else:
                empty += 1
                if empty > MOST_EMPTY:
                    raise TableLimit("The table has more than {most} empty lines.", most=MOST_EMPTY)
            begins = skipped + reader.line_num + 1
            feed.begin_row()
    except csv.Error:
        raise explain_long_cell(begins, is_open=reader.line_num > begins - skipped) from None
    except TooLong:
        raise TableLimit("Line {line} has more than {most} characters.", line=str(begins), most=LONGEST_ROW) from None


def explain_long_cell(line: int, *, is_open: bool) -> NotATable:
    """Why a cell is too long: over several lines of the text its quotation mark was never closed."""
    if is_open:
        return open_quote(line)
    return TableLimit(
        "Line {line} has a cell of more than {most} characters, or a quotation mark that is never closed.",
        line=str(line),
        most=LONGEST_CELL,
    )


def chosen_separator(given: str | None, named: re.Match[str] | None, sample: str) -> str:
    """The separator that somebody gave, that the first line names, or that fits best."""
    if given and len(given) == 1 and given not in '\r\n"\0':
        return given
    return named[1] if named else separator_of(sample)


def cells_of(row: list[str], *, line: int) -> list[str]:
    """Without blanks around them. Raises TableLimit for more than MOST_COLUMNS."""
    if len(row) > MOST_COLUMNS:
        raise TableLimit(
            "Line {line} has {count} columns; a table has at most {most}.",
            line=str(line),
            count=len(row),
            most=MOST_COLUMNS,
        )
    return [cell.strip() for cell in row]


class TooLong(ValueError):
    """A row of more characters than any table's."""


def check_quotes(feed: "Feed", delimiter: str, *, line: int) -> None:
    """Raises NotATable where a quotation mark is not closed, or only by one of another row, so that rows are lost."""
    if feed.count < 2 and not feed.ended:
        return
    try:
        list(
            csv.reader(
                io.StringIO(feed.row.decode(), newline=""), delimiter=delimiter, skipinitialspace=True, strict=True
            )
        )
    except csv.Error as error:
        if feed.count > 1 or "end of data" in str(error):
            raise open_quote(line) from None


def open_quote(line: int) -> NotATable:
    return NotATable("Line {line}: a quotation mark is opened there and never closed.", line=str(line))


class Feed:
    """The lines of a text one by one. Of one row, which may have several, ``taken`` counts the characters and ``count``
    the lines, and ``row`` has them all."""

    def __init__(self, text: TextIO):
        self.text, self.taken, self.count, self.ended = text, 0, 0, False
        self.row = bytearray()

    def begin_row(self) -> None:
        self.taken = self.count = 0
        self.row.clear()

    def __iter__(self) -> Iterator[str]:
        while line := self.text.readline(LONGEST_ROW):
            self.taken += len(line)
            if self.taken >= LONGEST_ROW:
                raise TooLong
            self.count += 1
            self.row += line.encode()
            yield line
        self.ended = True


def first_of_usual_width(lines: Sequence[Line]) -> int:
    """The position of the first line that is as wide as most of the first ones: what stands before is no table."""
    sample = lines[:SAMPLE_LINES]
    usual = usual_width([len(line.cells) for line in sample])
    return next((place for place, line in enumerate(sample) if len(line.cells) == usual), 0)
