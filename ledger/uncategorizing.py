"""Taking away what transactions were for; the transactions stay."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from companies.models import AuditEntry, Company, Stamp
from ledger.categorizing import locked
from ledger.models import Categorization
from ledger.posting import unpost
from ledger.totals import retotal


@dataclass(slots=True)
class Outcome:
    """The transactions that lost a part, and how many other legs of transfers were reopened or left alone."""

    affected: set[UUID] = field(default_factory=set)
    counters_created: int = 0
    counters_skipped: int = 0


def uncategorize(*, company: Company, rows: Any, stamp: Stamp) -> Outcome:
    """Removes all parts of the transactions; a constant number of statements for as many as a selection names."""
    outcome = Outcome()
    chunks = [[fact.id for fact in facts] for facts in locked(rows)]
    selected = {each for ids in chunks for each in ids}
    for ids in chunks:
        uncategorize_some(company=company, ids=ids, selected=selected, stamp=stamp, outcome=outcome)
    if not outcome.affected:
        return outcome
    AuditEntry.objects.record(
        stamp,
        company_id=company.id,
        action="transactions.uncategorized",
        entity_type="transaction",
        entity_id=None,
        after={
            "affected": len(outcome.affected),
            "counters_created": outcome.counters_created,
            "counters_skipped": outcome.counters_skipped,
        },
    )
    return outcome


def uncategorize_some(
    *, company: Company, ids: list[UUID], selected: set[UUID], stamp: Stamp, outcome: Outcome
) -> None:
    """The same for some thousand transactions, and the one place that says what becomes of the other legs.

    The other leg of a removed one goes too, so that its part of that transaction is open again (counters_created).
    Where both transactions are selected each counts one skipped, since its removal was asked for.
    """
    parts = Categorization.objects.of(company.id)
    found = parts.filter(transaction_id__in=ids).values_list(
        "id", "transaction_id", "counter_id", "counter__transaction_id"
    )
    touched = {transaction_id for _, transaction_id, _, _ in found}
    gone = {part_id for part_id, *_ in found}
    outcome.affected |= touched
    for _, _, counter, partner in found:
        if counter is None or partner is None:
            continue
        if partner not in selected:
            outcome.counters_created += 1
        else:
            outcome.counters_skipped += 1 if counter in gone else 2  # two where its own turn would come later
            outcome.affected.add(partner)
        touched.add(partner)
        gone.add(counter)
    if touched:
        unpost(company=company, transaction_ids=ids)
        parts.filter(id__in=gone).delete()
        retotal(company=company, transaction_ids=sorted(touched), stamp=stamp)
