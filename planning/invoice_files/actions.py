"""Make the receivable or payable of the invoice in a file."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from companies.change import CompanyChange, change_company
from companies.errors import ConflictError
from companies.models import AuditContext, Company
from ledger.calc.text_normalization import fold_words
from ledger.categorization.actions.counterparties import create_counterparty
from ledger.models import Counterparty, Direction, File
from planning.calc.invoice_parties import InvoiceParty, find_invoice_direction
from planning.invoice_files.queries import (
    find_invoice_counterparty,
    find_planned_invoice,
    get_counterparty_type,
    load_own_identity,
)
from planning.models import InvoiceFile, PlannedSource, PlannedTransaction
from planning.planned_transactions.actions.planned_transactions import create_planned_transaction

CREDIT_NOTE = "creditNote"  # type of the parse data
MAX_NAME_LENGTH = 300


class FileNotParsed(ConflictError):
    """The file has no amount and date of an invoice. Enter them first."""

    code = "file_not_parsed"


class NothingToPay(ConflictError):
    """The invoice has nothing left to pay."""

    code = "nothing_to_pay"


class PartyUnknown(ConflictError):
    """Neither the seller nor the buyer is clearly your company. State whether you receive or pay the money."""

    code = "party_unknown"


class InvoicePlanned(ConflictError):
    """The invoice is already planned."""

    code = "invoice_planned"

    def __init__(self, planned_id: UUID | None, *, company_id: UUID, pointers: Iterable[str] = ()):
        super().__init__()
        self.pointers = list(pointers)
        self.extensions = {
            "plannedTransactionId": planned_id and str(planned_id),
            "url": planned_id and f"/app/companies/{company_id}/planned/{planned_id}",
        }


class AlreadyPlanned(InvoicePlanned):
    """A receivable or payable was already created from this file."""

    code = "already_planned"


class DuplicateInvoice(InvoicePlanned):
    """An invoice with this number from the same seller is already planned."""

    code = "duplicate_invoice"


@dataclass(frozen=True, slots=True)
class FileInvoice:
    """The invoice in a file, as its parse data says."""

    amount: Decimal  # as stated: that of a credit note is positive
    currency: str
    invoice_date: dt.date
    due_date: dt.date | None
    number: str
    is_credit_note: bool
    seller: InvoiceParty
    buyer: InvoiceParty
    payment_reference: str


def plan_invoice_file(
    *,
    company: Company,
    context: AuditContext,
    file_id: UUID | str,
    account_id: UUID | None,
    direction: Direction | None,
    source: PlannedSource,
) -> PlannedTransaction:
    """Create the receivable or payable of the invoice in a file, and the counterparty if it is new.

    A customer's credit note is a negative receivable, a vendor's a positive payable.

    Args:
        direction: whether money comes in or goes out; None if seller or buyer is the company.

    Raises:
        NotFoundError, PreconditionFailed: the file is gone or has another version.
        AlreadyPlanned, DuplicateInvoice, FileNotParsed, NothingToPay, PartyUnknown.
        ValidationFailed: `unknown_id` of the account.
    """
    with change_company(company, context=context) as change:
        file = change.lock(File, file_id)
        link = InvoiceFile.objects.for_company(company.id).filter(file=file).first()
        if link is not None:
            raise AlreadyPlanned(link.planned_id, company_id=company.id)
        invoice = read_file_invoice(file)
        if direction is None:
            direction = find_own_direction(company, invoice)
        party = get_other_party(invoice, direction)
        counterparty = find_invoice_counterparty(company, party, direction)
        if invoice.number:
            planned = find_planned_invoice(
                company, number=invoice.number, direction=direction, counterparty=counterparty
            )
            if planned is not None:
                raise DuplicateInvoice(planned.id, company_id=company.id)
        if counterparty is None and party.name:
            values = {"name": party.name, "type": get_counterparty_type(direction)}
            counterparty = create_counterparty(company=company, context=context, values=values)
        return store_planned_invoice(change, file, invoice, direction, counterparty, account_id, source)


def store_planned_invoice(
    change: CompanyChange,
    file: File,
    invoice: FileInvoice,
    direction: Direction,
    counterparty: Counterparty | None,
    account_id: UUID | None,
    source: PlannedSource,
) -> PlannedTransaction:
    """Store the planned transaction and its link to the file."""
    is_outflow = (direction == Direction.OUT) != invoice.is_credit_note
    values = {
        "account_id": account_id,
        "name": build_planned_name(invoice, counterparty, file),
        "start_date": invoice.due_date or invoice.invoice_date,
        "amount_value": format(-invoice.amount if is_outflow else invoice.amount, "f"),
        "amount_currency": invoice.currency,
        "counterparty": {"id": counterparty.id} if counterparty else None,
        "invoice_date": invoice.invoice_date,
        "external_data": build_external_data(invoice),
    }
    planned = create_planned_transaction(
        company=change.company, context=change.context, source=source, values=values, made_from={"file_id": file.id}
    )
    own_party, other_party = (
        (invoice.seller, invoice.buyer) if direction == Direction.IN else (invoice.buyer, invoice.seller)
    )
    InvoiceFile.objects.create(
        company=change.company,
        file=file,
        planned=planned,
        direction=direction,
        own_vat_id=fold_words(own_party.vat_id) or None,
        party_vat_id=fold_words(other_party.vat_id) or None,
        party_iban=fold_words(other_party.iban) or None,
        payment_reference=invoice.payment_reference or None,
    )
    return planned


def read_file_invoice(file: File) -> FileInvoice:
    """Return the invoice of a file's parse data. Raises FileNotParsed, NothingToPay."""
    data = file.parse_data or {}
    if not data.get("amount") or not data.get("date"):
        raise FileNotParsed
    amount = Decimal(str(data["amount"]["value"]))
    if not amount:
        raise NothingToPay
    return FileInvoice(
        amount=amount,
        currency=data["amount"]["currency"],
        invoice_date=dt.date.fromisoformat(data["date"]),
        due_date=dt.date.fromisoformat(data["dueDate"]) if data.get("dueDate") else None,
        number=(data.get("invoiceNumber") or "").strip(),
        is_credit_note=data.get("type") == CREDIT_NOTE,
        seller=parse_stored_party(data.get("seller")),
        buyer=parse_stored_party(data.get("buyer")),
        payment_reference=data.get("paymentReference") or "",
    )


