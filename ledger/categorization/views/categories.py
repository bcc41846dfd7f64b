"""REST: categories and counterparties."""

from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.company_viewset import CompanyViewSet, build_crud_permissions
from companies.api.serializers import SUCCESS
from companies.errors import build_unknown_id_error
from companies.models import parse_id
from companies.permissions import Permission
from ledger.categorization.actions import categories, counterparties
from ledger.categorization.serializers import categories as serializers
from ledger.models import Category, CategoryInUse, Counterparty, CounterpartyInUse, ExternalIdTaken


class CategoryViewSet(CompanyViewSet):
    schema_tags = ["Categories"]
    resource, shape = Category, serializers.CategorySerializer
    errors_for = {
        "update": [categories.CategoryIsSystem, categories.PlTypeInUse],
        "destroy": [categories.CategoryIsSystem, CategoryInUse],
    }
    permission_for = build_crud_permissions(reads=Permission.CATEGORIES_READ, writes=Permission.CATEGORIES_WRITE)

    def list(self, request: Request, company_id: str) -> Response:
        """List all categories with their P&L lines and number of uses."""
        self.allow_parameters()
        return self.respond_with_all(
            Category.objects.for_company(self.company.id).with_usage_counts(self.company.id).in_display_order()
        )

    def create(self, request: Request, company_id: str) -> Response:
        """Create a category."""
        row = categories.create_category(
            company=self.company, context=self.audit_context, values=self.parse_body(serializers.CategorySerializer)
        )
        return self.respond_created(self.get_response_row(row))

    def retrieve(self, request: Request, company_id: str, category_id: str) -> Response:
        """Get a category with its P&L lines and number of uses."""
        return self.respond_with_one(self.get_row(Category.objects.with_usage_counts(self.company.id), category_id))

    def update(self, request: Request, company_id: str, category_id: str) -> Response:
        """Update the fields you send.

        You cannot change the P&L lines of system categories (409 `category_is_system`) or remove a P&L line that is in
        use (409 `pl_type_in_use`).
        """
        values = self.parse_body(serializers.CategorySerializer, partial=True)
        row = categories.update_category(
            company=self.company, context=self.audit_context, category_id=category_id, values=values
        )
        return self.respond_with_one(self.get_response_row(row))

    @extend_schema(
        parameters=[OpenApiParameter("replaceWith", UUID, description="ID of the category that replaces it.")]
    )
    def destroy(self, request: Request, company_id: str, category_id: str) -> Response:
        """Delete a category. If it is in use, set `replaceWith` (otherwise 409 `category_in_use`)."""
        self.allow_parameters("replaceWith")
        text = request.query_params.get("replaceWith")
        replacement = None if text is None else parse_id(text)
        if text is not None and replacement is None:
            raise build_unknown_id_error("#/replaceWith")
        categories.delete_category(
            company=self.company, context=self.audit_context, category_id=category_id, replace_with=replacement
        )
        return Response(SUCCESS)

    def get_response_row(self, row: Category) -> Category:
        return (
            Category.objects.for_company(self.company.id).with_usage_counts(self.company.id).filter(id=row.id).first()
            or row
        )


class CounterpartyViewSet(CompanyViewSet):
    schema_tags = ["Counterparties"]
    resource, shape = Counterparty, serializers.CounterpartySerializer
    errors_for = {
        "create": [ExternalIdTaken],
        "update": [ExternalIdTaken, CounterpartyInUse],
        "destroy": [CounterpartyInUse],
    }
    permission_for = build_crud_permissions(
        reads=Permission.COUNTERPARTIES_READ, writes=Permission.COUNTERPARTIES_WRITE
    )

    def list(self, request: Request, company_id: str) -> Response:
        """List all counterparties by name."""
        self.allow_parameters()
        return self.respond_with_all(Counterparty.objects.for_company(self.company.id).in_display_order())

    def create(self, request: Request, company_id: str) -> Response:
        """Create a counterparty. `externalId` must be unique for its type."""
        row = counterparties.create_counterparty(
            company=self.company, context=self.audit_context, values=self.parse_body(serializers.CounterpartySerializer)
        )
        return self.respond_created(row)

    def retrieve(self, request: Request, company_id: str, counterparty_id: str) -> Response:
        """Get a customer, vendor or other counterparty."""
        return self.respond_with_one(self.get_row(Counterparty.objects, counterparty_id))

    def update(self, request: Request, company_id: str, counterparty_id: str) -> Response:
        """Update the fields you send.

        You cannot change the type of a customer with active subscriptions (409 `counterparty_in_use`).
        """
        values = self.parse_body(serializers.CounterpartySerializer, partial=True)
        row = counterparties.update_counterparty(
            company=self.company, context=self.audit_context, counterparty_id=counterparty_id, values=values
        )
        return self.respond_with_one(row)

    def destroy(self, request: Request, company_id: str, counterparty_id: str) -> Response:
        """Delete a counterparty that is not in use (otherwise 409 `counterparty_in_use`)."""
        counterparties.delete_counterparty(
            company=self.company, context=self.audit_context, counterparty_id=counterparty_id
        )
        return Response(SUCCESS)
