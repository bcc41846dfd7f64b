"""Electronic invoices made to do harm: refused with a reason, in bounded time and memory."""

import tracemalloc
import zlib

import pytest

from ledger.files.calc.einvoice import InvoiceReadError
from ledger.files.calc.embedded_xml import MAX_EMBEDDED_FILES, MAX_XML_BYTES
from ledger.files.calc.invoice_reader import read_invoice_file
from ledger.files.calc.invoice_xml import MAX_DEPTH, MAX_ELEMENTS, MAX_NUMBER_LENGTH, MAX_TEXT_CHARACTERS
from tests.ledger.files.einvoice_documents import build_cii, build_facturx, build_pdf_with_files, build_ubl

UBL, CII = build_ubl(), build_cii()
DOCTYPE = (
    b'<!DOCTYPE Invoice [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>'
)
MIB = 1024 * 1024


def add_notes(content, note, *, count=1):
    """Add elements before the end of the root."""
    start, end, rest = content.rpartition(b"</")
    return start + note * count + end + rest


XML_CASES = {
    "a document type": (DOCTYPE + UBL, "unsafe_xml"),
    "an external document type": (b'<!DOCTYPE Invoice SYSTEM "file:///etc/passwd">' + UBL, "unsafe_xml"),
    "an entity": (DOCTYPE + UBL.replace(b"Nordwind GmbH", b"&c;"), "unsafe_xml"),
    "not well-formed": (UBL[:-1], "unreadable_xml"),
    "an unknown entity": (UBL.replace(b"Nordwind", b"&nbsp;"), "unreadable_xml"),
    "an unknown encoding": (b'<?xml version="1.0" encoding="utf-7"?>' + UBL, "unreadable_xml"),
    "empty": (b"", "unreadable_xml"),
    "another root": (b'<Order xmlns="urn:oasis:names:specification:ubl:schema:xsd:Order-2"/>', "not_an_invoice"),
    "the root without its namespace": (UBL.replace(b"Invoice-2", b"Invoice-3"), "not_an_invoice"),
    "no namespace": (b"<Invoice/>", "not_an_invoice"),
    "only the root": (b'<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"/>', "invalid_invoice"),
    "too deep": (add_notes(UBL, b"<x>" * MAX_DEPTH + b"</x>" * MAX_DEPTH), "too_large"),
    "too many elements": (add_notes(UBL, b"<x/>", count=MAX_ELEMENTS), "too_large"),
    "too much text": (add_notes(UBL, b"<Note>%b</Note>" % (b"x" * (MAX_TEXT_CHARACTERS + 1))), "too_large"),
    "no number": (UBL.replace(b"<ID>NW-2026-17</ID>", b""), "invalid_invoice"),
    "a long number": (UBL.replace(b"NW-2026-17", b"1" * (MAX_NUMBER_LENGTH + 1)), "invalid_invoice"),
    "no date": (UBL.replace(b"<IssueDate>2026-03-02</IssueDate>", b""), "invalid_invoice"),
    "no amount": (build_ubl(totals={"payable": ""}), "invalid_invoice"),
    "a garbled amount": (build_ubl(totals={"payable": "1,190.00"}), "invalid_invoice"),
    "an endless amount": (build_ubl(totals={"payable": "1" * 16}), "invalid_invoice"),
    "an exponent": (build_ubl(totals={"payable": "1e9"}), "invalid_invoice"),
    "not a number": (build_ubl(totals={"payable": "NaN"}), "invalid_invoice"),
    "too many decimals": (build_ubl(totals={"payable": "119.001"}), "invalid_invoice"),
    "yen with decimals": (build_ubl(currency="JPY"), None),
    "no currency": (build_ubl(currency=""), "invalid_invoice"),
    "a long currency": (build_ubl(currency="EURO"), "invalid_invoice"),
    "a tax of a million percent": (build_ubl(lines=[("Work", "1", "1.00", "1000000")]), "invalid_invoice"),
    "CII without settlement": (CII.replace(b"ApplicableHeaderTradeSettlement", b"Other"), "invalid_invoice"),
}  # fmt: skip


@pytest.mark.parametrize("name", XML_CASES)
def test_hostile_xml_is_refused_with_a_reason(name):
    content, code = XML_CASES[name]
    if code is None:  # zeros behind a currency's decimals are fine
        assert read_invoice_file(content, extension="xml")
        return
    with pytest.raises(InvoiceReadError) as refused:
        read_invoice_file(content, extension="xml")
    assert refused.value.code == code


