"""Endpoints of plan items."""

from functools import partial
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ListSerializer

from companies.api.openapi.schema import PAGING_PARAMETERS
from companies.api.pagination import paginate_list
from companies.api.serializers import SUCCESS, Success
from ledger.money.rates import get_rate_table
from ledger.recognition.actions.postings import MissingRateError
from planning.base_views import CRUD_PERMISSIONS, READ, PlanningViewSet
from planning.models import PlanItem
from planning.plan.actions import plan_items
from planning.plan.queries.planned_payments import list_plan_proposals
from planning.plan.queries.scenario_items import list_plan_items_of_scenario
from planning.plan.serializers import PlanItemSerializer, PlanProposalSerializer
from planning.planned_transactions.queries.occurrences import MAX_OCCURRENCES
from planning.planned_transactions.serializers import OccurrenceWindow
from planning.scenarios.queries import build_broken_header, get_scenario

SCENARIO_PARAMETER = OpenApiParameter("scenarioId", UUID, description="Scenario whose changes apply.")


class PlanItemViewSet(PlanningViewSet):
    schema_tags = ["Plan items"]
    resource = PlanItem
    permission_for = {**CRUD_PERMISSIONS, "proposals": READ}
    errors_for = {"proposals": [MissingRateError]}
    scenario_lists = frozenset({"list"})

    @extend_schema(parameters=[*PAGING_PARAMETERS, SCENARIO_PARAMETER], responses=PlanItemSerializer(many=True))
    def list(self, request: Request, company_id: str) -> Response:
        """List plan items, newest first.

        With `scenarioId`, the items as the scenario changes them; an item that it makes has an id of its own.
        """
        self.allow_parameters("limit", "cursor", "scenarioId")
        scenario_id = request.query_params.get("scenarioId")
        if scenario_id is not None:
            scenario = get_scenario(self.company, scenario_id, today=self.today)
            rows, headers = paginate_list(request, list_plan_items_of_scenario(self.company, scenario))
            data = PlanItemSerializer(rows, many=True).data
            return Response(data, headers=headers | build_broken_header(scenario))
        return self.respond_with_page(PlanItem.objects.for_company(self.company.id), PlanItemSerializer, order=("-id",))

    @extend_schema(
        request=PlanItemSerializer,
        responses={201: PlanItemSerializer},
    )
    def create(self, request: Request, company_id: str) -> Response:
        """Create a plan item.

        `frequency` is the number of months between repetitions (default 1; 0 for once). `duration` is the number of
        months from `month` (null for no end).
        """
        values = self.parse_body(PlanItemSerializer)
        item = plan_items.create_plan_item(company=self.company, context=self.audit_context, values=values)
        location = f"/companies/{self.company.id}/plan_items/{item.id}"
        return self.respond_with_one(item, PlanItemSerializer, status=201, location=location)

    @extend_schema(responses=PlanItemSerializer)
    def retrieve(self, request: Request, company_id: str, plan_item_id: str) -> Response:
        """Get a plan item."""
        return self.respond_with_one(self.get_row(PlanItem.objects, plan_item_id), PlanItemSerializer)

    @extend_schema(request=PlanItemSerializer(partial=True), responses=PlanItemSerializer)
    def update(self, request: Request, company_id: str, plan_item_id: str) -> Response:
        """Update the fields you send; `amount` is replaced as a whole."""
        item = plan_items.update_plan_item(
            company=self.company,
            context=self.audit_context,
            item_id=plan_item_id,
            build_values=partial(self.merge_body, PlanItemSerializer),
        )
        return self.respond_with_one(item, PlanItemSerializer)

    @extend_schema(responses={200: Success})
    def destroy(self, request: Request, company_id: str, plan_item_id: str) -> Response:
        """Delete a plan item with all its planned amounts."""
        plan_items.delete_plan_item(company=self.company, context=self.audit_context, item_id=plan_item_id)
        return Response(SUCCESS)

    @extend_schema(
        request=OccurrenceWindow,
        responses=ListSerializer(child=PlanProposalSerializer(), max_length=MAX_OCCURRENCES),
        operation_id="proposePlanItems",
    )
    def proposals(self, request: Request, company_id: str) -> Response:
        """List what is planned as payments by month and category, beside the plan.

        Covers the whole months from that of `startDate` to that of `endDate`. Occurrences count in the month of their
        date, paid ones included, skipped ones not. Other currencies are converted at the rate of the date. A planned
        transaction with `settledBy` category counts without the invoices of its category and month. Categories with
        several P&L lines are omitted. To accept a proposal, create a plan item with its `difference` and `frequency` 0.
        Returns 400 `window_too_long` for more than 10,000 occurrences.
        """
        window = self.parse_body(OccurrenceWindow)
        plan_proposals = list_plan_proposals(
            company=self.company, start=window["start_date"], end=window["end_date"], rates=get_rate_table()
        )
        return Response(PlanProposalSerializer(plan_proposals, many=True).data)
