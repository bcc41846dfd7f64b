"""Transactions as a workbook with one sheet. XlsxWriter makes the book, and this the rows, as text and as they come: it
takes seven times as long for them (docs/decisions/21-rows-of-a-sheet-as-text.md).
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

from companies.errors import Invalid
from ledger.calc.money import minor_units
from ledger.exporting.files import AT_ONCE, in_pieces
from ledger.exporting.tables import Table

WIDTHS = {  # in letters
    name: width
    for width, names in {
        8: ("currency", "status", "pending", "transfer"),
        11: ("date", "service_start", "service_end"),
        12: ("source", "tax"),
        14: ("amount", "transaction_amount"),
        16: ("external_id",),
        20: ("account",),
        24: ("categories", "category", "lines", "line", "counterparties", "counterparty", "notes"),
        28: ("from_to",),
        36: ("id",),
        40: ("description",),
    }.items()
    for name in names
}
DAYS = {"date", "service_start", "service_end"}
AMOUNTS = {"amount", "tax", "transaction_amount"}
DAY, DECIMALS = "yyyy-mm-dd", {2: "#,##0.00", 0: "#,##0"}
MOST_ROWS = 1_048_575  # of a sheet, beside its header
MOST_BYTES = 2**31 - 1  # of a sheet; a file with a longer one is of another kind (ZIP64), which Excel calls damaged
MOST_DIGITS = 15  # of a number in a spreadsheet; what has more stays text
MOST_LETTERS = 32_767  # of a cell, in UTF-16

SHEET = "xl/worksheets/sheet1.xml"
SIZE, FORMATS = re.compile("<dimension [^>]*>"), re.compile('(<row r="2".*</row>)')
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
CELLS = [f'<c r="{letter}' for letter in LETTERS]
SPECIAL = re.compile("[&<>\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
ORDINARY = bytes(byte for byte in range(0x20, 0x100) if byte not in b"&<>\x7f\xef")  # in UTF-8; U+FFFF begins with EF
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
EVE = date(1899, 12, 31).toordinal()


class TooManyRows(Invalid):
    """A sheet has at most 1,048,575 rows below its header, and 2 GiB: ask for fewer days, or for the CSV file."""

    code = "too_many_rows"


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a sheet: their names, by which they have a format, and what they are called."""

    columns: Sequence[str]
    headings: Sequence[str]

    def find_columns(self, names: set[str]) -> list[int]:
        return [place for place, column in enumerate(self.columns) if column in names]


