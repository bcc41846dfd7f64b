"""Serializers of imports; the bodies themselves are read by `ledger.imports.import_body`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from companies.api import fields
from companies.api.serializers import StrictSerializer
from companies.errors import ValidationFailed
from companies.models import MAX_ACTOR_LENGTH
from ledger.bulk.serializers import ON_ERROR_MODES, build_skipped_rows_field
from ledger.imports.calc.amounts import DecimalMark
from ledger.imports.calc.dates import DateOrder
from ledger.imports.import_body import MAX_ID_LENGTH, MAX_IMPORT_ITEMS, MAX_TEXT_LENGTH
from ledger.models import PlType, Source
from ledger.money.fields import AmountField, CurrencyField
from ledger.transactions.serializers import CounterpartyRef, build_text_fields

DUPLICATE_MODES = ["keep", "skip"]
CLOSED_MODES = ["refuse", "skip"]
IMPORT_FORMATS = ["camt.052", "camt.053", "camt.054", "mt940", "mt942", "ofx", "qif", "csv", "zip"]

DATE_ORDERS = [order.value for order in DateOrder]
DECIMAL_MARKS = [mark.value for mark in DecimalMark]
TABLE_CHOICES = {"dateOrder": DATE_ORDERS, "decimalMark": DECIMAL_MARKS}  # options of every TableUpload
DRY_RUN_CHOICES = ["true", "false"]


class ImportItem(StrictSerializer):
    account_id = fields.IdField()
    date = fields.DateField()
    from_to = fields.TextField(required=False, allow_null=True, max_length=MAX_TEXT_LENGTH)
    description = fields.TextField(required=False, allow_null=True, max_length=MAX_TEXT_LENGTH)
    amount_value = AmountField(help_text="Amount with at most the currency's decimals; negative is money out.")
    amount_currency = CurrencyField(required=False, allow_null=True, help_text="Defaults to the account's currency.")
    external_id = fields.TextField(
        required=False, allow_null=True, max_length=MAX_ID_LENGTH, help_text="ID in your system, unique per account."
    )
    pending = fields.BooleanField(required=False, allow_null=True)
    category_id = fields.IdField(required=False, allow_null=True)
    pl_type = fields.ChoiceField(choices=PlType.choices, required=False, allow_null=True)
    counterparty = CounterpartyRef(required=False, allow_null=True)

    def get_fields(self) -> dict[str, serializers.Field]:
        return super().get_fields() | build_text_fields()


class ImportRequest(StrictSerializer):
    transactions = serializers.ListField(child=ImportItem(), max_length=MAX_IMPORT_ITEMS)
    dry_run = fields.BooleanField(required=False, default=False)
    on_error = fields.ChoiceField(choices=ON_ERROR_MODES, required=False, default="abort")
    duplicates = fields.ChoiceField(choices=DUPLICATE_MODES, required=False, default="keep")
    closed = fields.ChoiceField(
        choices=CLOSED_MODES,
        required=False,
        default="refuse",
        help_text="skip leaves out new rows in closed months; refuse stores nothing if there are any.",
    )


class ImportResult(StrictSerializer):
    success = fields.BooleanField()
    count = fields.CountField(help_text="Number of transactions stored, or with `dryRun` that would be.")
    skipped_before_data_start = fields.CountField()
    skipped_closed = fields.CountField(help_text="New rows in closed months that `closed: skip` left out.")
    data_start_date = fields.DateField(allow_null=True)
    import_id = fields.IdField(allow_null=True, help_text="ID of the import; null if nothing was stored.")
    duplicates = fields.CountField()
    possible_duplicates = fields.CountField(
        help_text="With `duplicates: skip`: number of saved transactions that match another in account, date and "
        "amount, but not in text."
    )
    errors = build_skipped_rows_field()  # type: ignore[assignment]
    dry_run = fields.BooleanField()


class ImportSerializer(StrictSerializer):
    """An import. `undoneTime` is null unless it was undone."""

    id = fields.IdField()
    company_id = fields.IdField()
    source = fields.ChoiceField(choices=Source.choices)  # type: ignore[assignment]
    count = fields.CountField(help_text="Number of transactions stored.")
    skipped_before_data_start = fields.CountField()
    duplicates = fields.CountField()
    filename = fields.TextField(allow_null=True, max_length=255, help_text="Name of the file; null if none was sent.")
    format = fields.ChoiceField(choices=IMPORT_FORMATS, allow_null=True, help_text="Detected from the content.")
    account_ids = serializers.ListField(
        child=fields.IdField(), max_length=MAX_IMPORT_ITEMS, help_text="IDs of the accounts with imported transactions."
    )
    undone_time = fields.TimeField(allow_null=True)
    created_time = fields.TimeField()
    created_user_id = fields.TextField(allow_null=True, max_length=MAX_ACTOR_LENGTH)
    last_updated_time = fields.TimeField()
    last_updated_user_id = fields.TextField(allow_null=True, max_length=MAX_ACTOR_LENGTH)


class UndoResult(StrictSerializer):
    success = fields.BooleanField()
    deleted_count = fields.CountField()
    changed_count = fields.CountField(help_text="Number of deleted transactions that were edited after the import.")


@extend_schema_field({"type": "string", "format": "binary", "maxLength": settings.MAX_UPLOAD_MB * 1024 * 1024})
class UploadField(serializers.FileField):
    """A file to import."""


class TableUpload(StrictSerializer):
    """A table with headings, and how to read ambiguous dates and amounts."""

    file = UploadField(help_text="CSV file or `.xlsx` workbook with headings in its first row.")
    date_order = fields.ChoiceField(
        choices=DATE_ORDERS, required=False, help_text="Order of day and month in the dates."
    )
    decimal_mark = fields.ChoiceField(choices=DECIMAL_MARKS, required=False, help_text="Decimal mark of the amounts.")
    dry_run = fields.BooleanField(required=False, help_text="`true` returns the result without storing it.")


def parse_upload_options(form: Any, *, names: Iterable[str], choices: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the options of an upload by name, without empty ones.

    Raises:
        ValidationFailed: `invalid_choice` for an option that is none of its choices.
    """
    options = {name: form.get(name) for name in names if form.get(name) not in (None, "")}
    if isinstance(options.get("dryRun"), str):
        options["dryRun"] = options["dryRun"].lower()  # clients that are made from the document send Python's True
    errors = [
        (f"#/{name}", "invalid_choice", f"Must be {' or '.join(allowed)}.")
        for name, allowed in choices.items()
        if options.get(name, allowed[0]) not in allowed
    ]
    if errors:
        raise ValidationFailed(errors)
    return options


def build_table_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that every table has, as its import takes them."""
    return {
        "date_order": DateOrder(options["dateOrder"]) if "dateOrder" in options else None,
        "decimal_mark": DecimalMark(options["decimalMark"]) if "decimalMark" in options else None,
        "dry_run": options.get("dryRun") == "true",
    }
