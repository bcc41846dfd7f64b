"""Which format a bank's file is in, told by its content; and the statements in it."""

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TextIO

from ledger.calc.tables import BYTE_ORDER_MARKS, encodings, opened
from ledger.statements.calc import archives, camt, mt940, ofx, qif
from ledger.statements.calc.facts import LONGEST_PIECE, Statement, Unreadable, unheard

CAMT, MT940, OFX, QIF, CSV, ZIP = "camt", "mt940", "ofx", "qif", "csv", "zip"
FORMATS = ("camt.052", "camt.053", "camt.054", "mt940", "mt942", "ofx", "qif", "csv")
LOOKED_AT = 5000  # characters that tell the format
DECLARED = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._-]{1,40})[\"']")
UNICODE = ("utf-8", "utf8", "utf-16", "utf16", "utf-16le", "utf-16be", "us-ascii", "ascii")
AT_ONCE = 64 * 1024
MOST_LINES = 2_500_000  # of 100,000 entries each may well have 25


@dataclass(frozen=True, slots=True)
class File:
    """What a file says by itself. ``kind`` is CSV or QIF where its account is needed to read it further."""

    kind: str
    format: str
    statements: list[Statement] = field(default_factory=list)


def kind_of(content: bytes) -> str | None:
    """CAMT, MT940, OFX, QIF, CSV (a workbook too), ZIP; None for what is none of them. XML whose kind its first lines
    do not tell is CAMT: its reader will find out.

    >>> [kind_of(each) for each in (b"OFXHEADER:100", b"<Document>", b"day;amount", b"hello")]
    ['ofx', 'camt', 'csv', None]
    """
    if content.startswith(archives.BEGINS):
        return CSV if archives.is_workbook(content) else ZIP
    text = beginning(content)
    if text is None:
        return None
    start = text.lstrip()
    if re.match(r"OFXHEADER\s*:", start) or re.search(r"<\?OFX|<OFX>", start):
        return OFX
    if start.startswith("<"):
        return CAMT
    if mt940.is_one(start):
        return MT940
    if qif.is_one(start):
        return QIF
    return CSV if any(sign in start for sign in ",;\t|") and not start.startswith(("{", "[")) else None


def read(
    content: bytes,
    kind: str,
    *,
    most: int,
    far: Callable[[int], None] = unheard,
    currency_of: Callable[[str], str] = ofx.no_currency,
) -> File:
    """The statements of a file that tells all by itself; ``far`` hears how many bytes of the longest kind are read, and
    ``currency_of`` tells an account's currency by its number, for OFX that names none.
    Raises Unreadable, Unsafe, TooManyEntries, NoStatement."""
    if kind == CAMT:
        format_, statements = camt.read(content, encoding=encoding_of(content), most=most, far=far)
        return File(kind, format_, some(statements))
    if kind == MT940:
        format_, statements = mt940.read(lines_of(content), most=most)
        return File(kind, format_, some(statements))
    if kind == OFX:
        return File(kind, "ofx", some(ofx.read(text_of(content), most=most, currency_of=currency_of)))
    return File(kind, kind)


def some(statements: list[Statement]) -> list[Statement]:
    if not statements:
        raise Unreadable("There is no statement in it.", line=1)
    return statements


def beginning(content: bytes) -> str | None:
    """The first characters; None where it is no text."""
    if content.startswith((b"%PDF", b"PK\x03\x04")) or not content.strip():
        return None
    encoding = encodings(content)[0]
    text = content[: LOOKED_AT * 2].decode(encoding, errors="replace")
    head = text[:LOOKED_AT]
    return None if head.count("\0") > len(head) // 10 else head


def text_of(content: bytes) -> str:
    """All of it as text, in the encoding that is found. Raises Unreadable."""
    stream = opened(content)
    if stream is None:
        raise Unreadable("It is in none of the encodings UTF-8, UTF-16 and Windows-1252.", line=0)
    return stream.read()


def lines_of(content: bytes) -> Iterator[str]:
    """Its lines one by one. Raises Unreadable."""
    stream = opened(content)
    if stream is None:
        raise Unreadable("It is in none of the encodings UTF-8, UTF-16 and Windows-1252.", line=0)
    stream.reconfigure(newline=None)  # type: ignore[attr-defined]
    return counted(stream)


def counted(stream: TextIO) -> Iterator[str]:
    """Its lines, as many and as long as a bank's can be: each costs its reader time, and a long one room. Raises
    Unreadable."""
    number = 0
    while line := stream.readline(LONGEST_PIECE):
        number += 1
        if number > MOST_LINES:
            raise Unreadable("More than {most} lines.", line=number, most=MOST_LINES)
        if len(line) == LONGEST_PIECE:
            raise Unreadable("A text of more than {most} characters.", line=number, most=LONGEST_PIECE)
        yield line


def encoding_of(content: bytes) -> str | None:
    """The encoding of XML where it is another than the declared one; None where that holds.

    Some files declare UTF-8 or UTF-16 and are neither: what is really there decides.
    """
    found = encodings(content)
    if found[0] != "utf-8-sig":
        return None if content[:2] in BYTE_ORDER_MARKS else found[0].upper().replace("16-", "16")  # as expat calls it
    declared = DECLARED.search(content[:400])
    name = declared[1].decode().lower() if declared else "utf-8"
    if name not in UNICODE:
        return None
    return "UTF-8" if is_utf8(content) else "windows-1252"


def is_utf8(content: bytes) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(content), AT_ONCE):
            decoder.decode(content[start : start + AT_ONCE])
    except UnicodeDecodeError:
        return False
    return True
