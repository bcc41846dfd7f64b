"""Read the XML of an electronic invoice, which may be hostile, into a small tree, and values out of it."""

import re
from datetime import date
from decimal import Decimal
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from ledger.files.calc.einvoice import InvoiceReadError, TaxGroup

MAX_DEPTH = 40  # EN 16931 needs 12
MAX_ELEMENTS = 100_000  # about 2,500 lines
MAX_TEXT_CHARACTERS = 5_000_000  # of all elements together, attachments aside
MAX_NUMBER_LENGTH = 200
MAX_NAME_LENGTH = 300
MAX_IBAN_LENGTH = 34
MAX_CODE_LENGTH = 10
MAX_VAT_ID_LENGTH = 50
MAX_TAX_PERCENT = 1000
SKIPPED_ELEMENTS = frozenset({"AttachmentBinaryObject", "EmbeddedDocumentBinaryObject"})  # files inside the invoice
DECIMAL_PATTERN = re.compile(r"[+-]?(\d{1,15}(\.\d{0,20})?|\.\d{1,20})", re.ASCII)
DAY_PATTERN = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})(Z|[+-]\d{2}:\d{2})?", re.ASCII)  # ISO 8601, or format 102


def read_root_name(content: bytes) -> str:
    """Return namespace and name of the root element, as `namespace}name`. Raises InvoiceReadError."""
    return InvoiceTree(root_only=True).read(content)[0]


def read_invoice_tree(content: bytes) -> tuple[str, Element]:
    """Return (`namespace}name` of the root, tree of elements by their names without namespace).

    Raises:
        InvoiceReadError: `unsafe_xml` for a document type, `unreadable_xml`, `too_large`.
    """
    name, root = InvoiceTree().read(content)
    if root is None:
        raise InvoiceReadError("unreadable_xml")
    return name, root


class RootElementReached(Exception):
    """The root element was read, which is all that was wanted."""


class InvoiceTree:
    """Callbacks of the XML parser: they build the tree within limits."""

    def __init__(self, *, root_only: bool = False):
        self.root_name = ""
        self.root_only = root_only
        self.depth = self.elements = self.characters = self.skipping = 0
        self.builder = TreeBuilder()

    def read(self, content: bytes) -> tuple[str, Element | None]:
        parser = expat.ParserCreate(namespace_separator="}")
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self.reject_doctype
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.add_text
        try:
            parser.Parse(content, True)
        except RootElementReached:
            return self.root_name, None
        except InvoiceReadError:
            raise
        except (expat.ExpatError, LookupError, ValueError):  # not well-formed, or an unknown encoding
            raise InvoiceReadError("unreadable_xml") from None
        return self.root_name, self.builder.close()

    def reject_doctype(self, *_args: object) -> None:
        raise InvoiceReadError("unsafe_xml")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if not self.root_name:
            self.root_name = name
            if self.root_only:
                raise RootElementReached
        self.depth += 1
        self.elements += 1
        if self.depth > MAX_DEPTH or self.elements > MAX_ELEMENTS:
            raise InvoiceReadError("too_large")
        local_name = name.rpartition("}")[2]
        if local_name in SKIPPED_ELEMENTS and not self.skipping:
            self.skipping = self.depth
        if not self.skipping:
            self.builder.start(local_name, attributes)

    def end(self, name: str) -> None:
        if not self.skipping:
            self.builder.end(name.rpartition("}")[2])
        elif self.skipping == self.depth:
            self.skipping = 0
        self.depth -= 1

    def add_text(self, text: str) -> None:
        if self.skipping:
            return
        self.characters += len(text)
        if self.characters > MAX_TEXT_CHARACTERS:
            raise InvoiceReadError("too_large")
        self.builder.data(text)


def find_text_at(element: Element | None, path: str, *, max_length: int = MAX_NAME_LENGTH) -> str:
    """Return the text at a path of names, on one line and cut to `max_length` characters; empty if there is none."""
    text = element.findtext(path) if element is not None else None
    words = "".join(sign if sign.isprintable() else " " for sign in text or "").split()
    return " ".join(words)[:max_length].strip()


def read_account_number(element: Element | None, *paths: str) -> str:
    """Return an IBAN or account number without spaces, in capitals; empty if there is none."""
    for path in paths:
        number = "".join(find_text_at(element, path).split()).upper()
        if number:
            return number[:MAX_IBAN_LENGTH]
    return ""


def find_document_number(element: Element | None, path: str) -> str:
    """Return the document's number. Raises InvoiceReadError where it is missing or too long."""
    number = find_text_at(element, path, max_length=MAX_NUMBER_LENGTH + 1)
    if not number or len(number) > MAX_NUMBER_LENGTH:
        raise InvoiceReadError("invalid_invoice")
    return number


def parse_xml_decimal(text: str | None) -> Decimal | None:
    """Parse an XML decimal; None if it is missing or empty. Raises InvoiceReadError."""
    text = (text or "").strip()
    if not text:
        return None
    if not DECIMAL_PATTERN.fullmatch(text):
        raise InvoiceReadError("invalid_invoice")
    return Decimal(text) or Decimal(0)


def find_decimal_at(element: Element | None, path: str) -> Decimal | None:
    """Return the decimal at a path; None if there is none. Raises InvoiceReadError."""
    return parse_xml_decimal(element.findtext(path)) if element is not None else None


def find_required_decimal(element: Element | None, path: str) -> Decimal:
    """Return the decimal at a path. Raises InvoiceReadError."""
    value = find_decimal_at(element, path)
    if value is None:
        raise InvoiceReadError("invalid_invoice")
    return value


def parse_xml_day(text: str | None) -> date | None:
    """Parse a day of either syntax; None if it is missing or empty. Raises InvoiceReadError.

    >>> parse_xml_day("2013-04-10"), parse_xml_day("20130410"), parse_xml_day("2013-04-10+02:00")
    (datetime.date(2013, 4, 10), datetime.date(2013, 4, 10), datetime.date(2013, 4, 10))
    """
    text = (text or "").strip()
    if not text:
        return None
    match = DAY_PATTERN.fullmatch(text)
    try:
        year, month, day = map(int, match.group(1, 2, 3)) if match else (0, 0, 0)
        return date(year, month, day)
    except ValueError:
        raise InvoiceReadError("invalid_invoice") from None


def find_latest_day_at(element: Element, *paths: str) -> date | None:
    """Return the last of the days at all the paths; None if there is none."""
    days = [parse_xml_day(each.text) for path in paths for each in element.iterfind(path)]
    return max((day for day in days if day), default=None)


def find_tax_group(element: Element | None, path: str, *, category: str, rate: str) -> TaxGroup:
    """Return category and rate of the tax element at a path; a missing rate is zero. Raises InvoiceReadError."""
    tax = element.find(path) if element is not None else None
    percent = find_decimal_at(tax, rate) or Decimal(0)
    if abs(percent) > MAX_TAX_PERCENT:
        raise InvoiceReadError("invalid_invoice")
    return find_text_at(tax, category, max_length=MAX_CODE_LENGTH), percent
