"""One transaction as the API shows it and as it is sent."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.response import Response

from companies.api import fields
from companies.api.serializers import Shape
from companies.api.viewsets import etag_of
from companies.models import LONGEST_ACTOR
from ledger.calc.recognition import DateRule
from ledger.models import CounterpartyType, PlType, Source, Transaction
from ledger.reading import PROVIDER_FIELDS, PROVIDER_FLAG, read, rendered
from ledger.serializers.money import AmountField, CurrencyField


class CounterpartyRef(Shape):
    type = fields.ChoiceField(choices=CounterpartyType.choices, required=False)
    id = fields.IdField()


class DateRuleShape(Shape):
    """`startDate` and `endDate` belong to servicePeriod and custom, `invoiceDate` to invoiceDate."""

    sparse = True
    type = fields.ChoiceField(choices=[(rule.value, rule.value) for rule in DateRule])
    start_date = fields.DayField(required=False, allow_null=True)
    end_date = fields.DayField(required=False, allow_null=True)
    invoice_date = fields.DayField(required=False, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["type"] not in {DateRule.SERVICE_PERIOD, DateRule.CUSTOM}:
            return attrs | {"start_date": None, "end_date": None}
        start, end = attrs.get("start_date"), attrs.get("end_date")
        missing = {"startDate": start, "endDate": end}
        if start is None or end is None:
            needed = {name: "This rule needs it." for name, value in missing.items() if value is None}
            raise serializers.ValidationError(needed, code="required")
        if end < start:
            raise serializers.ValidationError({"endDate": "Must not be before startDate."}, code="period_not_in_order")
        return attrs


class LegRef(Shape):
    transaction_id = fields.IdField()
    categorization_id = fields.IdField()


class PlSplit(Shape):
    """Amounts by P&L line, in the transaction's currency and with its sign; only the lines that the part has."""

    sparse = True

    def get_fields(self) -> dict[str, serializers.Field]:
        return {line: fields.NumberField(required=False, allow_null=True) for line in PlType.values}

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """A line that there is not is one that no category posts to; its amount would be lost."""
        if isinstance(data, dict) and (unknown := data.keys() - PlType.values):
            faults = {str(line): "There is no such P&L line." for line in unknown}
            raise serializers.ValidationError(faults, code="pl_type_not_allowed")
        return super().to_internal_value(data)


class CategorizationShape(Shape):
    counterparty = CounterpartyRef(allow_null=True, required=False)
    category_id = fields.IdField()
    using_date_rule = DateRuleShape(required=False, allow_null=True, help_text="transactionDate where it is left out")
    computed_start_date = fields.DayField(read_only=True)
    computed_end_date = fields.DayField(read_only=True)
    pl_split = PlSplit(required=False, allow_null=True)
    pass_through_tax = fields.NumberField(allow_null=True, required=False)
    transfer_counter_position = LegRef(allow_null=True, read_only=True)
    internal_transit_link = LegRef(allow_null=True, read_only=True)
    source_note = fields.TextField(allow_null=True, required=False, max_length=10_000)


class TransactionShape(Shape):
    """The rows of ``reading.read`` are answered as they are: ``data`` is JSON text already."""

    id = fields.IdField(read_only=True)
    company_id = fields.IdField(read_only=True)
    account_id = fields.IdField()
    date = fields.DayField()
    from_to = fields.TextField(required=False, allow_null=True, allow_blank=True, max_length=10_000)
    description = fields.TextField(required=False, allow_null=True, allow_blank=True, max_length=10_000)
    amount_value = AmountField(help_text="negative is money out; no more decimals than the currency has")
    amount_currency = CurrencyField(required=False, help_text="the account's where it is left out")
    categorizations_auto_assigned = fields.FlagField(read_only=True)
    exclude_from_auto_categorization = fields.FlagField(required=False)
    notes = fields.TextField(required=False, allow_null=True, allow_blank=True, max_length=10_000)
    source = fields.ChoiceField(choices=Source.choices, read_only=True)  # type: ignore[assignment]
    assigned_user_id = fields.TextField(required=False, allow_null=True, max_length=64)
    pending = fields.FlagField(required=False)
    external_id = fields.TextField(
        required=False, allow_null=True, max_length=200, help_text="unique in its account; free again after a delete"
    )
    import_id = fields.IdField(allow_null=True, read_only=True)
    created_time = fields.TimeField(read_only=True)
    created_user_id = fields.TextField(allow_null=True, read_only=True, max_length=LONGEST_ACTOR)
    last_updated_time = fields.TimeField(read_only=True)
    last_updated_user_id = fields.TextField(allow_null=True, read_only=True, max_length=LONGEST_ACTOR)
    categorizations = serializers.SerializerMethodField(help_text="by categorization id")

    def get_fields(self) -> dict[str, serializers.Field]:
        provider = {name: fields.TextField(read_only=True, allow_null=True) for name in PROVIDER_FIELDS}
        return super().get_fields() | provider | {PROVIDER_FLAG: fields.FlagField(read_only=True, allow_null=True)}

    @extend_schema_field(serializers.DictField(child=CategorizationShape()))
    def get_categorizations(self, row: Any) -> Any:
        """Answered by ``reading``; here for the document only."""

    @property
    def data(self) -> Any:
        return rendered(shown(self.instance))


def shown(row: Any) -> dict[str, Any]:
    """The stored transaction as an object of the answer; one statement."""
    (found,) = read(Transaction.objects.of(row.company_id).filter(id=row.id), company_id=row.company_id)
    return found


class TransactionBox(Shape):
    transaction = TransactionShape(allow_null=True)


def boxed(view: Any, row: Transaction | None) -> Response:
    """``{transaction}`` with its ETag; null where there is none."""
    if row is None:
        return Response({"transaction": None})
    return Response(rendered({"transaction": shown(row)}), headers={"ETag": etag_of(row)})
