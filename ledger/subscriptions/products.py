"""Adding, changing and deleting products and the groups they are shown in."""

from typing import Any
from uuid import UUID

from companies.changing import changing
from companies.errors import unknown_id
from companies.models import Company, Stamp, snapshot
from ledger.models import Product, ProductExternalId, ProductGroup


def add_product(*, company: Company, stamp: Stamp, values: dict[str, Any]) -> Product:
    """A new product. Raises ExternalIdTaken, and FieldErrors with unknown_id for a group that is not there."""
    with changing(company, stamp=stamp) as change:
        external_ids = values.pop("external_ids", [])
        check_group(company_id=company.id, values=values)
        product = change.store(Product(company=company, **values))
        store_external_ids(product, external_ids)
        change.record(product, "product.created", after=described(product))
    return product


def change_product(*, company: Company, stamp: Stamp, product_id: UUID | str, values: dict[str, Any]) -> Product:
    """Stores what differs; a name given by hand is marked as such.

    Raises Missing, Stale, ExternalIdTaken and FieldErrors with unknown_id.
    """
    with changing(company, stamp=stamp) as change:
        product = change.locked(Product.objects.with_external_ids(company.id), product_id)
        external_ids = values.pop("external_ids", product.external_ids)
        check_group(company_id=company.id, values=values)
        before = described(product)
        if values.get("name", product.name) != product.name:
            values["name_manually_edited"] = True
        changed = product.change(stamp, **values)
        if external_ids != product.external_ids:
            ProductExternalId.objects.of(company.id).filter(product=product).delete()
            store_external_ids(product, external_ids)
            changed = product.change(stamp, last_updated_time=stamp.time) or changed
        if changed:
            change.record(product, "product.updated", before=before, after=described(product))
    return product


def delete_product(*, company: Company, stamp: Stamp, product_id: UUID | str) -> None:
    """Deletes a product that nobody ever subscribed to. Raises Missing, Stale, ProductInUse."""
    with changing(company, stamp=stamp) as change:
        product = change.locked(Product.objects.with_external_ids(company.id), product_id)
        change.delete(product, "product.deleted", before=described(product))


def check_group(*, company_id: UUID, values: dict[str, Any]) -> None:
    """The group must be the company's own."""
    wanted = values.get("product_group_id")
    if wanted is not None and not ProductGroup.objects.of(company_id).filter(id=wanted).exists():
        raise unknown_id("#/productGroupId")


def store_external_ids(product: Product, external_ids: list[str]) -> None:
    rows = [
        ProductExternalId(company_id=product.company_id, product=product, external_id=external_id)
        for external_id in dict.fromkeys(external_ids)
    ]
    ProductExternalId.objects.bulk_create(rows)
    product.external_ids = [row.external_id for row in rows]


def add_group(*, company: Company, stamp: Stamp, values: dict[str, Any]) -> ProductGroup:
    with changing(company, stamp=stamp) as change:
        return change.create(ProductGroup(company=company, **values), "productGroup.created")


def change_group(*, company: Company, stamp: Stamp, group_id: UUID | str, values: dict[str, Any]) -> ProductGroup:
    """Renames or reorders. Raises Missing, Stale."""
    with changing(company, stamp=stamp) as change:
        group = change.locked(ProductGroup, group_id)
        change.update(group, "productGroup.updated", **values)
    return group


def delete_group(*, company: Company, stamp: Stamp, group_id: UUID | str) -> None:
    """Deletes a group without products. Raises Missing, Stale, ProductGroupNotEmpty."""
    with changing(company, stamp=stamp) as change:
        change.delete(change.locked(ProductGroup, group_id), "productGroup.deleted")


def described(product: Product) -> dict[str, Any]:
    return snapshot(product) | {"external_ids": product.external_ids}
