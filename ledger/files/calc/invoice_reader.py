"""Read a file as an electronic invoice, if it is one."""

from ledger.files.calc.cii import read_cii_invoice
from ledger.files.calc.einvoice import EInvoice, InvoiceReadError, get_currency_decimals, round_half_away_from_zero
from ledger.files.calc.embedded_xml import list_embedded_xml
from ledger.files.calc.invoice_xml import read_invoice_tree, read_root_name
from ledger.files.calc.ubl import read_ubl_invoice

BANK_MESSAGES = "urn:iso:std:iso:20022:"  # namespace of bank statements in CAMT
READERS = {
    "urn:oasis:names:specification:ubl:schema:xsd:Invoice-2}Invoice": read_ubl_invoice,
    "urn:oasis:names:specification:ubl:schema:xsd:CreditNote-2}CreditNote": read_ubl_invoice,
    "urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100}CrossIndustryInvoice": read_cii_invoice,
}


def read_invoice_file(content: bytes, *, extension: str) -> EInvoice | None:
    """Return the invoice in an XML file or in the XML inside a PDF.

    None for other files, PDFs without XML, and bank statements.

    Raises:
        InvoiceReadError: the file holds XML that cannot be read as one invoice.
    """
    if extension == "xml":
        return None if read_root_name(content).startswith(BANK_MESSAGES) else read_invoice(content)
    if extension != "pdf":
        return None
    files = list_embedded_xml(content)
    if not files:
        return None
    invoices = [file for file in files if read_root_name(file) in READERS]
    if not invoices:
        raise InvoiceReadError("not_an_invoice")
    if len(invoices) > 1:
        raise InvoiceReadError("several_invoices")
    return read_invoice(invoices[0])


def is_invoice_xml(beginning: bytes) -> bool:
    """Whether a file begins like the XML of an electronic invoice."""
    try:
        return beginning.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") and read_root_name(beginning) in READERS
    except InvoiceReadError:
        return False


def read_invoice(content: bytes) -> EInvoice:
    """Return the invoice of an XML document. Raises InvoiceReadError."""
    if read_root_name(content) not in READERS:
        raise InvoiceReadError("not_an_invoice")
    name, root = read_invoice_tree(content)
    invoice = READERS[name](root)
    check_invoice(invoice)
    return invoice


def check_invoice(invoice: EInvoice) -> None:
    """Raise InvoiceReadError where currency or amounts cannot be used."""
    if len(invoice.currency) != 3 or not (invoice.currency.isascii() and invoice.currency.isupper()):
        raise InvoiceReadError("invalid_invoice")
    decimals = get_currency_decimals(invoice.currency)
    for amount in (invoice.totals.payable, invoice.totals.tax_total):
        if amount is not None and amount != round_half_away_from_zero(amount, decimals):
            raise InvoiceReadError("invalid_invoice")
