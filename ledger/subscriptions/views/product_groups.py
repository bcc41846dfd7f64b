"""REST: product groups."""

from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.company_viewset import CompanyViewSet, build_crud_permissions
from companies.api.serializers import SUCCESS
from companies.permissions import Permission
from ledger.models import ProductGroup, ProductGroupNotEmpty
from ledger.subscriptions.actions import product_groups
from ledger.subscriptions.serializers import product_groups as serializers


class ProductGroupViewSet(CompanyViewSet):
    schema_tags = ["Products"]
    resource, shape = ProductGroup, serializers.ProductGroupSerializer
    errors_for = {"destroy": [ProductGroupNotEmpty]}
    permission_for = build_crud_permissions(reads=Permission.PRODUCTS_READ, writes=Permission.PRODUCTS_WRITE)

    def list(self, request: Request, company_id: str) -> Response:
        """List all product groups in order."""
        self.allow_parameters()
        return self.respond_with_all(ProductGroup.objects.for_company(self.company.id).in_display_order())

    def create(self, request: Request, company_id: str) -> Response:
        """Create a product group. Assign products by their `productGroupId`."""
        values = self.parse_body(serializers.ProductGroupSerializer)
        group = product_groups.create_product_group(company=self.company, context=self.audit_context, values=values)
        return self.respond_created(group)

    def retrieve(self, request: Request, company_id: str, product_group_id: str) -> Response:
        """Get a product group."""
        return self.respond_with_one(self.get_row(ProductGroup.objects, product_group_id))

    def update(self, request: Request, company_id: str, product_group_id: str) -> Response:
        """Rename or reorder a product group."""
        values = self.parse_body(serializers.ProductGroupSerializer, partial=True)
        group = product_groups.update_product_group(
            company=self.company, context=self.audit_context, group_id=product_group_id, values=values
        )
        return self.respond_with_one(group)

    def destroy(self, request: Request, company_id: str, product_group_id: str) -> Response:
        """Delete a product group without products (otherwise 409 `product_group_not_empty`)."""
        product_groups.delete_product_group(company=self.company, context=self.audit_context, group_id=product_group_id)
        return Response(SUCCESS)
