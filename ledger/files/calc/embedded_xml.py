"""Find the XML files inside a PDF.

Streams are top-level objects of a PDF (ISO 32000-1, 7.3.8), so embedded files are found in one pass over the bytes,
in time and memory that grow with the file only. PDF libraries follow cross-references, which a hostile file can make
them do for minutes (docs/decisions/23-invoices-in-pdf-by-scan.md).
"""

import re
import zlib

from ledger.files.calc.einvoice import InvoiceReadError

MAX_XML_BYTES = 10 * 1024 * 1024  # of all embedded XML files together, decompressed
MAX_EMBEDDED_FILES = 200
MAX_DICTIONARY_BYTES = 4096  # of the dictionary before a stream
EMBEDDED_FILE = re.compile(rb"/EmbeddedFile(?![A-Za-z])|/Subtype\s{0,8}/(?:text|application)#2[Ff]xml(?![A-Za-z])")
OBJECT_START = re.compile(rb"(\d{1,10})\s{1,8}\d{1,5}\s{1,8}obj\b")
STREAM_START = re.compile(rb"\bstream(?:\r\n|\n|\r)")
LENGTH = re.compile(rb"/Length\s{1,8}(\d{1,9})(?!\s{1,8}\d{1,5}\s{1,8}R)\b")
FLATE_FILTER = re.compile(rb"/Filter\s{0,8}(?:\[\s{0,8})?/(?:FlateDecode|Fl)\b(?!\s{0,8}/\w+\s{0,8}\])")
XML_STARTS = (b"<", b"\xef\xbb\xbf<", b"\xff\xfe<\0", b"\xfe\xff\0<")


def list_embedded_xml(content: bytes) -> list[bytes]:
    """Return the XML files inside a PDF, each once; none if it has none.

    An object that a later revision of the PDF replaces counts as in that revision.

    Raises:
        InvoiceReadError: `too_large`, or `unreadable_pdf` for an embedded file whose compression is not supported.
    """
    stream_starts: dict[bytes, tuple[int, bytes]] = {}
    for count, match in enumerate(EMBEDDED_FILE.finditer(content)):
        if count >= MAX_EMBEDDED_FILES:
            raise InvoiceReadError("too_large")
        located = locate_stream(content, match.start())
        if located is not None:
            number, start, dictionary = located
            stream_starts[number] = start, dictionary
    if not stream_starts or b"/Encrypt" in content:
        return []
    files: list[bytes] = []
    budget = MAX_XML_BYTES
    for start, dictionary in stream_starts.values():
        file = read_stream(content, start, dictionary, max_bytes=budget)
        if file.lstrip(b" \t\r\n").startswith(XML_STARTS) and file not in files:
            files.append(file)
            budget -= len(file)
    return files


def locate_stream(content: bytes, position: int) -> tuple[bytes, int, bytes] | None:
    """Return (object number, start of the data, dictionary) of the stream whose dictionary has a position."""
    first = max(0, position - MAX_DICTIONARY_BYTES)
    objects = list(OBJECT_START.finditer(content, first, position))
    if not objects:
        return None
    stream = STREAM_START.search(content, position, position + MAX_DICTIONARY_BYTES)
    if stream is None:
        return None
    dictionary = content[objects[-1].end() : stream.start()]
    return None if b"endobj" in dictionary else (objects[-1].group(1), stream.end(), dictionary)


def read_stream(content: bytes, start: int, dictionary: bytes, *, max_bytes: int) -> bytes:
    """Return the data of a stream; what is no XML is returned in part. Raises InvoiceReadError."""
    if b"/Filter" not in dictionary:
        return extract_plain_stream(content, start, dictionary, max_bytes=max_bytes)
    if not FLATE_FILTER.search(dictionary):
        raise InvoiceReadError("unreadable_pdf")
    decompressor = zlib.decompressobj()
    compressed = memoryview(content)[start:]
    try:
        head = decompressor.decompress(compressed, 64)
        if not head.lstrip(b" \t\r\n").startswith(XML_STARTS):
            return b""
        data = head + decompressor.decompress(decompressor.unconsumed_tail, max_bytes + 1)
    except zlib.error:
        raise InvoiceReadError("unreadable_pdf") from None
    if len(data) > max_bytes:
        raise InvoiceReadError("too_large")
    if not decompressor.eof:
        raise InvoiceReadError("unreadable_pdf")
    return data


def extract_plain_stream(content: bytes, start: int, dictionary: bytes, *, max_bytes: int) -> bytes:
    """Return the data of a stream without a filter. Raises InvoiceReadError."""
    if not content[start : start + 64].lstrip(b" \t\r\n").startswith(XML_STARTS):
        return b""
    length = LENGTH.search(dictionary)
    end = start + int(length.group(1)) if length else content.find(b"endstream", start)
    if end < start or end > len(content):
        raise InvoiceReadError("unreadable_pdf")
    if end - start > max_bytes:
        raise InvoiceReadError("too_large")
    return content[start:end].rstrip(b"\r\n\0")
