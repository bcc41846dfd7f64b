"""Serializers of imports; the bodies themselves are read by `ledger.imports.import_body`."""

from rest_framework import serializers

from companies.api import fields
from companies.api.serializers import StrictSerializer
from companies.models import MAX_ACTOR_LENGTH
from ledger.bulk.serializers import ON_ERROR_MODES, build_skipped_rows_field
from ledger.imports.import_body import MAX_ID_LENGTH, MAX_IMPORT_ITEMS, MAX_TEXT_LENGTH
from ledger.models import PlType, Source
from ledger.money.fields import AmountField, CurrencyField
from ledger.transactions.serializers import CounterpartyRef, build_text_fields

DUPLICATE_MODES = ["keep", "skip"]
CLOSED_MODES = ["refuse", "skip"]
IMPORT_FORMATS = ["camt.052", "camt.053", "camt.054", "mt940", "mt942", "ofx", "qif", "csv", "zip"]


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
