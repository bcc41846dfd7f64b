"""Owner of a company, for limits that apply per user."""

from uuid import UUID

from companies.models import DirectoryEntry, Membership
from companies.permissions import Role


def find_owner_id(company_id: UUID) -> UUID | None:
    """Return the id of the company's first owner; None without an owner."""
    owners = Membership.objects.for_company(company_id).filter(role=Role.OWNER, user__isnull=False)
    return owners.order_by("joined_time", "id").values_list("user_id", flat=True).first()


def list_owned_companies(owner_id: UUID) -> list[UUID]:
    """Return the ids of the companies whose first owner the user is."""
    companies = DirectoryEntry.objects.list_company_ids(owner_id)
    return [company_id for company_id in companies if find_owner_id(company_id) == owner_id]
