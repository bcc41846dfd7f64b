"""Saved views of the transaction list: a user's own ones, which may be shared with the company."""

from uuid import UUID

from companies.change import change_company
from companies.models import AuditContext, Company
from ledger.models import SavedView


def save_view(
    *, company: Company, context: AuditContext, person_id: UUID, name: str, query: str, shared: bool = False
) -> SavedView:
    """Save a view; the user's view of the same name is replaced."""
    with change_company(company, context=context) as change:
        row = SavedView.objects.for_company(company.id).filter(person=person_id, name=name).first()
        if row is None:
            view = SavedView(company=company, person_id=person_id, name=name, query=query, shared=shared)
            return change.create(view, "savedView.created")
        change.update(row, "savedView.updated", query=query, shared=shared)
    return row


def delete_view(*, company: Company, context: AuditContext, person_id: UUID, view_id: UUID) -> SavedView:
    """Delete a user's own view. Raises NotFoundError, also for another user's view."""
    with change_company(company, context=context) as change:
        row = change.lock(SavedView.objects.filter(person=person_id), view_id)
        change.delete(row, "savedView.deleted")
    return row
