"""REST: products."""

from decimal import Decimal

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.company_viewset import CompanyViewSet, build_crud_permissions
from companies.api.serializers import SUCCESS
from companies.permissions import Permission
from ledger.calc.months import get_last_day_of_month
from ledger.models import ExternalIdTaken, Product, ProductInUse
from ledger.money.rates import get_rate_table
from ledger.recognition.actions.postings import MissingRateError
from ledger.subscriptions.actions import products
from ledger.subscriptions.queries import committed_revenue
from ledger.subscriptions.serializers import products as serializers


class ProductViewSet(CompanyViewSet):
    schema_tags = ["Products"]
    resource, shape = Product, serializers.ProductSerializer
    errors_for = {
        "list": [MissingRateError],
        **dict.fromkeys(("create", "update"), (ExternalIdTaken,)),
        "destroy": [ProductInUse],
    }
    permission_for = build_crud_permissions(reads=Permission.PRODUCTS_READ, writes=Permission.PRODUCTS_WRITE)

    @extend_schema(responses=serializers.ProductListItem(many=True))
    def list(self, request: Request, company_id: str) -> Response:
        """List all products with their committed MRR and number of subscription events."""
        self.allow_parameters()
        rows = list(Product.objects.for_company(self.company.id).with_external_ids(self.company.id).in_display_order())
        event_counts = committed_revenue.count_events_by_product(company_id=self.company.id)
        revenue_by_product = None
        if Permission.SUBSCRIPTIONS_READ in self.access.permissions:
            revenue_by_product = committed_revenue.compute_committed_revenue_by_product(
                company_id=self.company.id,
                month_end=get_last_day_of_month(self.today),
                base_currency=self.company.base_currency,
                rates=get_rate_table(),
            )
        for row in rows:
            row.cMRR = None if revenue_by_product is None else revenue_by_product.get(row.id, Decimal(0))  # type: ignore[attr-defined]
            row.event_count = event_counts.get(row.id, 0)  # type: ignore[attr-defined]
        return Response(serializers.ProductListItem(rows, many=True).data)

    def create(self, request: Request, company_id: str) -> Response:
        """Create a product. `externalIds` must be unique in the company."""
        product = products.create_product(
            company=self.company,
            context=self.audit_context,
            values=self.parse_body(serializers.ProductSerializer),
        )
        return self.respond_created(product)

    def retrieve(self, request: Request, company_id: str, product_id: str) -> Response:
        """Get a product."""
        return self.respond_with_one(self.get_row(Product.objects.with_external_ids(self.company.id), product_id))

    def update(self, request: Request, company_id: str, product_id: str) -> Response:
        """Update the fields you send. If you change the name, imports no longer overwrite it."""
        values = self.parse_body(
            serializers.ProductSerializer,
            partial=True,
            resource_serializer=serializers.ProductListItem,
        )
        product = products.update_product(
            company=self.company, context=self.audit_context, product_id=product_id, values=values
        )
        return self.respond_with_one(product)

    def destroy(self, request: Request, company_id: str, product_id: str) -> Response:
        """Delete a product without subscriptions (otherwise 409 `product_in_use`)."""
        products.delete_product(company=self.company, context=self.audit_context, product_id=product_id)
        return Response(SUCCESS)
