"""Imports on the wire; the bodies themselves are read by ledger.import_body."""

from rest_framework import serializers

from companies.api import fields
from companies.api.serializers import Shape
from ledger.import_body import LONGEST_ID, LONGEST_TEXT, MOST_ITEMS
from ledger.models import PlType
from ledger.serializers.money import AmountField, CurrencyField
from ledger.serializers.transaction_shape import CounterpartyRef


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
    on_error = fields.ChoiceField(choices=["abort", "skip"], required=False, default="abort")
    duplicates = fields.ChoiceField(choices=["keep", "skip"], required=False, default="keep")


class RowError(Shape):
    pointer = fields.TextField()
    code = fields.TextField()
    detail = fields.TextField()


class ImportResult(Shape):
    success = fields.FlagField()
    count = fields.WholeField(help_text="how many were stored, or would be")
    skipped_before_data_start = fields.WholeField()
    data_start_date = fields.DayField(allow_null=True)
    import_id = fields.IdField(allow_null=True, help_text="null where nothing was stored")
    duplicates = fields.WholeField()
    errors = RowError(many=True, help_text="rows that were skipped, 1,000 at most")  # type: ignore[assignment]
    dry_run = fields.FlagField()


EXAMPLE = {
    "transactions": [
        {
            "accountId": "01932f9e-7a00-7000-8000-000000000001",
            "date": "2026-01-31",
            "fromTo": "Initech",
            "description": "Invoice 1042",
            "amountValue": "1190.00",
            "amountCurrency": "EUR",
        },
        {
            "accountId": "01932f9e-7a00-7000-8000-000000000001",
            "date": "2026-01-31",
            "fromTo": "Bank",
            "description": "Fee",
            "amountValue": "-4.00",
        },
    ],
    "duplicates": "skip",
}
