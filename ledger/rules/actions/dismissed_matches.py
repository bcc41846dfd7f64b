"""Dismiss proposed matches, and allow them again."""

from datetime import date
from uuid import UUID

from companies.change import change_company
from companies.models import AuditContext, Company
from ledger.models import DismissedMatch, Transaction


def dismiss_match(
    *, company: Company, context: AuditContext, transaction_id: UUID | str, other_id: UUID, day: date | None = None
) -> DismissedMatch:
    """Dismiss a match with another leg, or with what was expected on ``day``. Dismissing it again changes nothing.

    Raises NotFoundError.
    """
    with change_company(company, context=context) as change:
        row = change.lock(Transaction, transaction_id, check_versions=False)
        dismissed_match, is_new = DismissedMatch.objects.for_company(company.id).get_or_create(
            transaction=row, other_id=other_id, day=day, defaults={"company": company}
        )
        if is_new:
            after = {"other": str(other_id), "day": str(day) if day else None}
            change.record_bulk("transaction.matchRefused", "transaction", entity_id=row.id, after=after)
    return dismissed_match


def allow_dismissed_match(*, company: Company, context: AuditContext, dismissed_match_id: UUID | str) -> None:
    """Allow a dismissed match to be proposed again. Raises NotFoundError."""
    with change_company(company, context=context) as change:
        dismissed_match = change.lock(DismissedMatch, dismissed_match_id)
        dismissed_match.delete()
        before = {
            "other": str(dismissed_match.other_id),
            "day": str(dismissed_match.day) if dismissed_match.day else None,
        }
        change.record_bulk(
            "transaction.matchAllowed", "transaction", entity_id=dismissed_match.transaction_id, before=before
        )
