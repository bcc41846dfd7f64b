"""Undo an import of open invoices as a whole."""

from dataclasses import dataclass
from uuid import UUID

from companies.change import change_company
from companies.errors import ConflictError
from companies.models import AuditContext, Company
from ledger.imports.actions.import_undo import ImportAlreadyUndone
from ledger.models import Counterparty
from planning.invoices.queries import list_settled_invoice_ids
from planning.models import InvoiceImport, PlannedTransaction

MAX_SETTLED_IDS = 100  # that the error names


class InvoicesSettled(ConflictError):
    """Invoices of this import are settled or written off. Unsettle them first."""

    code = "invoices_settled"


@dataclass(frozen=True, slots=True)
class InvoiceImportUndoOutcome:
    """How many invoices were deleted, how many of them had been changed, and how many counterparties were deleted."""

    deleted: int
    changed: int
    counterparties: int


def undo_invoice_import(*, company: Company, context: AuditContext, import_id: UUID | str) -> InvoiceImportUndoOutcome:
    """Delete what is left of an import: its invoices, and the counterparties that it created and nothing else uses.

    A constant number of statements.

    Raises:
        NotFoundError, PreconditionFailed: it is gone or has another version.
        ImportAlreadyUndone.
        InvoicesSettled: with the ids of planned transactions that are settled in full or in part, or written off.
    """
    with change_company(company, context=context) as change:
        row = change.lock(InvoiceImport, import_id)
        if row.undone_time is not None:
            raise ImportAlreadyUndone
        if settled_ids := list_settled_invoice_ids(row)[:MAX_SETTLED_IDS]:
            error = InvoicesSettled()
            error.extensions = {"plannedTransactionIds": [str(planned_id) for planned_id in settled_ids]}
            raise error
        invoices = PlannedTransaction.objects.for_company(company.id).filter(invoice_import=row)
        changed_count = invoices.changed_since_import().count()
        deleted_count, _ = invoices.delete()
        created = Counterparty.objects.for_company(company.id).filter(id__in=row.counterparty_ids)
        counterparty_count, _ = created.filter(last_updated_time=row.created_time).unused(company.id).delete()
        row.apply_changes(context, undone_time=context.time)
        after = {
            "deleted": deleted_count,
            "changed": changed_count,
            "filename": row.filename,
            "import_id": str(row.id),
            "deleted_counterparties": counterparty_count,
        }
        change.record_bulk("invoices.importUndone", "invoice", after=after)
    return InvoiceImportUndoOutcome(deleted_count, changed_count, counterparty_count)
