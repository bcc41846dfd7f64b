"""Serializers of imports of subscription events from files."""

from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from companies.api import fields
from companies.api.serializers import StrictSerializer
from companies.errors import ValidationFailed
from companies.models import MAX_ACTOR_LENGTH
from ledger.imports.calc.amounts import DecimalMark
from ledger.imports.calc.dates import DateOrder
from ledger.subscriptions.actions.event_file_import import COLUMN_QUESTIONS, EventFileOptions, EventFileOutcome
from ledger.subscriptions.actions.event_import_undo import EventImportUndoOutcome

MAX_HEADING_LENGTH = 200
DATE_ORDERS = [order.value for order in DateOrder]
DECIMAL_MARKS = [mark.value for mark in DecimalMark]
INTERVALS = ["month", "quarter", "year"]
QUANTITY_MODES = ["multiply", "ignore"]
OPTION_CHOICES = {
    "dateOrder": DATE_ORDERS,
    "decimalMark": DECIMAL_MARKS,
    "interval": INTERVALS,
    "quantity": QUANTITY_MODES,
    "dryRun": ["true", "false"],
}
FORM_FIELDS = {"file", *OPTION_CHOICES, *COLUMN_QUESTIONS.values()}


@extend_schema_field({"type": "string", "format": "binary", "maxLength": settings.MAX_UPLOAD_MB * 1024 * 1024})
class EventTableField(serializers.FileField):
    """A table of subscription events."""


class EventFileUpload(StrictSerializer):
    """A table of subscription events, and how to read what it does not state."""

    file = EventTableField(help_text="CSV file or `.xlsx` workbook with headings in its first row.")
    date_order = fields.ChoiceField(
        choices=DATE_ORDERS, required=False, help_text="Order of day and month in the dates."
    )
    decimal_mark = fields.ChoiceField(choices=DECIMAL_MARKS, required=False, help_text="Decimal mark of the amounts.")
    interval = fields.ChoiceField(
        choices=INTERVALS, required=False, help_text="Billing interval of amounts without one."
    )
    quantity = fields.ChoiceField(
        choices=QUANTITY_MODES, required=False, help_text="Whether amounts are multiplied by the column of quantities."
    )
    customer_column = fields.TextField(
        required=False,
        allow_blank=True,
        max_length=MAX_HEADING_LENGTH,
        help_text="Heading of the column with the customer.",
    )
    date_column = fields.TextField(
        required=False,
        allow_blank=True,
        max_length=MAX_HEADING_LENGTH,
        help_text="Heading of the column with the date of the event.",
    )
    amount_column = fields.TextField(
        required=False,
        allow_blank=True,
        max_length=MAX_HEADING_LENGTH,
        help_text="Heading of the column with the amount per interval.",
    )
    dry_run = fields.BooleanField(required=False, help_text="`true` returns the result without storing it.")


class EventFileResult(StrictSerializer):
    """What an import of a file stored."""

    count = fields.CountField(help_text="Number of events stored, or with `dryRun` that would be.")
    duplicates = fields.CountField(help_text="Number of events left out because they are stored already.")
    left_out = fields.CountField(help_text="Number of rows left out because nothing is paid, such as trials.")
    created_customers = fields.CountField(help_text="Number of customers created.")
    created_products = fields.CountField(help_text="Number of products created.")
    created_subscriptions = fields.CountField(help_text="Number of subscriptions created.")
    dry_run = fields.BooleanField()
    import_id = fields.IdField(allow_null=True, help_text="ID of the import, to undo it; null if nothing was stored.")


class EventImportSerializer(StrictSerializer):
    """An import of subscription events. `undoneTime` is null unless it was undone."""

    id = fields.IdField()
    company_id = fields.IdField()
    filename = fields.TextField(max_length=255, help_text="Name of the file.")
    count = fields.CountField(help_text="Number of events stored.")
    duplicates = fields.CountField(help_text="Number of events left out because they were stored already.")
    left_out = fields.CountField(help_text="Number of rows left out because nothing was paid, such as trials.")
    created_customers = fields.CountField(source="customer_count", help_text="Number of customers created.")
    created_products = fields.CountField(source="product_count", help_text="Number of products created.")
    created_subscriptions = fields.CountField(source="subscription_count", help_text="Number of subscriptions created.")
    undone_time = fields.TimeField(allow_null=True)
    created_time = fields.TimeField()
    created_user_id = fields.TextField(allow_null=True, max_length=MAX_ACTOR_LENGTH)
    last_updated_time = fields.TimeField()
    last_updated_user_id = fields.TextField(allow_null=True, max_length=MAX_ACTOR_LENGTH)


class EventImportUndoResult(StrictSerializer):
    """What undoing an import of subscription events changed."""

    success = fields.BooleanField()
    retracted_count = fields.CountField(help_text="Number of events retracted.")
    deleted_subscriptions = fields.CountField(help_text="Number of subscriptions deleted that the import created.")
    deleted_customers = fields.CountField(help_text="Number of customers deleted that only the import used.")
    deleted_products = fields.CountField(help_text="Number of products deleted that only the import used.")


def parse_event_file_options(form: Any) -> EventFileOptions:
    """Return the options of an upload. Raises ValidationFailed."""
    values = {name: form.get(name) for name in FORM_FIELDS - {"file"} if form.get(name) not in (None, "")}
    if isinstance(values.get("dryRun"), str):
        values["dryRun"] = values["dryRun"].lower()  # clients that are made from the document send Python's True
    errors = [
        (f"#/{name}", "invalid_choice", f"Must be {' or '.join(choices)}.")
        for name, choices in OPTION_CHOICES.items()
        if values.get(name, choices[0]) not in choices
    ]
    if errors:
        raise ValidationFailed(errors)
    return EventFileOptions(
        date_order=DateOrder(values["dateOrder"]) if "dateOrder" in values else None,
        decimal_mark=DecimalMark(values["decimalMark"]) if "decimalMark" in values else None,
        interval=values.get("interval"),
        quantity=values.get("quantity"),
        columns={name: str(values[option]) for name, option in COLUMN_QUESTIONS.items() if option in values},
        dry_run=values.get("dryRun") == "true",
    )


def file_outcome_to_dict(outcome: EventFileOutcome) -> dict[str, Any]:
    """Return the result of an import as an API object."""
    return {
        "count": outcome.count,
        "duplicates": outcome.duplicates,
        "leftOut": outcome.left_out,
        "createdCustomers": outcome.customers,
        "createdProducts": outcome.products,
        "createdSubscriptions": outcome.subscriptions,
        "dryRun": outcome.dry_run,
        "importId": outcome.event_import and str(outcome.event_import.id),
    }


def undo_outcome_to_dict(outcome: EventImportUndoOutcome) -> dict[str, Any]:
    """Return the result of undoing an import as an API object."""
    return {
        "success": True,
        "retractedCount": outcome.retracted,
        "deletedSubscriptions": outcome.subscriptions,
        "deletedCustomers": outcome.customers,
        "deletedProducts": outcome.products,
    }
