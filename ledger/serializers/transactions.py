"""What is sent to and answered by the acts on transactions."""

from typing import Any

from rest_framework import serializers

from companies.api import fields
from companies.api.serializers import Shape
from ledger.dating import Rule
from ledger.models import PlType
from ledger.serializers.money import CurrencyField
from ledger.serializers.selections import MOST_IDS, IdListField, SelectionShape
from ledger.serializers.transaction_shape import CategorizationShape, CounterpartyRef, DateRuleShape
from ledger.splitting import Given

MOST_PARTS = 1000


class CategorizationMap(Shape):
    """The map by categorization id; a key that is no UUID is replaced by a new id."""

    categorizations = serializers.DictField(child=CategorizationShape())

    def validate_categorizations(self, value: dict[str, Any]) -> dict[str, Any]:
        if len(value) > MOST_PARTS:
            raise serializers.ValidationError(f"Must be at most {MOST_PARTS} categorizations.", code="too_many")
        return value


def given_parts(values: dict[str, Any]) -> list[Given]:
    """The parts of a checked CategorizationMap."""
    return [given_part(key, part) for key, part in values["categorizations"].items()]


def given_part(key: str, part: dict[str, Any]) -> Given:
    counterparty = part.get("counterparty") or {}
    return Given(
        key=key,
        category_id=part["category_id"],
        lines={line: value for line, value in (part.get("pl_split") or {}).items() if value is not None},
        counterparty_id=counterparty.get("id"),
        counterparty_type=counterparty.get("type"),
        rule=rule_of(part.get("using_date_rule")),
        pass_through_tax=part.get("pass_through_tax"),
        source_note=part.get("source_note"),
    )


def rule_of(value: dict[str, Any] | None) -> Rule:
    """The date rule of a checked DateRuleShape; transactionDate where there is none."""
    if value is None:
        return Rule()
    return Rule(value["type"], value.get("start_date"), value.get("end_date"), value.get("invoice_date"))


def unknown_names(body: Any) -> set[str]:
    """Fields of a map's categorizations that the service does not know, as categorizations/<key>/<field>."""
    parts = body.get("categorizations") if isinstance(body, dict) else None
    known = set(CategorizationShape().fields)
    return {
        f"categorizations/{key}/{name}"
        for key, part in (parts.items() if isinstance(parts, dict) else ())
        if isinstance(part, dict)
        for name in set(part) - known
    }


class CategorizeRequest(Shape):
    selection = SelectionShape()
    category_id = fields.IdField()
    pl_type = fields.ChoiceField(
        choices=PlType.choices, required=False, allow_null=True, help_text="needed where the category has several lines"
    )
    counterparty = CounterpartyRef(required=False, allow_null=True)
    using_date_rule = DateRuleShape(required=False, allow_null=True)
    pass_through_tax = fields.NumberField(required=False, allow_null=True)


def choice_of(values: dict[str, Any]) -> dict[str, Any]:
    """What a checked CategorizeRequest asks for, as ``categorize`` takes it."""
    counterparty = values.get("counterparty")
    return {
        "category_id": values["category_id"],
        "pl_type": values.get("pl_type"),
        "counterparty": (counterparty["id"], counterparty.get("type")) if counterparty else None,
        "rule": rule_of(values.get("using_date_rule")),
        "pass_through_tax": values.get("pass_through_tax"),
    }


class CategorizeResult(Shape):
    success = fields.FlagField()
    affected = fields.CountField()


class UncategorizeRequest(Shape):
    selection = SelectionShape()


class UncategorizeResult(CategorizeResult):
    counters_created = fields.CountField(help_text="other legs of transfers that were reopened")
    counters_skipped = fields.CountField(help_text="other legs that were selected too")


class IdsRequest(Shape):
    transaction_ids = IdListField()


class Amount(Shape):
    value = fields.NumberField()
    currency = CurrencyField()


class StatusResult(Shape):
    open_transaction_ids = serializers.ListField(child=fields.IdField(), max_length=MOST_IDS)
    amounts_by_id = serializers.DictField(child=Amount())


class DeleteResult(Shape):
    success = fields.FlagField()
    deleted_count = fields.CountField()


class LinkRequest(Shape):
    """Ids that are malformed or unknown are answered with 404."""

    source_transaction_id = fields.AnyTextField(allow_blank=True)
    source_categorization_id = fields.AnyTextField(required=False, allow_null=True, allow_blank=True)
    target_transaction_id = fields.AnyTextField(allow_blank=True)
    force = fields.FlagField(required=False)


class UnlinkRequest(Shape):
    transaction_id = fields.AnyTextField(allow_blank=True)
    categorization_id = fields.AnyTextField(allow_blank=True)
