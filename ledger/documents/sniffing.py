"""What a document is, judged by its content; its name proves nothing."""

import csv
from dataclasses import dataclass
from xml.parsers import expat

from companies.errors import Unsupported
from companies.stores import pictures
from ledger.calc.tables import opened

ROWS_LOOKED_AT = 20
CHARACTERS_LOOKED_AT = 100_000
DEEPEST = 64  # elements of an XML document that are open at once; each costs memory until it is closed


class UnsupportedFile(Unsupported):
    """The content is no PDF, PNG, JPEG, CSV or XML, whatever the name says."""

    code = "unsupported_file_type"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of document that is kept."""

    extension: str
    content_type: str
    other_extensions: frozenset[str] = frozenset()


PDF = Kind("pdf", "application/pdf")
PNG = Kind("png", "image/png")
JPEG = Kind("jpg", "image/jpeg", frozenset({"jpeg"}))
CSV = Kind("csv", "text/csv")
XML = Kind("xml", "application/xml")
KINDS = (PDF, PNG, JPEG, CSV, XML)


def kind_of(content: bytes) -> Kind:
    """The kind of a document. Raises UnsupportedFile."""
    if content.startswith(b"%PDF-") and b"%%EOF" in content[-2048:]:
        return PDF
    if content.startswith(pictures.SIGNATURE) and pictures.is_png(content):
        return PNG
    if content.startswith(b"\xff\xd8\xff") and pictures.is_jpeg(content):
        return JPEG
    if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") or (as_text(content) or "").lstrip().startswith("<"):
        if is_xml(content):
            return XML
    elif is_csv(content):
        return CSV
    raise UnsupportedFile


def is_xml(content: bytes) -> bool:
    """Well-formed, no deeper than DEEPEST, and without a document type: those can name entities that grow, or that lie
    elsewhere."""
    parser = expat.ParserCreate()
    depth = 0

    def begin(*_args: object) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise ValueError

    def end(_name: str) -> None:
        nonlocal depth
        depth -= 1

    def refuse(*_args: object) -> None:
        raise ValueError

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, ValueError, LookupError):
        return False
    return True


def is_csv(content: bytes) -> bool:
    """Text in which at least half of the first lines have two fields or more, by one of the usual separators."""
    text = as_text(content)
    if text is None or text.lstrip()[:1] in ("{", "[", ""):
        return False
    lines = [line for line in text.splitlines()[: ROWS_LOOKED_AT * 2] if line.strip()][:ROWS_LOOKED_AT]
    for separator in ",;\t|":
        try:
            wide = sum(len(row) > 1 for row in csv.reader(lines, delimiter=separator))
        except csv.Error:
            continue
        if wide * 2 >= len(lines):
            return True
    return False


def as_text(content: bytes) -> str | None:
    """How the text begins that the content is; None where it is no text."""
    stream = opened(content)
    text = stream.read(CHARACTERS_LOOKED_AT) if stream else None
    if text is None or not all(sign.isprintable() or sign in "\t\r\n\xa0" for sign in text):
        return None
    return text