def parse_stored_party(data: dict[str, Any] | None) -> InvoiceParty:
    data = data or {}
    return InvoiceParty(
        name=" ".join((data.get("name") or "").split()),
        trading_name=data.get("tradingName") or "",
        vat_id=data.get("vatId") or "",
        iban=data.get("iban") or "",
    )


def get_other_party(invoice: FileInvoice, direction: Direction) -> InvoiceParty:
    """Return the customer of an invoice that the company sent, else the vendor."""
    return invoice.buyer if direction == Direction.IN else invoice.seller


def find_own_direction(company: Company, invoice: FileInvoice) -> Direction:
    """Return whether the company receives or pays the money. Raises PartyUnknown."""
    direction = find_invoice_direction(load_own_identity(company), seller=invoice.seller, buyer=invoice.buyer)
    if direction is None:
        raise PartyUnknown
    return Direction(direction)


def build_planned_name(invoice: FileInvoice, counterparty: Counterparty | None, file: File) -> str:
    """Return the counterparty's name with the invoice's number, or the name of the file."""
    if counterparty is None:
        return invoice.number or file.filename
    return join_invoice_name(counterparty.name, invoice.number)


def join_invoice_name(counterparty_name: str, number: str) -> str:
    """Return the name of a planned invoice: its counterparty, shortened where needed, and its number."""
    return f"{counterparty_name[: MAX_NAME_LENGTH - len(number) - 1]} {number}".strip()


def build_external_data(invoice: FileInvoice) -> dict[str, Any]:
    """Return the invoice's data of a planned transaction, complete."""
    names = ("invoice_url", "collection_method", "attempted", "attempt_count", "next_payment_attempt_date")
    return {
        **dict.fromkeys(names),
        "invoice_number": invoice.number or None,
        "due_date": invoice.due_date,
    }
