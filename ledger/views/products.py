"""Products and product groups."""

from decimal import Decimal

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.serializers import SUCCESS, Success
from companies.api.viewsets import CompanyViewSet
from companies.permissions import Permission
from ledger import committed, products
from ledger.calc.months import last_of_month
from ledger.models import Product, ProductGroup
from ledger.posting import RateMissing
from ledger.rates import rate_table
from ledger.serializers import products as shapes

READ_AND_WRITE = {
    **dict.fromkeys(("list", "retrieve"), Permission.PRODUCTS_READ),
    **dict.fromkeys(("create", "update", "destroy"), Permission.PRODUCTS_WRITE),
}


class ProductViewSet(CompanyViewSet):
    schema_tags = ["Products"]
    refuses = {
        "list": [RateMissing],
        **dict.fromkeys(("create", "update"), (products.ProductExternalIdTaken,)),
        "destroy": [products.ProductInUse],
    }
    permission_for = READ_AND_WRITE

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
                month_end=last_of_month(self.now.date()),
                base=self.company.base_currency,
                rates=rate_table(),
            )
        for row in rows:
            row.cMRR = None if worth is None else worth.get(row.id, Decimal(0))  # type: ignore[attr-defined]
            row.event_count = counted.get(row.id, 0)  # type: ignore[attr-defined]
        return Response(shapes.ProductListItem(rows, many=True).data)

    @extend_schema(
        request=shapes.ProductShape,
        responses={201: shapes.ProductShape},
    )
    def create(self, request: Request, company_id: str) -> Response:
        """Adds a product; `externalIds` are unique in the company."""
        product = products.add_product(company=self.company, stamp=self.stamp, values=self.parsed(shapes.ProductShape))
        location = f"/companies/{self.company.id}/products/{product.id}"
        return self.one(product, shapes.ProductShape, status=201, location=location)

    @extend_schema(responses=shapes.ProductShape)
    def retrieve(self, request: Request, company_id: str, product_id: str) -> Response:
        """One product, without what the list adds."""
        return self.one(self.found(Product.objects.with_external_ids(self.company.id), product_id), shapes.ProductShape)

    @extend_schema(request=shapes.ProductShape(partial=True), responses=shapes.ProductShape)
    def update(self, request: Request, company_id: str, product_id: str) -> Response:
        """Changes the fields that are sent; a changed name counts as edited by hand from then on."""
        product = self.locked(product_id)
        values = self.parsed(shapes.ProductShape, partial=True, shown=shapes.ProductListItem)
        changed = products.change_product(product=product, stamp=self.stamp, values=values)
        return self.one(changed, shapes.ProductShape)

    @extend_schema(responses=Success)
    def destroy(self, request: Request, company_id: str, product_id: str) -> Response:
        """Deletes a product; refused with `product_in_use` while subscriptions refer to it."""
        products.delete_product(product=self.locked(product_id), stamp=self.stamp)
        return Response(SUCCESS)

    def locked(self, product_id: str) -> Product:
        product = self.found(Product.objects.with_external_ids(self.company.id), product_id, locked=True)
        self.unless_stale(product)
        return product


class ProductGroupViewSet(CompanyViewSet):
    schema_tags = ["Products"]
    refuses = {"destroy": [products.ProductGroupNotEmpty]}
    permission_for = READ_AND_WRITE

    @extend_schema(responses=shapes.ProductGroupShape(many=True))
    def list(self, request: Request, company_id: str) -> Response:
        """All product groups of the company, in their order."""
        self.only_parameters()
        rows = ProductGroup.objects.of(self.company.id).in_order()
        return Response(shapes.ProductGroupShape(rows, many=True).data)

    @extend_schema(request=shapes.ProductGroupShape, responses={201: shapes.ProductGroupShape})
    def create(self, request: Request, company_id: str) -> Response:
        """Adds a product group; products name it in `productGroupId`."""
        values = self.parsed(shapes.ProductGroupShape)
        group = products.add_group(company=self.company, stamp=self.stamp, values=values)
        location = f"/companies/{self.company.id}/product_groups/{group.id}"
        return self.one(group, shapes.ProductGroupShape, status=201, location=location)

    @extend_schema(responses=shapes.ProductGroupShape)
    def retrieve(self, request: Request, company_id: str, product_group_id: str) -> Response:
        """One product group; its products name it in `productGroupId`."""
        return self.one(self.found(ProductGroup.objects, product_group_id), shapes.ProductGroupShape)

    @extend_schema(request=shapes.ProductGroupShape(partial=True), responses=shapes.ProductGroupShape)
    def update(self, request: Request, company_id: str, product_group_id: str) -> Response:
        """Renames or reorders a product group."""
        group = self.locked(product_group_id)
        values = self.parsed(shapes.ProductGroupShape, partial=True)
        return self.one(products.change_group(group=group, stamp=self.stamp, values=values), shapes.ProductGroupShape)

    @extend_schema(responses=Success)
    def destroy(self, request: Request, company_id: str, product_group_id: str) -> Response:
        """Deletes a group in which no product remains; else `product_group_not_empty`."""
        products.delete_group(group=self.locked(product_group_id), stamp=self.stamp)
        return Response(SUCCESS)

    def locked(self, product_group_id: str) -> ProductGroup:
        group = self.found(ProductGroup.objects, product_group_id, locked=True)
        self.unless_stale(group)
        return group
