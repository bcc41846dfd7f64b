"""Invoice files among the files of an upload: they are stored as files, and listed with the review of the others.

Which files the latest upload had is kept in the session.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib import messages
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.errors import DomainError, PermissionDeniedError
from companies.pages.amount_formats import format_count, format_money
from companies.pages.context import CompanyPage
from companies.permissions import Permission
from companies.storage import images
from ledger import hooks
from ledger.files.actions import MAX_FILE_BYTES, clean_filename, create_file, find_file_with_content
from ledger.files.calc.invoice_reader import is_invoice_xml
from ledger.files.content_type import PDF_SIGNATURE, UnsupportedFileType
from ledger.files.invoice_details import PARSE_ERROR_TEXTS
from ledger.models import File, ParseError

SESSION_KEY = "uploaded_invoices"  # company → [file, …]
DOCUMENT_SIGNATURES = (PDF_SIGNATURE, images.PNG_SIGNATURE, images.JPEG_SIGNATURE)


class InvoicesNotPermitted(PermissionDeniedError):
    """You do not have permission to upload invoices."""


class UploadedInvoice(NamedTuple):
    """An invoice file as the review lists it."""

    file: File
    description: str


class UploadedInvoices(NamedTuple):
    """The invoice files of an upload, and the form that creates the receivables and payables of some of them."""

    invoices: list[UploadedInvoice]
    address: str = ""
    file_ids: Sequence[UUID] = ()


def is_invoice_file(beginning: bytes) -> bool:
    """Whether a file can be an invoice and no bank statement: a PDF, a picture, or the XML of an e-invoice."""
    return beginning.startswith(DOCUMENT_SIGNATURES) or is_invoice_xml(beginning)


def store_invoice_files(page: CompanyPage, files: Sequence[Any]) -> tuple[list[File], list[str]]:
    """Store uploaded invoices, each once; return (their files, why each of the others is not stored).

    Who may not see files is told how many there are.
    """
    stored, refusals = list[File](), list[str]()
    for file in files:
        name = clean_filename(file.name or "file")
        try:
            stored.append(store_invoice_file(page, name, file.read(MAX_FILE_BYTES + 1)))
        except InvoicesNotPermitted as refusal:
            refusals.append(_("“{name}” is an invoice. {why}").format(name=name, why=refusal.detail))
        except DomainError as refusal:
            refusals.append(_("“{name}”: {why}").format(name=name, why=refusal.detail))
    ids = list(dict.fromkeys(str(file.id) for file in stored))
    if stored and not page.has_permission(Permission.FILES_READ):
        message = ngettext("{count} file uploaded.", "{count} files uploaded.", len(stored))
        messages.info(page.request, message.format(count=format_count(len(stored))))
    page.request.session[SESSION_KEY] = page.request.session.get(SESSION_KEY, {}) | {str(page.company.id): ids}
    return stored, refusals


def store_invoice_file(page: CompanyPage, name: str, content: bytes) -> File:
    """Store an invoice, or return the file that has its content. Raises InvoicesNotPermitted, and what `create_file`
    raises.
    """
    if not page.has_permission(Permission.FILES_WRITE):
        raise InvoicesNotPermitted
    if stored := find_file_with_content(page.company, content):
        if not page.has_permission(Permission.FILES_READ):
            return stored
        message = _("“{name}” is already stored as “{stored}”.").format(name=name, stored=stored.filename)
        messages.info(page.request, message)
        return stored
    try:
        return create_file(
            company=page.company, context=page.audit_context, name=name, content=content, transaction_ids=[]
        )
    except UnsupportedFileType:
        if is_invoice_xml(content):
            raise UnsupportedFileType(str(PARSE_ERROR_TEXTS[ParseError.UNREADABLE_XML])) from None
        raise


def list_uploaded_invoices(page: CompanyPage) -> UploadedInvoices | None:
    """Return the invoice files of the latest upload, as far as the user may see them; None without any."""
    ids = page.request.session.get(SESSION_KEY, {}).get(str(page.company.id), [])
    if not ids or not page.has_permission(Permission.FILES_READ):
        return None
    files = File.objects.for_company(page.company.id).with_transaction_ids(page.company.id)
    rows = {str(row.id): row for row in files.filter(id__in=[UUID(each) for each in ids])}
    invoice_files = [rows[each] for each in ids if each in rows]
    to_plan = next(filter(None, hooks.find_invoices_to_plan.run(page, invoice_files)), None)
    names = to_plan.party_names if to_plan else {}
    invoices = [UploadedInvoice(file, describe_invoice_file(file, names.get(file.id, ""))) for file in invoice_files]
    if not invoices or to_plan is None:
        return UploadedInvoices(invoices) if invoices else None
    return UploadedInvoices(invoices, to_plan.address, to_plan.file_ids)


def describe_invoice_file(file: File, party_name: str) -> str:
    """Say what was read from an invoice file, or why nothing was.

    Args:
        party_name: of the customer or vendor; empty where it is not known, then the seller is named.
    """
    if file.planned_transaction_id:
        return _("Receivable or payable created")
    if file.parse_error:
        return str(PARSE_ERROR_TEXTS[ParseError(file.parse_error)])
    data = file.parse_data
    if not data:
        return _("No e-invoice in this file. Enter its details, or import bank statements as CSV or CAMT.")
    amount = data.get("amount")
    texts = [
        party_name or (data.get("seller") or {}).get("name"),
        data.get("invoiceNumber"),
        amount and format_money(Decimal(str(amount["value"])), amount["currency"]),
    ]
    return " · ".join(filter(None, texts))
