"""How many rows of imports were stored already."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from django.db.models import Count, Exists, OuterRef

from companies.models import Company
from ledger.models import ImportBatch, PendingSnapshot, Source, Transaction


class KnownRowCounts(NamedTuple):
    """How many rows of an import booked pending transactions, and how many others were stored already."""

    booked: int
    known: int


def count_known_rows(company: Company, batches: Sequence[ImportBatch]) -> dict[UUID, KnownRowCounts]:
    """Return the counts by import. Rows that book pending transactions, and pending ones that the bank no longer
    reports, are duplicates of the batch, but were not stored already.
    """
    bank_batch_ids = [batch.id for batch in batches if batch.source in (Source.BANK, Source.CSV) and batch.duplicates]
    booked_counts: dict[UUID, int] = {}
    if bank_batch_ids:
        own_transactions = Transaction.objects.for_company(company.id).filter(
            id=OuterRef("transaction_id"), import_batch_id=OuterRef("import_batch_id")
        )
        snapshots = PendingSnapshot.objects.for_company(company.id).filter(
            Exists(own_transactions), import_batch_id__in=bank_batch_ids
        )
        counts = snapshots.values("import_batch_id").annotate(booked=Count("id"))
        booked_counts = dict(counts.values_list("import_batch_id", "booked"))
    return {
        batch.id: KnownRowCounts(booked := booked_counts.get(batch.id, 0), batch.duplicates - batch.lapsed - booked)
        for batch in batches
    }
