"""Scenarios as calculations read them: their changes, the broken ones, and what they apply to."""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Q

from companies.errors import build_unknown_id_error
from companies.models import Company, parse_id
from ledger.models import Category
from planning.calc.recurrence import MAX_WEEKEND_DAYS, OccurrencePatch, Overrides
from planning.calc.scenario_changes import Change, DayWindow, PlannedState, apply_change, get_horizon
from planning.calc.scenario_plan import PlanItemState, apply_change_to_items
from planning.models import PlanItem, PlannedOverride, PlannedTransaction, Scenario
from planning.plan.item_states import build_item_state
from planning.planned_transactions.queries.expected_dates import attach_expected_dates
from planning.planned_transactions.queries.open_invoices import OpenInvoice, list_open_invoices
from planning.planned_transactions.queries.planned_rules import PlannedRule, RuleWithOverrides, read_planned_rules
from planning.planned_transactions.queries.settlements import sum_settled_by_occurrence
from planning.scenarios.broken_changes import find_broken_changes

ADDED_PLANNED, ADDED_ITEM = "plannedTransaction", "planItem"
MAX_COMPARED = 4  # scenarios that pages show beside the plan


class AddedPlanned(NamedTuple):
    """A planned transaction that a scenario adds, not stored, with the patches of its overrides."""

    planned: PlannedTransaction
    patches: Mapping[dt.date, OccurrencePatch]


class PlannedTarget(NamedTuple):
    """By what changes find a planned transaction."""

    category_id: UUID | None
    counterparty_id: UUID | None


@dataclass(frozen=True, slots=True)
class LoadedScenario:
    """A scenario's changes in order, without broken ones, whose positions are in `broken_changes`."""

    row: Scenario
    changes: Sequence[Change | AddedPlanned | PlanItem]
    broken_changes: Sequence[int]

    @property
    def reach_days(self) -> int:
        """By how many days the changes move an occurrence at most."""
        return sum(abs(change.days) for change in self.changes if isinstance(change, Change))

    def build_window(self, start: dt.date, end: dt.date) -> DayWindow:
        """Return the original dates whose occurrences can reach [start, end]."""
        return DayWindow(start, end).widen(self.reach_days + MAX_WEEKEND_DAYS)

    def apply_changes_to_state(self, state: PlannedState, *, window: DayWindow, after: int = -1) -> PlannedState:
        """Apply the changes behind a position to a planned transaction."""
        for change in self.changes[after + 1 :]:
            if isinstance(change, Change):
                state = apply_change(state, change, window=window)
        return state

    def apply_changes_to_items(self, items: Iterable[PlanItemState], *, through: dt.date) -> list[PlanItemState]:
        """Apply the changes to plan items; added ones are among them."""
        changed_items = list(items)
        for change in self.changes:
            if isinstance(change, PlanItem):
                changed_items.append(build_item_state(change))
            elif isinstance(change, Change):
                changed_items = apply_change_to_items(changed_items, change, through=through)
        return changed_items


def get_broken_positions(scenario: LoadedScenario | None) -> list[int]:
    """Return the positions of broken changes; none without a scenario."""
    return [] if scenario is None else list(scenario.broken_changes)


def build_broken_header(scenario: LoadedScenario | None) -> dict[str, str]:
    """Return the header of a list that names the broken changes; none without one."""
    positions = get_broken_positions(scenario)
    return {"Broken-Changes": ", ".join(map(str, positions))} if positions else {}


def find_scenario(company: Company, scenario_id: UUID | None, *, today: dt.date) -> LoadedScenario | None:
    """Load the scenario of a query; None without an id.

    Raises:
        ValidationFailed: the id is unknown.
    """
    return None if scenario_id is None else get_scenario(company, scenario_id, today=today)


