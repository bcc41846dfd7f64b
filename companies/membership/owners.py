"""To which person a company counts, where limits are per person."""

from uuid import UUID

from companies.models import DirectoryEntry, Membership
from companies.permissions import Role


def find_owner_id(company_id: UUID) -> UUID | None:
    """Return the company's first owner; None where nobody owns it."""
    owners = Membership.objects.of(company_id).filter(role=Role.OWNER, user__isnull=False)
    return owners.order_by("joined_time", "id").values_list("user_id", flat=True).first()


def list_owned_companies(owner_id: UUID) -> list[UUID]:
    """Return the companies whose first owner it is."""
    companies = DirectoryEntry.objects.companies_of(owner_id)
    return [company_id for company_id in companies if find_owner_id(company_id) == owner_id]
