"""Products and product groups."""

from decimal import Decimal

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.serializers import SUCCESS
from companies.api.viewsets import CompanyViewSet, granted
from companies.permissions import Permission
from ledger.calc.months import last_of_month
from ledger.models import ExternalIdTaken, Product, ProductGroup, ProductGroupNotEmpty, ProductInUse
from ledger.money.rates import rate_table
from ledger.recognition.posting import NoRate
from ledger.subscriptions import committed, products
from ledger.subscriptions import product_serializers as shapes

PRODUCTS = granted(reads=Permission.PRODUCTS_READ, writes=Permission.PRODUCTS_WRITE)


class ProductViewSet(CompanyViewSet):
    schema_tags = ["Products"]
    resource, shape = Product, shapes.ProductShape
    refuses = {
        "list": [NoRate],
        **dict.fromkeys(("create", "update"), (ExternalIdTaken,)),
        "destroy": [ProductInUse],
    }
    permission_for = PRODUCTS

    @extend_schema(responses=shapes.ProductListItem(many=True))
    def list(self, request: Request, company_id: str) -> Response:
        """All products, each with what is committed to it and how many subscription events it has."""
        self.only_parameters()
        rows = list(Product.objects.of(self.company.id).with_external_ids(self.company.id).in_order())
        counted = committed.events_by_product(company_id=self.company.id)
        worth = None
        if Permission.SUBSCRIPTIONS_READ in self.access.permissions:
            worth = committed.by_product(
                company_id=self.company.id,
                month_end=last_of_month(self.today),
                base=self.company.base_currency,
                rates=rate_table(),
            )
        for row in rows:
            row.cMRR = None if worth is None else worth.get(row.id, Decimal(0))  # type: ignore[attr-defined]
            row.event_count = counted.get(row.id, 0)  # type: ignore[attr-defined]
        return Response(shapes.ProductListItem(rows, many=True).data)

    def create(self, request: Request, company_id: str) -> Response:
        """Adds a product; `externalIds` are unique in the company."""
        product = products.add_product(company=self.company, stamp=self.stamp, values=self.parsed(shapes.ProductShape))
        return self.created(product)

    def retrieve(self, request: Request, company_id: str, product_id: str) -> Response:
        """One product, without what the list adds."""
        return self.one(self.found(Product.objects.with_external_ids(self.company.id), product_id))

    def update(self, request: Request, company_id: str, product_id: str) -> Response:
        """Changes the fields that are sent; a changed name counts as edited by hand from then on."""
        values = self.parsed(shapes.ProductShape, partial=True, shown=shapes.ProductListItem)
        product = products.change_product(company=self.company, stamp=self.stamp, product_id=product_id, values=values)
        return self.one(product)

    def destroy(self, request: Request, company_id: str, product_id: str) -> Response:
        """Deletes a product; refused with `product_in_use` while subscriptions refer to it."""
        products.delete_product(company=self.company, stamp=self.stamp, product_id=product_id)
        return Response(SUCCESS)


class ProductGroupViewSet(CompanyViewSet):
    schema_tags = ["Products"]
    resource, shape = ProductGroup, shapes.ProductGroupShape
    refuses = {"destroy": [ProductGroupNotEmpty]}
    permission_for = PRODUCTS

    def list(self, request: Request, company_id: str) -> Response:
        """All product groups of the company, in their order."""
        self.only_parameters()
        return self.all(ProductGroup.objects.of(self.company.id).in_order())

    def create(self, request: Request, company_id: str) -> Response:
        """Adds a product group; products name it in `productGroupId`."""
        values = self.parsed(shapes.ProductGroupShape)
        group = products.add_group(company=self.company, stamp=self.stamp, values=values)
        return self.created(group)

    def retrieve(self, request: Request, company_id: str, product_group_id: str) -> Response:
        """One product group; its products name it in `productGroupId`."""
        return self.one(self.found(ProductGroup.objects, product_group_id))

    def update(self, request: Request, company_id: str, product_group_id: str) -> Response:
        """Renames or reorders a product group."""
        values = self.parsed(shapes.ProductGroupShape, partial=True)
        group = products.change_group(company=self.company, stamp=self.stamp, group_id=product_group_id, values=values)
        return self.one(group)

    def destroy(self, request: Request, company_id: str, product_group_id: str) -> Response:
        """Deletes a group in which no product remains; else `product_group_not_empty`."""
        products.delete_group(company=self.company, stamp=self.stamp, group_id=product_group_id)
        return Response(SUCCESS)
