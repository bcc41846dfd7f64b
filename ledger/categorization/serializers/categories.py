"""Serializers of categories and counterparties."""

from typing import Any, ClassVar

from companies.api import fields
from companies.api.serializers import AUDIT_FIELDS, StrictModelSerializer
from ledger.categorization.fields import COUNTERPARTY_TEXTS
from ledger.models import MAX_PAYMENT_TERMS, Category, Counterparty, PlType

MAX_PL_TYPES = 100  # lines, repeated ones counted


class PlTypesField(fields.ListField):
    """P&L lines in statement order, without repetition."""

    child = fields.ChoiceField(choices=PlType.choices)

    def __init__(self, **kwargs: Any):
        super().__init__(max_length=MAX_PL_TYPES, **kwargs)

    def to_internal_value(self, data: Any) -> list[str]:
        requested = set(super().to_internal_value(data))
        return [pl_type for pl_type in PlType.values if pl_type in requested]


class CategorySerializer(StrictModelSerializer):
    """A category. Its `used` counts include transactions and planned transactions."""

    company_id = fields.IdField(read_only=True)
    name = fields.NameField(max_length=200)
    pl_types = PlTypesField(allow_empty=False)
    order = fields.OrderField(required=False)
    financing = fields.BooleanField(
        required=False,
        help_text="Whether it is money from owners or lenders: financing in `cashBridge`, excluded from `runway`.",
    )
    used = fields.CountField(read_only=True)
    used_transactions = fields.CountField(read_only=True)
    used_planned_transactions = fields.CountField(read_only=True)

    class Meta:
        model = Category
        fields: ClassVar[tuple[str, ...]] = (
            "id",
            "company_id",
            "name",
            "emoji",
            "pl_types",
            "system",
            "system_key",
            "financing",
            "order",
            *AUDIT_FIELDS,
            "used",
            "used_transactions",
            "used_planned_transactions",
        )
        read_only_fields: ClassVar[tuple[str, ...]] = ("id", "system", "system_key", *AUDIT_FIELDS)


class CounterpartySerializer(StrictModelSerializer):
    company_id = fields.IdField(read_only=True)
    name = fields.NameField(max_length=300)
    payment_terms = fields.IntegerField(
        allow_null=True,
        required=False,
        min_value=0,
        max_value=MAX_PAYMENT_TERMS,
        help_text="Days from invoice date to due date; null if none are agreed.",
    )

    class Meta:
        model = Counterparty
        fields: ClassVar[tuple[str, ...]] = (
            "id",
            "company_id",
            "type",
            "name",
            *(text.column for text in COUNTERPARTY_TEXTS),
            "payment_terms",
            *AUDIT_FIELDS,
        )
        read_only_fields: ClassVar[tuple[str, ...]] = ("id", *AUDIT_FIELDS)
        extra_kwargs: ClassVar[dict[str, Any]] = {text.column: text.serializer_options for text in COUNTERPARTY_TEXTS}
