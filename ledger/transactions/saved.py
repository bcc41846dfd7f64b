"""Views of the list of transactions that somebody keeps by a name, for themselves or for everybody of the company."""

from uuid import UUID

from companies.changing import changing
from companies.models import Company, Stamp
from ledger.models import SavedView


def save_view(
    *, company: Company, stamp: Stamp, person_id: UUID, name: str, query: str, shared: bool = False
) -> SavedView:
    """Keeps a view; one of this person by the same name is replaced."""
    with changing(company, stamp=stamp) as change:
        row = SavedView.objects.of(company.id).filter(person=person_id, name=name).first()
        if row is None:
            view = SavedView(company=company, person_id=person_id, name=name, query=query, shared=shared)
            return change.create(view, "savedView.created")
        change.update(row, "savedView.updated", query=query, shared=shared)
    return row


def delete_view(*, company: Company, stamp: Stamp, person_id: UUID, view_id: UUID) -> SavedView:
    """Forgets a person's own view. Raises Missing, also for one of somebody else."""
    with changing(company, stamp=stamp) as change:
        row = change.locked(SavedView.objects.filter(person=person_id), view_id)
        change.delete(row, "savedView.deleted")
    return row
