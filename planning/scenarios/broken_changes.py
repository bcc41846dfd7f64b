"""Broken changes of scenarios: those that refer to something deleted."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from ledger.models import Account, Category, Counterparty
from planning.models import PlannedTransaction, Scenario

MODEL_BY_COLUMN = {
    "account_id": Account,
    "transfer_account_id": Account,
    "category_id": Category,
    "counterparty_id": Counterparty,
}


def find_broken_changes(company_id: UUID, changes_of_scenarios: Sequence[Sequence[Any]]) -> list[set[int]]:
    """Return for each scenario the positions of changes whose references are gone; at most one query a table."""
    references = [
        (place, position, model, row_id)
        for place, changes in enumerate(changes_of_scenarios)
        for position, stored in enumerate(changes)
        for model, row_id in iter_change_references(stored)
    ]
    known_ids: set[UUID] = set()
    for model in dict.fromkeys(model for _, _, model, _ in references):
        wanted = {row_id for _, _, kind, row_id in references if kind is model}
        known_ids.update(model.objects.for_company(company_id).filter(id__in=wanted).values_list("id", flat=True))
    broken: list[set[int]] = [set() for _ in changes_of_scenarios]
    for place, position, _, row_id in references:
        if row_id not in known_ids:
            broken[place].add(position)
    return broken


def attach_broken_positions(scenarios: Sequence[Scenario]) -> Sequence[Scenario]:
    """Attach to each of a company's scenarios the positions of its broken changes; adopted ones have none."""
    if scenarios:
        changes = [[] if scenario.is_adopted else scenario.changes for scenario in scenarios]
        for scenario, broken in zip(scenarios, find_broken_changes(scenarios[0].company_id, changes), strict=True):
            scenario.broken_positions = broken
    return scenarios


def iter_change_references(stored: Mapping[str, Any]) -> Iterator[tuple[Any, UUID]]:
    """Yield the (model, id) of everything that a stored change refers to."""
    named = {"plannedTransactionId": PlannedTransaction, "counterpartyId": Counterparty, "categoryId": Category}
    for name, model in named.items():
        if stored.get(name):
            yield model, UUID(stored[name])
    columns = stored.get("columns") or {}
    for values in (columns, *(stored.get("patches") or {}).values()):
        for name, model in MODEL_BY_COLUMN.items():
            if values.get(name):
                yield model, UUID(values[name])
