"""Undo an import as a whole."""

from dataclasses import dataclass, replace
from uuid import UUID

from django.db import transaction

from companies.change import change_company
from companies.errors import ConflictError
from companies.models import AuditContext, Company
from ledger import hooks
from ledger.models import ImportBatch, PendingSnapshot, Transaction
from ledger.transactions.actions.audit_links import link_audit_entry
from ledger.transactions.actions.transactions import delete_transaction_rows, list_account_ids
from notifications.notify import notify_import_undone


class ImportAlreadyUndone(ConflictError):
    """The import was already undone."""

    code = "import_already_undone"


@dataclass(frozen=True, slots=True)
class ImportUndoOutcome:
    """How many transactions were deleted, how many of them had been changed, and how many others are pending again."""

    deleted: int
    changed: int
    pending: int


def undo_import(*, company: Company, context: AuditContext, import_id: UUID | str) -> ImportUndoOutcome:
    """Delete what is left of an import; partners of linked transactions are unlinked.

    External ids become free. A constant number of statements. Raises NotFoundError, PreconditionFailed,
    ImportAlreadyUndone.
    """
    with change_company(company, context=context) as change:
        batch = change.lock(ImportBatch, import_id)
        if batch.undone_time is not None:
            raise ImportAlreadyUndone
        company_transactions = Transaction.objects.for_company(company.id)
        snapshots = PendingSnapshot.objects.for_company(company.id).filter(import_batch=batch)
        pending_ids = list(snapshots.values_list("transaction_id", flat=True))
        hooks.import_undo_started.run(change=change, batch=batch)
        rows = company_transactions.filter(import_batch=batch)
        changed_count = rows.edited_since_import().count()
        transaction_ids = list(rows.values_list("id", flat=True))
        account_ids = list_account_ids(company, transaction_ids)
        deleted_count, partners = delete_transaction_rows(change, transaction_ids)
        batch.undone_time, batch.undone_user_id = context.time, context.actor
        batch.save(update_fields=["undone_time", "undone_user_id"])
        hooks.import_undone.run(change=change, batch=batch)
        hooks.balances_changed.run(change=change, account_ids=account_ids)
        after = {"deleted": deleted_count, "changed": changed_count, "filename": batch.filename}
        entry = change.record(batch, "import.undone", after=after)
        link_audit_entry(change, entry, (), partners=partners)
        notify_import_undone(
            company_id=company.id,
            context=context,
            import_id=batch.id,
            deleted_count=deleted_count,
            changed_count=changed_count,
        )
        pending_count = company_transactions.filter(id__in=pending_ids, pending=True).count() if pending_ids else 0
    return ImportUndoOutcome(deleted=deleted_count, changed=changed_count, pending=pending_count)


def preview_import_undo(*, company: Company, context: AuditContext, import_id: UUID | str) -> ImportUndoOutcome:
    """Return what undoing an import would do, by undoing it and rolling back. Which rows are deleted depends on what
    other imports have too, and on earlier undos. Raises NotFoundError, ImportAlreadyUndone.
    """
    with transaction.atomic():
        outcome = undo_import(company=company, context=replace(context, touched_company_ids=set()), import_id=import_id)
        transaction.set_rollback(True)
    return outcome
