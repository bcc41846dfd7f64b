"""Serializers of subscription events; import bodies are read by `event_import_body`."""

from datetime import date
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from companies.api import fields
from companies.api.serializers import AUDIT_FIELDS, StrictModelSerializer, StrictSerializer
from companies.errors import ValidationFailed
from ledger.bulk.serializers import ON_ERROR_MODES, build_skipped_rows_field
from ledger.models import BillingPeriod, SubscriptionEvent
from ledger.money.amounts import format_plain_amount, parse_api_amount
from ledger.money.fields import AmountField, CurrencyField
from ledger.subscriptions.actions.subscription_event_import import (
    EVENT_COLUMNS,
    MAX_EVENTS,
    MAX_ID_LENGTH,
    MAX_INTERVAL_COUNT,
    MAX_NAME_LENGTH,
    build_negative_amount_error,
)


class EventSerializer(StrictModelSerializer):
    company_id = fields.IdField(read_only=True)
    subscription_id = fields.IdField()
    effective_date = fields.DateField(help_text="Date from which the amount applies and counts in MRR.")
    committed_date = fields.DateField(
        help_text="Date on which it was signed and from which it counts in committed MRR."
    )
    amount_value = serializers.SerializerMethodField(
        "get_amount_value", help_text="Amount per interval; 0 ends the subscription."
    )
    amount_currency = CurrencyField()
    interval = fields.ChoiceField(choices=BillingPeriod.choices)
    interval_count = fields.IntegerField(min_value=1, max_value=MAX_INTERVAL_COUNT)
    external_id = fields.TextField(allow_null=True)
    retracted_time = fields.TimeField(allow_null=True)

    class Meta:
        model = SubscriptionEvent
        fields: ClassVar[tuple[str, ...]] = ("id", "company_id", *EVENT_COLUMNS, *AUDIT_FIELDS)
        read_only_fields: ClassVar[tuple[str, ...]] = fields

    @extend_schema_field(AmountField())
    def get_amount_value(self, row: SubscriptionEvent) -> str:
        return format_plain_amount(row.amount_value, row.amount_currency)


class EventFields(StrictSerializer):
    """An event, created or imported. Fields that are null or omitted take their default."""

    effective_date = fields.DateField()
    committed_date = fields.DateField(required=False, allow_null=True, help_text="Defaults to effectiveDate.")
    amount_value = AmountField(help_text="Amount, not negative, with at most the currency's decimals.")
    amount_currency = CurrencyField()
    interval = fields.ChoiceField(
        choices=BillingPeriod.choices, required=False, allow_null=True, help_text="Defaults to month."
    )
    interval_count = fields.IntegerField(
        required=False, allow_null=True, min_value=1, max_value=MAX_INTERVAL_COUNT, help_text="Defaults to 1."
    )
    external_id = fields.TextField(required=False, allow_null=True, min_length=1, max_length=MAX_ID_LENGTH)


class NewEvent(EventFields):
    subscription_id = fields.IdField()


class ImportedEvent(EventFields):
    """An event with the ID or external ID of its subscription. With external IDs, missing records are created."""

    subscription_id = fields.IdField(required=False, allow_null=True)
    subscription_external_id = fields.TextField(
        required=False,
        allow_null=True,
        min_length=1,
        max_length=MAX_ID_LENGTH,
        help_text="Alternative to subscriptionId.",
    )
    customer_external_id = fields.TextField(required=False, allow_null=True, min_length=1, max_length=MAX_ID_LENGTH)
    customer_name = fields.NameField(required=False, allow_null=True, max_length=MAX_NAME_LENGTH)
    product_external_id = fields.TextField(required=False, allow_null=True, min_length=1, max_length=MAX_ID_LENGTH)
    product_name = fields.NameField(required=False, allow_null=True, max_length=MAX_NAME_LENGTH)


class EventImport(StrictSerializer):
    events = serializers.ListField(child=ImportedEvent(), max_length=MAX_EVENTS)
    on_error = fields.ChoiceField(choices=ON_ERROR_MODES, required=False, default="abort")
    dry_run = fields.BooleanField(required=False, default=False)


class EventImportResult(StrictSerializer):
    success = fields.BooleanField()
    count = fields.CountField(help_text="Number of events stored, or with `dryRun` that would be.")
    duplicates = fields.CountField(help_text="Number of items with an existing externalId.")
    errors = build_skipped_rows_field()  # type: ignore[assignment]
    dry_run = fields.BooleanField()


def to_event_values(values: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of an event. Raises ValidationFailed if the amount is wrong."""
    effective_date: date = values["effective_date"]
    amount = parse_api_amount(values["amount_value"], values["amount_currency"], pointer="#/amountValue")
    if amount < 0:
        raise ValidationFailed([("#/amountValue", *build_negative_amount_error())])
    return {
        "subscription_id": values["subscription_id"],
        "effective_date": effective_date,
        "committed_date": values.get("committed_date") or effective_date,
        "amount_value": amount,
        "amount_currency": values["amount_currency"],
        "interval": values.get("interval") or BillingPeriod.MONTH.value,
        "interval_count": values.get("interval_count") or 1,
        "external_id": values.get("external_id"),
    }
