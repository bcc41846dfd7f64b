"""Pages of the import of open invoices: upload a file, review what it would store, and import it."""

from dataclasses import replace
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from companies.errors import DomainError, ValidationFailed
from companies.models import parse_id
from companies.pages.amount_formats import format_count
from companies.pages.context import CompanyPage, company_page, get_error_message
from companies.permissions import Permission
from ledger.files.actions import clean_filename
from ledger.imports.actions import uploads
from ledger.imports.pages.table_questions import TABLE_QUESTIONS
from ledger.imports.pages.table_uploads import describe_upload_error, store_posted_table
from ledger.imports.pages.uploaded_files import get_upload_owner
from planning.invoice_files.actions import DuplicateInvoice
from planning.invoices.actions.invoice_imports import (
    MAX_INVOICES,
    InvoiceImportOptions,
    InvoiceImportOutcome,
    import_invoices,
    read_invoice_table,
)
from planning.invoices.csv_columns import HEADINGS
from planning.invoices.serializers import OPTION_CHOICES, parse_import_options
from planning.models import InvoiceKind, PlannedSource
from planning.planned_transactions.pages.planned_transactions import list_visible_account_names

ROWS_SHOWN, ERRORS_SHOWN = 20, 100
HEADINGS_SHOWN, MAX_HEADING_LENGTH = 20, 40
OPTION_FIELDS = ("accountId", *(name for name in OPTION_CHOICES if name != "dryRun"))
QUESTIONS = {
    **TABLE_QUESTIONS,
    "negativeAmounts": (
        gettext_lazy("Negative amounts are"),
        {"invoices": gettext_lazy("invoices that you owe"), "creditNotes": gettext_lazy("credit notes of vendors")},
    ),
}
TITLES = {"receivables": gettext_lazy("Import receivables"), "payables": gettext_lazy("Import payables")}


@company_page(reads=Permission.PLANNING_WRITE, writes=Permission.PLANNING_WRITE, uploads=True)
def upload_invoices_page(page: CompanyPage, kind: InvoiceKind) -> HttpResponse:
    """Show the upload form; a POST stores the file and leads to its review."""
    error, status = "", 200
    if page.is_post:
        try:
            return redirect_to_invoice_review(page, kind)
        except DomainError as problem:
            error, status = describe_upload_error(problem)
    return page.render(
        "planning/invoices/import.html",
        status=status,
        tab=kind,
        kind=kind,
        list_url=reverse(kind, args=[page.company.id]),
        title=TITLES[kind],
        error=error,
        accounts=[(str(key), name) for key, name in list_visible_account_names(page).items()],
        columns=[HEADINGS[name] for name in ("invoiceNumber", "counterparty", "invoiceDate", "amount")],
        other_columns=[HEADINGS[name] for name in ("dueDate", "openAmount", "currency", "name", "reference")],
        most=settings.MAX_UPLOAD_MB,
        most_rows=MAX_INVOICES,
    )


def redirect_to_invoice_review(page: CompanyPage, kind: InvoiceKind) -> HttpResponse:
    """Store the uploaded file and redirect to its review. Raises DomainError if it is no table of invoices."""
    upload_id, name = store_posted_table(page, check=read_invoice_table)
    query = {"name": name}
    if account_id := parse_id(page.request.POST.get("accountId", "")):
        query["accountId"] = str(account_id)
    return redirect(f"{reverse(f'{kind}-import-check', args=[page.company.id, upload_id])}?{urlencode(query)}")


@company_page(reads=Permission.PLANNING_WRITE, writes=Permission.PLANNING_WRITE)
def review_invoices_page(page: CompanyPage, kind: InvoiceKind, upload_id: UUID) -> HttpResponse:
    """Show what the file would store and what is wrong with it; a POST imports it."""
    form_data = page.request.POST if page.is_post else page.request.GET
    owner = get_upload_owner(page)
    outcome, error = None, None
    try:
        content = uploads.read_upload(**owner, upload_id=upload_id)
        options = parse_import_options(form_data)
        outcome = run_import(page, kind, content, replace(options, dry_run=not page.is_post))
    except uploads.UploadExpired as expired:
        return page.redirect_with_message(expired.detail, f"{kind}-import")
    except DomainError as problem:
        error = problem
    if outcome and page.is_post:
        uploads.delete_upload(**owner, upload_id=upload_id)
        message = format_invoice_import_message(outcome)
        if outcome.invoice_import is None:
            return page.redirect_with_message(message, kind)
        return page.redirect_with_message(message, "invoice-import", invoice_import_id=outcome.invoice_import.id)
    return render_invoice_review(page, kind, outcome=outcome, error=error)


