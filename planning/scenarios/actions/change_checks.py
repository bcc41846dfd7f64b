"""Checks of a scenario's changes, and the JSON in which they are stored."""

import datetime as dt
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.utils.translation import gettext as _

from companies.errors import ValidationFailed
from companies.models import Company
from companies.models.tenancy import generate_id
from ledger.models import Category, Counterparty
from planning.body_checks import BodyChecks
from planning.calc.scenario_changes import Change, PlannedState, find_contradicting_changes
from planning.models import PlannedSource, PlannedTransaction, attach_overrides
from planning.plan.actions.plan_items import count_needed_decimals, validate_plan_item_values
from planning.planned_transactions.actions.planned_transactions import validate_planned_transaction_values
from planning.planned_transactions.queries.expected_dates import attach_expected_dates
from planning.scenarios import queries

MAX_PERCENT_DECIMALS = 6
MAX_DATE = dt.date(2199, 12, 31)
PRIVATE_KEYS = ("id", "columns", "patches")  # of a stored change of kind add
ADDED_ROWS = {"planned_transaction": queries.ADDED_PLANNED, "plan_item": queries.ADDED_ITEM}
TARGETS = {
    "category_id": "categoryId",
    "pl_type": "plType",
    "planned_transaction_id": "plannedTransactionId",
    "counterparty_id": "counterpartyId",
}
REFERENCES = {
    "category_id": Category,
    "planned_transaction_id": PlannedTransaction,
    "counterparty_id": Counterparty,
}
WIRE_NAMES = {**ADDED_ROWS, **TARGETS, "percent": "percent", "days": "days", "from_date": "from", "to_date": "to"}
TARGETS_OF_KIND = {
    "add": tuple(ADDED_ROWS),
    "scale": tuple(TARGETS),
    "shift": ("planned_transaction_id", "counterparty_id"),
    "stop": ("planned_transaction_id", "counterparty_id", "category_id"),
}
REQUIRED_OF_KIND = {"add": (), "scale": ("percent",), "shift": ("days",), "stop": ("from_date",)}
OPTIONAL_OF_KIND = {"add": (), "scale": ("from_date", "to_date"), "shift": ("from_date", "to_date"), "stop": ()}


def validate_changes(
    company: Company,
    changes: Sequence[Mapping[str, Any]],
    *,
    stored_changes: Sequence[Mapping[str, Any]],
    today: dt.date,
) -> list[dict[str, Any]]:
    """Validate parsed changes and return them as they are stored.

    A change that is stored already may be sent again when what it refers to is gone.

    Raises:
        ValidationFailed: with every mistake; changes that contradict each other have a pointer each.
    """
    checks, results = BodyChecks(company), list[dict[str, Any]]()
    for position, values in enumerate(changes):
        pointer = f"#/changes/{position}"
        known = find_stored_change(values, stored_changes)
        if known is not None:
            results.append(known)
            continue
        check_change_fields(checks, values, pointer)
        check_change_values(checks, values, pointer)
        results.append(build_stored_change(checks, values, pointer))
    checks.raise_if_invalid()
    reject_contradictions(company, results, today=today)
    return results


