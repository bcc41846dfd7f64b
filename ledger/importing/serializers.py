"""Imports on the wire; the bodies themselves are read by ledger.importing.bodies."""

from rest_framework import serializers

from companies.api import fields
from companies.api.serializers import Shape
from companies.models import LONGEST_ACTOR
from ledger.bulk.shapes import ON_ERROR, skipped_rows
from ledger.importing.bodies import LONGEST_ID, LONGEST_TEXT, MOST_ITEMS
from ledger.models import PlType, Source
from ledger.money.fields import AmountField, CurrencyField
from ledger.transactions.shapes import CounterpartyRef

DUPLICATES = ["keep", "skip"]
FORMATS = ["camt.052", "camt.053", "camt.054", "mt940", "mt942", "ofx", "qif", "csv", "zip"]


class ImportItem(Shape):
    account_id = fields.IdField()
    date = fields.DayField()
    from_to = fields.TextField(required=False, allow_null=True, max_length=LONGEST_TEXT)
    description = fields.TextField(required=False, allow_null=True, max_length=LONGEST_TEXT)
    amount_value = AmountField(help_text="negative is money out; no more decimals than the currency has")
    amount_currency = CurrencyField(required=False, allow_null=True, help_text="the account's where it is left out")
    external_id = fields.TextField(
        required=False, allow_null=True, max_length=LONGEST_ID, help_text="unique per account"
    )
    notes = fields.TextField(required=False, allow_null=True, max_length=LONGEST_TEXT)
    pending = fields.FlagField(required=False, allow_null=True)
    category_id = fields.IdField(required=False, allow_null=True)
    pl_type = fields.ChoiceField(choices=PlType.choices, required=False, allow_null=True)
    counterparty = CounterpartyRef(required=False, allow_null=True)


class ImportRequest(Shape):
    transactions = serializers.ListField(child=ImportItem(), max_length=MOST_ITEMS)
    dry_run = fields.FlagField(required=False, default=False)
    on_error = fields.ChoiceField(choices=ON_ERROR, required=False, default="abort")
    duplicates = fields.ChoiceField(choices=DUPLICATES, required=False, default="keep")


class ImportResult(Shape):
    success = fields.FlagField()
    count = fields.CountField(help_text="how many were stored, or would be")
    skipped_before_data_start = fields.CountField()
    data_start_date = fields.DayField(allow_null=True)
    import_id = fields.IdField(allow_null=True, help_text="null where nothing was stored")
    duplicates = fields.CountField()
    possible_duplicates = fields.CountField(
        help_text="with `duplicates: skip`: how many of the stored ones have the account, day, amount and currency of "
        "one that was there with other words"
    )
    errors = skipped_rows()  # type: ignore[assignment]
    dry_run = fields.FlagField()


class ImportShape(Shape):
    """One import; `undoneTime` is null while its transactions are there."""

    id = fields.IdField()
    company_id = fields.IdField()
    source = fields.ChoiceField(choices=Source.choices)  # type: ignore[assignment]
    count = fields.CountField(help_text="stored transactions")
    skipped_before_data_start = fields.CountField()
    duplicates = fields.CountField()
    filename = fields.TextField(allow_null=True, max_length=255, help_text="null where no file was sent")
    format = fields.ChoiceField(choices=FORMATS, allow_null=True, help_text="of the file, told by its content")
    account_ids = serializers.ListField(
        child=fields.IdField(), max_length=MOST_ITEMS, help_text="whose transactions came with it"
    )
    undone_time = fields.TimeField(allow_null=True)
    created_time = fields.TimeField()
    created_user_id = fields.TextField(allow_null=True, max_length=LONGEST_ACTOR)
    last_updated_time = fields.TimeField()
    last_updated_user_id = fields.TextField(allow_null=True, max_length=LONGEST_ACTOR)


class UndoResult(Shape):
    success = fields.FlagField()
    deleted_count = fields.CountField()
    changed_count = fields.CountField(help_text="how many of them had been changed since the import")
