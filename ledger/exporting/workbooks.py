"""Transactions as a workbook with one sheet. XlsxWriter makes the book, and this the rows, as text and as they come: it
takes seven times as long for them (docs/decisions/21-rows-of-a-sheet-as-text.md).
"""

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import lru_cache
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile
from zlib import DEFLATED, MAX_WBITS

import xlsxwriter
from django.utils.translation import gettext
from isal import isal_zlib

from companies.errors import Invalid
from companies.models import Company
from companies.permissions import Permissions
from ledger.calc.money import minor_units
from ledger.exporting.files import in_pieces
from ledger.exporting.tables import AMOUNT, header, table

WIDTHS = (11, 20, 28, 40, 14, 8, 8, 24, 24, 24, 8, 8, 12, 24, 16, 36)  # letters
DAY, DECIMALS = "yyyy-mm-dd", {2: "#,##0.00", 0: "#,##0"}
MOST_ROWS = 1_048_575  # of a sheet, beside its header
MOST_BYTES = 2**31 - 1  # of a sheet; a file with a longer one is of another kind (ZIP64), which Excel calls damaged
MOST_DIGITS = 15  # of a number in a spreadsheet; what has more stays text
MOST_LETTERS = 32_767  # of a cell, in UTF-16

SHEET = "xl/worksheets/sheet1.xml"
SIZE, FORMATS = re.compile("<dimension [^>]*>"), re.compile('(<row r="2".*</row>)')
LETTERS = "ABCDEFGHIJKLMNOP"
CELLS = [f'<c r="{letter}' for letter in LETTERS]
SPECIAL = re.compile("[&<>\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
ORDINARY = bytes(byte for byte in range(0x20, 0x100) if byte not in b"&<>\x7f\xef")  # in UTF-8; U+FFFF begins with EF
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
EVE = date(1899, 12, 31).toordinal()


class TooManyRows(Invalid):
    """A sheet has at most 1,048,575 rows below its header, and 2 GiB: ask for fewer days, or for the CSV file."""

    code = "too_many_rows"


def write_xlsx(file: IO[bytes], *, company: Company, rows: Any, order: Sequence[str], permissions: Permissions) -> None:
    """The table of ``write_csv`` as a sheet in which days and amounts are such. Raises TooManyRows."""
    with table(company=company, rows=rows, order=order, permissions=permissions) as found:
        write_book(file, found)


def write_book(file: IO[bytes], rows: Iterable[Sequence[str]]) -> None:
    """Of rows as ``table`` has them. Raises TooManyRows."""
    with ZipFile(new_book()) as made, ZipFile(file, "w", ZIP_DEFLATED, compresslevel=1) as whole:
        for part in made.infolist():
            if part.filename != SHEET:
                whole.writestr(part, made.read(part))
        head, formats, tail = FORMATS.split(SIZE.sub("", made.read(SHEET).decode()))
        day, *money = re.findall('s="([0-9]+)"', formats)
        told = told_as_xml(rows, day=day, money=dict(zip(DECIMALS, money, strict=True)))
        with whole.open(SHEET, "w") as sheet:
            packs_with(sheet, isal_zlib.compressobj(1, DEFLATED, -MAX_WBITS))
            written = sheet.write(head.encode())
            for piece in in_pieces(told):
                if (written := written + len(piece)) > MOST_BYTES - len(tail):
                    raise TooManyRows
                sheet.write(piece)
            sheet.write(tail.encode())


def packs_with(part: Any, packer: Any) -> None:
    """What is written into a part of an archive is packed by ISA-L, in a third of zlib's time.

    Python has no public way to say so; one that keeps its packer elsewhere would go on with zlib.
    """
    part._compressor = packer  # noqa: SLF001


def new_book() -> IO[bytes]:
    """Without rows below the header, but for one with a cell of each format."""
    made = io.BytesIO()
    with xlsxwriter.Workbook(made, {"in_memory": True}) as book:
        sheet = book.add_worksheet(gettext("Transactions"))
        for column, width in enumerate(WIDTHS):
            sheet.set_column(column, column, width)
        sheet.freeze_panes(1, 0)
        sheet.write_row(0, 0, header(), book.add_format({"bold": True}))
        for column, shown in enumerate([DAY, *DECIMALS.values()]):
            sheet.write_blank(1, column, None, book.add_format({"num_format": shown}))
    return made


def told_as_xml(rows: Iterable[Sequence[str]], *, day: str, money: dict[int, str]) -> Iterator[str]:
    """Each as XML; ``day`` and ``money``, by decimals, are the book's numbers for formats. Raises TooManyRows."""
    for number, row in enumerate(rows, start=2):
        if number > MOST_ROWS + 1:
            raise TooManyRows
        if is_plain(row):
            told = f'{number}" t="str"><v>'
            cells = [f"{begun}{told}{text}</v></c>" if text else "" for begun, text in zip(CELLS, row, strict=True)]
        else:
            told = f'{number}" t="inlineStr"><is><t xml:space="preserve">'
            texts = zip(CELLS, map(escaped, row), strict=True)
            cells = [f"{begun}{told}{text}</t></is></c>" if text else "" for begun, text in texts]
        cells[0] = f'<c r="A{number}" s="{day}"><v>{days(row[0])}</v></c>'
        amount, currency = row[AMOUNT : AMOUNT + 2]
        if len(amount.lstrip("-").replace(".", "")) <= MOST_DIGITS:
            cells[AMOUNT] = f'<c r="{LETTERS[AMOUNT]}{number}" s="{money[minor_units(currency)]}"><v>{amount}</v></c>'
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
