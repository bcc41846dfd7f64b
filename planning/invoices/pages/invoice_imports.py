"""Pages of imports of open invoices: the list, what one stored, and undo."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.audit.names import find_actor_names
from companies.pages.amount_formats import format_count
from companies.pages.context import CompanyPage, company_page
from companies.permissions import Permission
from planning.invoices.actions.import_undo import InvoiceImportUndoOutcome, undo_invoice_import
from planning.invoices.queries import list_settled_invoice_ids
from planning.models import InvoiceImport, PlannedTransaction

PAGE_SIZE, SETTLED_SHOWN = 25, 20


@company_page(reads=Permission.PLANNING_READ)
def show_invoice_imports(page: CompanyPage) -> HttpResponse:
    """Show the imports of receivables and payables, the latest first, including undone ones."""
    imports = InvoiceImport.objects.for_company(page.company.id)
    rows, cursor = page.paginate(imports, order=("-created_time", "-id"), limit=PAGE_SIZE)
    return page.render("planning/invoices/invoice_imports.html", tab="receivables", rows=rows, cursor=cursor)


@company_page(reads=Permission.PLANNING_READ)
def show_invoice_import(page: CompanyPage, invoice_import_id: UUID) -> HttpResponse:
    """Show what is left of an import, and what undoing it would delete."""
    row = get_object_or_404(InvoiceImport.objects.for_company(page.company.id), id=invoice_import_id)
    invoices = PlannedTransaction.objects.for_company(page.company.id).filter(invoice_import=row)
    settled_ids = list_settled_invoice_ids(row)
    rows, cursor = page.paginate(invoices, order=("id",), limit=PAGE_SIZE)
    return page.render(
        "planning/invoices/invoice_import.html",
        tab=row.kind,
        row=row,
        list_url=reverse(row.kind, args=[page.company.id]),
        who=find_actor_names(page, {row.created_user_id or ""}).get(row.created_user_id or "", _("System")),
        rows=rows,
        cursor=cursor,
        left=invoices.count(),
        changed=invoices.changed_since_import().count(),
        settled=invoices.filter(id__in=settled_ids[:SETTLED_SHOWN]).order_by("id"),
        settled_count=len(settled_ids),
        writes=page.has_permission(Permission.PLANNING_WRITE),
    )


@company_page(writes=Permission.PLANNING_WRITE)
def undo_invoice_import_page(page: CompanyPage, invoice_import_id: UUID) -> HttpResponse:
    """Undo an import."""
    with page.handle_errors():
        outcome = undo_invoice_import(company=page.company, context=page.audit_context, import_id=invoice_import_id)
        return page.redirect_with_message(
            format_invoice_undo_message(outcome), "invoice-import", invoice_import_id=invoice_import_id
        )
    return page.redirect("invoice-import", invoice_import_id=invoice_import_id)


def format_invoice_undo_message(outcome: InvoiceImportUndoOutcome) -> str:
    """Describe what undoing an import did."""
    sentences = [ngettext("{count} invoice deleted.", "{count} invoices deleted.", outcome.deleted)]
    if outcome.counterparties:
        sentences.append(
            ngettext("{parties} counterparty deleted.", "{parties} counterparties deleted.", outcome.counterparties)
        )
    return " ".join(sentences).format(count=format_count(outcome.deleted), parties=format_count(outcome.counterparties))
