"""Serializers of imports of subscription events from files."""

from typing import Any

from companies.api import fields
from companies.api.serializers import StrictSerializer
from companies.models import MAX_ACTOR_LENGTH
from ledger.imports.serializers import (
    DRY_RUN_CHOICES,
    TABLE_CHOICES,
    TableUpload,
    build_table_options,
    parse_upload_options,
)
from ledger.subscriptions.actions.event_file_import import COLUMN_QUESTIONS, EventFileOptions, EventFileOutcome
from ledger.subscriptions.actions.event_import_undo import EventImportUndoOutcome

MAX_HEADING_LENGTH = 200
INTERVALS = ["month", "quarter", "year"]
QUANTITY_MODES = ["multiply", "ignore"]
OPTION_CHOICES = {
    **TABLE_CHOICES,
    "interval": INTERVALS,
    "quantity": QUANTITY_MODES,
    "dryRun": DRY_RUN_CHOICES,
}
FORM_FIELDS = {"file", *OPTION_CHOICES, *COLUMN_QUESTIONS.values()}


class EventFileUpload(TableUpload):
    """A table of subscription events, and how to read what it does not state."""

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
    values = parse_upload_options(form, names=FORM_FIELDS - {"file"}, choices=OPTION_CHOICES)
    return EventFileOptions(
        **build_table_options(values),
        interval=values.get("interval"),
        quantity=values.get("quantity"),
        columns={name: str(values[option]) for name, option in COLUMN_QUESTIONS.items() if option in values},
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
