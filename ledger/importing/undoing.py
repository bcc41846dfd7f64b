"""Undoing an import as a whole."""

from dataclasses import dataclass, replace
from uuid import UUID

from django.db import transaction

from companies.changing import changing
from companies.errors import Conflict
from companies.models import Company, Stamp
from ledger import hooks
from ledger.models import ImportBatch, PendingBefore, Transaction
from ledger.transactions.booking import find_account_ids, remove
from ledger.transactions.touching import touched
from notifications.telling import import_undone


class ImportUndone(Conflict):
    """The import was undone before."""

    code = "import_already_undone"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many transactions went, how many of them somebody had changed since, and how many others are pending again:
    what it had booked, or let lapse."""

    deleted: int
    changed: int
    pending: int


def undo(*, company: Company, stamp: Stamp, import_id: UUID | str) -> Outcome:
    """Deletes what is left of an import; partners of linked rows are unlinked.

    External ids are free again. A constant number of statements. Raises Missing, Stale, ImportUndone.
    """
    with changing(company, stamp=stamp) as change:
        batch = change.locked(ImportBatch, import_id)
        if batch.undone_time is not None:
            raise ImportUndone
        ours = Transaction.objects.of(company.id)
        before = PendingBefore.objects.of(company.id).filter(import_batch=batch)
        waited = list(before.values_list("transaction_id", flat=True))
        hooks.import_undo_started.run(change=change, batch=batch)
        rows = ours.filter(import_batch=batch)
        changed = rows.touched().count()
        ids = list(rows.values_list("id", flat=True))
        account_ids = find_account_ids(company, ids)
        deleted, partners = remove(change, ids)
        batch.undone_time, batch.undone_user_id = stamp.time, stamp.actor
        batch.save(update_fields=["undone_time", "undone_user_id"])
        hooks.import_undone.run(change=change, batch=batch)
        hooks.balances_changed.run(change=change, account_ids=account_ids)
        after = {"deleted": deleted, "changed": changed, "filename": batch.filename}
        entry = change.record(batch, "import.undone", after=after)
        touched(change, entry, (), partners=partners)
        import_undone(
            company_id=company.id, stamp=stamp, import_id=batch.id, deleted_count=deleted, changed_count=changed
        )
        pending = ours.filter(id__in=waited, pending=True).count() if waited else 0
    return Outcome(deleted=deleted, changed=changed, pending=pending)


def foreseen(*, company: Company, stamp: Stamp, import_id: UUID | str) -> Outcome:
    """What undoing an import would do: it is done, and taken back. Which rows go depends on what other imports have
    too, and on what was undone before. Raises Missing, ImportUndone."""
    with transaction.atomic():
        outcome = undo(company=company, stamp=replace(stamp, changed=set()), import_id=import_id)
        transaction.set_rollback(True)
    return outcome
