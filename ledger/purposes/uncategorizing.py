"""Taking away what transactions were for; the transactions stay."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from companies.changing import Change, changing
from companies.models import Company, Stamp
from ledger.models import Categorization
from ledger.purposes.categorizing import facts_of
from ledger.recognition.posting import unpost
from ledger.recognition.totals import retotal
from ledger.transactions.selections import selected
from ledger.transactions.touching import touched


@dataclass(slots=True)
class Outcome:
    """The transactions that lost a part, and how many other legs of transfers were reopened or left alone."""

    affected: set[UUID] = field(default_factory=set)
    partners: set[UUID] = field(default_factory=set)  # whose legs went with those of others
    counters_created: int = 0
    counters_skipped: int = 0


def uncategorize(*, company: Company, stamp: Stamp, selection: dict[str, Any]) -> Outcome:
    """Removes all parts of the selected transactions; a constant number of statements for as many as one names.

    Raises what ``selected`` raises.
    """
    outcome = Outcome()
    with changing(company, stamp=stamp) as change:
        chunks = [[fact.id for fact in facts] for facts in facts_of(selected(company, selection))]
        together = {each for ids in chunks for each in ids}
        for ids in chunks:
            uncategorize_some(change, ids, together=together, outcome=outcome)
        if outcome.affected:
            counts = {"counters_created": outcome.counters_created, "counters_skipped": outcome.counters_skipped}
            after = {"affected": len(outcome.affected), **counts}
            entry = change.record_many("transactions.uncategorized", "transaction", after=after)
            touched(change, entry, outcome.affected, partners=outcome.partners)
    return outcome


def uncategorize_some(change: Change, ids: list[UUID], *, together: set[UUID], outcome: Outcome) -> None:
    """The same for some thousand of the transactions that are uncategorized together.

    The one place that says what becomes of the other legs: the other leg of a removed one goes too, so that its part of
    that transaction is open again (counters_created). Where both transactions are selected each counts one skipped,
    since its removal was asked for.
    """
    company = change.company
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
        if partner not in together:
            outcome.counters_created += 1
            outcome.partners.add(partner)
        else:
            outcome.counters_skipped += 1 if counter in gone else 2  # two where its own turn would come later
            outcome.affected.add(partner)
        touched.add(partner)
        gone.add(counter)
    if touched:
        unpost(company=company, transaction_ids=ids)
        parts.filter(id__in=gone).delete()
        retotal(change, sorted(touched))