def get_scenario(company: Company, scenario_id: UUID | str, *, today: dt.date) -> LoadedScenario:
    """Load the scenario of a query.

    Raises:
        ValidationFailed: the id is unknown.
    """
    row_id = scenario_id if isinstance(scenario_id, UUID) else parse_id(scenario_id)
    row = Scenario.objects.for_company(company.id).filter(id=row_id).first() if row_id else None
    if row is None:
        raise build_unknown_id_error("#/scenarioId")
    return load_scenario(row, today=today)


def load_scenario(scenario: Scenario, *, today: dt.date) -> LoadedScenario:
    """Load a scenario's changes. An adopted one has none left: they are in the plan."""
    stored_changes = [] if scenario.is_adopted else scenario.changes
    broken = find_broken_changes(scenario.company_id, [stored_changes])[0]
    category_lines = load_category_lines(scenario.company_id, stored_changes)
    return LoadedScenario(
        row=scenario,
        changes=[
            parse_stored_change(scenario.company_id, stored, category_lines, today=today)
            for position, stored in enumerate(stored_changes)
            if position not in broken
        ],
        broken_changes=sorted(broken),
    )


def load_category_lines(company_id: UUID, stored_changes: Sequence[Mapping[str, Any]]) -> Mapping[UUID, Sequence[str]]:
    """Return the P&L lines of the company's categories, if a change needs them."""
    if not any(stored.get("plType") for stored in stored_changes):
        return {}
    return dict(Category.objects.for_company(company_id).values_list("id", "pl_types"))


def parse_stored_change(
    company_id: UUID, stored: Mapping[str, Any], category_lines: Mapping[UUID, Sequence[str]], *, today: dt.date
) -> Change | AddedPlanned | PlanItem:
    """Parse one stored change.

    Args:
        category_lines: P&L lines of categories; a line stands for those that post to it only.
    """
    if stored["kind"] == "add":
        return parse_added_row(company_id, stored)
    category_id, pl_type = parse_uuid(stored.get("categoryId")), stored.get("plType")
    category_ids = {category for category, lines in category_lines.items() if pl_type and lines == [pl_type]}
    if category_id:
        category_ids.add(category_id)
    return Change(
        kind=stored["kind"],
        planned_id=parse_uuid(stored.get("plannedTransactionId")),
        counterparty_id=parse_uuid(stored.get("counterpartyId")),
        category_ids=frozenset(category_ids),
        category_id=category_id,
        pl_type=pl_type,
        percent=Decimal(stored.get("percent") or 0),
        days=stored.get("days") or 0,
        start=parse_stored_day(stored.get("from")),
        end=parse_stored_day(stored.get("to")),
        horizon=get_horizon(dt.date.min, max(today, parse_stored_day(stored.get("from")) or today)),
    )


def parse_uuid(text: str | None) -> UUID | None:
    return UUID(text) if text else None


def parse_stored_day(text: str | None) -> dt.date | None:
    return dt.date.fromisoformat(text) if text else None


def parse_added_row(company_id: UUID, stored: Mapping[str, Any]) -> AddedPlanned | PlanItem:
    """Build the row that a change adds from its stored columns; it is not saved."""
    if stored.get(ADDED_ITEM) is not None:
        return PlanItem(
            company_id=company_id, id=UUID(stored["id"]), **parse_stored_columns(PlanItem, stored["columns"])
        )
    columns = parse_stored_columns(PlannedTransaction, stored["columns"])
    planned = PlannedTransaction(company_id=company_id, id=UUID(stored["id"]), **columns)
    planned.overrides = {}
    patches = {
        dt.date.fromisoformat(day): OccurrencePatch(**parse_stored_columns(PlannedOverride, patch))  # type: ignore[typeddict-item]
        for day, patch in stored["patches"].items()
    }
    return AddedPlanned(planned, patches)


