"""Serializers of exchange rates."""

from companies.api import fields
from companies.api.serializers import StrictSerializer
from ledger.money.fields import CurrencyField


class RateSerializer(StrictSerializer):
    currency = CurrencyField()
    date = fields.DateField(source="day", allow_null=True, help_text="on which it was published; null without a rate")
    rate = fields.NumberField(
        allow_null=True,
        help_text="units of the base currency for one unit, to 12 digits; null without a rate",
    )
    age_days = fields.CountField(allow_null=True, help_text="days from date until today; null without a rate")
