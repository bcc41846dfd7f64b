"""What is sent to and answered by the acts that say what transactions were for."""

from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers

from companies.api import fields
from companies.api.serializers import Shape
from ledger.models import PlType
from ledger.purposes.splitting import Given
from ledger.recognition.dating import Rule
from ledger.transactions.shapes import CategorizationShape, CounterpartyRef, DateRuleShape, SelectionShape

MOST_PARTS = 1000


class CategorizationMap(Shape):
    """The map by categorization id; a key that is no UUID is replaced by a new id."""

    categorizations = serializers.DictField(child=CategorizationShape())

    def validate_categorizations(self, value: dict[str, Any]) -> dict[str, Any]:
        if len(value) > MOST_PARTS:
            detail = _("Must be at most {most} categorizations.").format(most=MOST_PARTS)
            raise serializers.ValidationError(detail, code="too_many")
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
