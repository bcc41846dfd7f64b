"""Serializers of transactions, categorizations, selections and transfers."""

from datetime import date
from typing import Any
from uuid import UUID

from django.utils.text import format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.response import Response

from companies.api import fields
from companies.api.limits import MAX_BODY_LENGTH
from companies.api.serializers import StrictSerializer
from companies.api.viewsets import build_etag
from companies.models import MAX_ACTOR_LENGTH, parse_id
from ledger.calc.recognition import DateRule
from ledger.models import CounterpartyType, PlType, Source, Transaction
from ledger.money.fields import AmountField, CurrencyField
from ledger.transactions.fields import TRANSACTION_TEXTS
from ledger.transactions.queries.selections import MAX_SELECTED_IDS, SELECTION_MODES
from ledger.transactions.representation import (
    FIRST_OPEN_MONTH,
    PROVIDER_FIELDS,
    PROVIDER_FLAG,
    PROVIDER_IDS,
    encode_json,
    get_transaction_dict,
)

FIRST_SERVICE_YEAR, LAST_SERVICE_YEAR = 1900, 2200
ANY_ID_SCHEMA = {"type": "string", "maxLength": MAX_BODY_LENGTH}  # a malformed id is treated as unknown


class CounterpartyRef(StrictSerializer):
    type = fields.ChoiceField(choices=CounterpartyType.choices, required=False)
    id = fields.IdField()


class ServiceDateField(fields.DateField):
    """A date of a service period, within the years that people mean: others are slips of the keyboard."""

    default_error_messages = {
        "out_of_range": format_lazy(
            _("Must be within the years {first} to {last}."), first=FIRST_SERVICE_YEAR, last=LAST_SERVICE_YEAR
        )
    }

    def to_internal_value(self, data: Any) -> date:
        day = super().to_internal_value(data)
        if not FIRST_SERVICE_YEAR <= day.year <= LAST_SERVICE_YEAR:
            self.fail("out_of_range")
        return day


