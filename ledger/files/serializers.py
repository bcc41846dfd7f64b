"""Serializers of files: metadata and upload."""

import uuid
from decimal import Decimal
from typing import Any, ClassVar

import orjson
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from companies.api import fields
from companies.api.serializers import AUDIT_FIELDS, StrictModelSerializer, StrictSerializer
from ledger.files.actions import MAX_FILE_BYTES
from ledger.models import File
from ledger.money.fields import CurrencyField

MAX_AMOUNT = Decimal(fields.MAX_INTEGER)


FILE_SCHEMA = {"type": "string", "format": "binary", "maxLength": MAX_FILE_BYTES}


class ParsedAmount(StrictSerializer):
    value = fields.NumberField(minimum=-MAX_AMOUNT, maximum=MAX_AMOUNT)
    currency = CurrencyField()


class ParseData(StrictSerializer):
    """Data read from the file."""

    amount = ParsedAmount(allow_null=True, required=False)
    date = fields.DateField(allow_null=True, required=False)
    type = fields.TextField(max_length=40, allow_null=True, required=False, help_text="Type, such as invoice.")

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Return the object as it is stored: complete, even if only some fields of the file are sent."""
        values = super().to_internal_value(data)
        amount, day = values.get("amount"), values.get("date")
        for name in ("value", "currency"):
            if amount is not None and name not in amount:
                raise serializers.ValidationError({"amount": {name: ["This field is required."]}}, code="required")
        return {
            "amount": {"value": to_stored_number(amount["value"]), "currency": amount["currency"]} if amount else None,
            "date": day.isoformat() if day else None,
            "type": values.get("type"),
        }

    def to_representation(self, instance: Any) -> Any:
        """Return every member, null where none was read."""
        amount = instance.get("amount")
        return {
            "amount": amount
            and {"value": fields.to_json_number(Decimal(str(amount["value"]))), "currency": amount["currency"]},
            "date": instance.get("date"),
            "type": instance.get("type"),
        }


def to_stored_number(value: Decimal) -> float | int | str:
    """Return the value for JSON storage: as text if a float would lose digits."""
    number = fields.to_json_number(value)
    return number if isinstance(number, int | float) else format(value, "f")


class TransactionIds(fields.ListField):
    child = fields.IdField()

    def __init__(self, **kwargs: Any):
        kwargs.setdefault("max_length", 1000)
        super().__init__(**kwargs)


class FileSerializer(StrictModelSerializer):
    """Metadata of a file. Only transactionIds, parseStatus and parseData can be changed."""

    company_id = fields.IdField(read_only=True)
    transaction_ids = TransactionIds(required=False)
    parse_data = ParseData(allow_null=True, required=False)

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
            *AUDIT_FIELDS,
        )
        read_only_fields: ClassVar[tuple[str, ...]] = (
            "id",
            "filename",
            "file_extension",
            "size",
            "storage_path",
            *AUDIT_FIELDS,
        )


@extend_schema_field(FILE_SCHEMA)
class DocumentField(serializers.FileField):
    """Content of a file."""


class Upload(StrictSerializer):
    """Upload of a file. Send `transactionIds` as repeated fields or as one JSON array."""

    file = DocumentField(help_text="File of at most 20 MiB: PDF, PNG, JPEG, CSV or XML.")
    transaction_ids = TransactionIds(required=False)


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
    field = TransactionIds()
    try:
        return field.run_validation([each for each in ids if each != ""])
    except serializers.ValidationError as error:
        raise serializers.ValidationError({"transactionIds": error.detail}) from None
