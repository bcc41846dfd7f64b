"""Endpoints of planned transactions and plan items."""

import datetime as dt
from collections.abc import Mapping
from functools import partial
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ListSerializer

from companies.api.document.schema import PAGING
from companies.api.fields import DayField
from companies.api.pagination import keyset
from companies.api.serializers import SUCCESS, Shape, Success
from companies.api.viewsets import CompanyViewSet
from companies.errors import Missing
from companies.permissions import Permission
from ledger.calc.fx import MissingRate
from ledger.recognition.dating import PERIODS
from ledger.recognition.posting import NoRate
from planning import budgeting, matching, overriding, scheduling
from planning import serializers as shapes
from planning.models import PlanItem, PlannedTransaction, Source, with_overrides
from planning.occurring import MOST_AT_ONCE, due_in, list_occurrences

SETTLING = (*PERIODS, NoRate)  # a settled plan moves the parts of its transaction
WINDOW = [
    OpenApiParameter("startDate", dt.date, required=True, description="first day, YYYY-MM-DD"),
    OpenApiParameter("endDate", dt.date, required=True, description="last day, at most ten years later"),
]
READ, WRITE = Permission.PLANNING_READ, Permission.PLANNING_WRITE
CRUD = {"list": READ, "retrieve": READ, "create": WRITE, "update": WRITE, "destroy": WRITE}


class OccurrenceWindow(Shape):
    start_date = DayField()
    end_date = DayField()


class PlanningViewSet(CompanyViewSet):
    def handle_exception(self, exc: Exception) -> Response:
        """A currency without a rate is an error like any other."""
        return super().handle_exception(NoRate(str(exc)) if isinstance(exc, MissingRate) else exc)

    def whole(self, shape: Any, row: Any) -> dict[str, Any]:
        """What a change asks for: the resource as it reads, with the fields that were sent."""
        body = self.request.data
        return self.parsed(shape, data={**shape(row).data, **body} if isinstance(body, Mapping) else body)


