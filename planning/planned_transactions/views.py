"""Endpoints of planned transactions."""

import datetime as dt
from functools import partial

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ListSerializer

from companies.api.openapi.schema import PAGING_PARAMETERS
from companies.api.pagination import paginate_by_keyset
from companies.api.serializers import SUCCESS, Success
from companies.errors import NotFoundError
from companies.permissions import Permission
from ledger.recognition.actions.postings import MissingRateError
from ledger.recognition.service_periods import PERIOD_ERRORS
from ledger.transactions.actions.transactions import OccurrenceSettled, SettlesTooMuch
from planning.base_views import CRUD_PERMISSIONS, READ, WRITE, PlanningViewSet
from planning.models import PlannedSource, PlannedTransaction, attach_overrides
from planning.planned_transactions import serializers
from planning.planned_transactions.actions import overrides, planned_transactions, settlements
from planning.planned_transactions.actions.settlement_checks import (
    UNSUITABLE_TRANSACTION_ERRORS,
    NotAnOccurrence,
    NothingOpen,
    OccurrenceNotSettled,
    OccurrenceSkipped,
)
from planning.planned_transactions.queries import transaction_matches
from planning.planned_transactions.queries.occurrences import MAX_OCCURRENCES, list_due_occurrences, list_occurrences
from planning.planned_transactions.queries.recurring_payments import MAX_PROPOSALS, list_payment_proposals

SETTLEMENT_ERRORS = (*PERIOD_ERRORS, MissingRateError)  # a settlement can move the service periods of its transaction
WINDOW_PARAMETERS = [
    OpenApiParameter("startDate", dt.date, required=True, description="First day, YYYY-MM-DD."),
    OpenApiParameter("endDate", dt.date, required=True, description="Last day, at most ten years later."),
]