def build_stream(data, *, number=5, filters=b"/FlateDecode", length=None):
    size = len(data) if length is None else length
    head = b"%d 0 obj\n<< /Type /EmbeddedFile /Filter %b /Length %d >>\nstream\n" % (number, filters, size)
    return head + data + b"\nendstream\nendobj\n"


def build_pdf(*objects):
    return b"%PDF-1.7\n" + b"".join(objects) + b"trailer\n<<>>\n%%EOF"


BOMB = zlib.compress(b"<a>" + b" " * (200 * MIB), 9)
PDF_CASES = {
    "two invoices": (build_pdf_with_files(first=UBL, second=CII), "several_invoices"),
    "another XML": (build_pdf_with_files(data=b"<data/>"), "not_an_invoice"),
    "a document type": (build_pdf_with_files(invoice=DOCTYPE + UBL), "unsafe_xml"),
    "broken XML": (build_pdf_with_files(invoice=UBL[:-1]), "unreadable_xml"),
    "a bomb": (build_pdf(build_stream(BOMB)), "too_large"),
    "cut off": (build_pdf(build_stream(zlib.compress(UBL)[:-9])), "unreadable_pdf"),
    "garbled": (build_pdf(build_stream(b"x\x9c" + bytes(50))), "unreadable_pdf"),
    "another filter": (build_pdf(build_stream(UBL, filters=b"/LZWDecode")), "unreadable_pdf"),
    "two filters": (build_pdf(build_stream(UBL, filters=b"[/FlateDecode /ASCIIHexDecode]")), "unreadable_pdf"),
    "many files": (
        build_pdf(*(build_stream(zlib.compress(b"<a/>"), number=number) for number in range(MAX_EMBEDDED_FILES + 1))),
        "too_large",
    ),
    "many large files": (
        build_pdf(
            *(build_stream(zlib.compress(b"<a>%d" % n + b" " * (MAX_XML_BYTES // 2)), number=n) for n in range(1, 4))
        ),
        "too_large",
    ),
    "a length behind the end": (
        b"%PDF-1.7\n5 0 obj\n<< /Type /EmbeddedFile /Length 99999 >>\nstream\n<a/>\nendstream\n%%EOF", "unreadable_pdf",
    ),
    "markers only": (b"%PDF-1.7\n" + b"/EmbeddedFile " * 1_000_000 + b"%%EOF", "too_large"),
}  # fmt: skip


@pytest.mark.parametrize("name", PDF_CASES)
def test_hostile_pdf_is_refused_with_a_reason(name):
    content, code = PDF_CASES[name]
    with pytest.raises(InvoiceReadError) as refused:
        read_invoice_file(content, extension="pdf")
    assert refused.value.code == code


def test_bomb_in_a_pdf_takes_little_memory():
    pdf = build_pdf(build_stream(BOMB))
    tracemalloc.start()
    with pytest.raises(InvoiceReadError):
        read_invoice_file(pdf, extension="pdf")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * MAX_XML_BYTES


def test_files_attached_to_an_invoice_are_not_kept_in_memory():
    attachment = b"<EmbeddedDocumentBinaryObject>%b</EmbeddedDocumentBinaryObject>" % (b"QUJD" * (2 * MIB))
    content = add_notes(UBL, attachment)
    tracemalloc.start()
    invoice = read_invoice_file(content, extension="xml")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert invoice == read_invoice_file(UBL, extension="xml")
    assert peak < 4 * MIB  # half of the attachment


def test_the_same_invoice_embedded_twice_is_one():
    assert read_invoice_file(build_pdf_with_files(first=UBL, second=UBL), extension="pdf").number == "NW-2026-17"


def test_other_embedded_files_are_left_alone():
    pdf = build_facturx(CII).replace(
        b"%%EOF", build_stream(zlib.compress(b"\x89PNG" + bytes(100)), number=99) + b"%%EOF"
    )
    assert read_invoice_file(pdf, extension="pdf").number == "NW-2026-17"


def test_control_characters_and_line_breaks_in_texts_become_spaces():
    content = build_ubl(seller={"name": "Nord\n\twind\u202e GmbH", "vatId": "DE1"})
    assert read_invoice_file(content, extension="xml").seller.name == "Nord wind GmbH"
