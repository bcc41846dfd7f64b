"""Adopt a scenario: make its changes in the plan, and undo that.

What an adoption changed is stored with the scenario: for each row the values before and after. Undoing sets back what
still has the value after, and is refused where something else was changed since.
"""

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from companies.change import CompanyChange, change_company
from companies.errors import ConflictError
from companies.models import AuditContext, Company
from companies.models.tenancy import generate_id
from companies.time_zones import get_today
from ledger.calc.months import get_first_day_of_month
from planning.calc.recurrence import Overrides
from planning.calc.scenario_changes import DayWindow, PlannedState
from planning.models import PlanItem, PlannedOverride, PlannedTransaction, Scenario, attach_overrides
from planning.plan.item_states import build_item_state
from planning.plan.queries.scenario_items import build_plan_item
from planning.planned_transactions.actions.overrides import store_override_rows
from planning.planned_transactions.actions.planned_transactions import list_settling_transaction_ids
from planning.planned_transactions.queries.expected_dates import attach_expected_dates
from planning.planned_transactions.settlements import touch_settling_transactions
from planning.scenarios.actions.change_checks import to_json_values
from planning.scenarios.actions.scenarios import ScenarioAdopted
from planning.scenarios.queries import (
    AddedPlanned,
    LoadedScenario,
    apply_patches,
    build_planned_state,
    find_planned_targets,
    find_settled_days,
    load_scenario,
    parse_stored_columns,
)

MAX_OVERRIDES = 20_000  # that one adoption may write
CHANGED_COLUMNS = ("amount_value", "pass_through_tax_amount", "end_date", "end_count")
CHANGED_PATCH_FIELDS = ("skipped", "date", "amount_value")
ITEM_COLUMNS = ("amount_value", "duration")
NO_DAY: dict[str, Any] = {}


class ScenarioBroken(ConflictError):
    """The scenario refers to something that was deleted. Remove the broken changes first."""

    code = "scenario_broken"


class ScenarioTooLarge(ConflictError):
    """The scenario changes more than 20,000 single occurrences. Limit its changes to fewer."""

    code = "scenario_too_large"


class ScenarioNotAdopted(ConflictError):
    """The scenario is not adopted."""

    code = "scenario_not_adopted"


class AdoptionChanged(ConflictError):
    """A value that the scenario changed was edited later. You can no longer undo the adoption."""

    code = "adoption_changed"


def adopt_scenario(*, company: Company, context: AuditContext, scenario_id: UUID | str) -> Scenario:
    """Make a scenario's changes in the plan.

    Raises:
        NotFoundError, PreconditionFailed: it is gone or has another version.
        ScenarioAdopted: it is adopted already.
        ScenarioBroken: a change refers to something that is gone.
        ScenarioTooLarge: it changes too many single occurrences.
    """
    today = get_today(company, context.time)
    with change_company(company, context=context) as change:
        scenario = change.lock(Scenario, scenario_id)
        if scenario.is_adopted:
            raise ScenarioAdopted
        loaded = load_scenario(scenario, today=today)
        if loaded.broken_changes:
            raise ScenarioBroken
        window = DayWindow(dt.date.min, dt.date.max)
        adoption = {
            "planned": store_adopted_planned_changes(change, loaded, window=window),
            "addedPlanned": add_planned_transactions(change, loaded, window=window),
            **store_adopted_plan_item_changes(change, loaded),
        }
        scenario.apply_changes(
            context, adoption_id=generate_id(), adopted_time=context.time, adoption=to_json_values(adoption)
        )
        change.record(scenario, "scenario.adopted", after={"name": scenario.name, "adoption": scenario.adoption})
    return scenario


def undo_adoption(*, company: Company, context: AuditContext, scenario_id: UUID | str) -> Scenario:
    """Take back what adopting a scenario changed.

    Raises:
        NotFoundError, PreconditionFailed: it is gone or has another version.
        ScenarioNotAdopted: it is not adopted.
        AdoptionChanged: something it changed has another value now.
    """
    with change_company(company, context=context) as change:
        scenario = change.lock(Scenario, scenario_id)
        adoption = scenario.adoption
        if adoption is None:
            raise ScenarioNotAdopted
        restore_planned_transactions(change, adoption["planned"])
        delete_added_planned_transactions(change, adoption["addedPlanned"])
        restore_plan_items(change, adoption)
        change.record(scenario, "scenario.adoptionUndone", before={"name": scenario.name, "adoption": adoption})
        scenario.apply_changes(context, adoption_id=None, adopted_time=None, adoption=None)
    return scenario


