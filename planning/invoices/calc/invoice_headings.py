"""Headings of tables of open invoices, as accounting programs write them, and their words for a status."""

from ledger.imports.calc.headings import fold_heading
from ledger.imports.calc.named_columns import rank_headings
from planning.planned_transactions.fields import INVOICE_TEXTS

# The more specific heading comes first: of several columns for one field it counts.
_HEADINGS = {
    "invoiceNumber": (
        "invoiceNumber", "invoice number", "invoice no", "invoice #", "invoice id", "bill number", "bill no",
        "document number", "document no", "doc number", "doc no", "invoice", "bill", "number", "no", "num",
        "Rechnungsnummer", "Rechnungs-Nr.", "Rechnungsnr.", "Rechnung Nr.", "Belegnummer", "Beleg-Nr.", "Belegnr.",
        "Belegfeld 1", "Rechnung", "Beleg", "Nummer", "Nr.", "Numéro de facture", "N° de facture", "Facture",
    ),
    "counterparty": (
        "counterpartyName", "counterparty name", "counterparty", "customer name", "vendor name", "supplier name",
        "client name", "contact name", "customer", "vendor", "supplier", "client", "debtor", "creditor", "contact",
        "bill to", "company", "Geschäftspartner", "Kundenname", "Lieferantenname", "Kunde", "Lieferant", "Debitor",
        "Kreditor", "Name des Kunden", "Name des Lieferanten", "Firma", "Client", "Fournisseur", "Tiers",
    ),
    "invoiceDate": (
        "invoiceDate", "invoice date", "bill date", "issue date", "date issued", "issued", "document date", "date",
        "Rechnungsdatum", "Belegdatum", "Ausstellungsdatum", "Datum", "Date de facture", "Date de facturation",
    ),
    "dueDate": (
        "dueDate", "due date", "date due", "payment due", "due on", "due", "Fälligkeitsdatum", "Fälligkeit",
        "Fällig am", "Fällig", "Zahlbar bis", "Date d'échéance", "Échéance",
    ),
    "paymentTerms": (
        "paymentTerms", "payment terms", "payment terms (days)", "terms", "Zahlungsziel", "Zahlungsziel (Tage)",
    ),
    "openAmount": (
        "openAmountValue", "open amount", "outstanding amount", "amount outstanding", "amount open", "open balance",
        "balance due", "amount due", "invoiceAmountDue", "outstanding", "remaining", "open", "balance",
        "Offener Betrag", "Offener Posten", "Restbetrag", "Noch offen", "Offen", "Saldo", "Reste à payer", "Solde",
    ),
    "amount": (
        "amountValue", "invoice total", "total amount", "gross amount", "total gross", "gross", "total",
        "invoice amount", "amount", "Rechnungsbetrag", "Bruttobetrag", "Gesamtbetrag", "Brutto", "Betrag", "Summe",
        "Montant TTC", "Montant total", "Montant",
    ),
    "currency": ("amountCurrency", "currency code", "currency", "Währung", "WKZ", "Devise"),
    "name": ("description", "subject", "text", "Bezeichnung", "Beschreibung", "Betreff", "Buchungstext", "Libellé"),
    "reference": ("externalInvoiceId", "payment reference", "reference", "Zahlungsreferenz", "Referenz", "Référence"),
    "status": ("state", "status", "Zustand"),
    **{text.name: (text.name, text.label, *text.headings) for text in INVOICE_TEXTS},
}  # fmt: skip
FIELDS_BY_HEADING = rank_headings(_HEADINGS)

OPEN_STATUSES = frozenset(map(fold_heading, (
    "open", "unpaid", "overdue", "due", "sent", "issued", "approved", "authorised", "authorized", "awaiting payment",
    "outstanding", "past due", "late", "viewed", "offen", "unbezahlt", "überfällig", "fällig", "versendet", "gestellt",
    "gemahnt", "à payer", "impayée", "en retard",
)))  # fmt: skip
PART_PAID_STATUSES = frozenset(map(fold_heading, (
    "partlyPaid", "partly paid", "partially paid", "part paid", "partial", "teilweise bezahlt", "teilbezahlt",
    "partiellement payée",
)))  # fmt: skip
LEFT_OUT_STATUSES = frozenset(map(fold_heading, (
    "paid", "closed", "settled", "writtenOff", "written off", "void", "voided", "cancelled", "canceled", "deleted",
    "draft", "bezahlt", "beglichen", "ausgeglichen", "abgeschrieben", "storniert", "entwurf", "gelöscht", "payée",
    "annulée", "brouillon",
)))  # fmt: skip
