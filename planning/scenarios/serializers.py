"""Serializers of scenarios and their changes."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from rest_framework import serializers

from companies.api import fields
from companies.api.fields import to_json_number
from companies.api.serializers import AUDIT_FIELDS, StrictModelSerializer, StrictSerializer
from ledger.models import PlType
from planning.calc.scenario_changes import CHANGE_KINDS
from planning.models import Scenario
from planning.plan.serializers import PlanItemSerializer
from planning.planned_transactions.serializers import (
    RECURRENCE_END_TYPES,
    PlannedTransactionSerializer,
    RecurrenceEnd,
)
from planning.scenarios.actions.change_checks import PRIVATE_KEYS
from planning.scenarios.actions.scenarios import MAX_CHANGES

MIN_PERCENT, MAX_PERCENT = Decimal(-100), Decimal(1000)
MAX_SHIFT_DAYS = 3650


def copy_known_fields(field: Any, value: Any) -> Any:
    """Return a JSON value as it is stored: without unknown fields, with defaults of objects, and numbers as exact
    text.
    """
    if isinstance(field, fields.NumberField) and value is not None:
        return format(Decimal(str(value)).normalize(), "f")
    if isinstance(field, serializers.Serializer) and isinstance(value, Mapping):
        known_fields = {name: each for name, each in field.fields.items() if not each.read_only}
        if getattr(field, "sparse", False):
            known_fields = {name: each for name, each in known_fields.items() if name in value}
        return {
            name: copy_known_fields(subfield, value[name]) if name in value else get_default_json_value(subfield)
            for name, subfield in known_fields.items()
        }
    if isinstance(field, serializers.DictField) and isinstance(value, Mapping):
        return {name: copy_known_fields(field.child, each) for name, each in value.items()}
    return value


def get_default_json_value(field: Any) -> Any:
    """Return the JSON value of a field that was not sent."""
    if isinstance(field, RecurrenceEnd):
        return {"type": RECURRENCE_END_TYPES[0], "date": None, "count": None}
    return None if field.default is serializers.empty else field.default


def format_stored_value(field: Any, value: Any) -> Any:
    """Return a stored JSON value for the response: numbers as numbers."""
    if isinstance(field, fields.NumberField) and value is not None:
        return to_json_number(Decimal(value))
    if isinstance(field, serializers.Serializer) and isinstance(value, Mapping):
        return {name: format_stored_value(field.fields[name], each) for name, each in value.items()}
    return value


class StoredBodyMixin:
    """Serializer mixin: a body that creates a row elsewhere, kept both as it was sent and as it was parsed."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        parsed = super().to_internal_value(data)  # type: ignore[misc]
        return {"parsed": parsed, "public": copy_known_fields(self, data)}

    def to_representation(self, stored: Any) -> Any:
        return format_stored_value(self, stored)


def list_body_fields(serializer_class: Any) -> tuple[str, ...]:
    """Return the fields of a resource that its body has."""
    return tuple(name for name in serializer_class.Meta.fields if name not in serializer_class.Meta.read_only_fields)


class ScenarioPlannedTransaction(StoredBodyMixin, PlannedTransactionSerializer):  # type: ignore[misc]
    """The body that creates a planned transaction."""

    sparse = True
    company_id = None  # type: ignore[assignment]

    class Meta(PlannedTransactionSerializer.Meta):
        fields = list_body_fields(PlannedTransactionSerializer)
        read_only_fields = ()  # type: ignore[assignment]


class ScenarioPlanItem(StoredBodyMixin, PlanItemSerializer):  # type: ignore[misc]
    """The body that creates a plan item."""

    sparse = True
    company_id = None  # type: ignore[assignment]

    class Meta(PlanItemSerializer.Meta):
        fields = list_body_fields(PlanItemSerializer)  # type: ignore[assignment]
        read_only_fields = ()  # type: ignore[assignment]


class ScenarioChange(StrictSerializer):
    """A change of what is planned, with one target.

    `add` takes `plannedTransaction` or `planItem`, `scale` a `percent`, `shift` a number of `days`, `stop` a `from`.
    """

    sparse = True
    kind = fields.ChoiceField(choices=CHANGE_KINDS)
    planned_transaction = ScenarioPlannedTransaction(
        required=False, allow_null=True, help_text="Planned transaction to add."
    )
    plan_item = ScenarioPlanItem(required=False, allow_null=True, help_text="Plan item to add.")
    category_id = fields.IdField(
        required=False, allow_null=True, help_text="Category whose planned transactions and plan items change."
    )
    pl_type = fields.ChoiceField(
        choices=PlType.choices,
        required=False,
        allow_null=True,
        help_text="P&L line whose plan items change, and planned transactions in categories of this line only.",
    )
    planned_transaction_id = fields.IdField(
        required=False, allow_null=True, help_text="Planned transaction that changes."
    )
    counterparty_id = fields.IdField(
        required=False, allow_null=True, help_text="Counterparty whose planned transactions change."
    )
    percent = fields.NumberField(
        minimum=MIN_PERCENT,
        maximum=MAX_PERCENT,
        required=False,
        allow_null=True,
        help_text="Percentage to add to each amount, -100 to 1000; amounts are rounded half up.",
    )
    days = fields.IntegerField(
        min_value=-MAX_SHIFT_DAYS,
        max_value=MAX_SHIFT_DAYS,
        required=False,
        allow_null=True,
        help_text="Days by which payments are later; negative for earlier.",
    )
    from_date = fields.DateField(
        required=False, allow_null=True, help_text="First original date that changes; null for the first of all."
    )
    to_date = fields.DateField(
        required=False, allow_null=True, help_text="Last original date that changes; null for no end."
    )
    broken = fields.BooleanField(
        read_only=True, help_text="Whether something it refers to was deleted; it then changes nothing."
    )

    def get_fields(self) -> dict[str, Any]:
        """Name the period `from` and `to`, which Python cannot declare."""
        names = {"fromDate": "from", "toDate": "to"}
        return {names.get(name, name): field for name, field in super().get_fields().items()}

    def to_representation(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: format_stored_value(self.fields[name], value)
            for name, value in stored.items()
            if name not in PRIVATE_KEYS
        }


class ScenarioSerializer(StrictModelSerializer):
    company_id = serializers.UUIDField(read_only=True)
    name = fields.NameField(max_length=300)
    changes = fields.ListField(
        child=ScenarioChange(), max_length=MAX_CHANGES, help_text="Changes, applied in this order."
    )
    adoption_id = fields.IdField(
        read_only=True, allow_null=True, help_text="Adoption that made the changes; null if not adopted."
    )
    adopted_time = fields.TimeField(
        read_only=True, allow_null=True, help_text="Time of the adoption; null if not adopted."
    )

    class Meta:
        model = Scenario
        fields = ("id", "company_id", "name", "changes", "adoption_id", "adopted_time", *AUDIT_FIELDS)
        read_only_fields = ("id", "company_id", "adoption_id", "adopted_time", *AUDIT_FIELDS)

    def to_representation(self, scenario: Scenario) -> dict[str, Any]:
        """`broken_positions` of the row, set by the view, say which changes are broken."""
        data = super().to_representation(scenario)
        broken: set[int] = getattr(scenario, "broken_positions", set())
        for position, change in enumerate(data["changes"]):
            change["broken"] = position in broken
        return data


class AdoptionSerializer(StrictSerializer):
    """The adoption of a scenario."""

    adoption_id = fields.IdField(help_text="Id of the adoption.")
