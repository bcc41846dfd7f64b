"""Read delimited text (CSV and similar) from banks and spreadsheets: bytes to text to numbered lines of cells."""

import codecs
import csv
import io
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TextIO, overload

from ledger.calc.encodings import CODEC_BY_NAME, find_encodings, is_mostly_utf8

BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")
SEPARATORS = (";", "\t", "|", ",")  # the comma last, because texts and amounts contain commas
SEPARATOR_LINE = re.compile(r"sep=(.)[\r\n]+")  # first line by which Excel recognizes the separator
DATE_CELL = re.compile(r'[ "]*(?:[0-9]{1,4}([-./])[0-9]{1,2}\1[0-9]{1,4}|[0-9]{8})[ "]*')
SAMPLE_CHARACTERS = 50_000
SAMPLE_LINES = 50
MAX_COLUMNS = 250  # far more than bank files have; the mapping form offers each column for each field
MAX_EMPTY_LINES = 200_000  # a table of 100,000 rows may have an empty line after each
MAX_ROW_CHARACTERS = 1024 * 1024  # a longer row has no line ends
CELL_DELIMITER = b"\xff"  # no text in UTF-8 has this byte, nor the next one
NUMBER_BEGINS = b"\xfe"
CHUNK_BYTES = 64 * 1024
MAX_CELL_CHARACTERS = 131_072  # the limit of the csv module; a longer cell has an unclosed quotation mark


def join_cells(cells: Sequence[str]) -> bytes:
    """Return cells in one piece."""
    if NumberText in map(type, cells):
        return CELL_DELIMITER.join(NUMBER_BEGINS * (type(cell) is NumberText) + cell.encode() for cell in cells)
    return CELL_DELIMITER.join(map(str.encode, cells))


class MalformedTable(ValueError):
    """The bytes are no delimited text; `message` says why, with placeholders for `values`."""

    def __init__(self, message: str, **values: str | int):
        self.message, self.values = message, values
        super().__init__(message.format(**values))


class TableLimit(MalformedTable):
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
        self.number, self.packed = number, join_cells(cells) if packed is None else packed

    @property
    def width(self) -> int:
        """How many cells it has."""
        return self.packed.count(CELL_DELIMITER) + 1

    @property
    def cells(self) -> list[str]:
        pieces = self.packed.split(CELL_DELIMITER)
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

    __slots__ = ("ends", "numbers", "positions", "text")

    def __init__(self, text: bytes, numbers: "array[int]", ends: "array[int]", positions: Sequence[int]):
        self.text, self.numbers, self.ends, self.positions = text, numbers, ends, positions

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

    def select_lines(self, positions: Iterable[int]) -> "Lines":
        """Return the lines at some positions."""
        return Lines(
            self.text, self.numbers, self.ends, array("Q", [self.positions[position] for position in positions])
        )

    def join(self, others: Iterable["Lines"]) -> "Lines":
        """Return these lines and others of the same table, in its order."""
        positions = array("Q", sorted(chain(self.positions, *(each.positions for each in others))))
        return Lines(self.text, self.numbers, self.ends, positions)

    def get_line(self, position: int) -> Line:
        """The line at a position of the whole table."""
        return Line(self.numbers[position], packed=self.text[self.ends[position] : self.ends[position + 1]])

    def __len__(self) -> int:
        return len(self.positions)

    @overload
    def __getitem__(self, position: int) -> Line: ...

    @overload
    def __getitem__(self, position: slice) -> "Lines": ...

    def __getitem__(self, position: int | slice) -> "Line | Lines":
        if isinstance(position, int):
            return self.get_line(self.positions[position])
        return Lines(self.text, self.numbers, self.ends, self.positions[position])

    def __iter__(self) -> Iterator[Line]:
        return map(self.get_line, self.positions)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment] # as lists have none


