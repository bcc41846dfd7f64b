"""Imports on the wire; the bodies themselves are read by ledger.import_body."""

from rest_framework import serializers

from companies.api import fields
from companies.api.limits import LONGEST_CODE, LONGEST_DETAIL, LONGEST_POINTER, MOST_ERRORS
from companies.api.serializers import Shape
from ledger.import_body import LONGEST_ID, LONGEST_TEXT, MOST_ITEMS
from ledger.models import PlType
from ledger.serializers.money import AmountField, CurrencyField
from ledger.serializers.transaction_shape import CounterpartyRef

ON_ERROR = ["abort", "skip"]
DUPLICATES = ["keep", "skip"]


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


class RowError(Shape):
    pointer = fields.TextField(max_length=LONGEST_POINTER)
    code = fields.TextField(max_length=LONGEST_CODE)
    detail = fields.TextField(max_length=LONGEST_DETAIL)


class ImportResult(Shape):
    success = fields.FlagField()
    count = fields.CountField(help_text="how many were stored, or would be")
    skipped_before_data_start = fields.CountField()
    data_start_date = fields.DayField(allow_null=True)
    import_id = fields.IdField(allow_null=True, help_text="null where nothing was stored")
    duplicates = fields.CountField()
    errors = serializers.ListField(
        child=RowError(), max_length=MOST_ERRORS, help_text="rows that were skipped, 1,000 at most"
    )  # type: ignore[assignment]
    dry_run = fields.FlagField()
