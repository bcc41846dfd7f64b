"""Undoing an import as a whole."""

from dataclasses import dataclass

from django.db.models import F

from companies.errors import Conflict
from companies.models import AuditEntry, Company, Stamp
from ledger.booking import remove
from ledger.models import ImportBatch, Transaction
from notifications.telling import import_undone


class ImportUndone(Conflict):
    """The import was undone before."""

    code = "import_already_undone"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many transactions went, and how many of them somebody had changed since."""

    deleted: int
    changed: int


def undo(*, batch: ImportBatch, company: Company, stamp: Stamp) -> Outcome:
    """Deletes what is left of an import; partners of linked rows are unlinked. Call with the batch locked.

    External ids are free again. A constant number of statements. Raises ImportUndone.
    """
    if batch.undone_time is not None:
        raise ImportUndone
    rows = Transaction.objects.of(company.id).filter(import_batch=batch)
    changed = rows.filter(last_updated_time__gt=F("created_time")).count()
    deleted = remove(company=company, stamp=stamp, ids=list(rows.values_list("id", flat=True)))
    batch.undone_time, batch.undone_user_id = stamp.time, stamp.actor
    batch.save(update_fields=["undone_time", "undone_user_id"])
    AuditEntry.objects.record(
        stamp,
        company_id=company.id,
        action="import.undone",
        entity_type="import",
        entity_id=batch.id,
        after={"deleted": deleted, "changed": changed},
    )
    import_undone(company_id=company.id, stamp=stamp, import_id=batch.id, deleted_count=deleted, changed_count=changed)
    return Outcome(deleted=deleted, changed=changed)
