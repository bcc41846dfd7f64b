"""Categories and counterparties."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.serializers import SUCCESS, Success
from companies.api.viewsets import CompanyViewSet
from companies.errors import unknown_id
from companies.models import id_from
from companies.permissions import Permission
from ledger import categories, counterparties
from ledger.models import Category, Counterparty
from ledger.serializers import categories as shapes
from ledger.views.base import LedgerViewSet

CHANGES = ("create", "update", "destroy")


class CategoryViewSet(LedgerViewSet):
    schema_tags = ["Categories"]
    touches_nothing = frozenset({"create"})
    refuses = {
        "update": [categories.CategoryIsSystem, categories.PlTypeInUse],
        "destroy": [categories.CategoryIsSystem, categories.CategoryInUse],
    }
    permission_for = {
        **dict.fromkeys(("list", "retrieve"), Permission.CATEGORIES_READ),
        **dict.fromkeys(CHANGES, Permission.CATEGORIES_WRITE),
    }

    @extend_schema(responses=shapes.CategoryShape(many=True))
    def list(self, request: Request, company_id: str) -> Response:
        """All categories of the company, each with the P&L lines it can post to and how often it is used."""
        self.only_parameters()
        rows = Category.objects.of(self.company.id).with_uses(self.company.id).in_order()
        return Response(shapes.CategoryShape(rows, many=True).data)

    @extend_schema(request=shapes.CategoryShape, responses={201: shapes.CategoryShape})
    def create(self, request: Request, company_id: str) -> Response:
        """Adds a category of the company's own."""
        row = categories.add(company=self.company, stamp=self.stamp, values=self.parsed(shapes.CategoryShape))
        location = f"/companies/{self.company.id}/categories/{row.id}"
        return self.one(self.counted(row), shapes.CategoryShape, status=201, location=location)

    @extend_schema(responses=shapes.CategoryShape)
    def retrieve(self, request: Request, company_id: str, category_id: str) -> Response:
        """One category with its P&L lines and how often it is used."""
        return self.one(self.found(Category.objects.with_uses(self.company.id), category_id), shapes.CategoryShape)

    @extend_schema(request=shapes.CategoryShape(partial=True), responses=shapes.CategoryShape)
    def update(self, request: Request, company_id: str, category_id: str) -> Response:
        """Changes the fields that are sent. System categories keep their lines (409 `category_is_system`); a line that
        is in use stays (409 `pl_type_in_use`)."""
        row = self.locked(category_id)
        values = self.parsed(shapes.CategoryShape, partial=True)
        return self.one(
            self.counted(categories.change(category=row, stamp=self.stamp, values=values)), shapes.CategoryShape
        )

    @extend_schema(
        parameters=[
            OpenApiParameter("replaceWith", UUID, description="a category to put in its place wherever it is used")
        ],
        responses={200: Success},
    )
    def destroy(self, request: Request, company_id: str, category_id: str) -> Response:
        """Deletes a category. One in use is refused (409 `category_in_use`) unless `replaceWith` names another."""
        row = self.locked(category_id)
        self.only_parameters("replaceWith")
        text = request.query_params.get("replaceWith")
        replacement = None if text is None else id_from(text)
        if text is not None and replacement is None:
            raise unknown_id("#/replaceWith")
        categories.delete(category=row, company=self.company, stamp=self.stamp, replace_with=replacement)
        return Response(SUCCESS)

    def locked(self, category_id: str) -> Category:
        row: Any = self.found(Category.objects, category_id, locked=True)
        self.unless_stale(row)
        return row

    def counted(self, row: Category) -> Category:
        return Category.objects.of(self.company.id).with_uses(self.company.id).get(id=row.id)


class CounterpartyViewSet(CompanyViewSet):
    schema_tags = ["Counterparties"]
    refuses = {
        **dict.fromkeys(("create", "update"), (counterparties.ExternalIdTaken,)),
        "destroy": [counterparties.CounterpartyInUse],
    }
    permission_for = {
        **dict.fromkeys(("list", "retrieve"), Permission.COUNTERPARTIES_READ),
        **dict.fromkeys(CHANGES, Permission.COUNTERPARTIES_WRITE),
    }

    @extend_schema(responses=shapes.CounterpartyShape(many=True))
    def list(self, request: Request, company_id: str) -> Response:
        """All counterparties of the company, by name."""
        self.only_parameters()
        rows = Counterparty.objects.of(self.company.id).in_order()
        return Response(shapes.CounterpartyShape(rows, many=True).data)

    @extend_schema(request=shapes.CounterpartyShape, responses={201: shapes.CounterpartyShape})
    def create(self, request: Request, company_id: str) -> Response:
        """Adds a counterparty; `externalId` is unique among those of its type."""
        row = counterparties.add(company=self.company, stamp=self.stamp, values=self.parsed(shapes.CounterpartyShape))
        location = f"/companies/{self.company.id}/counterparties/{row.id}"
        return self.one(row, shapes.CounterpartyShape, status=201, location=location)

    @extend_schema(responses=shapes.CounterpartyShape)
    def retrieve(self, request: Request, company_id: str, counterparty_id: str) -> Response:
        """One customer, vendor or other counterparty."""
        return self.one(self.found(Counterparty.objects, counterparty_id), shapes.CounterpartyShape)

    @extend_schema(request=shapes.CounterpartyShape(partial=True), responses=shapes.CounterpartyShape)
    def update(self, request: Request, company_id: str, counterparty_id: str) -> Response:
        """Changes the fields that are sent."""
        row = self.locked(counterparty_id)
        values = self.parsed(shapes.CounterpartyShape, partial=True)
        changed = counterparties.change(row=row, stamp=self.stamp, values=values)
        return self.one(changed, shapes.CounterpartyShape)

    @extend_schema(responses={200: Success})
    def destroy(self, request: Request, company_id: str, counterparty_id: str) -> Response:
        """Deletes a counterparty that nothing refers to (409 `counterparty_in_use`)."""
        counterparties.delete(row=self.locked(counterparty_id), stamp=self.stamp)
        return Response(SUCCESS)

    def locked(self, counterparty_id: str) -> Counterparty:
        row: Any = self.found(Counterparty.objects, counterparty_id, locked=True)
        self.unless_stale(row)
        return row
