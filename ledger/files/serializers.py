"""Serializers of files: metadata and upload."""

import datetime as dt
import uuid
from decimal import Decimal
from typing import Any, ClassVar

import orjson
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from companies.api import fields
from companies.api.serializers import AUDIT_FIELDS, StoredJsonSerializer, StrictModelSerializer, StrictSerializer
from ledger.files.actions import MAX_FILE_BYTES
from ledger.files.calc.einvoice import DIFFERENCE_CODES
from ledger.files.calc.parse_data import MAX_DIFFERENCES, MAX_LINES
from ledger.models import File, ParseError
from ledger.money.fields import CurrencyField

MAX_AMOUNT = Decimal(fields.MAX_INTEGER)
DECIMAL_PATTERN = r"^-?\d{1,20}(\.\d{1,20})?$"
DECIMAL_SCHEMA = {"type": "string", "maxLength": 42, "pattern": DECIMAL_PATTERN, "examples": ["1234.56"]}
OPTIONAL: dict[str, Any] = {"allow_null": True, "required": False}

FILE_SCHEMA = {"type": "string", "format": "binary", "maxLength": MAX_FILE_BYTES}


class CompleteJsonSerializer(StoredJsonSerializer):
    """A part of `parseData`: stored with every member, null where it was not sent."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        values = super().to_internal_value(data)
        for name, field in self.fields.items():  # a partial update does not check the members of nested objects
            if field.required and field.source not in values:
                raise serializers.ValidationError({name: [_("This field is required.")]}, code="required")
        return {name: to_stored_value(values.get(field.source or name)) for name, field in self.fields.items()}


def to_stored_value(value: Any) -> Any:
    """Return a value for JSON storage: dates as text, numbers exactly."""
    if isinstance(value, dt.date):
        return value.isoformat()
    return to_stored_number(value) if isinstance(value, Decimal) else value


class ParsedAmount(CompleteJsonSerializer):
    value = fields.NumberField(minimum=-MAX_AMOUNT, maximum=MAX_AMOUNT)
    currency = CurrencyField()


@extend_schema_field(DECIMAL_SCHEMA)
class DecimalTextField(serializers.RegexField):
    """A decimal as a string, with as many digits as the document has."""

    default_error_messages = {"invalid": _('Must be a decimal string such as "-1234.56".')}

    def __init__(self, **kwargs: Any):
        super().__init__(regex=DECIMAL_PATTERN, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class InvoiceParty(CompleteJsonSerializer):
    """Seller or buyer of an invoice."""

    name = fields.TextField(max_length=300, **OPTIONAL, help_text="Registered name; null if the invoice has none.")
    trading_name = fields.TextField(max_length=300, **OPTIONAL, help_text="Trading name; null if it has none.")
    vat_id = fields.TextField(max_length=50, **OPTIONAL, help_text="VAT identification number; null if it has none.")
    iban = fields.TextField(
        max_length=34,
        **OPTIONAL,
        help_text="IBAN or account number that is paid to (seller) or debited (buyer); null if not stated.",
    )


class InvoiceLineSerializer(CompleteJsonSerializer):
    """A line of an invoice, without tax."""

    description = fields.TextField(max_length=300, **OPTIONAL, help_text="Name of the goods or services.")
    quantity = DecimalTextField(**OPTIONAL, help_text="Invoiced quantity.")
    unit_price = DecimalTextField(**OPTIONAL, help_text="Net price of one unit, in the invoice's currency.")
    amount = DecimalTextField(help_text="Net amount of the line, in the invoice's currency.")
    tax_percent = DecimalTextField(**OPTIONAL, help_text="VAT rate in percent.")


class TotalDifferenceSerializer(CompleteJsonSerializer):
    """A total of the invoice that does not add up."""

    code = fields.ChoiceField(choices=DIFFERENCE_CODES, help_text="The total.")
    stated = DecimalTextField(allow_null=True, help_text="As the invoice states it; null if it does not.")
    computed = DecimalTextField(help_text="Computed from the stated amounts that it consists of.")


class ParseData(CompleteJsonSerializer):
    """Data read from the file."""

    amount = ParsedAmount(
        **OPTIONAL, help_text="Amount due for payment (BT-115), as stated; credit notes are positive."
    )
    date = fields.DateField(**OPTIONAL, help_text="Date of the invoice.")
    type = fields.TextField(
        max_length=40, **OPTIONAL, help_text="Type. `invoice` or `creditNote` if read from an electronic invoice."
    )
    invoice_number = fields.TextField(max_length=200, **OPTIONAL, help_text="Number that the seller gave the invoice.")
    due_date = fields.DateField(**OPTIONAL, help_text="Day on which it is due; of several payment terms, the last.")
    currency = CurrencyField(**OPTIONAL, help_text="Currency of the invoice, ISO 4217.")
    tax_amount = DecimalTextField(**OPTIONAL, help_text="VAT in the invoice's currency, as stated.")
    seller = InvoiceParty(**OPTIONAL, help_text="Who issued the invoice.")
    buyer = InvoiceParty(**OPTIONAL, help_text="Who has to pay it.")
    iban = fields.TextField(max_length=34, **OPTIONAL, help_text="IBAN or account number to pay to.")
    lines = fields.ListField(
        child=InvoiceLineSerializer(),
        max_length=MAX_LINES,
        **OPTIONAL,
        help_text="Lines; null if there are more than 200.",
    )
    differences = fields.ListField(
        child=TotalDifferenceSerializer(),
        max_length=MAX_DIFFERENCES,
        required=False,
        help_text="Totals that do not add up; empty if all do.",
    )

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Return the object as it is stored: complete, even if only some fields of the file are sent."""
        values = super().to_internal_value(data)
        return values | {"differences": values["differences"] or []}

    def to_representation(self, instance: Any) -> Any:
        """Return every member, null where none was read."""
        amount = instance.get("amount")
        representation = super().to_representation(instance)
        return representation | {
            "amount": amount
            and {"value": fields.to_json_number(Decimal(str(amount["value"]))), "currency": amount["currency"]},
            "differences": instance.get("differences") or [],
        }


