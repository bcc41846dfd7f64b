"""How many transactions of imports rules categorized."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import Count

from companies.models import Company
from ledger.models import RULE_NOTE_PREFIX, Categorization


def count_categorized_by_rules(company: Company, import_ids: Sequence[UUID]) -> dict[UUID, int]:
    """Return the number of transactions that have categorizations of rules now, by import; one statement."""
    categorizations = Categorization.objects.for_company(company.id).filter(
        transaction__import_batch_id__in=import_ids, source_note__startswith=RULE_NOTE_PREFIX
    )
    counts = categorizations.values("transaction__import_batch_id").annotate(
        count=Count("transaction_id", distinct=True)
    )
    return dict(counts.values_list("transaction__import_batch_id", "count"))