def parse_stored_columns(model: Any, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Convert stored JSON values to those of a model's columns."""
    fields = {field.attname: field for field in model._meta.concrete_fields}
    return {
        name: value if value is None or isinstance(value, dict) else parse_stored_column(fields[name], value)
        for name, value in columns.items()
    }


def parse_stored_column(field: Any, value: Any) -> Any:
    target = field.target_field if field.is_relation else field
    return target.to_python(value)


# ---------------------------------------------------------------------------------------------- planned transactions


def build_planned_state(
    planned: PlannedTransaction, patches: Overrides, *, settled_days: Iterable[dt.date] = ()
) -> PlannedState:
    """Return what changes may alter of a planned transaction; an invoice has its expected date attached."""
    return PlannedState(
        planned.id,
        planned.recurrence_rule(),
        planned.amount_value,
        planned.amount_currency,
        patches,
        planned.category_id,
        planned.counterparty_id,
        planned.pass_through_tax_amount,
        frozenset(settled_days),
        planned.expected.date if planned.is_invoice and planned.expected is not None else None,
    )


def find_settled_days(company_id: UUID, planned_ids: Collection[UUID]) -> Mapping[UUID, set[dt.date]]:
    """Return by id of a planned transaction the original dates that are paid or written off, in part at least."""
    days: defaultdict[UUID, set[dt.date]] = defaultdict(set)
    for planned_id, day in sum_settled_by_occurrence(company_id, planned_ids):
        days[planned_id].add(day)
    return days


def find_planned_targets(company_id: UUID, changes: Iterable[Any]) -> dict[UUID, PlannedTarget]:
    """Return the planned transactions that changes can apply to; one statement, none without such a change."""
    targeted = [change for change in changes if isinstance(change, Change)]
    planned_ids = {change.planned_id for change in targeted} - {None}
    counterparty_ids = {change.counterparty_id for change in targeted} - {None}
    category_ids = {category_id for change in targeted for category_id in change.category_ids}
    condition = Q()
    if planned_ids:
        condition |= Q(id__in=planned_ids)
    if counterparty_ids:
        condition |= Q(counterparty__in=counterparty_ids)
    if category_ids:
        overrides = PlannedOverride.objects.for_company(company_id).filter(category__in=category_ids)
        condition |= Q(category__in=category_ids) | Q(id__in=overrides.values("planned"))
    if not condition:
        return {}
    rows = PlannedTransaction.objects.for_company(company_id).filter(condition).order_by()
    return {
        planned_id: PlannedTarget(category_id, counterparty_id)
        for planned_id, category_id, counterparty_id in rows.values_list("id", "category_id", "counterparty_id")
    }


def list_rules_of_scenario(
    company_id: UUID, start: dt.date, end: dt.date, *, scenario: LoadedScenario | None
) -> Iterable[RuleWithOverrides]:
    """Return the planned transactions that can have an occurrence in [start, end], with a scenario's changes.

    Without a scenario one statement; with one two more at most.
    """
    if scenario is None:
        return read_planned_rules(company_id, start, end)
    window = scenario.build_window(start, end)
    rules = read_planned_rules(company_id, window.start, window.end)
    targets = find_planned_targets(company_id, scenario.changes)
    return apply_changes_to_rules(rules, scenario=scenario, targets=targets, window=window)


def apply_changes_to_rules(
    rules: Iterable[RuleWithOverrides],
    *,
    scenario: LoadedScenario,
    targets: Mapping[UUID, PlannedTarget],
    window: DayWindow,
) -> Iterator[RuleWithOverrides]:
    """Yield rules with the changes of a scenario, and those that it adds."""
    for rule_with_overrides in rules:
        rule, overrides, settled = rule_with_overrides
        if (target := targets.get(rule.id)) is None:
            yield rule_with_overrides
            continue
        state = PlannedState(
            rule.id,
            rule.recurrence_rule(),
            rule.amount,
            rule.currency,
            overrides,
            *target,
            settled_days=frozenset(settled),
        )
        yield build_changed_rule(rule, scenario.apply_changes_to_state(state, window=window), settled)
    for position, added in enumerate(scenario.changes):
        if isinstance(added, AddedPlanned) and not added.planned.is_invoice:
            state = build_planned_state(added.planned, added.patches)
            changed = scenario.apply_changes_to_state(state, window=window, after=position)
            yield build_changed_rule(build_planned_rule(added.planned), changed, {})


def build_changed_rule(rule: PlannedRule, state: PlannedState, settled: Mapping[dt.date, Decimal]) -> RuleWithOverrides:
    """Return a rule as its state says."""
    overrides = {day: patch for day, patch in state.overrides.items() if patch}
    return RuleWithOverrides(rule.with_changes(state.amount, state.rule), overrides, settled)


# ---------------------------------------------------------------------------------------------- invoices


def list_invoices_of_scenario(company_id: UUID, *, end: dt.date, scenario: LoadedScenario | None) -> list[OpenInvoice]:
    """Return the open invoices that are expected up to a day, with a scenario's changes."""
    if scenario is None:
        return list_open_invoices(company_id, end=end)
    return list_open_invoices(company_id, end=end, change_rows=partial(apply_changes_to_invoices, scenario=scenario))


def apply_changes_to_invoices(
    rows: Sequence[PlannedTransaction], *, scenario: LoadedScenario
) -> list[PlannedTransaction]:
    """Return invoices with the changes of a scenario, and those that it adds. They are not saved."""
    window = DayWindow(dt.date.min, dt.date.max)
    company_id = scenario.row.company_id
    targets = find_planned_targets(company_id, scenario.changes)
    settled_days = find_settled_days(company_id, [row.id for row in rows if row.id in targets])
    attach_expected_dates(rows)
    for row in rows:
        if row.id in targets:
            patches = {day: override.to_patch() for day, override in row.overrides.items()}
            state = build_planned_state(row, patches, settled_days=settled_days.get(row.id, ()))
            set_planned_state(row, scenario.apply_changes_to_state(state, window=window))
    added_rows = []
    for position, added in enumerate(scenario.changes):
        if isinstance(added, AddedPlanned) and added.planned.is_invoice:
            added_rows.append(build_added_invoice(added, scenario=scenario, window=window, position=position))
    return [*rows, *added_rows]


def build_added_invoice(
    added: AddedPlanned, *, scenario: LoadedScenario, window: DayWindow, position: int
) -> PlannedTransaction:
    """Return an invoice that the scenario adds at a position, with the changes behind it."""
    row = apply_patches(copy(added.planned), added.patches)
    attach_expected_dates([row])
    return set_planned_state(
        row, scenario.apply_changes_to_state(build_planned_state(row, added.patches), window=window, after=position)
    )


def set_planned_state(row: PlannedTransaction, state: PlannedState) -> PlannedTransaction:
    """Give a planned transaction that will not be saved the amount and overrides of a state."""
    row.amount_value = state.amount
    return apply_patches(row, state.overrides)


def apply_patches(row: PlannedTransaction, patches: Overrides) -> PlannedTransaction:
    """Attach overrides that will not be saved to a planned transaction."""
    row.overrides = {
        day: PlannedOverride(company_id=row.company_id, planned_id=row.id, original_date=day, **patch)
        for day, patch in patches.items()
    }
    return row


def build_planned_rule(planned: PlannedTransaction) -> PlannedRule:
    """Return the columns of a planned transaction as the forecast reads them."""
    return PlannedRule(
        planned.id,
        planned.account_id,
        planned.amount_value,
        planned.amount_currency,
        planned.start_date,
        planned.frequency,
        planned.interval,
        planned.last_day_of_month,
        planned.end_date,
        planned.end_count,
        planned.recurrence_rule().weekend_shift,
        planned.category_id if planned.is_total else None,
        planned.counterparty_id if planned.is_total else None,
        planned.transfer_account_id,
    )
