"""Serializers of exchange rates."""

from companies.api import fields
from companies.api.serializers import StrictSerializer
from ledger.money.fields import CurrencyField


class RateSerializer(StrictSerializer):
    currency = CurrencyField()
    date = fields.DateField(source="day", allow_null=True, help_text="Date of publication; null without a rate.")
    rate = fields.NumberField(
        allow_null=True,
        help_text="Units of the base currency for one unit, with up to 12 digits; null without a rate.",
    )
    age_days = fields.CountField(allow_null=True, help_text="Days from the date until today; null without a rate.")
