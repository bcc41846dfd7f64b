"""Serializer fields of amounts: strings with a minus sign for money out and the currency's decimals."""

from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from companies.api import fields

AMOUNT = {"type": "string", "maxLength": 21, "pattern": r"^-?\d{1,15}(\.\d{1,4})?$", "examples": ["-1234.56"]}


@extend_schema_field(AMOUNT)
class AmountField(serializers.Field):
    """The text of an amount; it is parsed when its currency is known."""

    default_error_messages = {"invalid_decimal": _('Must be a decimal string such as "-1234.56".')}

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid_decimal")
        return data

    def to_representation(self, value: Any) -> str:
        return str(value)


CurrencyField = fields.CurrencyField
