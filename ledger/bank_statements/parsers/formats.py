"""Detect the format of a bank file by its content, and read its statements."""

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TextIO

from ledger.bank_statements.parsers import camt, mt940, ofx, qif
from ledger.bank_statements.parsers.models import (
    MAX_PIECE_LENGTH,
    ParsedStatement,
    UnreadableFileError,
    discard_progress,
)
from ledger.calc.delimited_text import BYTE_ORDER_MARKS, guess_encodings, open_text
from ledger.calc.zip_files import OLE_SIGNATURE, ZIP_BEGINS, is_workbook_archive

CAMT, MT940, OFX, QIF, CSV, ZIP = "camt", "mt940", "ofx", "qif", "csv", "zip"
FORMATS = ("camt.052", "camt.053", "camt.054", "mt940", "mt942", "ofx", "qif", "csv")
DETECTION_CHARACTERS = 5000  # characters that tell the format
XML_ENCODING_PATTERN = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._-]{1,40})[\"']")
UNICODE_ENCODINGS = ("utf-8", "utf8", "utf-16", "utf16", "utf-16le", "utf-16be", "us-ascii", "ascii")
CHUNK_BYTES = 64 * 1024
MAX_LINES = 2_500_000  # of 100,000 entries each may well have 25


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A parsed file. A file of ``kind`` CSV or QIF needs its account to be read further."""

    kind: str
    format: str
    statements: list[ParsedStatement] = field(default_factory=list)


def detect_file_kind(content: bytes) -> str | None:
    """Return CAMT, MT940, OFX, QIF, CSV (workbooks too) or ZIP; None for other files. XML whose first lines do not
    show its kind is CAMT: its reader decides.

    >>> [detect_file_kind(each) for each in (b"OFXHEADER:100", b"<Document>", b"day;amount", b"hello")]
    ['ofx', 'camt', 'csv', None]
    """
    if content.startswith(OLE_SIGNATURE):
        return CSV
    if content.startswith(ZIP_BEGINS):
        return CSV if is_workbook_archive(content) else ZIP
    text = decode_beginning(content)
    if text is None:
        return None
    start = text.lstrip()
    if re.match(r"OFXHEADER\s*:", start) or re.search(r"<\?OFX|<OFX>", start):
        return OFX
    if start.startswith("<"):
        return CAMT
    if mt940.is_mt940(start):
        return MT940
    if qif.is_qif(start):
        return QIF
    return CSV if any(sign in start for sign in ",;\t|") and not start.startswith(("{", "[")) else None


def read_statement_file(
    content: bytes,
    kind: str,
    *,
    max_entries: int,
    on_progress: Callable[[int], None] = discard_progress,
    find_currency: Callable[[str], str] = ofx.return_no_currency,
) -> ParsedFile:
    """Return the statements of a file that needs no account.

    Args:
        on_progress: gets the number of bytes read, of CAMT.
        find_currency: returns an account's currency by its number, for OFX without one.

    Raises UnreadableFileError, UnsafeXmlError, TooManyEntriesError, NotAStatementError.
    """
    if kind == CAMT:
        format_, statements = camt.read_camt(
            content, encoding=detect_xml_encoding(content), max_entries=max_entries, on_progress=on_progress
        )
        return ParsedFile(kind, format_, require_statements(statements))
    if kind == MT940:
        format_, statements = mt940.read_mt940(iterate_text_lines(content), max_entries=max_entries)
        return ParsedFile(kind, format_, require_statements(statements))
    if kind == OFX:
        return ParsedFile(
            kind,
            "ofx",
            require_statements(
                ofx.read_ofx(decode_text(content), max_entries=max_entries, find_currency=find_currency)
            ),
        )
    return ParsedFile(kind, kind)


def require_statements(statements: list[ParsedStatement]) -> list[ParsedStatement]:
    """Return the statements. Raises UnreadableFileError if there are none."""
    if not statements:
        raise UnreadableFileError("The file contains no statement.", line=1)
    return statements


def decode_beginning(content: bytes) -> str | None:
    """Return the first characters; None if the file is no text."""
    if content.startswith((b"%PDF", b"PK\x03\x04")) or not content.strip():
        return None
    encoding = guess_encodings(content)[0]
    text = content[: DETECTION_CHARACTERS * 2].decode(encoding, errors="replace")
    head = text[:DETECTION_CHARACTERS]
    return None if head.count("\0") > len(head) // 10 else head


def decode_text(content: bytes) -> str:
    """Return the whole text in the detected encoding. Raises UnreadableFileError."""
    stream = open_text(content)
    if stream is None:
        raise UnreadableFileError("The file is not text in UTF-8, UTF-16 or Windows-1252.", line=0)
    return stream.read()


def iterate_text_lines(content: bytes) -> Iterator[str]:
    """Yield the lines. Raises UnreadableFileError."""
    stream = open_text(content)
    if stream is None:
        raise UnreadableFileError("The file is not text in UTF-8, UTF-16 or Windows-1252.", line=0)
    stream.reconfigure(newline=None)  # type: ignore[attr-defined]
    return limit_lines(stream)


def limit_lines(stream: TextIO) -> Iterator[str]:
    """Yield the lines within the limits of number and length. Raises UnreadableFileError."""
    number = 0
    while line := stream.readline(MAX_PIECE_LENGTH):
        number += 1
        if number > MAX_LINES:
            raise UnreadableFileError("The file has more than {most} lines.", line=number, most=MAX_LINES)
        if len(line) == MAX_PIECE_LENGTH:
            raise UnreadableFileError("The text is longer than {most} characters.", line=number, most=MAX_PIECE_LENGTH)
        yield line


def detect_xml_encoding(content: bytes) -> str | None:
    """Return the encoding of XML if it differs from the declared one; None if the declaration is right.

    Some files declare UTF-8 or UTF-16 and are neither: the content decides.
    """
    possible_encodings = guess_encodings(content)
    if possible_encodings[0] != "utf-8-sig":
        return (
            None if content[:2] in BYTE_ORDER_MARKS else possible_encodings[0].upper().replace("16-", "16")
        )  # as expat calls it
    declared = XML_ENCODING_PATTERN.search(content[:400])
    name = declared[1].decode().lower() if declared else "utf-8"
    if name not in UNICODE_ENCODINGS:
        return None
    return "UTF-8" if is_utf8_text(content) else "windows-1252"


def is_utf8_text(content: bytes) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(content), CHUNK_BYTES):
            decoder.decode(content[start : start + CHUNK_BYTES])
    except UnicodeDecodeError:
        return False
    return True