def open_text(content: bytes, encoding: str | None = None) -> TextIO | None:
    """Open bytes as text without a byte order mark, in the given or the detected encoding; None if none fits.

    UTF-8 with single invalid bytes is read as UTF-8, with U+FFFD in their places.

    >>> open_text("Müller".encode("cp1252")).read(), open_text("Müller".encode("utf-16-le")).read()
    ('Müller', 'Müller')
    """
    requested_codec = CODEC_BY_NAME.get(encoding.lower()) if encoding else None
    if requested_codec == "utf-16":
        return open_utf16_text(content)
    if requested_codec:
        return io.TextIOWrapper(
            io.BytesIO(content), encoding=requested_codec.replace("utf-8", "utf-8-sig"), newline="", errors="replace"
        )
    for candidate in guess_encodings(content):
        if candidate != "utf-8-sig" and content[:2] not in BYTE_ORDER_MARKS and not candidate.startswith("utf-16"):
            break
        if is_decodable(content, candidate):
            return io.TextIOWrapper(io.BytesIO(content), encoding=candidate, newline="")
    if has_zero_bytes(content):
        return None
    if is_mostly_utf8(content):
        return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="", errors="replace")
    plausible_encoding = next(
        (candidate for candidate in find_encodings(content) if is_decodable(content, candidate)), None
    )
    return (
        io.TextIOWrapper(io.BytesIO(content), encoding=plausible_encoding, newline="") if plausible_encoding else None
    )


def open_utf16_text(content: bytes) -> TextIO | None:
    """Open bytes as UTF-16, with a byte order mark or without one; None where they are something else."""
    codec = guess_encodings(content)[0]
    if not codec.startswith("utf-16") or not is_decodable(content, codec):
        return None
    return io.TextIOWrapper(io.BytesIO(content), encoding=codec, newline="")


def has_zero_bytes(content: bytes) -> bool:
    """Return whether the start of the content has a zero byte, which no single-byte encoding uses."""
    return b"\0" in content[:CHUNK_BYTES]


def is_decodable(content: bytes, encoding: str) -> bool:
    """Return whether the whole content can be decoded."""
    try:
        for _ in codecs.iterdecode(iterate_chunks(content), encoding):
            pass
    except UnicodeError:
        return False
    return True


def iterate_chunks(content: bytes) -> Iterator[bytes]:
    """Yield the content in chunks."""
    return (content[start : start + CHUNK_BYTES] for start in range(0, len(content), CHUNK_BYTES))


def guess_encodings(content: bytes) -> tuple[str, ...]:
    """Return the encodings to try, judged by the byte order mark or by the places of zero bytes."""
    if content[:2] in BYTE_ORDER_MARKS:
        return ("utf-16",)
    start = content[:400]
    half = len(start) // 2
    if half and start[1::2].count(0) * 2 > half and start[0::2].count(0) == 0:
        return ("utf-16-le",)
    if half and start[0::2].count(0) * 2 > half and start[1::2].count(0) == 0:
        return ("utf-16-be",)
    return ("utf-8-sig", "cp1252")


def guess_separator(text: str) -> str:
    """Return the separator that splits most of the first lines into the same, highest number of cells.

    >>> guess_separator("31.01.2026;-1,50"), guess_separator("one column")
    (';', ',')
    """
    sample = text[:SAMPLE_CHARACTERS]
    if len(text) > SAMPLE_CHARACTERS:
        sample = sample[: sample.rfind("\n") + 1] or sample
    best = max(SEPARATORS, key=lambda separator: score_separator(sample, separator))
    return best if score_separator(sample, best) else ","


def score_separator(sample: str, separator: str) -> float:
    """Score a separator: the share of lines with the most common width, times the separators per line."""
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=separator, skipinitialspace=True)
    widths = [len(cells) for cells in reader if any(cells)][:SAMPLE_LINES]
    common_width = find_common_width(widths)
    return widths.count(common_width) / len(widths) * (common_width - 1) if common_width else 0


def find_common_width(widths: list[int]) -> int:
    """Return the most common number of cells among lines with more than one; 0 if there are none."""
    counts = Counter(width for width in widths if width > 1)
    return max(counts, key=lambda width: (counts[width], width)) if counts else 0


def read_delimited_lines(text: TextIO, *, max_lines: int, separator: str | None = None) -> Lines:
    """The lines that have anything in them, cells without blanks around them; reading ends after ``max_lines`` of them.

    Quoted cells may go over several lines of the text.

    Raises:
        MalformedTable: a quotation mark is never closed.
        TableLimit: more than MAX_COLUMNS cells, MAX_EMPTY_LINES empty lines, or rows or cells longer than
            any table's.

    >>> list(read_delimited_lines(io.StringIO('a,b\\n\\n"1\\n2",3\\n'), max_lines=10))
    [Line(1, ['a', 'b']), Line(3, ['1\\n2', '3'])]
    """
    return Lines.pack(islice(iterate_lines(text, separator=separator), max_lines))


