"""Counterparties of categorized transactions whose settlements changed."""

from collections import defaultdict
from collections.abc import Collection
from uuid import UUID

from django.db.models import Q

from companies.change import CompanyChange
from companies.models import IdIn
from ledger.categorization.actions.split import build_categorization_snapshot, build_stored_input
from ledger.categorization.queries.references import find_settled_counterparties
from ledger.models import Categorization, Transaction


def update_settled_counterparties(change: CompanyChange, transaction_ids: Collection[UUID]) -> None:
    """Set the counterparty of what transactions settle on their categorizations that have none, with audit entries.

    One that an earlier settlement set, and nobody changed since, is replaced, or removed if nothing is settled any
    more. Legs of transfers and transactions in closed months stay as they are.
    """
    company, context = change.company, change.context
    rows = Categorization.objects.for_company(company.id).filter(IdIn("transaction_id", list(transaction_ids)))
    rows = rows.unlinked().filter(Q(counterparty=None) | Q(counterparty_by_settlement=True))
    if company.closed_through is not None:
        rows = rows.filter(transaction__date__gt=company.closed_through)
    parts = list(rows.select_for_update(of=("self",)).order_by("transaction_id", "position", "id"))
    if not parts:
        return
    settled = find_settled_counterparties(
        company_id=company.id, transaction_ids=list({part.transaction_id for part in parts})
    )
    changed_parts = [part for part in parts if part.counterparty_id != settled.get(part.transaction_id)]
    states: defaultdict[UUID, tuple[dict[str, object], dict[str, object]]] = defaultdict(lambda: ({}, {}))
    part_ids: defaultdict[UUID | None, list[UUID]] = defaultdict(list)  # by new counterparty
    for part in changed_parts:
        before, after = states[part.transaction_id]
        before[str(part.id)] = build_categorization_snapshot(build_stored_input(part))
        part.counterparty_id = settled.get(part.transaction_id)
        after[str(part.id)] = build_categorization_snapshot(build_stored_input(part))
        part_ids[part.counterparty_id].append(part.id)
    for counterparty_id, ids in part_ids.items():
        Categorization.objects.for_company(company.id).filter(IdIn("id", ids)).update(
            counterparty=counterparty_id, counterparty_by_settlement=True if counterparty_id else None
        )
    transactions = Transaction.objects.for_company(company.id).filter(IdIn("id", list(states)))
    transactions.update(last_updated_time=context.time, last_updated_user_id=context.actor)
    for transaction_id, (before, after) in states.items():
        change.record_bulk("transaction.split", "transaction", entity_id=transaction_id, before=before, after=after)
