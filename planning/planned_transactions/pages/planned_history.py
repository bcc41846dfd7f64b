"""The history of a planned transaction or invoice, and the files it was made from."""

from dataclasses import replace

from django.urls import reverse

from companies.audit.changes import MAX_HISTORY_CHANGES, AuditChange, build_audit_changes
from companies.models import AuditEntry
from companies.pages.context import CompanyPage
from companies.permissions import Permission
from ledger.models import File
from planning.models import InvoiceFile, PlannedTransaction

MAX_ENTRIES = MAX_HISTORY_CHANGES + 1  # one more tells that there are more
ENTITY_TYPES = ("invoice", "plannedTransaction")  # it may have been either


def list_planned_history(page: CompanyPage, planned: PlannedTransaction) -> list[AuditChange]:
    """Return the latest changes of a planned transaction, for users who may read the audit log."""
    if not page.has_permission(Permission.AUDIT_READ):
        return []
    entries = AuditEntry.objects.for_company(page.company.id)
    own_entries = entries.filter(entity_type__in=ENTITY_TYPES, entity_id=str(planned.id)).order_by("-time", "-id")
    rows = list(own_entries[:MAX_ENTRIES])
    if planned.invoice_import is not None and len(rows) < MAX_ENTRIES:
        rows.append(
            AuditEntry(
                time=planned.created_time,
                actor=planned.created_user_id,
                action="invoice.imported",
                entity_type="invoice",
                entity_id=str(planned.id),
                after={"filename": planned.invoice_import.filename},
            )
        )
    return [replace(change, name="") for change in build_audit_changes(page, rows)]


def build_invoice_import_link(page: CompanyPage, entry: AuditEntry) -> str:
    """Return the URL of an import of invoices."""
    import_id = (entry.after or {}).get("import_id")
    if not import_id or not page.has_permission(Permission.PLANNING_READ):
        return ""
    return reverse("invoice-import", args=[page.company.id, import_id])


def list_invoice_files(page: CompanyPage, planned: PlannedTransaction) -> list[File]:
    """Return the files that a receivable or payable was made from, as far as the user may see them."""
    if not page.has_permission(Permission.FILES_READ):
        return []
    links = InvoiceFile.objects.for_company(page.company.id).filter(planned=planned)
    return [link.file for link in links.select_related("file")]
