"""The history of a transaction: audit entries of it and of changes of many, and what only its rows tell."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from django.utils.translation import gettext as _

from companies.audit.changes import MAX_HISTORY_CHANGES, AuditChange, build_audit_changes
from companies.models import AuditEntry, parse_id
from companies.models.tenancy import get_id_time
from companies.pages.context import CompanyPage
from companies.permissions import Permission
from ledger.models import AuditEntryTransaction, Categorization, ImportBatch, PendingSnapshot, Transaction

MAX_ENTRIES = MAX_HISTORY_CHANGES + 1  # one more tells that there are more


def list_transaction_history(
    page: CompanyPage,
    row: Transaction,
    *,
    categorizations: Sequence[Categorization],
    assigner_names: Mapping[str, str],
) -> list[AuditChange]:
    """Return the latest changes of a transaction for users who may read the audit log.

    `assigner_names` names what assigned the categorizations, by source note.
    """
    if not page.has_permission(Permission.AUDIT_READ):
        return []
    company_id = page.company.id
    own_entries = AuditEntry.objects.for_company(company_id).filter(entity_type="transaction", entity_id=str(row.id))
    links = AuditEntryTransaction.objects.for_company(company_id).filter(transaction_id=row.id).select_related("entry")
    linked = list(links.order_by("-entry__time", "-entry_id")[:MAX_ENTRIES])
    entries = [
        *own_entries.order_by("-time", "-id")[:MAX_ENTRIES],
        *(link.entry for link in linked),
        *list_import_entries(row),
        *list_assignment_entries(row, categorizations, assigner_names),
    ]
    entries = sorted(entries, key=lambda entry: (entry.time, entry.id), reverse=True)[:MAX_ENTRIES]
    partner_ids = {
        link.entry_id for link in linked if link.as_partner and not link.entry.action.startswith("transfer.")
    }
    return [
        replace(
            change,
            label=_("Other side: {change}").format(change=change.label) if entry.id in partner_ids else change.label,
            name="" if entry.entity_id == str(row.id) else change.name,
        )
        for entry, change in zip(entries, build_audit_changes(page, entries), strict=True)
    ]


def list_import_entries(row: Transaction) -> Iterator[AuditEntry]:
    """Yield the import that created the transaction, and the one that booked it if it was pending before.

    The audit log has one entry for the whole import, without its transactions.
    """
    if row.import_batch_id is None:
        return
    pending_snapshot = PendingSnapshot.objects.filter(
        company_id=row.company_id, import_batch_id=row.import_batch_id, transaction_id=row.id
    ).first()
    first_batch_id = parse_id(str(pending_snapshot.facts.get("import_batch_id"))) if pending_snapshot else None
    batches = ImportBatch.objects.for_company(row.company_id).in_bulk(
        [each for each in (row.import_batch_id, first_batch_id) if each]
    )
    for batch_id, batch in batches.items():
        action = "transaction.imported"
        if pending_snapshot:
            action = "transaction.booked" if batch_id == row.import_batch_id else "transaction.importedPending"
        yield AuditEntry(
            id=batch.id,
            time=batch.created_time,
            actor=batch.created_user_id,
            action=action,
            entity_type="transaction",
            entity_id=str(row.id),
            after={"filename": batch.filename},
        )


def list_assignment_entries(
    row: Transaction, categorizations: Sequence[Categorization], assigner_names: Mapping[str, str]
) -> Iterator[AuditEntry]:
    """Yield automatic categorizations that nobody has changed: by a rule, history or the account."""
    for part in categorizations if row.categorizations_auto_assigned else ():
        if assigner := assigner_names.get(part.source_note or ""):
            amount = {"category_id": str(part.category_id), "value": str(part.value)}
            yield AuditEntry(
                id=part.id,
                time=get_id_time(part.id),
                action="transaction.split",
                entity_type="transaction",
                entity_id=str(row.id),
                after={"assigned_by": assigner, str(part.id): amount},
            )