class PlannedTransactionViewSet(PlanningViewSet):
    schema_tags = ["Planned transactions"]
    resource = PlannedTransaction
    refuses = {
        **dict.fromkeys(("create", "update"), (*overriding.UNFIT, *SETTLING)),
        "put_override": [overriding.NotAnOccurrence, *overriding.UNFIT, *SETTLING],
        "settle": [overriding.NotAnOccurrence, overriding.AlreadySettled, *overriding.UNFIT, *SETTLING],
        "unsettle": [overriding.NotSettled, *SETTLING],
        **dict.fromkeys(("destroy", "delete_override"), SETTLING),
        **dict.fromkeys(("occurrences", "due"), (NoRate,)),
    }
    permission_for = {
        **CRUD,
        **dict.fromkeys(("occurrences", "due", "matches"), READ),
        **dict.fromkeys(("put_override", "delete_override", "settle", "unsettle"), WRITE),
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
        planned = scheduling.change(
            company=self.company,
            stamp=self.stamp,
            planned_id=planned_transaction_id,
            values=partial(self.whole, shapes.PlannedTransactionShape),
        )
        return self.one(planned, shapes.PlannedTransactionShape)

    @extend_schema(responses={200: Success})
    def destroy(self, request: Request, company_id: str, planned_transaction_id: str) -> Response:
        """Ends the expectation, with all its overrides. Transactions that settled it stay."""
        scheduling.remove(company=self.company, stamp=self.stamp, planned_id=planned_transaction_id)
        return Response(SUCCESS)

    @extend_schema(
        parameters=WINDOW,
        responses=shapes.OccurrenceShape(many=True),
        operation_id="listOccurrences",
    )
    def occurrences(self, request: Request, company_id: str, planned_transaction_id: str) -> Response:
        """The occurrences that fall into the window once overrides are applied, by date. Skipped ones are absent."""
        planned = self.planned(planned_transaction_id)
        self.only_parameters("startDate", "endDate")
        window = self.parsed(OccurrenceWindow, data=request.query_params.dict())
        found = list_occurrences(planned, window_start=window["start_date"], window_end=window["end_date"])
        return Response(shapes.OccurrenceShape(found, many=True).data)

    @extend_schema(
        operation_id="setOccurrenceOverride",
        request=shapes.OccurrenceOverride,
        responses=shapes.PlannedTransactionShape,
    )
    def put_override(
        self, request: Request, company_id: str, planned_transaction_id: str, original_date: str
    ) -> Response:
        """Says what differs about the occurrence of this date. Fields that are not sent stay as they are; null takes
        one away, and DELETE all. `not_an_occurrence` where the rule does not name the date."""
        changed = overriding.override(
            company=self.company,
            stamp=self.stamp,
            planned_id=planned_transaction_id,
            original_date=self.day(original_date),
            patch=self.parsed(shapes.OccurrenceOverride),
        )
        return self.one(changed, shapes.PlannedTransactionShape)

    @extend_schema(operation_id="deleteOccurrenceOverride", responses={200: shapes.PlannedTransactionShape})
    def delete_override(
        self, request: Request, company_id: str, planned_transaction_id: str, original_date: str
    ) -> Response:
        """The occurrence of this date is as the rule says again."""
        changed = overriding.clear(
            company=self.company,
            stamp=self.stamp,
            planned_id=planned_transaction_id,
            original_date=self.day(original_date),
        )
        return self.one(changed, shapes.PlannedTransactionShape)

    @extend_schema(
        parameters=WINDOW,
        responses=ListSerializer(child=shapes.DueShape(), max_length=MOST_AT_ONCE),
        operation_id="listDueOccurrences",
    )
    def due(self, request: Request, company_id: str) -> Response:
        """The occurrences of all rules that fall into the window, by date, each with what became of it: `settled`,
        `skipped`, `due` (from today on) or `overdue` (of the last 60 days). What is open for longer lapses, with
        `settledBy` category when its month ends, and is absent. At most 10,000; a window that holds more is
        `window_too_long`."""
        self.only_parameters("startDate", "endDate")
        window = self.parsed(OccurrenceWindow, data=request.query_params.dict())
        found = due_in(self.company, window_start=window["start_date"], window_end=window["end_date"], today=self.today)
        return Response(shapes.DueShape(found, many=True).data)

    @extend_schema(
        request=OccurrenceWindow,
        responses=ListSerializer(child=shapes.MatchShape(), max_length=MOST_AT_ONCE),
        operation_id="matchPlannedTransactions",
    )
    def matches(self, request: Request, company_id: str) -> Response:
        """The transactions that could settle the open occurrences of the window: on the plan's account (on any where it
        names none), in its direction, within 10 % of its amount and 10 days. The nearest day comes first, then the
        nearest amount; each occurrence and each transaction is in one pair at most. Amounts of another currency are
        compared at the rate of the transaction's day. What somebody refused in the inbox is left out, and so are plans
        with `settledBy` category. Needs `transactions:read` too."""
        window = self.parsed(OccurrenceWindow)
        self.require(Permission.TRANSACTIONS_READ)
        found = matching.proposed(
            company=self.company, window_start=window["start_date"], window_end=window["end_date"]
        )
        return Response(shapes.MatchShape(found, many=True).data)

    @extend_schema(request=shapes.SettleRequest, responses=shapes.PlannedTransactionShape)
    def settle(self, request: Request, company_id: str, planned_transaction_id: str) -> Response:
        """Says that the transaction is what was expected on `date`: the occurrence leaves the forecast. 200 also where
        it settles this very one already.

        In this order: 404; 400 `unknown_id`, `not_an_occurrence`; 409 `occurrence_settled` by another transaction,
        `transaction_is_initial_balance`, `transaction_pending`; 400 `wrong_direction`; 409 `occurrence_skipped`,
        `transaction_settles_another`."""
        values = self.parsed(shapes.SettleRequest)
        settled = overriding.settle(
            company=self.company,
            stamp=self.stamp,
            planned_id=planned_transaction_id,
            original_date=values["date"],
            transaction_id=values["transaction_id"],
        )
        return self.one(settled, shapes.PlannedTransactionShape)

    @extend_schema(request=shapes.UnsettleRequest, responses=shapes.PlannedTransactionShape)
    def unsettle(self, request: Request, company_id: str, planned_transaction_id: str) -> Response:
        """The occurrence of this date is expected again, and its transaction may settle another. What else differs
        about it stays."""
        expected_again = overriding.unsettle(
            company=self.company,
            stamp=self.stamp,
            planned_id=planned_transaction_id,
            original_date=self.parsed(shapes.UnsettleRequest)["date"],
        )
        return self.one(expected_again, shapes.PlannedTransactionShape)

    def planned(self, row_id: str) -> PlannedTransaction:
        return with_overrides([self.found(PlannedTransaction.objects.with_counterparty(), row_id)])[0]

    def day(self, text: str) -> dt.date:
        """The date in the path; a malformed one is an unknown one."""
        day = shapes.as_date(text)
        if day is None:
            raise Missing
        return day


class PlanItemViewSet(PlanningViewSet):
    schema_tags = ["Plan items"]
    resource = PlanItem
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
        item = budgeting.change(
            company=self.company,
            stamp=self.stamp,
            item_id=plan_item_id,
            values=partial(self.whole, shapes.PlanItemShape),
        )
        return self.one(item, shapes.PlanItemShape)

    @extend_schema(responses={200: Success})
    def destroy(self, request: Request, company_id: str, plan_item_id: str) -> Response:
        """Takes the line out of the plan, with all its postings."""
        budgeting.remove(company=self.company, stamp=self.stamp, item_id=plan_item_id)
        return Response(SUCCESS)
