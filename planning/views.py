"""Endpoints of planned transactions and plan items."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.fields import DayField
from companies.api.pagination import keyset
from companies.api.schema import PAGING
from companies.api.serializers import SUCCESS, Shape, Success
from companies.api.viewsets import CompanyViewSet
from companies.errors import Missing
from companies.permissions import Permission
from ledger.posting import RateMissing
from ledger.views.base import PERIODS
from planning import budgeting, overriding, scheduling
from planning import serializers as shapes
from planning.models import PlanItem, PlannedTransaction, Source, with_overrides
from planning.occurring import occurrences_of

SETTLING = (*PERIODS, RateMissing)  # a settled plan moves the parts of its transaction
READ, WRITE = Permission.PLANNING_READ, Permission.PLANNING_WRITE
CRUD = {"list": READ, "retrieve": READ, "create": WRITE, "update": WRITE, "destroy": WRITE}


class Window(Shape):
    start_date = DayField()
    end_date = DayField()


def whole(shape: Any, row: Any, body: Any) -> Any:
    """What a change asks for: the resource as it reads, with the fields that were sent."""
    return {**shape(row).data, **body} if isinstance(body, Mapping) else body


class PlannedTransactionViewSet(CompanyViewSet):
    schema_tags = ["Planned transactions"]
    refuses = {
        **dict.fromkeys(("create", "update"), (overriding.SettlesAnother, *SETTLING)),
        "put_override": [overriding.NotAnOccurrence, overriding.SettlesAnother, *SETTLING],
        **dict.fromkeys(("destroy", "delete_override"), SETTLING),
    }
    permission_for = {
        **CRUD,
        "occurrences": READ,
        "put_override": WRITE,
        "delete_override": WRITE,
    }

    @extend_schema(parameters=PAGING, responses=shapes.PlannedTransactionShape(many=True))
    def list(self, request: Request, company_id: str) -> Response:
        """The rules, latest first; not their dated occurrences."""
        self.only_parameters("limit", "cursor")
        rows = PlannedTransaction.objects.of(self.company.id).with_counterparty()
        found, headers = keyset(request, rows, order=("-id",))
        shown = shapes.PlannedTransactionShape(with_overrides(found), many=True)
        return Response(shown.data, headers=headers)

    @extend_schema(
        request=shapes.PlannedTransactionShape,
        responses={201: shapes.PlannedTransactionShape},
    )
    def create(self, request: Request, company_id: str) -> Response:
        """Plans something: once, or as often as `recurrence` says. Occurrence *i* is counted from `startDate`, and
        clamped to the end of its month."""
        source = Source.MANUAL if self.caller.kind == "session" else Source.API
        values = self.parsed(shapes.PlannedTransactionShape)
        planned = scheduling.plan(company=self.company, stamp=self.stamp, source=source, values=values)
        location = f"/companies/{self.company.id}/planned_transactions/{planned.id}"
        return self.one(planned, shapes.PlannedTransactionShape, status=201, location=location)

    @extend_schema(responses=shapes.PlannedTransactionShape)
    def retrieve(self, request: Request, company_id: str, planned_transaction_id: str) -> Response:
        """One rule, with its overrides; not its dated occurrences."""
        return self.one(self.planned(planned_transaction_id), shapes.PlannedTransactionShape)

    @extend_schema(request=shapes.PlannedTransactionShape(partial=True), responses=shapes.PlannedTransactionShape)
    def update(self, request: Request, company_id: str, planned_transaction_id: str) -> Response:
        """Changes the fields that are sent. `overrides` is replaced as a whole; one whose date the changed rule no
        longer names stays, without effect."""
        planned = self.locked(planned_transaction_id)
        body = whole(shapes.PlannedTransactionShape, planned, request.data)
        values = self.parsed(shapes.PlannedTransactionShape, data=body)
        changed = scheduling.change(planned=planned, stamp=self.stamp, values=values)
        return self.one(changed, shapes.PlannedTransactionShape)

    @extend_schema(responses={200: Success})
    def destroy(self, request: Request, company_id: str, planned_transaction_id: str) -> Response:
        """Ends the expectation, with all its overrides. Transactions that settled it stay."""
        scheduling.remove(planned=self.locked(planned_transaction_id), stamp=self.stamp)
        return Response(SUCCESS)

    @extend_schema(
        parameters=[
            OpenApiParameter("startDate", dt.date, required=True, description="first day, YYYY-MM-DD"),
            OpenApiParameter("endDate", dt.date, required=True, description="last day, at most ten years later"),
        ],
        responses=shapes.OccurrenceShape(many=True),
        operation_id="listOccurrences",
    )
    def occurrences(self, request: Request, company_id: str, planned_transaction_id: str) -> Response:
        """The occurrences that fall into the window once overrides are applied, by date. Skipped ones are absent."""
        planned = self.planned(planned_transaction_id)
        self.only_parameters("startDate", "endDate")
        window = self.parsed(Window, data=request.query_params.dict())
        found = occurrences_of(planned, window_start=window["start_date"], window_end=window["end_date"])
        return Response(shapes.OccurrenceShape(found, many=True).data)

    @extend_schema(
        operation_id="setOccurrenceOverride",
        request=shapes.OccurrenceOverride,
        responses=shapes.PlannedTransactionShape,
    )
    def put_override(
        self, request: Request, company_id: str, planned_transaction_id: str, original_date: str
    ) -> Response:
        """Says what differs about the occurrence of this date, in the place of what was said before. Keys that are null
        or absent are as the rule says. `not_an_occurrence` where the rule does not name the date."""
        planned = self.locked(planned_transaction_id)
        day = self.day(original_date)
        patch = self.parsed(shapes.OccurrenceOverride)
        changed = overriding.override(planned=planned, stamp=self.stamp, original_date=day, patch=patch)
        return self.one(changed, shapes.PlannedTransactionShape)

    @extend_schema(operation_id="deleteOccurrenceOverride", responses={200: shapes.PlannedTransactionShape})
    def delete_override(
        self, request: Request, company_id: str, planned_transaction_id: str, original_date: str
    ) -> Response:
        """The occurrence of this date is as the rule says again."""
        planned = self.locked(planned_transaction_id)
        changed = overriding.clear(planned=planned, stamp=self.stamp, original_date=self.day(original_date))
        return self.one(changed, shapes.PlannedTransactionShape)

    def planned(self, row_id: str, *, locked: bool = False) -> PlannedTransaction:
        rows = PlannedTransaction.objects.with_counterparty()
        return with_overrides([self.found(rows, row_id, locked=locked)])[0]

    def locked(self, row_id: str) -> PlannedTransaction:
        row = self.planned(row_id, locked=True)
        row.company = self.company
        self.unless_stale(row)
        return row

    def day(self, text: str) -> dt.date:
        """The date in the path; a malformed one is an unknown one."""
        day = shapes.as_date(text)
        if day is None:
            raise Missing
        return day


class PlanItemViewSet(CompanyViewSet):
    schema_tags = ["Plan items"]
    permission_for = CRUD

    @extend_schema(parameters=PAGING, responses=shapes.PlanItemShape(many=True))
    def list(self, request: Request, company_id: str) -> Response:
        """The lines of the financial plan, latest first."""
        self.only_parameters("limit", "cursor")
        return self.page(PlanItem.objects.of(self.company.id), shapes.PlanItemShape, order=("-id",))

    @extend_schema(
        request=shapes.PlanItemShape,
        responses={201: shapes.PlanItemShape},
    )
    def create(self, request: Request, company_id: str) -> Response:
        """Adds a line to the financial plan. `frequency` is the months between its postings (1 by default, 0 posts
        once), `duration` the months it lives from `month` on (null has no end)."""
        values = self.parsed(shapes.PlanItemShape)
        item = budgeting.add(company=self.company, stamp=self.stamp, values=values)
        location = f"/companies/{self.company.id}/plan_items/{item.id}"
        return self.one(item, shapes.PlanItemShape, status=201, location=location)

    @extend_schema(responses=shapes.PlanItemShape)
    def retrieve(self, request: Request, company_id: str, plan_item_id: str) -> Response:
        """One line of the plan, with the rule by which it is posted."""
        return self.one(self.found(PlanItem.objects, plan_item_id), shapes.PlanItemShape)

    @extend_schema(request=shapes.PlanItemShape(partial=True), responses=shapes.PlanItemShape)
    def update(self, request: Request, company_id: str, plan_item_id: str) -> Response:
        """Changes the fields that are sent; `amount` as a whole."""
        item = self.locked(plan_item_id)
        values = self.parsed(shapes.PlanItemShape, data=whole(shapes.PlanItemShape, item, request.data))
        changed = budgeting.change(item=item, stamp=self.stamp, values=values)
        return self.one(changed, shapes.PlanItemShape)

    @extend_schema(responses={200: Success})
    def destroy(self, request: Request, company_id: str, plan_item_id: str) -> Response:
        """Takes the line out of the plan, with all its postings."""
        budgeting.remove(item=self.locked(plan_item_id), stamp=self.stamp)
        return Response(SUCCESS)

    def locked(self, row_id: str) -> PlanItem:
        row = self.found(PlanItem.objects, row_id, locked=True)
        row.company = self.company
        self.unless_stale(row)
        return row
