"""Endpoints of scenarios."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.openapi.schema import PAGING_PARAMETERS
from companies.api.pagination import paginate_by_keyset
from companies.api.serializers import SUCCESS, Success
from planning.base_views import CRUD_PERMISSIONS, WRITE, PlanningViewSet
from planning.models import Scenario
from planning.scenarios.actions import adoption, scenarios
from planning.scenarios.broken_changes import attach_broken_positions
from planning.scenarios.serializers import AdoptionSerializer, ScenarioSerializer


class ScenarioViewSet(PlanningViewSet):
    schema_tags = ["Scenarios"]
    resource = Scenario
    errors_for = {
        "create": [scenarios.TooManyScenarios],
        "update": [scenarios.ScenarioAdopted],
        "adopt": [scenarios.ScenarioAdopted, adoption.ScenarioBroken, adoption.ScenarioTooLarge],
        "undo_adoption": [adoption.ScenarioNotAdopted, adoption.AdoptionChanged],
    }
    permission_for = {**CRUD_PERMISSIONS, "adopt": WRITE, "undo_adoption": WRITE}

    @extend_schema(parameters=PAGING_PARAMETERS, responses=ScenarioSerializer(many=True))
    def list(self, request: Request, company_id: str) -> Response:
        """List scenarios, newest first."""
        self.allow_parameters("limit", "cursor")
        rows, headers = paginate_by_keyset(request, Scenario.objects.for_company(self.company.id), order=("-id",))
        return Response(ScenarioSerializer(attach_broken_positions(rows), many=True).data, headers=headers)

    @extend_schema(request=ScenarioSerializer, responses={201: ScenarioSerializer})
    def create(self, request: Request, company_id: str) -> Response:
        """Create a scenario. A company has at most 20.

        Queries apply its changes in order. Nothing is copied, and the plan stays as it is until you adopt it.
        """
        values = self.parse_body(ScenarioSerializer)
        scenario = scenarios.create_scenario(company=self.company, context=self.audit_context, values=values)
        location = f"/companies/{self.company.id}/scenarios/{scenario.id}"
        return self.respond_with_scenario(scenario, status=201, location=location)

    @extend_schema(responses=ScenarioSerializer)
    def retrieve(self, request: Request, company_id: str, scenario_id: str) -> Response:
        """Get a scenario with its changes."""
        return self.respond_with_scenario(self.get_row(Scenario.objects, scenario_id))

    @extend_schema(request=ScenarioSerializer(partial=True), responses=ScenarioSerializer)
    def update(self, request: Request, company_id: str, scenario_id: str) -> Response:
        """Update the fields you send; `changes` is replaced as a whole."""
        scenario = scenarios.update_scenario(
            company=self.company,
            context=self.audit_context,
            scenario_id=scenario_id,
            build_values=self.parse_update,
        )
        return self.respond_with_scenario(scenario)

    def parse_update(self, stored: Scenario) -> dict[str, Any]:
        """Parse an update; changes are complete where they are sent."""
        body = self.request.data
        if isinstance(body, Mapping) and "changes" in body:
            return self.parse_body(ScenarioSerializer, data={"name": stored.name, **body})
        return self.parse_body(ScenarioSerializer, partial=True)

    @extend_schema(responses={200: Success})
    def destroy(self, request: Request, company_id: str, scenario_id: str) -> Response:
        """Delete a scenario. If it is adopted, its changes stay in the plan."""
        scenarios.delete_scenario(company=self.company, context=self.audit_context, scenario_id=scenario_id)
        return Response(SUCCESS)

    @extend_schema(request=None, responses=AdoptionSerializer)
    def adopt(self, request: Request, company_id: str, scenario_id: str) -> Response:
        """Adopt a scenario: make its changes in the planned transactions and plan items.

        Single occurrences of an endless recurrence change for ten years. Settled ones do not change.
        """
        scenario = adoption.adopt_scenario(company=self.company, context=self.audit_context, scenario_id=scenario_id)
        return Response({"adoptionId": str(scenario.adoption_id)})

    @extend_schema(responses={200: Success})
    def undo_adoption(self, request: Request, company_id: str, scenario_id: str) -> Response:
        """Undo an adoption: everything is planned as before.

        It fails if a value that the scenario changed was edited later.
        """
        adoption.undo_adoption(company=self.company, context=self.audit_context, scenario_id=scenario_id)
        return Response(SUCCESS)

    def respond_with_scenario(self, scenario: Scenario, **options: object) -> Response:
        (row,) = attach_broken_positions([scenario])
        return self.respond_with_one(row, ScenarioSerializer, **options)  # type: ignore[arg-type]