class DateRuleSerializer(StrictSerializer):
    """Period of a categorization. servicePeriod and custom need `startDate` and `endDate`."""

    type = fields.ChoiceField(choices=[(rule.value, rule.value) for rule in DateRule])
    start_date = ServiceDateField(required=False, allow_null=True)
    end_date = ServiceDateField(required=False, allow_null=True)
    invoice_date = ServiceDateField(required=False, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["type"] not in {DateRule.SERVICE_PERIOD, DateRule.CUSTOM}:
            return attrs | {"start_date": None, "end_date": None}
        start, end = attrs.get("start_date"), attrs.get("end_date")
        missing = {"startDate": start, "endDate": end}
        if start is None or end is None:
            errors = {name: gettext("Required for this period.") for name, value in missing.items() if value is None}
            raise serializers.ValidationError(errors, code="required")
        if end < start:
            raise serializers.ValidationError(
                {"endDate": gettext("Must not be before startDate.")}, code="period_not_in_order"
            )
        return attrs


RECOGNIZE_FROM = [FIRST_OPEN_MONTH]


class RecognitionSerializer(DateRuleSerializer):
    """Period of a categorization. servicePeriod and custom need `startDate` and `endDate`."""

    recognize_from = fields.ChoiceField(
        choices=RECOGNIZE_FROM,
        required=False,
        allow_null=True,
        help_text="firstOpenMonth recognizes amounts of closed months in the first open one; null if there are none.",
    )


class LegRef(StrictSerializer):
    transaction_id = fields.IdField()
    categorization_id = fields.IdField()


class PlSplit(StrictSerializer):
    """Amounts by P&L line, in the transaction's currency and with its sign.

    Responses contain all seven lines. In requests, omit a line or send null or 0 to leave it empty."""

    filled = True

    def get_fields(self) -> dict[str, serializers.Field]:
        return {line: fields.NumberField(required=False, allow_null=True) for line in PlType.values}

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Reject unknown P&L lines: no category posts to them, and the amount would be lost."""
        if isinstance(data, dict) and (unknown := data.keys() - PlType.values):
            errors = {str(line): gettext("This P&L line does not exist.") for line in unknown}
            raise serializers.ValidationError(errors, code="pl_type_not_allowed")
        return super().to_internal_value(data)


class CategorizationSerializer(StrictSerializer):
    counterparty = CounterpartyRef(allow_null=True, required=False)
    category_id = fields.IdField()
    using_date_rule = RecognitionSerializer(
        required=False, allow_null=True, help_text="Period; transactionDate if left out."
    )
    computed_start_date = fields.DateField(read_only=True)
    computed_end_date = fields.DateField(read_only=True)
    pl_split = PlSplit(required=False, allow_null=True)
    pass_through_tax = fields.NumberField(allow_null=True, required=False)
    transfer_counter_position = LegRef(allow_null=True, read_only=True)
    internal_transit_link = LegRef(allow_null=True, read_only=True)
    source_note = fields.TextField(allow_null=True, required=False, max_length=10_000)


class TransactionSettlement(StrictSerializer):
    """An amount of a planned transaction's occurrence that a transaction settles."""

    planned_transaction_id = fields.IdField()
    date = fields.DateField()
    amount_value = AmountField(help_text="Settled amount, in the planned currency and sign.")


def build_text_fields(**options: Any) -> dict[str, serializers.Field]:
    """Return the serializer fields of TRANSACTION_TEXTS by API name."""
    return {
        text.name: fields.TextField(
            source=None if text.column == text.name else text.column, **text.serializer_options, **options
        )
        for text in TRANSACTION_TEXTS
    }


class TransactionSerializer(StrictSerializer):
    """A movement of money on an account, with its categorizations."""

    id = fields.IdField(read_only=True)
    company_id = fields.IdField(read_only=True)
    account_id = fields.IdField()
    date = fields.DateField()
    from_to = fields.TextField(required=False, allow_null=True, allow_blank=True, max_length=10_000)
    description = fields.TextField(required=False, allow_null=True, allow_blank=True, max_length=10_000)
    amount_value = AmountField(help_text="Amount as a decimal string; negative is money out.")
    amount_currency = CurrencyField(required=False, help_text="ISO 4217; the account's currency if left out.")
    categorizations_auto_assigned = fields.BooleanField(read_only=True)
    exclude_from_auto_categorization = fields.BooleanField(required=False)
    source = fields.ChoiceField(choices=Source.choices, read_only=True)  # type: ignore[assignment]
    assigned_user_id = fields.TextField(required=False, allow_null=True, max_length=64)
    pending = fields.BooleanField(required=False)
    external_id = fields.TextField(
        required=False, allow_null=True, max_length=200, help_text="Your ID; unique in the account."
    )
    import_id = fields.IdField(allow_null=True, read_only=True)
    created_time = fields.TimeField(read_only=True)
    created_user_id = fields.TextField(allow_null=True, read_only=True, max_length=MAX_ACTOR_LENGTH)
    last_updated_time = fields.TimeField(read_only=True)
    last_updated_user_id = fields.TextField(allow_null=True, read_only=True, max_length=MAX_ACTOR_LENGTH)
    settlements = TransactionSettlement(
        many=True, read_only=True, help_text="What it settles of planned transactions, oldest occurrence first."
    )
    categorizations = serializers.SerializerMethodField(help_text="Categorizations by their ID.")

    def get_fields(self) -> dict[str, serializers.Field]:
        field_types = dict.fromkeys(PROVIDER_IDS, fields.IdField) | {PROVIDER_FLAG: fields.BooleanField}
        provider = {
            name: field_types.get(name, fields.TextField)(read_only=True, allow_null=True) for name in PROVIDER_FIELDS
        }
        return super().get_fields() | build_text_fields(allow_blank=True) | provider

    @extend_schema_field(serializers.DictField(child=CategorizationSerializer()))
    def get_categorizations(self, row: Any) -> Any:
        """Only for the OpenAPI document; responses are built by `representation`."""

    @property
    def data(self) -> Any:
        """The transaction as encoded JSON, from `representation`."""
        return encode_json(get_transaction_dict(self.instance))


class NullableTransactionSerializer(StrictSerializer):
    schema_name = "TransactionBox"
    transaction = TransactionSerializer(allow_null=True)


def build_transaction_response(view: Any, row: Transaction | None) -> Response:
    """Return `{transaction}` with its ETag; null if there is none."""
    if row is None:
        return Response({"transaction": None})
    return Response(encode_json({"transaction": get_transaction_dict(row)}), headers={"ETag": build_etag(row)})


# ---------------------------------------------------------------------------------------------- several


@extend_schema_field({"type": "array", "items": ANY_ID_SCHEMA, "maxItems": MAX_SELECTED_IDS})
class IdListField(serializers.Field):
    """Up to 10,000 ids as strings, in the order given; a malformed id is kept as None and treated as unknown.

    One pass over the list: a field per id takes longer than the query.
    """

    default_error_messages = {
        "not_a_list": _("Must be a list of IDs."),
        "invalid": _("Must be strings."),
        "too_many_ids": format_lazy(_("Must have at most {most} IDs."), most=f"{MAX_SELECTED_IDS:,}"),
    }

    def to_internal_value(self, data: Any) -> dict[str, UUID | None]:
        if not isinstance(data, list):
            self.fail("not_a_list")
        if len(data) > MAX_SELECTED_IDS:
            self.fail("too_many_ids")
        if not all(isinstance(each, str) for each in data):
            self.fail("invalid")
        return {each: parse_id(each) for each in data}

    def to_representation(self, value: Any) -> list[str]:
        return [str(each) for each in value]


class SelectionSerializer(StrictSerializer):
    """Selection of transactions by mode: `ids`, `filter` (with optional `excludedIds`) or `all`.

    Mode `all` and an empty filter need `confirm`."""

    mode = fields.ChoiceField(choices=SELECTION_MODES)
    ids = IdListField(required=False)
    filter = fields.JsonField(required=False, help_text="Filters of the transaction list by name.")
    excluded_ids = IdListField(required=False)
    confirm = fields.BooleanField(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        mode = attrs["mode"]
        if mode in {"ids", "filter"} and mode not in attrs:
            raise ValidationError(
                {mode: [ErrorDetail(gettext("Required for mode {mode}.").format(mode=mode), code="required")]}
            )
        return attrs


class IdsRequest(StrictSerializer):
    transaction_ids = IdListField()


class CategorizationAmountSerializer(StrictSerializer):
    schema_name = "Amount"
    value = fields.NumberField()
    currency = CurrencyField()


class CategorizationStatusResult(StrictSerializer):
    schema_name = "StatusResult"
    open_transaction_ids = serializers.ListField(child=fields.IdField(), max_length=MAX_SELECTED_IDS)
    amounts_by_id = serializers.DictField(child=CategorizationAmountSerializer())


class DeleteResult(StrictSerializer):
    success = fields.BooleanField()
    deleted_count = fields.CountField()


class LinkRequest(StrictSerializer):
    """Transactions to link as a transfer. Malformed and unknown IDs return 404."""

    source_transaction_id = fields.AnyTextField(allow_blank=True)
    source_categorization_id = fields.AnyTextField(required=False, allow_null=True, allow_blank=True)
    target_transaction_id = fields.AnyTextField(allow_blank=True)
    force = fields.BooleanField(required=False)


class UnlinkRequest(StrictSerializer):
    transaction_id = fields.AnyTextField(allow_blank=True)
    categorization_id = fields.AnyTextField(allow_blank=True)


class ViewSerializer(StrictSerializer):
    """A saved view of the transaction list."""

    name = fields.NameField(max_length=80)
    shared = fields.BooleanField()