def to_stored_number(value: Decimal) -> float | int | str:
    """Return the value for JSON storage: as text if a float would lose digits."""
    number = fields.to_json_number(value)
    return number if isinstance(number, int | float) else format(value, "f")


class TransactionIdsField(fields.ListField):
    child = fields.IdField()

    def __init__(self, **kwargs: Any):
        kwargs.setdefault("max_length", 1000)
        super().__init__(**kwargs)


class FileSerializer(StrictModelSerializer):
    """Metadata of a file. Only transactionIds, parseStatus and parseData can be changed."""

    company_id = fields.IdField(read_only=True)
    transaction_ids = TransactionIdsField(required=False)
    parse_data = ParseData(allow_null=True, required=False)
    planned_transaction_id = fields.IdField(
        allow_null=True,
        read_only=True,
        help_text="Planned transaction created from the invoice in the file; null if none.",
    )
    parse_error = fields.ChoiceField(choices=ParseError.choices, allow_null=True, read_only=True)

    class Meta:
        model = File
        fields: ClassVar[tuple[str, ...]] = (
            "id",
            "company_id",
            "transaction_ids",
            "filename",
            "file_extension",
            "size",
            "storage_path",
            "parse_status",
            "parse_data",
            "parse_error",
            "planned_transaction_id",
            *AUDIT_FIELDS,
        )
        read_only_fields: ClassVar[tuple[str, ...]] = (
            "id",
            "filename",
            "file_extension",
            "size",
            "storage_path",
            "parse_error",
            "planned_transaction_id",
            *AUDIT_FIELDS,
        )


@extend_schema_field(FILE_SCHEMA)
class FileContentField(serializers.FileField):
    """Content of a file."""


class Upload(StrictSerializer):
    """Upload of a file. Send `transactionIds` as repeated fields or as one JSON array."""

    file = FileContentField(help_text="File of at most 20 MiB: PDF, PNG, JPEG, CSV or XML.")
    transaction_ids = TransactionIdsField(required=False)


def parse_form_ids(values: list[str]) -> list[uuid.UUID]:
    """Parse the ids of a form: repeated fields, or one field with a JSON array. Raises ValidationError."""
    ids: Any = values
    if len(values) == 1 and values[0].lstrip().startswith("["):
        try:
            ids = orjson.loads(values[0])
        except orjson.JSONDecodeError:
            raise serializers.ValidationError(
                {"transactionIds": "Must be IDs or one JSON array of IDs."}, code="invalid_value"
            ) from None
    field = TransactionIdsField()
    try:
        return field.run_validation([each for each in ids if each != ""])
    except serializers.ValidationError as error:
        raise serializers.ValidationError({"transactionIds": error.detail}) from None