# ---------------------------------------------------------------------------------------------- planned transactions


def lock_planned_transactions(change: CompanyChange, planned_ids: Any) -> list[PlannedTransaction]:
    """Return planned transactions with their overrides, locked."""
    rows = PlannedTransaction.objects.for_company(change.company.id).filter(id__in=list(planned_ids))
    locked = list(rows.select_for_update(of=("self",)).order_by("id"))
    for planned in locked:
        planned.company = change.company
    attach_overrides(locked)
    attach_expected_dates(locked)
    return locked


def store_adopted_planned_changes(
    change: CompanyChange, loaded: LoadedScenario, *, window: DayWindow
) -> dict[str, dict[str, Any]]:
    """Store the changes of planned transactions; return by id what differs, as [before, after]."""
    differences, count = dict[str, dict[str, Any]](), 0
    targets = find_planned_targets(change.company.id, loaded.changes)
    settled_days = find_settled_days(change.company.id, targets)
    for planned in lock_planned_transactions(change, targets):
        patches = {day: row.to_patch() for day, row in planned.overrides.items()}
        before = build_planned_state(planned, patches, settled_days=settled_days.get(planned.id, ()))
        after = loaded.apply_changes_to_state(before, window=window)
        days = compare_overrides(before.overrides, after.overrides)
        columns = compare_columns(before, after)
        if not columns and not days:
            continue
        count += len(days)
        if count > MAX_OVERRIDES:
            raise ScenarioTooLarge
        store_planned_changes(
            change,
            planned,
            columns={name: pair[1] for name, pair in columns.items()},
            patches={day: dict(after.overrides[day]) for day in days},
        )
        differences[str(planned.id)] = {
            "columns": columns,
            "overrides": {day.isoformat(): pairs for day, pairs in days.items()},
        }
    return differences


def compare_columns(before: PlannedState, after: PlannedState) -> dict[str, list[Any]]:
    """Return the columns that differ, as [before, after]."""
    sides = [(state.amount, state.tax, state.rule.end_date, state.rule.count) for state in (before, after)]
    return {name: [old, new] for name, old, new in zip(CHANGED_COLUMNS, *sides, strict=True) if old != new}


def compare_overrides(before: Overrides, after: Overrides) -> dict[dt.date, dict[str, list[Any]]]:
    """Return the overrides that differ: by original date and field, as [before, after]."""
    differences = {}
    for day, patch in after.items():
        old: Any = before.get(day, NO_DAY)
        new: Any = patch
        pairs = {
            name: [old.get(name), new.get(name)] for name in CHANGED_PATCH_FIELDS if old.get(name) != new.get(name)
        }
        if pairs:
            differences[day] = pairs
    return differences


def store_planned_changes(
    change: CompanyChange, planned: PlannedTransaction, *, columns: Mapping[str, Any], patches: Mapping[dt.date, Any]
) -> None:
    """Store columns and override patches; an empty patch removes the override."""
    is_changed = planned.apply_changes(change.context, **columns)
    if store_override_rows(planned, patches, removed=set()) and not is_changed:
        planned.mark_updated(change.context)


def add_planned_transactions(change: CompanyChange, loaded: LoadedScenario, *, window: DayWindow) -> list[str]:
    """Create the planned transactions that a scenario adds; return their ids."""
    added_ids = []
    for position, added in enumerate(loaded.changes):
        if not isinstance(added, AddedPlanned):
            continue
        planned = added.planned
        planned.company = change.company
        attach_expected_dates([apply_patches(planned, added.patches)])
        state = loaded.apply_changes_to_state(
            build_planned_state(planned, added.patches), window=window, after=position
        )
        planned.overrides = {}
        planned.amount_value, planned.pass_through_tax_amount = state.amount, state.tax
        planned.end_date, planned.end_count = state.rule.end_date, state.rule.count
        change.insert(planned)
        store_override_rows(planned, {day: dict(patch) for day, patch in state.overrides.items()}, removed=set())
        added_ids.append(str(planned.id))
    return added_ids