class Sink:
    """A file that is written and taken away piece by piece."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self.size = 0

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        """Everything is written already."""

    def take(self) -> bytes:
        """Return what was written since the last time."""
        taken = b"".join(self._pieces)
        self._pieces.clear()
        self.size = 0
        return taken


def stream_xlsx(table: Table) -> Iterator[bytes]:
    """Return the pieces of a table as a workbook in which days and amounts are such. Raises TooManyRows at once."""
    if table.count_rows() > MOST_ROWS:
        raise TooManyRows
    layout = Layout(table.columns, table.headings)
    return table_pieces(table, layout, new_book(layout))


def table_pieces(table: Table, layout: Layout, made: IO[bytes]) -> Iterator[bytes]:
    with closing(table.read()) as rows:
        yield from book_pieces(rows, layout, made)


def book_pieces(rows: Iterable[Sequence[str]], layout: Layout, made: IO[bytes]) -> Iterator[bytes]:
    """Yield the pieces of a workbook with the rows; ``made`` is that of ``new_book``. Raises TooManyRows."""
    sink: Any = Sink()
    with ZipFile(made) as empty, ZipFile(sink, "w", ZIP_DEFLATED, compresslevel=1) as whole:
        for part in empty.infolist():
            if part.filename != SHEET:
                whole.writestr(part, empty.read(part))
        head, formats, tail = FORMATS.split(SIZE.sub("", empty.read(SHEET).decode()))
        day, *money = re.findall('s="([0-9]+)"', formats)
        told = told_as_xml(rows, layout, day=day, money=dict(zip(DECIMALS, money, strict=True)))
        with whole.open(SHEET, "w") as sheet:
            packs_with(sheet, isal_zlib.compressobj(1, DEFLATED, -MAX_WBITS))
            written = sheet.write(head.encode())
            yield sink.take()
            for piece in in_pieces(told):
                if (written := written + len(piece)) > MOST_BYTES - len(tail):
                    raise TooManyRows
                sheet.write(piece)
                if sink.size >= AT_ONCE:
                    yield sink.take()
            sheet.write(tail.encode())
    yield sink.take()


def packs_with(part: Any, packer: Any) -> None:
    """What is written into a part of an archive is packed by ISA-L, in a third of zlib's time.

    Python has no public way to say so; one that keeps its packer elsewhere would go on with zlib.
    """
    part._compressor = packer  # noqa: SLF001


def new_book(layout: Layout) -> IO[bytes]:
    """Without rows below the header, but for one with a cell of each format."""
    made = io.BytesIO()
    with xlsxwriter.Workbook(made, {"in_memory": True}) as book:
        sheet = book.add_worksheet(gettext("Transactions"))
        for place, column in enumerate(layout.columns):
            sheet.set_column(place, place, WIDTHS[column])
        sheet.freeze_panes(1, 0)
        sheet.write_row(0, 0, layout.headings, book.add_format({"bold": True}))
        for place, shown in enumerate([DAY, *DECIMALS.values()]):
            sheet.write_blank(1, place, None, book.add_format({"num_format": shown}))
    return made


def told_as_xml(rows: Iterable[Sequence[str]], layout: Layout, *, day: str, money: dict[int, str]) -> Iterator[str]:
    """Each as XML; ``day`` and ``money``, by decimals, are the book's numbers for formats. Raises TooManyRows."""
    begins, currency_at = CELLS[: len(layout.columns)], layout.columns.index("currency")
    days_at, amounts_at = layout.find_columns(DAYS), layout.find_columns(AMOUNTS)
    for number, row in enumerate(rows, start=2):
        if number > MOST_ROWS + 1:
            raise TooManyRows
        if is_plain(row):
            told = f'{number}" t="str"><v>'
            cells = [f"{begun}{told}{text}</v></c>" if text else "" for begun, text in zip(begins, row, strict=True)]
        else:
            told = f'{number}" t="inlineStr"><is><t xml:space="preserve">'
            texts = zip(begins, map(escaped, row), strict=True)
            cells = [f"{begun}{told}{text}</t></is></c>" if text else "" for begun, text in texts]
        for place in days_at:
            cells[place] = f'<c r="{LETTERS[place]}{number}" s="{day}"><v>{days(row[place])}</v></c>'
        style = money[minor_units(row[currency_at])]
        for place in amounts_at:
            amount = row[place]
            if amount and len(amount.lstrip("-").replace(".", "")) <= MOST_DIGITS:
                cells[place] = f'<c r="{LETTERS[place]}{number}" s="{style}"><v>{amount}</v></c>'
        yield f'<row r="{number}">{"".join(cells)}</row>'


def is_plain(row: Sequence[str]) -> bool:
    """Whether its texts can stand in XML as they are, with no blank at an end; most can, and take half the time.

    It is looked through at once, and begins with a day and ends with an id.

    >>> [is_plain(["2026-03-31", text, "01a2"]) for text in ("a – b", "", "b ", " b", "a & b", "bell \x07", "_x0041_")]
    [True, True, False, False, False, False, False]
    """
    letters = "|".join(row)
    return not (
        letters.encode().translate(None, ORDINARY)
        or ("| " in letters or " |" in letters or ("_" in letters and "_x" in letters))
        or len(letters) > MOST_LETTERS // 2
    )


def escaped(text: str) -> str:
    """As XML has it, and as spreadsheets name what XML cannot have (ECMA-376, ST_Xstring); no longer than a cell.

    >>> escaped("a < b"), escaped("bell \\x07"), escaped("_x0041_")
    ('a &lt; b', 'bell _x0007_', '_x005F_x0041_')
    """
    cut = text.encode("utf-16-le")[: 2 * MOST_LETTERS].decode("utf-16-le", "ignore")
    return SPECIAL.sub(lambda found: ENTITIES.get(found[0]) or f"_x{ord(found[0]):04X}_", cut)


@lru_cache(1000)
def days(text: str) -> int:
    """The number of a day in spreadsheets, for which 1900 had a 29 February.

    >>> days("1900-01-01"), days("1900-02-28"), days("1900-03-01"), days("2026-03-31")
    (1, 59, 61, 46112)
    """
    number = date.fromisoformat(text).toordinal() - EVE
    return number + (number > 59)
