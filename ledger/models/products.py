"""Products, product groups, and the products' ids in other systems."""

from typing import Self
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db import models
from django.db.models import OuterRef
from django.utils.translation import gettext_lazy as _

from companies.errors import ConflictError
from companies.models import Audited, CompanyForeignKey, CompanyOwned, CompanyOwnedQuerySet
from ledger.models.external_ids import ExternalIdTaken


class ProductGroupQuerySet(CompanyOwnedQuerySet["ProductGroup"]):
    def in_display_order(self) -> Self:
        return self.order_by("order", "name", "id")


class ProductGroupNotEmpty(ConflictError):
    """The group still has products. Move them to another group first."""

    code = "product_group_not_empty"


class ProductGroup(CompanyOwned, Audited):
    name = models.CharField(max_length=200)
    order = models.IntegerField(default=0)

    in_use = ProductGroupNotEmpty
    objects = ProductGroupQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name


class ProductQuerySet(CompanyOwnedQuerySet["Product"]):
    def in_display_order(self) -> Self:
        return self.order_by("order", "name", "id")

    def with_external_ids(self, company_id: UUID) -> Self:
        """Annotate external_ids, in the order they were added: their keys are time-ordered."""
        own_ids = ProductExternalId.objects.for_company(company_id).filter(product=OuterRef("id"))
        return self.annotate(external_ids=ArraySubquery(own_ids.order_by("id").values("external_id")))


class ProductInUse(ConflictError):
    """The product is in use by subscriptions."""

    code = "product_in_use"


class Product(CompanyOwned, Audited):
    name = models.CharField(max_length=200)
    name_manually_edited = models.BooleanField(default=False)  # then integrations do not change it
    product_group = CompanyForeignKey(ProductGroup, null=True)
    order = models.IntegerField(default=0)
    external_ids: list[str]  # annotated by `with_external_ids`

    in_use = ProductInUse
    objects = ProductQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["company", "product_group"], name="product_by_group")]

    def __str__(self) -> str:
        return self.name


class ProductExternalId(CompanyOwned):
    """A product's id in another system; one id names one product."""

    product = CompanyForeignKey(Product, when_deleted="cascade")
    external_id = models.CharField(max_length=200)

    objects = CompanyOwnedQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["company", "external_id"],
                name="product_external_id_once",
                violation_error_code=ExternalIdTaken.code,
                violation_error_message=_("Another product already has this external ID."),
            ),
        ]
        indexes = [models.Index(fields=["company", "product"], name="product_external_id_by_product")]

    def __str__(self) -> str:
        return self.external_id
