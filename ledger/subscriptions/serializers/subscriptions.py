"""The serializer of subscriptions."""

from decimal import Decimal
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from companies.api import fields
from companies.api.serializers import AUDIT_FIELDS, StrictModelSerializer
from ledger.models import BillingPeriod, Subscription
from ledger.money.amounts import format_plain_amount
from ledger.money.fields import AmountField, CurrencyField
from ledger.subscriptions.actions.subscription_event_import import MAX_INTERVAL_COUNT
from ledger.subscriptions.fields import SUBSCRIPTION_TEXTS

SUBSCRIPTION_STATUSES = ["scheduled", "active", "ended"]


class SubscriptionSerializer(StrictModelSerializer):
    """A subscription. Its amount and interval are those of the latest event in effect today."""

    company_id = fields.IdField(read_only=True)
    customer_id = fields.IdField(help_text="Counterparty of type customer.")
    product_id = fields.IdField(allow_null=True, required=False)
    status = serializers.SerializerMethodField(help_text="`scheduled` until its first event takes effect.")
    current_amount_value = serializers.SerializerMethodField("get_current_amount_value")
    current_amount_currency = serializers.SerializerMethodField("get_current_amount_currency")
    interval = serializers.SerializerMethodField()
    interval_count = serializers.SerializerMethodField("get_interval_count")

    class Meta:
        model = Subscription
        fields: ClassVar[tuple[str, ...]] = (
            "id",
            "company_id",
            "customer_id",
            "product_id",
            *(text.column for text in SUBSCRIPTION_TEXTS),
            "status",
            "current_amount_value",
            "current_amount_currency",
            "interval",
            "interval_count",
            *AUDIT_FIELDS,
        )
        read_only_fields: ClassVar[tuple[str, ...]] = ("id", *AUDIT_FIELDS)
        extra_kwargs: ClassVar[dict[str, Any]] = {
            text.column: text.serializer_options | {"min_length": 1} for text in SUBSCRIPTION_TEXTS
        }

    @extend_schema_field({"type": "string", "enum": SUBSCRIPTION_STATUSES})
    def get_status(self, row: Subscription) -> str:
        terms = get_current_terms(row)
        if terms is None:
            return "scheduled"
        return "active" if Decimal(terms["amount"]) else "ended"

    @extend_schema_field(AmountField(allow_null=True))
    def get_current_amount_value(self, row: Subscription) -> str | None:
        terms = get_current_terms(row)
        return format_plain_amount(Decimal(terms["amount"]), terms["currency"]) if terms else None

    @extend_schema_field(CurrencyField(allow_null=True))
    def get_current_amount_currency(self, row: Subscription) -> str | None:
        terms = get_current_terms(row)
        return terms["currency"] if terms else None

    @extend_schema_field({"type": ["string", "null"], "enum": [*BillingPeriod.values, None]})
    def get_interval(self, row: Subscription) -> str | None:
        terms = get_current_terms(row)
        return terms["interval"] if terms else None

    @extend_schema_field(fields.IntegerField(min_value=1, max_value=MAX_INTERVAL_COUNT, allow_null=True))
    def get_interval_count(self, row: Subscription) -> int | None:
        terms = get_current_terms(row)
        return terms["interval_count"] if terms else None


def get_current_terms(row: Any) -> dict[str, Any] | None:
    """Return the current terms that the queryset annotated; None for a subscription that was just created."""
    return getattr(row, "standing", None)
