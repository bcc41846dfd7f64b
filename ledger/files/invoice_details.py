"""Texts of a file's page: labels, and the lines and differences of its invoice."""

from decimal import Decimal
from typing import Any

from django.utils.translation import gettext_lazy, pgettext_lazy

from companies.pages.amount_formats import format_money
from ledger.models import File, ParseError, ParseStatus

PARSE_STATUS_LABELS: dict[ParseStatus, Any] = {
    ParseStatus.OPEN: gettext_lazy("Not read"),
    ParseStatus.PARSED: pgettext_lazy("of a document", "Read"),
    ParseStatus.MATCHED: gettext_lazy("Matched"),
    ParseStatus.FAILED: gettext_lazy("Reading failed"),
    ParseStatus.IGNORED: gettext_lazy("Ignored"),
}
KIND_LABELS = {"": "–", "invoice": gettext_lazy("Invoice"), "creditNote": gettext_lazy("Credit note")}
PARSE_ERROR_TEXTS: dict[ParseError, Any] = {
    ParseError.UNSAFE_XML: gettext_lazy("The invoice could not be read: its XML has a document type."),
    ParseError.UNREADABLE_XML: gettext_lazy("The invoice could not be read: its XML is damaged."),
    ParseError.UNREADABLE_PDF: gettext_lazy("The invoice could not be read: the file inside the PDF is damaged."),
    ParseError.TOO_LARGE: gettext_lazy("The invoice could not be read: it is too large."),
    ParseError.NOT_AN_INVOICE: gettext_lazy("The XML is not an invoice that complies with EN 16931."),
    ParseError.SEVERAL_INVOICES: gettext_lazy("The PDF contains several invoices. Upload each as its own file."),
    ParseError.INVALID_INVOICE: gettext_lazy("The invoice has no valid number, date, currency or amount."),
    ParseError.UNSUPPORTED_CURRENCY: gettext_lazy("The currency of the invoice is not supported."),
}
DIFFERENCE_LABELS = {
    "lineTotal": gettext_lazy("Sum of lines"),
    "allowanceTotal": gettext_lazy("Sum of allowances"),
    "chargeTotal": gettext_lazy("Sum of charges"),
    "taxBase": gettext_lazy("Total without VAT"),
    "taxableAmount": gettext_lazy("Taxable amount of a VAT rate"),
    "taxAmount": gettext_lazy("VAT of a rate"),
    "taxTotal": gettext_lazy("Total VAT"),
    "totalWithTax": gettext_lazy("Total with VAT"),
    "payable": gettext_lazy("Amount due"),
}


def build_invoice_context(row: File) -> dict[str, Any]:
    """Return the lines of a file's invoice and its totals that do not add up, as the page shows them."""
    data = row.parse_data or {}
    currency = data.get("currency") or ""

    def format_total(text: str | None) -> str:
        return "–" if text is None else format_money(Decimal(text), currency)

    return {
        "currency": currency,
        "lines": [
            {**line, "amount": Decimal(line["amount"]), "tax_percent": line["taxPercent"]}
            for line in data.get("lines") or ()
        ],
        "differences": [
            {
                "label": DIFFERENCE_LABELS[difference["code"]],
                "stated": format_total(difference["stated"]),
                "computed": format_total(difference["computed"]),
            }
            for difference in data.get("differences") or ()
        ],
    }
