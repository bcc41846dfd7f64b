"""Fields of transaction filters: how each kind of value is parsed and documented."""

from datetime import date
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from companies.api import fields
from companies.api.filters import DateFormField, IdFormField, SerializerFormField
from companies.models import Currency
from ledger.calc.months import get_last_day_of_month
from ledger.models import RULE_NOTE_PREFIX
from ledger.money.amounts import parse_amount_bound
from ledger.money.fields import AMOUNT

MAX_TEXT_LENGTH = 500
ASSIGNERS = ("person", "rule", "history", "account", "plan")  # and rule:<id>
MAX_VALUES_PER_FILTER = 150  # the request line has no room for more ids and a cursor


class FirstDayField(SerializerFormField):
    """A day, or a month for its first day."""

    serializer_field = fields.MonthField(
        error_messages={"invalid_month": _("Must be a month (YYYY-MM) or a date (YYYY-MM-DD).")}
    )
    schema = {"type": "string", "maxLength": 10, "pattern": r"^\d{4}-\d{2}(-\d{2})?$"}

    def to_python(self, value: Any) -> date | None:
        if value is not None and fields.DATE_PATTERN.fullmatch(value):
            day: date | None = DateFormField().to_python(value)
            return day
        month: date | None = super().to_python(value)
        return month and self.to_day(month)

    def to_day(self, month: date) -> date:
        return month


class LastDayField(FirstDayField):
    """A day, or a month for its last day."""

    def to_day(self, month: date) -> date:
        return get_last_day_of_month(month)


class AmountBound(serializers.Field):
    """An amount of any currency to compare others with."""

    def to_internal_value(self, data: Any) -> Decimal:
        try:
            return parse_amount_bound(data)
        except ValueError:
            raise ValidationError(gettext("Must be an amount such as -1234.56.")) from None


class AmountField(SerializerFormField):
    serializer_field = AmountBound()
    schema = AMOUNT


class IdField(IdFormField):
    schema = {"type": "string", "format": "uuid"}


class IdsField(SerializerFormField):
    widget = forms.MultipleHiddenInput
    serializer_field = fields.ListField(child=IdField.serializer_field, max_length=MAX_VALUES_PER_FILTER)
    schema = {"type": "array", "items": IdField.schema, "maxItems": MAX_VALUES_PER_FILTER}


class TextField(SerializerFormField):
    serializer_field = fields.TextField(max_length=MAX_TEXT_LENGTH, allow_blank=True)
    schema = {"type": "string", "maxLength": MAX_TEXT_LENGTH}


class AssignerField(SerializerFormField):
    """Who or what assigned the categorizations; an unknown rule matches nothing."""

    schema = {
        "type": "string",
        "maxLength": MAX_TEXT_LENGTH,
        "pattern": f"^({'|'.join(ASSIGNERS)}|{RULE_NOTE_PREFIX}.+)$",
    }
    serializer_field = fields.TextField(max_length=MAX_TEXT_LENGTH)

    def to_python(self, value: Any) -> str | None:
        text: str | None = super().to_python(value)
        if (
            text is not None
            and text not in ASSIGNERS
            and not (text.startswith(RULE_NOTE_PREFIX) and text != RULE_NOTE_PREFIX)
        ):
            message = gettext("Must be one of {words}.").format(
                words=", ".join([*ASSIGNERS, f"{RULE_NOTE_PREFIX}<id>"])
            )
            raise forms.ValidationError(message, code="invalid_choice")
        return text


class WordField(SerializerFormField):
    def __init__(self, *, words: list[str], **kwargs: Any):
        self.schema = {"type": "string", "enum": words}
        message = format_lazy(_("Must be one of {words}."), words=", ".join(words))
        self.serializer_field = fields.ChoiceField(choices=words, error_messages={"invalid_choice": message})
        super().__init__(**kwargs)


class CurrencyFormField(SerializerFormField):
    serializer_field = fields.CurrencyField()
    schema = {"type": "string", "enum": Currency.values}


class FlagField(SerializerFormField):
    serializer_field = fields.ChoiceField(
        choices=["true", "false"], error_messages={"invalid_choice": _("Must be true or false.")}
    )
    schema = {"type": "boolean"}

    def to_python(self, value: Any) -> bool | None:
        return None if value is None else super().to_python(value) == "true"
