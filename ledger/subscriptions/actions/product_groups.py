"""Create, update and delete product groups."""

from typing import Any
from uuid import UUID

from companies.change import change_company
from companies.models import AuditContext, Company
from ledger.models import ProductGroup


def create_product_group(*, company: Company, context: AuditContext, values: dict[str, Any]) -> ProductGroup:
    """Create a product group."""
    with change_company(company, context=context) as change:
        return change.create(ProductGroup(company=company, **values), "productGroup.created")


def update_product_group(
    *, company: Company, context: AuditContext, group_id: UUID | str, values: dict[str, Any]
) -> ProductGroup:
    """Rename or reorder a product group. Raises NotFoundError, PreconditionFailed."""
    with change_company(company, context=context) as change:
        group = change.lock(ProductGroup, group_id)
        change.update(group, "productGroup.updated", **values)
    return group


def delete_product_group(*, company: Company, context: AuditContext, group_id: UUID | str) -> None:
    """Delete an empty product group. Raises NotFoundError, PreconditionFailed, ProductGroupNotEmpty."""
    with change_company(company, context=context) as change:
        change.delete(change.lock(ProductGroup, group_id), "productGroup.deleted")
