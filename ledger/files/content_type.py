"""Detect the type of a file from its content; its name proves nothing."""

import csv
from dataclasses import dataclass
from xml.parsers import expat

from companies.errors import InvalidInputError, UnsupportedMediaTypeError
from companies.storage import images
from ledger.calc.delimited_text import open_text

SAMPLE_ROWS = 20
SAMPLE_CHARACTERS = 100_000
MAX_XML_DEPTH = 64  # open elements of an XML document; each takes memory until it is closed


class UnsafeXml(InvalidInputError):
    """The XML contains a document type or entities. Remove them."""

    code = "unsafe_xml"


class UnsupportedFileType(UnsupportedMediaTypeError):
    """The file content is not PDF, PNG, JPEG, CSV or XML."""

    code = "unsupported_file_type"


@dataclass(frozen=True, slots=True)
class ContentKind:
    """A supported type of file."""

    extension: str
    content_type: str
    other_extensions: frozenset[str] = frozenset()


PDF_SIGNATURE = b"%PDF-"
PDF = ContentKind("pdf", "application/pdf")
PNG = ContentKind("png", "image/png")
JPEG = ContentKind("jpg", "image/jpeg", frozenset({"jpeg"}))
CSV = ContentKind("csv", "text/csv")
XML = ContentKind("xml", "application/xml")
CONTENT_KINDS = (PDF, PNG, JPEG, CSV, XML)


def detect_content_kind(content: bytes) -> ContentKind:
    """Return the type of a file. Raises UnsupportedFileType, UnsafeXml."""
    if content.startswith(PDF_SIGNATURE) and b"%%EOF" in content[-2048:]:
        return PDF
    if content.startswith(images.PNG_SIGNATURE) and images.is_valid_png(content):
        return PNG
    if content.startswith(images.JPEG_SIGNATURE) and images.is_valid_jpeg(content):
        return JPEG
    if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") or (decode_sample(content) or "").lstrip().startswith(
        "<"
    ):
        if is_xml(content):
            return XML
    elif is_csv(content):
        return CSV
    raise UnsupportedFileType


def is_xml(content: bytes) -> bool:
    """Return whether the content is well-formed XML, at most MAX_XML_DEPTH levels deep.

    Raises:
        UnsafeXml: it has a document type, which can define entities that expand without limit or that are loaded
            from elsewhere.
    """
    parser = expat.ParserCreate()
    depth = 0

    def begin_element(*_args: object) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_XML_DEPTH:
            raise ValueError

    def end_element(_name: str) -> None:
        nonlocal depth
        depth -= 1

    def refuse_document_type(*_args: object) -> None:
        raise UnsafeXml

    parser.StartDoctypeDeclHandler = refuse_document_type
    parser.StartElementHandler = begin_element
    parser.EndElementHandler = end_element
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, ValueError, LookupError):
        return False
    return True


def is_csv(content: bytes) -> bool:
    """Return whether at least half of the first lines have two or more fields with one of the usual separators."""
    text = decode_sample(content)
    if text is None or text.lstrip()[:1] in ("{", "[", ""):
        return False
    lines = [line for line in text.splitlines()[: SAMPLE_ROWS * 2] if line.strip()][:SAMPLE_ROWS]
    for separator in ",;\t|":
        try:
            wide_row_count = sum(len(row) > 1 for row in csv.reader(lines, delimiter=separator))
        except csv.Error:
            continue
        if wide_row_count * 2 >= len(lines):
            return True
    return False


def decode_sample(content: bytes) -> str | None:
    """Decode the start of the content; None if it is no text."""
    stream = open_text(content)
    text = stream.read(SAMPLE_CHARACTERS) if stream else None
    if text is None or not all(sign.isprintable() or sign in "\t\r\n\xa0" for sign in text):
        return None
    return text
