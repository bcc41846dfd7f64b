"""What transactions settle, as planning answers it (ledger.hooks)."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from ledger import hooks


def get_settled_occurrences(*, company_id: UUID, transaction_ids: Iterable[UUID]) -> dict[UUID, Any]:
    """Return the occurrence that a transaction settles, by transaction id: planned_id, date and name; one query."""
    ids = list(transaction_ids)
    occurrences: dict[UUID, Any] = {}
    for settled in hooks.list_settled_occurrences.run(company_id=company_id, transaction_ids=ids):
        occurrences |= settled
    return occurrences
