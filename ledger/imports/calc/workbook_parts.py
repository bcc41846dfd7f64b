"""The archive of a workbook, checks of its parts before they are parsed, and its shared strings. No database."""

import io
import re
import zipfile
from collections.abc import Iterator
from typing import IO, Any
from xml.etree import ElementTree
from xml.parsers import expat

from openpyxl.cell.text import Text

from ledger.calc.delimited_text import MalformedTable, TableLimit
from ledger.calc.zip_files import BadArchive, LargeArchive, is_workbook_archive, open_archive

MAX_PARTS = 5000  # files of which a workbook is made
MAX_UNPACKED_BYTES = 512 * 1024 * 1024  # bytes of all parts together
MAX_MARKUP_BYTES = 256 * 1024  # of one tag or comment; attributes are kept in memory until their tag ends
MAX_ELEMENTS = 5_000_000  # of all parts: 2.5 million cells, each with its value
MAX_DESCRIPTION_ELEMENTS = 50_000  # of a part that lists others, names or formats
WORKBOOK, CONTENT_TYPES = "xl/workbook.xml", "[Content_Types].xml"
DESCRIPTIONS = {CONTENT_TYPES, WORKBOOK, "xl/styles.xml", "xl/_rels/workbook.xml.rels"}
CHUNK_BYTES = 64 * 1024
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
# Strict Open XML is the same with other namespaces, which a part declares at its start.
NAMESPACES = {
    b"http://purl.oclc.org/ooxml/spreadsheetml/main": b"http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    b"http://purl.oclc.org/ooxml/officeDocument/relationships": (
        b"http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    ),
}
ESCAPED_CHARACTER = re.compile(r"_x((?![dD][89a-fA-F])[0-9A-Fa-f]{4})_")  # half of a surrogate pair is no character


class UnsafeWorkbook(MalformedTable):
    """A part of the workbook has a document type or entities."""


class TooManyCells(MalformedTable):
    """The workbook has more cells than are read."""


def build_broken_workbook_error() -> MalformedTable:
    return MalformedTable("The workbook is damaged or protected. Save it as .xlsx without a password.")


class WorkbookPart(io.RawIOBase):
    """A part of a workbook as it is unpacked, with the usual namespaces."""

    def __init__(self, source: IO[bytes]):
        self.source = source
        self.start = source.read(CHUNK_BYTES)
        for strict, usual in NAMESPACES.items():
            self.start = self.start.replace(strict, usual)

    def read(self, size: int | None = -1) -> bytes:
        if size is None or size < 0:
            size = MAX_UNPACKED_BYTES
        piece, self.start = self.start[:size], self.start[size:]
        return piece if len(piece) == size else piece + self.source.read(size - len(piece))

    def close(self) -> None:
        self.source.close()
        super().close()


class WorkbookArchive(zipfile.ZipFile):
    """The archive of a workbook. Its parts have the usual namespaces."""

    def open(self, *arguments: Any, **options: Any) -> Any:
        return WorkbookPart(super().open(*arguments, **options))


def open_workbook_archive(content: bytes) -> WorkbookArchive:
    """Return the archive of a workbook.

    Raises:
        MalformedTable: the archive has no workbook, or cannot be unpacked.
        TableLimit: it is too large unpacked.
    """
    try:
        with open_archive(content, max_files=MAX_PARTS, max_unpacked=MAX_UNPACKED_BYTES) as archive:
            names = archive.namelist()
    except LargeArchive as error:
        raise TableLimit(error.message, **error.values) from error
    except BadArchive as error:
        if is_workbook_archive(content):
            raise build_broken_workbook_error() from error
        raise MalformedTable(error.message, **error.values) from error
    if WORKBOOK in names:
        return WorkbookArchive(io.BytesIO(content))
    if CONTENT_TYPES in names:  # another document, such as .xlsb
        raise build_broken_workbook_error()
    raise MalformedTable("The archive contains no table. Unpack it and upload its files.")


def check_parts(archive: zipfile.ZipFile) -> None:
    """Read each part once, without keeping anything of it. What is not XML, or broken, is left to its reader.

    Raises:
        MalformedTable: a tag is too long.
        TooManyCells: the parts have too many elements.
        UnsafeWorkbook: a part has a document type.
    """
    elements = 0
    for member in archive.infolist():
        with archive.open(member) as part:
            is_description = member.filename in DESCRIPTIONS
            elements += count_elements(part, MAX_DESCRIPTION_ELEMENTS if is_description else MAX_ELEMENTS - elements)


def count_elements(part: IO[bytes], max_elements: int) -> int:
    """Return how many elements a part has at most, and check it as `check_parts` says."""
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse_document_type
    read_bytes = elements = 0
    while chunk := part.read(CHUNK_BYTES):
        try:
            parser.Parse(chunk)
        except expat.ExpatError:
            return elements
        elements += chunk.count(b"<") - chunk.count(b"</")
        read_bytes += len(chunk)
        if elements > max_elements:
            raise TooManyCells("The workbook has too many cells. Split it.")
        if read_bytes - parser.CurrentByteIndex > MAX_MARKUP_BYTES:
            raise build_broken_workbook_error()
    return elements


def refuse_document_type(*_declared: Any) -> None:
    raise UnsafeWorkbook("The workbook has a document type.")


class SharedStrings(list[str]):
    """The texts that cells refer to by position; there is none at a negative one."""

    def __getitem__(self, position: Any) -> Any:
        if position < 0:
            raise IndexError(position)
        return super().__getitem__(position)


def iter_shared_strings(part: IO[bytes]) -> Iterator[str]:
    for _, element in ElementTree.iterparse(part):  # noqa: S314 - without a document type
        if element.tag == f"{MAIN}si":
            is_plain = len(element) == 1 and element[0].tag == f"{MAIN}t"
            yield decode_escapes((element[0].text or "") if is_plain else Text.from_tree(element).content)
            element.clear()


def decode_escapes(text: str) -> str:
    """Return a text with the characters that Excel writes as their code; control characters as blanks.

    >>> decode_escapes("one_x000D_two"), decode_escapes("_x005F_x000D_"), decode_escapes("_x20AC_ 5")
    ('one two', '_x000D_', '€ 5')
    """
    if "_x" not in text:
        return text
    return ESCAPED_CHARACTER.sub(lambda match: max(chr(int(match[1], 16)), " "), text)
