"""Categories and counterparties."""

from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.serializers import SUCCESS
from companies.api.viewsets import CompanyViewSet, granted
from companies.errors import unknown_id
from companies.models import id_from
from companies.permissions import Permission
from ledger.models import Category, CategoryInUse, Counterparty, CounterpartyInUse, ExternalIdTaken
from ledger.purposes import categories, counterparties
from ledger.purposes import serializers as shapes


class CategoryViewSet(CompanyViewSet):
    schema_tags = ["Categories"]
    resource, shape = Category, shapes.CategoryShape
    refuses = {
        "update": [categories.CategoryIsSystem, categories.PlTypeInUse],
        "destroy": [categories.CategoryIsSystem, CategoryInUse],
    }
    permission_for = granted(reads=Permission.CATEGORIES_READ, writes=Permission.CATEGORIES_WRITE)

    def list(self, request: Request, company_id: str) -> Response:
        """All categories of the company, each with the P&L lines it can post to and how often it is used."""
        self.only_parameters()
        return self.all(Category.objects.of(self.company.id).with_uses(self.company.id).in_order())

    def create(self, request: Request, company_id: str) -> Response:
        """Adds a category of the company's own."""
        row = categories.add(company=self.company, stamp=self.stamp, values=self.parsed(shapes.CategoryShape))
        return self.created(self.as_answered(row))

    def retrieve(self, request: Request, company_id: str, category_id: str) -> Response:
        """One category with its P&L lines and how often it is used."""
        return self.one(self.found(Category.objects.with_uses(self.company.id), category_id))

    def update(self, request: Request, company_id: str, category_id: str) -> Response:
        """Changes the fields that are sent. System categories keep their lines (409 `category_is_system`); a line that
        is in use stays (409 `pl_type_in_use`)."""
        values = self.parsed(shapes.CategoryShape, partial=True)
        row = categories.change(company=self.company, stamp=self.stamp, category_id=category_id, values=values)
        return self.one(self.as_answered(row))

    @extend_schema(
        parameters=[
            OpenApiParameter("replaceWith", UUID, description="a category to put in its place wherever it is used")
        ]
    )
    def destroy(self, request: Request, company_id: str, category_id: str) -> Response:
        """Deletes a category. One in use is refused (409 `category_in_use`) unless `replaceWith` names another."""
        self.only_parameters("replaceWith")
        text = request.query_params.get("replaceWith")
        replacement = None if text is None else id_from(text)
        if text is not None and replacement is None:
            raise unknown_id("#/replaceWith")
        categories.delete(company=self.company, stamp=self.stamp, category_id=category_id, replace_with=replacement)
        return Response(SUCCESS)

    def as_answered(self, row: Category) -> Category:
        return Category.objects.of(self.company.id).with_uses(self.company.id).filter(id=row.id).first() or row


class CounterpartyViewSet(CompanyViewSet):
    schema_tags = ["Counterparties"]
    resource, shape = Counterparty, shapes.CounterpartyShape
    refuses = {
        "create": [ExternalIdTaken],
        "update": [ExternalIdTaken, CounterpartyInUse],
        "destroy": [CounterpartyInUse],
    }
    permission_for = granted(reads=Permission.COUNTERPARTIES_READ, writes=Permission.COUNTERPARTIES_WRITE)

    def list(self, request: Request, company_id: str) -> Response:
        """All counterparties of the company, by name."""
        self.only_parameters()
        return self.all(Counterparty.objects.of(self.company.id).in_order())

    def create(self, request: Request, company_id: str) -> Response:
        """Adds a counterparty; `externalId` is unique among those of its type."""
        row = counterparties.add(company=self.company, stamp=self.stamp, values=self.parsed(shapes.CounterpartyShape))
        return self.created(row)

    def retrieve(self, request: Request, company_id: str, counterparty_id: str) -> Response:
        """One customer, vendor or other counterparty."""
        return self.one(self.found(Counterparty.objects, counterparty_id))

    def update(self, request: Request, company_id: str, counterparty_id: str) -> Response:
        """Changes the fields that are sent. A customer whose subscriptions live stays one (409
        `counterparty_in_use`)."""
        values = self.parsed(shapes.CounterpartyShape, partial=True)
        row = counterparties.change(
            company=self.company, stamp=self.stamp, counterparty_id=counterparty_id, values=values
        )
        return self.one(row)

    def destroy(self, request: Request, company_id: str, counterparty_id: str) -> Response:
        """Deletes a counterparty that nothing refers to (409 `counterparty_in_use`)."""
        counterparties.delete(company=self.company, stamp=self.stamp, counterparty_id=counterparty_id)
        return Response(SUCCESS)