def run_import(
    page: CompanyPage, kind: InvoiceKind, content: bytes, options: InvoiceImportOptions
) -> InvoiceImportOutcome:
    """Import the file of the page, or try it."""
    form_data = page.request.POST if page.is_post else page.request.GET
    return import_invoices(
        company=page.company,
        context=page.audit_context,
        kind=kind,
        content=content,
        filename=clean_filename(form_data.get("name") or "file"),
        source=PlannedSource.MANUAL,
        options=options,
    )


def format_invoice_import_message(outcome: InvoiceImportOutcome) -> str:
    """Return what an import did: "12 invoices imported. 1 left out because nothing is open." """
    texts = [
        ngettext("{count} invoice imported.", "{count} invoices imported.", outcome.count).format(
            count=format_count(outcome.count)
        )
    ]
    if outcome.duplicates:
        texts.append(_("Already planned: {count}.").format(count=format_count(outcome.duplicates)))
    if outcome.settled_count:
        texts.append(_("Nothing open: {count}.").format(count=format_count(outcome.settled_count)))
    if outcome.unused_columns:
        texts.append(f"{describe_unused_columns(outcome)}.")
    return " ".join(texts)


def describe_unused_columns(outcome: InvoiceImportOutcome) -> str:
    """Return the columns of the file that are not read: "Not used: Project, Note". Empty without any."""
    names = [heading.strip()[:MAX_HEADING_LENGTH] for heading in outcome.unused_columns]
    if not names:
        return ""
    hidden = len(names) - HEADINGS_SHOWN
    heading_list = ", ".join(names[:HEADINGS_SHOWN]) + (f" (+{format_count(hidden)})" if hidden > 0 else "")
    return _("Not used: {names}").format(names=heading_list)


def render_invoice_review(
    page: CompanyPage, kind: InvoiceKind, *, outcome: InvoiceImportOutcome | None, error: DomainError | None
) -> HttpResponse:
    form_data = page.request.POST if page.is_post else page.request.GET
    chosen = {name: form_data.get(name, "") for name in OPTION_FIELDS}
    row_errors, questions = [], [name for name in QUESTIONS if chosen[name]]
    if isinstance(error, ValidationFailed):
        questions += [name for name in QUESTIONS if f"#/{name}" in [pointer for pointer, *_ in error.errors]]
        row_errors = [detail for pointer, _, detail in error.errors if pointer.startswith("#/invoices/")]
    return page.render(
        "planning/invoices/import_check.html",
        status=400 if error else 200,
        tab=kind,
        kind=kind,
        list_url=reverse(kind, args=[page.company.id]),
        upload_url=reverse(f"{kind}-import", args=[page.company.id]),
        title=TITLES[kind],
        name=form_data.get("name", ""),
        outcome=outcome,
        summary=describe_invoice_import_outcome(outcome) if outcome else "",
        unused=describe_unused_columns(outcome) if outcome else "",
        rows=outcome.invoices[:ROWS_SHOWN] if outcome else [],
        more=max(outcome.count - ROWS_SHOWN, 0) if outcome else 0,
        error="" if error is None or row_errors else get_error_message(error),
        has_duplicates=isinstance(error, DuplicateInvoice) or chosen["duplicates"] == "skip",
        row_errors=row_errors[:ERRORS_SHOWN],
        chosen=chosen,
        questions=[(name, *QUESTIONS[name]) for name in dict.fromkeys(questions)],
        accounts=[(str(key), name) for key, name in list_visible_account_names(page).items()],
    )


def describe_invoice_import_outcome(outcome: InvoiceImportOutcome) -> list[tuple[Any, int]]:
    """Return (what, how many) of a trial."""
    counts = [
        (_("New invoices"), outcome.count),
        (_("Already planned, left out"), outcome.duplicates),
        (_("No open amount, left out"), outcome.settled_count),
        (_("New counterparties"), outcome.counterparties),
    ]
    return [fact for place, fact in enumerate(counts) if fact[1] or place == 0]