def find_stored_change(values: Mapping[str, Any], stored_changes: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the stored change that is sent again unchanged; None for another one."""
    sent = build_public_change(values)
    for stored in stored_changes:
        if {name: value for name, value in stored.items() if name not in PRIVATE_KEYS} == sent:
            return dict(stored)
    return None


def build_public_change(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a parsed change as an object of the API, in JSON types, without fields that are not set."""
    fields = {"kind": values["kind"]}
    for name, wire_name in WIRE_NAMES.items():
        if (value := values.get(name)) is not None:
            fields[wire_name] = value["public"] if name in ADDED_ROWS else value
    if values.get("percent") is not None:
        fields["percent"] = format(values["percent"].normalize(), "f")
    return to_json_values(fields)


class ExactEncoder(DjangoJSONEncoder):
    """JSON with times to the microsecond, which Django cuts to milliseconds."""

    def default(self, o: Any) -> Any:
        return o.isoformat() if isinstance(o, dt.datetime) else super().default(o)


def to_json_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with dates, times, amounts and ids as text."""
    encoded: dict[str, Any] = json.loads(json.dumps(values, cls=ExactEncoder))
    return encoded


def list_sent_fields(values: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    return [name for name in names if values.get(name) is not None]


def check_change_fields(checks: BodyChecks, values: Mapping[str, Any], pointer: str) -> None:
    """Check that a change has one target, what its kind needs and nothing of other kinds."""
    kind = values["kind"]
    targets = list_sent_fields(values, TARGETS_OF_KIND[kind])
    if not targets:
        names = ", ".join(WIRE_NAMES[name] for name in TARGETS_OF_KIND[kind])
        checks.add_error(pointer, "required", _("Set one of {names}.").format(names=names))
    for name in REQUIRED_OF_KIND[kind]:
        if values.get(name) is None:
            checks.add_error(f"{pointer}/{WIRE_NAMES[name]}", "required", _("This field is required."))
    allowed = {*targets[:1], *REQUIRED_OF_KIND[kind], *OPTIONAL_OF_KIND[kind]}
    for name in list_sent_fields(values, tuple(WIRE_NAMES)):
        if name not in allowed:
            message = _("A {kind} change of this target has no such field.").format(kind=kind)
            checks.add_error(f"{pointer}/{WIRE_NAMES[name]}", "contradicts_kind", message)


def check_change_values(checks: BodyChecks, values: Mapping[str, Any], pointer: str) -> None:
    """Check references, period and percentage of a change."""
    for name, model in REFERENCES.items():
        checks.add_reference(model, values.get(name), f"{pointer}/{WIRE_NAMES[name]}")
    start, end = values.get("from_date"), values.get("to_date")
    for name, day in (("from", start), ("to", end)):
        if day and day > MAX_DATE:
            message = _("Must not be after {day}.").format(day=MAX_DATE.isoformat())
            checks.add_error(f"{pointer}/{name}", "out_of_range", message)
    if start and end and end < start:
        checks.add_error(f"{pointer}/to", "end_before_start", _("Must not be before from."))
    percent = values.get("percent")
    if percent is not None and count_needed_decimals(percent) > MAX_PERCENT_DECIMALS:
        message = _("At most {count} decimals are allowed.").format(count=MAX_PERCENT_DECIMALS)
        checks.add_error(f"{pointer}/percent", "too_many_decimals", message)


def build_stored_change(checks: BodyChecks, values: Mapping[str, Any], pointer: str) -> dict[str, Any]:
    """Return a change as it is stored; an added row with its id and columns. Adds the errors of the row."""
    stored = build_public_change(values)
    body = next((name for name in ADDED_ROWS if values.get(name) is not None), None)
    if body is None or values["kind"] != "add":
        return stored
    try:
        row = build_added_columns(checks.company, body, values[body])
    except ValidationFailed as error:
        place = f"{pointer}/{ADDED_ROWS[body]}"
        checks.errors += [(each.replace("#", place, 1), code, detail) for each, code, detail in error.errors]
        return stored
    if counterparty_id := row["columns"].get("counterparty_id"):
        counterparty = Counterparty.objects.for_company(checks.company.id).get(id=counterparty_id)
        stored[ADDED_ROWS[body]]["counterparty"] = {"type": counterparty.type, "id": str(counterparty.id)}
    return {**stored, "id": str(generate_id()), **to_json_values(row)}


def build_added_columns(company: Company, body: str, values: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of the row that a body makes, and the patches of its overrides.

    Raises:
        ValidationFailed: the values do not fit together.
    """
    parsed = values["parsed"]
    if body == "plan_item":
        return {"columns": validate_plan_item_values(company, parsed)}
    planned = PlannedTransaction(company=company)
    planned.overrides = {}
    columns, patches = validate_planned_transaction_values(planned, parsed)
    return {
        "columns": {**columns, "source": PlannedSource.API},
        "patches": {day.isoformat(): patch for day, patch in patches.items()},
    }


def reject_contradictions(company: Company, stored_changes: Sequence[Mapping[str, Any]], *, today: dt.date) -> None:
    """Reject changes that contradict each other on one occurrence.

    Raises:
        ValidationFailed: with two pointers for each pair.
    """
    if not any(stored["kind"] == "stop" for stored in stored_changes):
        return
    category_lines = queries.load_category_lines(company.id, stored_changes)
    parsed_changes = [
        (position, queries.parse_stored_change(company.id, stored, category_lines, today=today))
        for position, stored in enumerate(stored_changes)
    ]
    changes = [(position, change) for position, change in parsed_changes if isinstance(change, Change)]
    states = {state.id: state for state in iter_target_states(company, [change for _, change in changes])}
    contradictions = set(find_contradicting_changes(changes, states))
    for added_position, added in parsed_changes:
        if isinstance(added, queries.AddedPlanned):
            later_changes = [(position, change) for position, change in changes if position > added_position]
            contradictions |= {*find_contradicting_changes(later_changes, {added.planned.id: build_added_state(added)})}
    errors = []
    for stop, other in sorted(contradictions):
        for position, opposite in ((stop, other), (other, stop)):
            message = _("This change contradicts change {number} on the same occurrence.").format(number=opposite + 1)
            errors.append((f"#/changes/{position}", "contradicting_changes", message))
    if errors:
        raise ValidationFailed(errors)


def build_added_state(added: queries.AddedPlanned) -> PlannedState:
    """Build the state of a planned transaction that a scenario adds."""
    attach_expected_dates([queries.apply_patches(added.planned, added.patches)])
    return queries.build_planned_state(added.planned, added.patches)


def iter_target_states(company: Company, changes: Sequence[Change]) -> Iterator[PlannedState]:
    """Yield the planned transactions that changes can apply to."""
    targets = queries.find_planned_targets(company.id, changes)
    rows = PlannedTransaction.objects.for_company(company.id).filter(id__in=list(targets))
    for planned in attach_overrides(list(rows)):
        patches = {day: row.to_patch() for day, row in planned.overrides.items()}
        yield queries.build_planned_state(planned, patches)
