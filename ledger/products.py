"""Adding, changing and deleting products and the groups they are shown in."""

from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from companies.errors import Conflict, unknown_id
from companies.models import Company, Stamp, record_change, snapshot
from ledger.models import Product, ProductExternalId, ProductGroup


class ProductInUse(Conflict):
    """Subscriptions refer to the product."""

    code = "product_in_use"


class ProductGroupNotEmpty(Conflict):
    """Products remain in the group; move them out first."""

    code = "product_group_not_empty"


class ProductExternalIdTaken(Conflict):
    """Another product has this external id."""

    code = "external_id_taken"


def add_product(*, company: Company, stamp: Stamp, values: dict[str, Any]) -> Product:
    """A new product. Raises ProductExternalIdTaken, and FieldErrors with unknown_id for a group that is not there."""
    external_ids = values.pop("external_ids", [])
    check_group(company_id=company.id, values=values)
    product = Product(company=company, **values).stamp_new(stamp)
    product.save(force_insert=True)
    store_external_ids(product, external_ids)
    record_change(stamp, product, "product.created", after=described(product))
    return product


def change_product(*, product: Product, stamp: Stamp, values: dict[str, Any]) -> Product:
    """Stores what differs; a name given by hand is marked as such. ``product`` has its external_ids.

    Raises ProductExternalIdTaken and FieldErrors with unknown_id.
    """
    external_ids = values.pop("external_ids", product.external_ids)
    check_group(company_id=product.company_id, values=values)
    before = described(product)
    if values.get("name", product.name) != product.name:
        values["name_manually_edited"] = True
    changed = product.change(stamp, **values)
    if external_ids != product.external_ids:
        ProductExternalId.objects.of(product.company_id).filter(product=product).delete()
        store_external_ids(product, external_ids)
        changed = product.change(stamp, last_updated_time=stamp.time) or changed
    if changed:
        record_change(stamp, product, "product.updated", before=before, after=described(product))
    return product


def delete_product(*, product: Product, stamp: Stamp) -> None:
    """Deletes a product that nobody ever subscribed to. Raises ProductInUse."""
    before = described(product)
    try:
        with transaction.atomic():
            product.delete()
    except IntegrityError:
        raise ProductInUse from None
    record_change(stamp, product, "product.deleted", before=before)


def check_group(*, company_id: UUID, values: dict[str, Any]) -> None:
    """The group must be the company's own; it is locked until the change is stored."""
    wanted = values.get("product_group_id")
    if wanted is None:
        return
    if not ProductGroup.objects.of(company_id).filter(id=wanted).select_for_update(no_key=True).exists():
        raise unknown_id("#/productGroupId")


def store_external_ids(product: Product, external_ids: list[str]) -> None:
    rows = [
        ProductExternalId(company_id=product.company_id, product=product, external_id=external_id)
        for external_id in dict.fromkeys(external_ids)
    ]
    try:
        with transaction.atomic():
            ProductExternalId.objects.bulk_create(rows)
    except IntegrityError:
        raise ProductExternalIdTaken from None
    product.external_ids = [row.external_id for row in rows]


def add_group(*, company: Company, stamp: Stamp, values: dict[str, Any]) -> ProductGroup:
    group = ProductGroup(company=company, **values).stamp_new(stamp)
    group.save(force_insert=True)
    record_change(stamp, group, "productGroup.created", after=snapshot(group))
    return group


def change_group(*, group: ProductGroup, stamp: Stamp, values: dict[str, Any]) -> ProductGroup:
    before = snapshot(group)
    if group.change(stamp, **values):
        record_change(stamp, group, "productGroup.updated", before=before, after=snapshot(group))
    return group


def delete_group(*, group: ProductGroup, stamp: Stamp) -> None:
    """Deletes a group without products. Raises ProductGroupNotEmpty."""
    before = snapshot(group)
    try:
        with transaction.atomic():
            group.delete()
    except IntegrityError:
        raise ProductGroupNotEmpty from None
    record_change(stamp, group, "productGroup.deleted", before=before)


def described(product: Product) -> dict[str, Any]:
    return snapshot(product) | {"external_ids": product.external_ids}
