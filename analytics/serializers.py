"""The questions and answers of the data queries."""

from rest_framework import serializers

from analytics.windows import Window
from companies.api import fields
from companies.api.serializers import Shape
from ledger.models import AccountType


class AccountBalanceQuery(Window):
    account_types = serializers.ListField(
        child=fields.ChoiceField(choices=AccountType.choices),
        required=False,
        allow_empty=False,
        help_text="bank and cash where it is left out",
    )


class AccountBalanceShape(Shape):
    account_id = fields.IdField()
    account_name = fields.TextField()
    value = fields.NumberField(help_text="at the end of endDate, or of today where that is earlier")
    value_previous_period = fields.NumberField(help_text="at the end of the day before startDate")
    value_change = fields.NumberField()


class PointShape(Shape):
    date = fields.DayField()
    value = fields.NumberField()


class CashTypeSeries(Shape):
    cash = PointShape(many=True)
    non_cash = PointShape(many=True)
