"""Undoing an import as a whole."""

from dataclasses import dataclass
from uuid import UUID

from companies.changing import changing
from companies.errors import Conflict
from companies.follow_ups import follow_up
from companies.models import Company, Stamp
from ledger.models import ImportBatch, Transaction
from ledger.transactions.booking import remove
from ledger.transactions.touching import touched
from notifications.telling import import_undone


class ImportUndone(Conflict):
    """The import was undone before."""

    code = "import_already_undone"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many transactions went, and how many of them somebody had changed since."""

    deleted: int
    changed: int


def undo(*, company: Company, stamp: Stamp, import_id: UUID | str) -> Outcome:
    """Deletes what is left of an import; partners of linked rows are unlinked.

    External ids are free again. A constant number of statements. Raises Missing, Stale, ImportUndone.
    """
    with changing(company, stamp=stamp) as change:
        batch = change.locked(ImportBatch, import_id)
        if batch.undone_time is not None:
            raise ImportUndone
        follow_up("import_undoing", change=change, batch=batch)
        rows = Transaction.objects.of(company.id).filter(import_batch=batch)
        changed = rows.touched().count()
        deleted, partners = remove(change, list(rows.values_list("id", flat=True)))
        batch.undone_time, batch.undone_user_id = stamp.time, stamp.actor
        batch.save(update_fields=["undone_time", "undone_user_id"])
        follow_up("import_undone", change=change, batch=batch)
        after = {"deleted": deleted, "changed": changed, "filename": batch.filename}
        entry = change.record(batch, "import.undone", after=after)
        touched(change, entry, (), partners=partners)
        import_undone(
            company_id=company.id, stamp=stamp, import_id=batch.id, deleted_count=deleted, changed_count=changed
        )
    return Outcome(deleted=deleted, changed=changed)
