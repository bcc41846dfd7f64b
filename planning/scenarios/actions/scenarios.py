"""Create, update and delete scenarios."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from companies.change import CompanyChange, change_company
from companies.errors import ConflictError, NotFoundError, ValidationFailed
from companies.models import AuditContext, Company
from companies.models.tenancy import generate_id
from companies.time_zones import get_today
from planning.models import Scenario
from planning.scenarios.actions.change_checks import reject_contradictions, validate_changes

MAX_SCENARIOS = 20  # of a company
MAX_CHANGES = 50  # of a scenario


class TooManyScenarios(ConflictError):
    """The company already has 20 scenarios. Delete one first."""

    code = "too_many_scenarios"


class ScenarioAdopted(ConflictError):
    """The scenario is adopted. Undo the adoption first."""

    code = "scenario_adopted"


def create_scenario(*, company: Company, context: AuditContext, values: Mapping[str, Any]) -> Scenario:
    """Create a scenario from the values that its serializer parsed.

    Raises:
        TooManyScenarios: the company has as many as it may have.
        ValidationFailed: changes do not fit together.
    """
    with change_company(company, context=context) as change:
        if Scenario.objects.for_company(company.id).count() >= MAX_SCENARIOS:
            raise TooManyScenarios
        changes = validate_changes(
            company, values["changes"], stored_changes=(), today=get_today(company, context.time)
        )
        scenario = Scenario(company=company, name=values["name"], changes=changes)
        change.insert(scenario)
        change.record(scenario, "scenario.created", after=build_scenario_audit_state(scenario))
    return scenario


def update_scenario(
    *,
    company: Company,
    context: AuditContext,
    scenario_id: UUID | str,
    build_values: Callable[[Scenario], Mapping[str, Any]],
) -> Scenario:
    """Update a scenario; the changes of an adopted one are fixed.

    Args:
        build_values: returns the complete new body, given the stored scenario.

    Raises:
        NotFoundError, PreconditionFailed: it is gone or has another version.
        ScenarioAdopted: its changes differ and it is adopted.
        ValidationFailed: changes do not fit together.
    """
    with change_company(company, context=context) as change:
        scenario = change.lock(Scenario, scenario_id)
        values = build_values(scenario)
        changes = scenario.changes
        if "changes" in values:
            today = get_today(company, context.time)
            changes = validate_changes(company, values["changes"], stored_changes=scenario.changes, today=today)
        if changes != scenario.changes and scenario.is_adopted:
            raise ScenarioAdopted
        save_scenario(change, scenario, "scenario.updated", name=values.get("name", scenario.name), changes=changes)
    return scenario


def add_changes(
    *, company: Company, context: AuditContext, scenario_id: UUID | str, changes: Sequence[Mapping[str, Any]]
) -> Scenario:
    """Append changes to a scenario, all or none; errors of the first one point to `#/changes/0`.

    Raises:
        NotFoundError: it is gone.
        ScenarioAdopted: it is adopted.
        ValidationFailed: a change does not fit, or there would be more than 50.
    """
    with change_company(company, context=context) as change:
        scenario = change.lock(Scenario, scenario_id, check_versions=False)
        if scenario.is_adopted:
            raise ScenarioAdopted
        if len(scenario.changes) + len(changes) > MAX_CHANGES:
            message = _("A scenario has at most {most} changes.").format(most=MAX_CHANGES)
            raise ValidationFailed([("#/changes", "too_long", message)])
        today = get_today(company, context.time)
        all_changes = [*scenario.changes, *validate_changes(company, changes, stored_changes=(), today=today)]
        reject_contradictions(company, all_changes, today=today)
        save_scenario(change, scenario, "scenario.updated", changes=all_changes)
    return scenario


def remove_change(*, company: Company, context: AuditContext, scenario_id: UUID | str, position: int) -> Scenario:
    """Remove the change at a position of a scenario.

    Raises:
        NotFoundError: it is gone, or has no such change.
        ScenarioAdopted: it is adopted.
    """
    with change_company(company, context=context) as change:
        scenario = change.lock(Scenario, scenario_id)
        if scenario.is_adopted:
            raise ScenarioAdopted
        if not 0 <= position < len(scenario.changes):
            raise NotFoundError
        changes = [stored for place, stored in enumerate(scenario.changes) if place != position]
        save_scenario(change, scenario, "scenario.updated", changes=changes)
    return scenario


def duplicate_scenario(*, company: Company, context: AuditContext, scenario_id: UUID | str, name: str) -> Scenario:
    """Create a scenario with the changes of another one, which may be adopted.

    Raises:
        NotFoundError: the other one is gone.
        TooManyScenarios: the company has as many as it may have.
    """
    with change_company(company, context=context) as change:
        if Scenario.objects.for_company(company.id).count() >= MAX_SCENARIOS:
            raise TooManyScenarios
        original = change.lock(Scenario, scenario_id, check_versions=False)
        scenario = Scenario(company=company, name=name, changes=renew_added_row_ids(original.changes))
        change.insert(scenario)
        change.record(scenario, "scenario.created", after=build_scenario_audit_state(scenario))
    return scenario


def renew_added_row_ids(changes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return changes with new ids of the rows that they add."""
    return [{**stored, "id": str(generate_id())} if "id" in stored else dict(stored) for stored in changes]


def delete_scenario(*, company: Company, context: AuditContext, scenario_id: UUID | str) -> Scenario:
    """Delete a scenario. What it changed when it was adopted stays.

    Raises:
        NotFoundError, PreconditionFailed: it is gone or has another version.
    """
    with change_company(company, context=context) as change:
        scenario = change.lock(Scenario, scenario_id)
        change.delete(scenario, "scenario.deleted", before=build_scenario_audit_state(scenario))
    return scenario


def save_scenario(change: CompanyChange, scenario: Scenario, action: str, **columns: Any) -> None:
    """Store columns that differ, with an audit entry."""
    before = build_scenario_audit_state(scenario)
    if scenario.apply_changes(change.context, **columns):
        change.record(scenario, action, before=before, after=build_scenario_audit_state(scenario))


def build_scenario_audit_state(scenario: Scenario) -> dict[str, Any]:
    """Return what the audit log shows of a scenario."""
    return {"name": scenario.name, "changes": scenario.changes, "adoption_id": scenario.adoption_id}
