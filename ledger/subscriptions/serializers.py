"""Subscriptions and their events on the wire; the bodies of imports are read by ledger.subscriptions.bodies."""

from datetime import date
from decimal import Decimal
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from companies.api import fields
from companies.api.serializers import AUDIT, RowShape, Shape
from companies.errors import FieldErrors
from ledger.bulk.shapes import ON_ERROR, skipped_rows
from ledger.models import BillingPeriod, Subscription, SubscriptionEvent
from ledger.money.amounts import amount_in, amount_out
from ledger.money.fields import AmountField, CurrencyField
from ledger.subscriptions.importing import LONGEST_ID, LONGEST_NAME, MOST_EVENTS, MOST_INTERVALS, SAID, negative

STATUSES = ["scheduled", "active", "ended"]


class SubscriptionShape(RowShape):
    """As of today: what the latest event in effect says."""

    company_id = fields.IdField(read_only=True)
    customer_id = fields.IdField(help_text="a counterparty of type customer")
    product_id = fields.IdField(allow_null=True, required=False)
    external_id = fields.TextField(allow_null=True, required=False, max_length=LONGEST_ID, min_length=1)
    status = serializers.SerializerMethodField(help_text="scheduled until its first event takes effect")
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
            "external_id",
            "status",
            "current_amount_value",
            "current_amount_currency",
            "interval",
            "interval_count",
            *AUDIT,
        )
        read_only_fields: ClassVar[tuple[str, ...]] = ("id", *AUDIT)

    @extend_schema_field({"type": "string", "enum": STATUSES})
    def get_status(self, row: Subscription) -> str:
        said = standing(row)
        if said is None:
            return "scheduled"
        return "active" if Decimal(said["amount"]) else "ended"

    @extend_schema_field(AmountField(allow_null=True))
    def get_current_amount_value(self, row: Subscription) -> str | None:
        said = standing(row)
        return amount_out(Decimal(said["amount"]), said["currency"]) if said else None

    @extend_schema_field(CurrencyField(allow_null=True))
    def get_current_amount_currency(self, row: Subscription) -> str | None:
        said = standing(row)
        return said["currency"] if said else None

    @extend_schema_field({"type": ["string", "null"], "enum": [*BillingPeriod.values, None]})
    def get_interval(self, row: Subscription) -> str | None:
        said = standing(row)
        return said["interval"] if said else None

    @extend_schema_field(fields.WholeField(min_value=1, max_value=MOST_INTERVALS, allow_null=True))
    def get_interval_count(self, row: Subscription) -> int | None:
        said = standing(row)
        return said["interval_count"] if said else None


def standing(row: Any) -> dict[str, Any] | None:
    """What the row was read with; nothing for one that was just made."""
    return getattr(row, "standing", None)


class EventShape(RowShape):
    company_id = fields.IdField(read_only=True)
    subscription_id = fields.IdField()
    effective_date = fields.DayField(help_text="from this day on it is worth the amount; mrr counts by it")
    committed_date = fields.DayField(help_text="when it was agreed; cmrr counts by it")
    amount_value = serializers.SerializerMethodField(
        "get_amount_value", help_text="for one interval; 0 ends the subscription"
    )
    amount_currency = CurrencyField()
    interval = fields.ChoiceField(choices=BillingPeriod.choices)
    interval_count = fields.WholeField(min_value=1, max_value=MOST_INTERVALS)
    external_id = fields.TextField(allow_null=True)
    retracted_time = fields.TimeField(allow_null=True)

    class Meta:
        model = SubscriptionEvent
        fields: ClassVar[tuple[str, ...]] = ("id", "company_id", *SAID, *AUDIT)
        read_only_fields: ClassVar[tuple[str, ...]] = fields

    @extend_schema_field(AmountField())
    def get_amount_value(self, row: SubscriptionEvent) -> str:
        return amount_out(row.amount_value, row.amount_currency)


class EventFields(Shape):
    """What an event says, sent alone or in an import; what is left out or null takes its default."""

    effective_date = fields.DayField()
    committed_date = fields.DayField(required=False, allow_null=True, help_text="effectiveDate where it is left out")
    amount_value = AmountField(help_text="a string, not negative, with no more decimals than the currency has")
    amount_currency = CurrencyField()
    interval = fields.ChoiceField(
        choices=BillingPeriod.choices, required=False, allow_null=True, help_text="month where it is left out"
    )
    interval_count = fields.WholeField(
        required=False, allow_null=True, min_value=1, max_value=MOST_INTERVALS, help_text="1 where it is left out"
    )
    external_id = fields.TextField(required=False, allow_null=True, min_length=1, max_length=LONGEST_ID)


class NewEvent(EventFields):
    subscription_id = fields.IdField()


class ImportedEvent(EventFields):
    """Names its subscription by our id, or by another system's; then what is missing is created."""

    subscription_id = fields.IdField(required=False, allow_null=True)
    subscription_external_id = fields.TextField(
        required=False, allow_null=True, min_length=1, max_length=LONGEST_ID, help_text="in place of subscriptionId"
    )
    customer_external_id = fields.TextField(required=False, allow_null=True, min_length=1, max_length=LONGEST_ID)
    customer_name = fields.NameField(required=False, allow_null=True, max_length=LONGEST_NAME)
    product_external_id = fields.TextField(required=False, allow_null=True, min_length=1, max_length=LONGEST_ID)
    product_name = fields.NameField(required=False, allow_null=True, max_length=LONGEST_NAME)


class EventImport(Shape):
    events = serializers.ListField(child=ImportedEvent(), max_length=MOST_EVENTS)
    on_error = fields.ChoiceField(choices=ON_ERROR, required=False, default="abort")
    dry_run = fields.FlagField(required=False, default=False)


class EventImportResult(Shape):
    success = fields.FlagField()
    count = fields.CountField(help_text="how many were stored, or would be")
    duplicates = fields.CountField(help_text="items whose externalId is known")
    errors = skipped_rows()  # type: ignore[assignment]
    dry_run = fields.FlagField()


def event_values(sent: dict[str, Any]) -> dict[str, Any]:
    """An event's columns from what was sent. Raises FieldErrors with the amount's fault."""
    effective: date = sent["effective_date"]
    amount = amount_in(sent["amount_value"], sent["amount_currency"], pointer="#/amountValue")
    if amount < 0:
        raise FieldErrors([("#/amountValue", *negative())])
    return {
        "subscription_id": sent["subscription_id"],
        "effective_date": effective,
        "committed_date": sent.get("committed_date") or effective,
        "amount_value": amount,
        "amount_currency": sent["amount_currency"],
        "interval": sent.get("interval") or BillingPeriod.MONTH.value,
        "interval_count": sent.get("interval_count") or 1,
        "external_id": sent.get("external_id"),
    }
