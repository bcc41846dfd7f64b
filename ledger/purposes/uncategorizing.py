"""Taking away what transactions were for; the transactions stay."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection

from companies.changing import Change, changing
from companies.models import Among, Company, Stamp
from ledger.models import Categorization
from ledger.purposes.categorizing import in_chunks
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
    """Remove all parts of the selected transactions; a constant number of statements for as many as one names.

    Raises what ``selected`` raises.
    """
    outcome = Outcome()
    with changing(company, stamp=stamp) as change:
        chunks = [[row_id for (row_id,) in chunk] for chunk in in_chunks(selected(company, selection), "id")]
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
    parts = Categorization.objects.of(change.company.id).filter(Among("transaction_id", ids))
    legs = list(parts.linked().values_list("id", "counter_id", "counter__transaction_id"))
    removed, counters = {leg for leg, *_ in legs}, [counter for _, counter, _ in legs]
    for _, counter, partner in legs:
        if partner not in together:
            outcome.counters_created += 1
            outcome.partners.add(partner)
        else:
            outcome.counters_skipped += 1 if counter in removed else 2  # two where its own turn would come later
        removed.add(counter)
    changed = delete_parts(change.company, ids, counters)
    outcome.affected |= changed - outcome.partners
    if changed:
        retotal(change, sorted(changed))


def delete_parts(company: Company, transaction_ids: list[UUID], part_ids: list[UUID]) -> set[UUID]:
    """Delete the parts of transactions and some other parts; return the ids of the transactions that lost one.

    One statement, since the legs of a transfer refer to each other. The database deletes their postings.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM ledger_categorization WHERE company_id = %(company)s "
            "AND (transaction_id = ANY(%(transactions)s::uuid[]) OR id = ANY(%(parts)s::uuid[])) "
            "RETURNING transaction_id",
            {"company": company.id, "transactions": transaction_ids, "parts": part_ids},
        )
        return {transaction_id for (transaction_id,) in cursor.fetchall()}