def restore_planned_transactions(change: CompanyChange, differences: Mapping[str, Any]) -> None:
    """Set back what an adoption changed of planned transactions.

    Raises:
        AdoptionChanged: one is gone or has another value.
    """
    rows = {str(planned.id): planned for planned in lock_planned_transactions(change, differences)}
    for planned_id, difference in differences.items():
        planned = rows.get(planned_id)
        if planned is None:
            raise AdoptionChanged
        columns = {
            name: pair[0]
            for name, pair in parse_stored_pairs(PlannedTransaction, difference["columns"], planned).items()
        }
        patches = {}
        for text, pairs in difference["overrides"].items():
            day = dt.date.fromisoformat(text)
            override = planned.overrides.get(day)
            patch: dict[str, Any] = dict(override.to_patch()) if override else {}
            values = parse_stored_pairs(PlannedOverride, pairs, override)
            patch |= {name: pair[0] for name, pair in values.items()}
            patches[day] = {name: value for name, value in patch.items() if value is not None}
        store_planned_changes(change, planned, columns=columns, patches=patches)


def parse_stored_pairs(model: Any, pairs: Mapping[str, Any], row: Any) -> dict[str, tuple[Any, Any]]:
    """Return the stored pairs [before, after] as values of columns.

    Raises:
        AdoptionChanged: the row has another value than after.
    """
    before, after = (parse_stored_columns(model, {name: pair[side] for name, pair in pairs.items()}) for side in (0, 1))
    for name, value in after.items():
        if getattr(row, name, None) != value:
            raise AdoptionChanged
    return {name: (before[name], after[name]) for name in pairs}


def delete_added_planned_transactions(change: CompanyChange, added_ids: list[str]) -> None:
    """Delete the planned transactions that an adoption created; those deleted since are no error."""
    for planned in lock_planned_transactions(change, added_ids):
        transaction_ids, has_invoice = list_settling_transaction_ids(planned), planned.invoice_date is not None
        planned.delete()
        touch_settling_transactions(change, transaction_ids, periods_changed=has_invoice)


# ---------------------------------------------------------------------------------------------- plan items


def store_adopted_plan_item_changes(change: CompanyChange, loaded: LoadedScenario) -> dict[str, Any]:
    """Store the changes of plan items; return what was updated, deleted and created."""
    company = change.company
    items = {item.id: item for item in PlanItem.objects.for_company(company.id).order_by("id")}
    states = [build_item_state(item) for item in items.values()]
    changed_states = loaded.apply_changes_to_items(states, through=get_first_day_of_month(dt.date.max))
    updated, deleted, created = dict[str, Any](), list[dict[str, Any]](), list[str]()
    by_id = {state.id: state for state in changed_states if state.id in items}
    for item_id, item in items.items():
        item.company = company
        if (state := by_id.get(item_id)) is None:
            deleted.append({field.attname: field.value_from_object(item) for field in PlanItem._meta.concrete_fields})
            item.delete()
            continue
        before, after = (item.amount_value, item.duration), (state.amount.amount, state.duration)
        if before != after:
            item.apply_changes(change.context, **dict(zip(ITEM_COLUMNS, after, strict=True)))
            pairs = zip(ITEM_COLUMNS, before, after, strict=True)
            updated[str(item_id)] = {name: [old, new] for name, old, new in pairs}
    for state in changed_states:
        if state.id not in items:
            item = build_plan_item(company, replace(state, id=state.id or generate_id()))
            change.insert(item)
            created.append(str(item.id))
    return {"updatedItems": updated, "deletedItems": deleted, "createdItems": created}


def restore_plan_items(change: CompanyChange, adoption: Mapping[str, Any]) -> None:
    """Set back what an adoption changed of plan items.

    Raises:
        AdoptionChanged: one is gone or has another value.
    """
    company, rows = change.company, PlanItem.objects.for_company(change.company.id)
    items = {str(item.id): item for item in rows.filter(id__in=list(adoption["updatedItems"]))}
    for item_id, pairs in adoption["updatedItems"].items():
        item = items.get(item_id)
        if item is None:
            raise AdoptionChanged
        item.company = company
        values = parse_stored_pairs(PlanItem, pairs, item)
        item.apply_changes(change.context, **{name: pair[0] for name, pair in values.items()})
    rows.filter(id__in=adoption["createdItems"]).delete()
    for columns in adoption["deletedItems"]:
        values = {name: value for name, value in columns.items() if name != "company_id"}
        PlanItem(company=company, **parse_stored_columns(PlanItem, values)).save(force_insert=True)
