"""Saying that what was put together does not belong together: it is proposed no more, and other pairs can be."""

from datetime import date
from uuid import UUID

from companies.changing import changing
from companies.models import Company, Stamp
from ledger.models import RefusedMatch, Transaction


def refuse(
    *, company: Company, stamp: Stamp, transaction_id: UUID | str, other_id: UUID, day: date | None = None
) -> RefusedMatch:
    """The transaction is not the other leg's, or not what was expected on ``day``; said twice it is said once.

    Raises Missing.
    """
    with changing(company, stamp=stamp) as change:
        row = change.locked(Transaction, transaction_id, versioned=False)
        refused, new = RefusedMatch.objects.of(company.id).get_or_create(
            transaction=row, other_id=other_id, day=day, defaults={"company": company}
        )
        if new:
            after = {"other": str(other_id), "day": str(day) if day else None}
            change.record_many("transaction.matchRefused", "transaction", entity_id=row.id, after=after)
    return refused


def allow(*, company: Company, stamp: Stamp, refused_id: UUID | str) -> None:
    """What was refused may be proposed again. Raises Missing."""
    with changing(company, stamp=stamp) as change:
        refused = change.locked(RefusedMatch, refused_id)
        refused.delete()
        before = {"other": str(refused.other_id), "day": str(refused.day) if refused.day else None}
        change.record_many("transaction.matchAllowed", "transaction", entity_id=refused.transaction_id, before=before)