class PlannedTransactionViewSet(PlanningViewSet):
    schema_tags = ["Planned transactions"]
    resource = PlannedTransaction
    errors_for = {
        "create": [],
        "update": [OccurrenceSettled, SettlesTooMuch, *SETTLEMENT_ERRORS],
        "put_override": [NotAnOccurrence, OccurrenceSettled, SettlesTooMuch],
        "delete_override": [OccurrenceSettled, SettlesTooMuch],
        "settle": [NotAnOccurrence, NothingOpen, SettlesTooMuch, *UNSUITABLE_TRANSACTION_ERRORS, *SETTLEMENT_ERRORS],
        "unsettle": [OccurrenceNotSettled, SettlesTooMuch, *SETTLEMENT_ERRORS],
        "write_off": [NotAnOccurrence, OccurrenceSkipped, NothingOpen],
        "destroy": [SettlesTooMuch, *SETTLEMENT_ERRORS],
        **dict.fromkeys(("occurrences", "due"), (MissingRateError,)),
    }
    permission_for = {
        **CRUD_PERMISSIONS,
        **dict.fromkeys(("occurrences", "due", "matches", "proposals"), READ),
        **dict.fromkeys(("put_override", "delete_override", "settle", "unsettle", "write_off"), WRITE),
    }

    @extend_schema(parameters=PAGING_PARAMETERS, responses=serializers.PlannedTransactionSerializer(many=True))
    def list(self, request: Request, company_id: str) -> Response:
        """List planned transactions, newest first, without their occurrences."""
        self.allow_parameters("limit", "cursor")
        rows = PlannedTransaction.objects.for_company(self.company.id).with_counterparty()
        rows_of_page, headers = paginate_by_keyset(request, rows, order=("-id",))
        serializer = serializers.PlannedTransactionSerializer(attach_overrides(rows_of_page), many=True)
        return Response(serializer.data, headers=headers)

    @extend_schema(
        request=serializers.PlannedTransactionSerializer,
        responses={201: serializers.PlannedTransactionSerializer},
    )
    def create(self, request: Request, company_id: str) -> Response:
        """Create a planned transaction, once or recurring.

        Dates are counted from `startDate`. If a month lacks the day, its last day is used.
        """
        source = PlannedSource.MANUAL if self.caller.kind == "session" else PlannedSource.API
        values = self.parse_body(serializers.PlannedTransactionSerializer)
        planned = planned_transactions.create_planned_transaction(
            company=self.company, context=self.audit_context, source=source, values=values
        )
        location = f"/companies/{self.company.id}/planned_transactions/{planned.id}"
        return self.respond_with_one(planned, serializers.PlannedTransactionSerializer, status=201, location=location)

    @extend_schema(responses=serializers.PlannedTransactionSerializer)
    def retrieve(self, request: Request, company_id: str, planned_transaction_id: str) -> Response:
        """Get a planned transaction with its overrides, without its occurrences."""
        return self.respond_with_one(
            self.get_planned_transaction(planned_transaction_id), serializers.PlannedTransactionSerializer
        )

    @extend_schema(
        request=serializers.PlannedTransactionSerializer(partial=True),
        responses=serializers.PlannedTransactionSerializer,
    )
    def update(self, request: Request, company_id: str, planned_transaction_id: str) -> Response:
        """Update the fields you send.

        `overrides` is replaced as a whole. Overrides on dates that no longer occur are kept without effect.
        """
        planned = planned_transactions.update_planned_transaction(
            company=self.company,
            context=self.audit_context,
            planned_id=planned_transaction_id,
            build_values=partial(self.merge_body, serializers.PlannedTransactionSerializer),
        )
        return self.respond_with_one(planned, serializers.PlannedTransactionSerializer)

    @extend_schema(responses={200: Success})
    def destroy(self, request: Request, company_id: str, planned_transaction_id: str) -> Response:
        """Delete a planned transaction with its overrides and settlements. Transactions that settled it stay."""
        planned_transactions.delete_planned_transaction(
            company=self.company, context=self.audit_context, planned_id=planned_transaction_id
        )
        return Response(SUCCESS)

    @extend_schema(
        parameters=WINDOW_PARAMETERS,
        responses=serializers.OccurrenceSerializer(many=True),
        operation_id="listOccurrences",
    )
    def occurrences(self, request: Request, company_id: str, planned_transaction_id: str) -> Response:
        """List occurrences in the window by date, with overrides applied and without skipped ones."""
        planned = self.get_planned_transaction(planned_transaction_id)
        self.allow_parameters("startDate", "endDate")
        window = self.parse_body(serializers.OccurrenceWindow, data=request.query_params.dict())
        planned_occurrences = list_occurrences(
            planned, window_start=window["start_date"], window_end=window["end_date"], today=self.today
        )
        return Response(serializers.OccurrenceSerializer(planned_occurrences, many=True).data)

    @extend_schema(
        operation_id="setOccurrenceOverride",
        request=serializers.OccurrenceOverride,
        responses=serializers.PlannedTransactionSerializer,
    )
    def put_override(
        self, request: Request, company_id: str, planned_transaction_id: str, original_date: str
    ) -> Response:
        """Change a single occurrence by its original date.

        Omitted fields stay unchanged; null removes a change. Use DELETE to remove all changes. Returns
        `not_an_occurrence` if nothing occurs on this date.
        """
        changed = overrides.set_occurrence_override(
            company=self.company,
            context=self.audit_context,
            planned_id=planned_transaction_id,
            original_date=self.parse_path_date(original_date),
            patch=self.parse_body(serializers.OccurrenceOverride),
        )
        return self.respond_with_one(changed, serializers.PlannedTransactionSerializer)

    @extend_schema(operation_id="deleteOccurrenceOverride", responses={200: serializers.PlannedTransactionSerializer})
    def delete_override(
        self, request: Request, company_id: str, planned_transaction_id: str, original_date: str
    ) -> Response:
        """Remove all changes to the occurrence of this date."""
        changed = overrides.delete_occurrence_override(
            company=self.company,
            context=self.audit_context,
            planned_id=planned_transaction_id,
            original_date=self.parse_path_date(original_date),
        )
        return self.respond_with_one(changed, serializers.PlannedTransactionSerializer)

    @extend_schema(
        parameters=WINDOW_PARAMETERS,
        responses=ListSerializer(child=serializers.DueSerializer(), max_length=MAX_OCCURRENCES),
        operation_id="listDueOccurrences",
    )
    def due(self, request: Request, company_id: str) -> Response:
        """List the occurrences of all planned transactions in the window by date, with their state.

        States are `open`, `partlyPaid`, `paid`, `overdue`, `writtenOff` and `skipped`. Overdue occurrences lapse after
        60 days and are then omitted; with `settledBy` category they lapse when their month ends. Returns at most 10,000
        occurrences, otherwise 400 `window_too_long`.
        """
        self.allow_parameters("startDate", "endDate")
        window = self.parse_body(serializers.OccurrenceWindow, data=request.query_params.dict())
        due_occurrences = list_due_occurrences(
            self.company, window_start=window["start_date"], window_end=window["end_date"], today=self.today
        )
        return Response(serializers.DueSerializer(due_occurrences, many=True).data)

    @extend_schema(
        request=serializers.OccurrenceWindow,
        responses=ListSerializer(child=serializers.MatchSerializer(), max_length=MAX_OCCURRENCES),
        operation_id="matchPlannedTransactions",
    )
    def matches(self, request: Request, company_id: str) -> Response:
        """List transactions that could settle occurrences in the window.

        Invoices come first: matched by their number or a reference in the transaction's text, whatever its date, or by
        counterparty and exact amount. Other matches have the same account (any if none is set) and the same direction.
        Their amount is within 10% and their date within 10 days, the closest date first. Each occurrence and
        transaction is in one match, unless candidates are equal: then all are listed. Other currencies are converted at
        the rate of the transaction date. Rejected matches and planned transactions with `settledBy` category are
        omitted. Also needs `transactions:read`.
        """
        window = self.parse_body(serializers.OccurrenceWindow)
        self.require_permission(Permission.TRANSACTIONS_READ)
        proposals = transaction_matches.propose_matches(
            company=self.company, window_start=window["start_date"], window_end=window["end_date"]
        )
        return Response(serializers.MatchSerializer(proposals, many=True).data)

    @extend_schema(
        request=None,
        responses=ListSerializer(child=serializers.PaymentProposalSerializer(), max_length=MAX_PROPOSALS),
        operation_id="proposePlannedTransactions",
    )
    def proposals(self, request: Request, company_id: str) -> Response:
        """Suggest planned transactions from payments that recur in the history, the next one first.

        Recurring payments have one counterparty or name in `fromTo`, one account and direction, and a steady interval.
        Their amounts are within 10% of the latest one. Weekly, monthly and quarterly payments recur at least three
        times, yearly ones at least twice. Payments that are planned, transfers, and payments that ended are omitted.
        The last three years count, at most 20,000 transactions. Without `transactions:read` the list is empty.
        """
        may_read = Permission.TRANSACTIONS_READ in self.access.permissions
        proposals = list_payment_proposals(self.company, today=self.today) if may_read else []
        return Response(serializers.PaymentProposalSerializer(proposals, many=True).data)

    @extend_schema(request=serializers.SettleRequest, responses=serializers.PlannedTransactionSerializer)
    def settle(self, request: Request, company_id: str, planned_transaction_id: str) -> Response:
        """Settle an occurrence with an amount of a transaction, which leaves the forecast.

        A transaction can settle several occurrences, and several transactions one occurrence. The amounts never exceed
        either side. The same pair again replaces the amount. In other currencies, the transaction is converted at the
        rate of its date.

        Errors are checked in this order: 404; 400 `unknown_id`, `not_an_occurrence`; 409 `occurrence_skipped`,
        `transaction_is_initial_balance`, `transaction_pending`; 400 `wrong_direction`; 409 `nothing_open`,
        `settles_too_much`."""
        values = self.parse_body(serializers.SettleRequest)
        settled = settlements.settle_occurrence(
            company=self.company,
            context=self.audit_context,
            planned_id=planned_transaction_id,
            original_date=values["date"],
            transaction_id=values["transaction_id"],
            amount_value=values.get("amount_value"),
        )
        return self.respond_with_one(settled, serializers.PlannedTransactionSerializer)

    @extend_schema(request=serializers.UnsettleRequest, responses=serializers.PlannedTransactionSerializer)
    def unsettle(self, request: Request, company_id: str, planned_transaction_id: str) -> Response:
        """Undo settlements of an occurrence, so that it is expected again."""
        values = self.parse_body(serializers.UnsettleRequest)
        planned = settlements.unsettle_occurrence(
            company=self.company,
            context=self.audit_context,
            planned_id=planned_transaction_id,
            original_date=values["date"],
            transaction_id=values.get("transaction_id"),
        )
        return self.respond_with_one(planned, serializers.PlannedTransactionSerializer)

    @extend_schema(
        operation_id="writeOffPlannedTransaction",
        request=serializers.WriteOffRequest,
        responses=serializers.PlannedTransactionSerializer,
    )
    def write_off(self, request: Request, company_id: str, planned_transaction_id: str) -> Response:
        """Write off what is open, as a fixed amount. Use `unsettle` to undo it.

        The date of a single one must not be before its invoice date, or more than a year ahead: 400 `out_of_range`.
        """
        values = self.parse_body(serializers.WriteOffRequest)
        planned = settlements.write_off_occurrence(
            company=self.company,
            context=self.audit_context,
            planned_id=planned_transaction_id,
            today=self.today,
            **values,
        )
        return self.respond_with_one(planned, serializers.PlannedTransactionSerializer)

    def get_planned_transaction(self, row_id: str) -> PlannedTransaction:
        return attach_overrides([self.get_row(PlannedTransaction.objects.with_counterparty(), row_id)])[0]

    def parse_path_date(self, text: str) -> dt.date:
        """Parse the date of the path.

        Raises:
            NotFoundError: it is no date.
        """
        day = serializers.parse_date_or_none(text)
        if day is None:
            raise NotFoundError
        return day
