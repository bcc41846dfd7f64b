"""Columns of invoices in CSV files. The headings are known again when such a file is imported."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from planning.planned_transactions.fields import INVOICE_TEXTS

HEADINGS = {
    "invoiceNumber": _("Invoice number"),
    "counterparty": _("Counterparty"),
    "name": _("Description"),
    "invoiceDate": _("Invoice date"),
    "dueDate": _("Due date"),
    "expectedDate": _("Expected date"),
    "amount": _("Amount"),
    "settledAmount": _("Paid amount"),
    "writtenOffAmount": _("Written-off amount"),
    "openAmount": _("Open amount"),
    "currency": _("Currency"),
    "status": pgettext_lazy("invoice", "Status"),
    "daysOverdue": _("Days overdue"),
    "reference": _("Reference"),
    **{text.name: _(text.label) for text in INVOICE_TEXTS},
    "id": _("ID"),
}
STATE_LABELS = {
    "open": _("open"),
    "partlyPaid": _("partly paid"),
    "overdue": _("overdue"),
    "paid": _("paid"),
    "writtenOff": _("written off"),
}


def get_invoice_headings() -> dict[str, str]:
    """Return the heading of each column in the reader's language."""
    return {name: str(heading) for name, heading in HEADINGS.items()}