def iterate_lines(text: TextIO, *, separator: str | None) -> Iterator[Line]:
    sample = text.read(SAMPLE_CHARACTERS + 1)
    text.seek(0)
    named = SEPARATOR_LINE.match(sample)
    skipped = 1 if named else 0
    if named:
        text.readline()
    feed = LineReader(text)
    delimiter = choose_separator(separator, named, sample)
    reader = csv.reader(feed, delimiter=delimiter, skipinitialspace=True)
    empty = 0
    begins = skipped + 1
    try:
        for row in reader:
            cells = strip_cells(row, line=begins)
            check_quotes(feed, delimiter, line=begins)
            check_rows_within(feed, delimiter, width=len(row), line=begins)
            if any(cells):
                yield Line(begins, cells)
            else:
                empty += 1
                if empty > MAX_EMPTY_LINES:
                    raise TableLimit("The file has more than {most} empty lines. Remove them.", most=MAX_EMPTY_LINES)
            begins = skipped + reader.line_num + 1
            feed.begin_row()
    except csv.Error:
        raise build_long_cell_error(begins, is_open=reader.line_num > begins - skipped) from None
    except RowTooLong:
        raise TableLimit(
            "Line {line} has more than {most} characters.", line=str(begins), most=MAX_ROW_CHARACTERS
        ) from None


def build_long_cell_error(line: int, *, is_open: bool) -> MalformedTable:
    """Why a cell is too long: over several lines of the text its quotation mark was never closed."""
    if is_open:
        return build_open_quote_error(line)
    return TableLimit(
        "Line {line} has a cell of more than {most} characters, or a quotation mark that is never closed.",
        line=str(line),
        most=MAX_CELL_CHARACTERS,
    )


def choose_separator(requested: str | None, separator_line: re.Match[str] | None, sample: str) -> str:
    """Return the requested separator, else the one named in the first line, else the best guess."""
    if requested and len(requested) == 1 and requested not in '\r\n"\0':
        return requested
    return separator_line[1] if separator_line else guess_separator(sample)


def strip_cells(row: list[str], *, line: int) -> list[str]:
    """Without blanks around them. Raises TableLimit for more than MAX_COLUMNS."""
    if len(row) > MAX_COLUMNS:
        raise TableLimit(
            "Line {line} has {count} columns. The limit is {most}.",
            line=str(line),
            count=len(row),
            most=MAX_COLUMNS,
        )
    return [cell.strip() for cell in row]


class RowTooLong(ValueError):
    """A row has too many characters."""


def check_quotes(feed: "LineReader", delimiter: str, *, line: int) -> None:
    """Raises MalformedTable if a quotation mark is not closed, or only by one of another row, which loses rows."""
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
            raise build_open_quote_error(line) from None


def check_rows_within(feed: "LineReader", delimiter: str, *, width: int, line: int) -> None:
    """Raises MalformedTable if each line of the text of one row has all its columns and a date, so that a quotation
    mark of one row was closed by that of another."""
    if feed.count > 1 and width > 1:
        rows = [text.split(delimiter) for text in feed.row.decode().splitlines()]
        if all(len(cells) >= width and any(map(DATE_CELL.fullmatch, cells)) for cells in rows):
            raise build_open_quote_error(line)


def build_open_quote_error(line: int) -> MalformedTable:
    return MalformedTable("Line {line}: missing closing quotation mark.", line=str(line))


class LineReader:
    """The lines of a text one by one. Of one row, which may have several, ``taken`` counts the characters and ``count``
    the lines, and ``row`` has them all."""

    def __init__(self, text: TextIO):
        self.text, self.character_count, self.count, self.ended = text, 0, 0, False
        self.row = bytearray()

    def begin_row(self) -> None:
        self.character_count = self.count = 0
        self.row.clear()

    def __iter__(self) -> Iterator[str]:
        while line := self.text.readline(MAX_ROW_CHARACTERS):
            self.character_count += len(line)
            if self.character_count >= MAX_ROW_CHARACTERS:
                raise RowTooLong
            self.count += 1
            self.row += line.encode()
            yield line
        self.ended = True
