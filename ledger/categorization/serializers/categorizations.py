"""Serializers of the operations that categorize and uncategorize transactions."""

from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers

from companies.api import fields
from companies.api.serializers import StrictSerializer
from ledger.categorization.actions.split import CategorizationInput
from ledger.models import PlType
from ledger.recognition.service_periods import RecognitionRule
from ledger.transactions.serializers import (
    CategorizationSerializer,
    CounterpartyRef,
    RecognitionSerializer,
    SelectionSerializer,
)

MAX_CATEGORIZATIONS = 1000


class CategorizationMap(StrictSerializer):
    """Categorizations by ID. Keys that are not UUIDs are replaced by new IDs."""

    categorizations = serializers.DictField(child=CategorizationSerializer())

    def validate_categorizations(self, value: dict[str, Any]) -> dict[str, Any]:
        if len(value) > MAX_CATEGORIZATIONS:
            detail = _("At most {most} categorizations are allowed.").format(most=MAX_CATEGORIZATIONS)
            raise serializers.ValidationError(detail, code="too_many")
        return value


def to_categorization_inputs(values: dict[str, Any]) -> list[CategorizationInput]:
    """Return the categorizations of a validated CategorizationMap."""
    return [to_categorization_input(key, categorization) for key, categorization in values["categorizations"].items()]


def to_categorization_input(key: str, categorization: dict[str, Any]) -> CategorizationInput:
    """Return one categorization of a validated CategorizationMap."""
    counterparty = categorization.get("counterparty") or {}
    return CategorizationInput(
        key=key,
        category_id=categorization["category_id"],
        lines={
            pl_type: value for pl_type, value in (categorization.get("pl_split") or {}).items() if value is not None
        },
        counterparty_id=counterparty.get("id"),
        counterparty_type=counterparty.get("type"),
        rule=to_recognition_rule(categorization.get("using_date_rule")),
        pass_through_tax=categorization.get("pass_through_tax"),
        source_note=categorization.get("source_note"),
    )


def to_recognition_rule(value: dict[str, Any] | None) -> RecognitionRule:
    """Return the date rule of a validated DateRuleSerializer; transactionDate if there is none."""
    if value is None:
        return RecognitionRule()
    is_catch_up = value.get("recognize_from") is not None
    return RecognitionRule(
        value["type"], value.get("start_date"), value.get("end_date"), value.get("invoice_date"), is_catch_up
    )


class CategorizeRequest(StrictSerializer):
    selection = SelectionSerializer()
    category_id = fields.IdField()
    pl_type = fields.ChoiceField(
        choices=PlType.choices, required=False, allow_null=True, help_text="Required if the category has several."
    )
    counterparty = CounterpartyRef(required=False, allow_null=True)
    using_date_rule = RecognitionSerializer(required=False, allow_null=True)
    pass_through_tax = fields.NumberField(required=False, allow_null=True)


def to_categorize_arguments(values: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of ``categorize_transactions`` for a validated CategorizeRequest."""
    counterparty = values.get("counterparty")
    return {
        "category_id": values["category_id"],
        "pl_type": values.get("pl_type"),
        "counterparty": (counterparty["id"], counterparty.get("type")) if counterparty else None,
        "rule": to_recognition_rule(values.get("using_date_rule")),
        "pass_through_tax": values.get("pass_through_tax"),
    }


class CategorizeResult(StrictSerializer):
    success = fields.BooleanField()
    affected = fields.CountField()


class UncategorizeRequest(StrictSerializer):
    selection = SelectionSerializer()


class UncategorizeResult(CategorizeResult):
    counters_created = fields.CountField(help_text="Number of other transfer legs that became uncategorized.")
    counters_skipped = fields.CountField(help_text="Number of other transfer legs that you selected too.")
