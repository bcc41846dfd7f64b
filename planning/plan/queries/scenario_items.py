"""Plan items as a scenario changes them."""

import datetime as dt
from dataclasses import replace
from uuid import uuid5

from companies.models import Company
from ledger.calc.months import get_first_day_of_month
from planning.calc.scenario_plan import PlanItemState
from planning.models import PlanItem, Scenario
from planning.plan.item_states import build_item_state
from planning.scenarios.queries import LoadedScenario


def list_plan_items_of_scenario(company: Company, scenario: LoadedScenario) -> list[PlanItem]:
    """Return the plan items of a scenario, newest first; none is saved.

    An item that the scenario makes has an id of its own, which is the same in every answer, and the audit fields of
    the scenario.
    """
    items = {item.id: item for item in PlanItem.objects.for_company(company.id)}
    states = scenario.apply_changes_to_items(
        [build_item_state(item) for item in items.values()], through=get_first_day_of_month(dt.date.max)
    )
    rows = [
        build_scenario_plan_item(company, scenario.row, number, state, items.get(state.id) if state.id else None)
        for number, state in enumerate(states)
    ]
    return sorted(rows, key=lambda row: row.id, reverse=True)


def build_scenario_plan_item(
    company: Company, scenario: Scenario, number: int, state: PlanItemState, item: PlanItem | None
) -> PlanItem:
    """Return a plan item with the values of a state: a stored one, or a new one with the scenario's audit fields."""
    if item is not None:
        item.amount_value, item.duration = state.amount.amount, state.duration
        return item
    new_item = build_plan_item(company, replace(state, id=state.id or uuid5(scenario.id, str(number))))
    for name in ("created_time", "created_user_id", "last_updated_time", "last_updated_user_id"):
        setattr(new_item, name, getattr(scenario, name))
    return new_item


def build_plan_item(company: Company, state: PlanItemState) -> PlanItem:
    """Return a plan item with the values of a state, not saved."""
    return PlanItem(
        company=company,
        id=state.id,
        month=state.month,
        pl_type=state.pl_type,
        category_id=state.category_id,
        amount_type=state.amount.type,
        amount_value=state.amount.amount,
        amount_currency=state.currency,
        relative_change=state.amount.relative_change if state.amount.type == "relative" else None,
        duration=state.duration,
        frequency=state.frequency,
    )
