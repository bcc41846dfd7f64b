"""Create, update and delete products."""

from typing import Any
from uuid import UUID

from companies.change import change_company
from companies.errors import build_unknown_id_error
from companies.models import AuditContext, Company, snapshot_row
from ledger.models import Product, ProductExternalId, ProductGroup


def create_product(*, company: Company, context: AuditContext, values: dict[str, Any]) -> Product:
    """Create a product. Raises ExternalIdTaken, and ValidationFailed (unknown_id) for an unknown group."""
    with change_company(company, context=context) as change:
        external_ids = values.pop("external_ids", [])
        check_product_group(company_id=company.id, values=values)
        product = change.insert(Product(company=company, **values))
        store_product_external_ids(product, external_ids)
        change.record(product, "product.created", after=build_product_snapshot(product))
    return product


def update_product(
    *, company: Company, context: AuditContext, product_id: UUID | str, values: dict[str, Any]
) -> Product:
    """Update a product; a changed name is marked as edited by hand.

    Raises NotFoundError, PreconditionFailed, ExternalIdTaken and ValidationFailed (unknown_id).
    """
    with change_company(company, context=context) as change:
        product = change.lock(Product.objects.with_external_ids(company.id), product_id)
        external_ids = values.pop("external_ids", product.external_ids)
        check_product_group(company_id=company.id, values=values)
        before = build_product_snapshot(product)
        if values.get("name", product.name) != product.name:
            values["name_manually_edited"] = True
        has_changed = product.apply_changes(context, **values)
        if external_ids != product.external_ids:
            ProductExternalId.objects.for_company(company.id).filter(product=product).delete()
            store_product_external_ids(product, external_ids)
            has_changed = product.apply_changes(context, last_updated_time=context.time) or has_changed
        if has_changed:
            change.record(product, "product.updated", before=before, after=build_product_snapshot(product))
    return product


def delete_product(*, company: Company, context: AuditContext, product_id: UUID | str) -> None:
    """Delete a product without subscriptions. Raises NotFoundError, PreconditionFailed, ProductInUse."""
    with change_company(company, context=context) as change:
        product = change.lock(Product.objects.with_external_ids(company.id), product_id)
        change.delete(product, "product.deleted", before=build_product_snapshot(product))


def check_product_group(*, company_id: UUID, values: dict[str, Any]) -> None:
    """Check that the group belongs to the company. Raises ValidationFailed (unknown_id)."""
    group_id = values.get("product_group_id")
    if group_id is not None and not ProductGroup.objects.for_company(company_id).filter(id=group_id).exists():
        raise build_unknown_id_error("#/productGroupId")


def store_product_external_ids(product: Product, external_ids: list[str]) -> None:
    """Store the external ids of a product, each once."""
    rows = [
        ProductExternalId(company_id=product.company_id, product=product, external_id=external_id)
        for external_id in dict.fromkeys(external_ids)
    ]
    ProductExternalId.objects.bulk_create(rows)
    product.external_ids = [row.external_id for row in rows]


def build_product_snapshot(product: Product) -> dict[str, Any]:
    """Return the product's columns and external ids for the audit log."""
    return snapshot_row(product) | {"external_ids": product.external_ids}
