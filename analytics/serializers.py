"""The questions and answers of the data queries."""

from rest_framework import serializers

from analytics.monthly_rows import TYPES
from analytics.windows import MOST_DAYS, Window
from companies.api import fields
from companies.api.serializers import Shape
from ledger.models import AccountType, PlType
from ledger.serializers.selections import MOST_IDS


class AccountBalanceQuery(Window):
    account_types = serializers.ListField(
        child=fields.ChoiceField(choices=AccountType.choices),
        required=False,
        allow_empty=False,
        max_length=100,
        help_text="bank and cash where it is left out",
    )


class AccountBalanceShape(Shape):
    account_id = fields.IdField()
    account_name = fields.TextField(max_length=200)
    value = fields.NumberField(help_text="at the end of endDate, or of today where that is earlier")
    value_previous_period = fields.NumberField(help_text="at the end of the day before startDate")
    value_change = fields.NumberField()


class PointShape(Shape):
    date = fields.DayField()
    value = fields.NumberField()


class CashTypeSeries(Shape):
    cash = serializers.ListField(child=PointShape(), max_length=MOST_DAYS)
    non_cash = serializers.ListField(child=PointShape(), max_length=MOST_DAYS)


INTERVALS = ["day", "week", "month"]
SHOWN_BY = "a week starts on Monday; a point's date is the first day of its bucket"


class CashFlowQuery(Window):
    interval = fields.ChoiceField(choices=INTERVALS, required=False, default="day", help_text=SHOWN_BY)


class ForecastQuery(Shape):
    end_date = fields.DayField(help_text="the last day, included")
    start_date = fields.DayField(
        required=False, allow_null=True, help_text="the first day of the month eleven months before the cutover"
    )
    cutover_date = fields.DayField(
        required=False, allow_null=True, help_text="the last day of actual flows, today at the latest; default today"
    )
    interval = fields.ChoiceField(choices=INTERVALS, required=False, default="day", help_text=SHOWN_BY)


class CashFlowSeries(Shape):
    inflow = serializers.ListField(child=PointShape(), max_length=MOST_DAYS)
    outflow = serializers.ListField(child=PointShape(), max_length=MOST_DAYS, help_text="positive")


class ForecastSeries(CashFlowSeries):
    planned_inflow = serializers.ListField(child=PointShape(), max_length=MOST_DAYS)
    planned_outflow = serializers.ListField(child=PointShape(), max_length=MOST_DAYS, help_text="positive")


class BarShape(Shape):
    month = fields.MonthField()
    revenue_recurring = fields.NumberField()
    revenue_one_off = fields.NumberField()
    revenue_usage = fields.NumberField()
    revenue_other = fields.NumberField()
    cogs = fields.NumberField(help_text="expenses are positive")
    cac = fields.NumberField()
    pd = fields.NumberField()
    ga = fields.NumberField()


class ProfitAndLossQuery(Shape):
    start_month = fields.MonthField()
    end_month = fields.MonthField()
    show_all_categories = fields.FlagField(
        required=False, allow_null=True, help_text="empty ones too; the company's plShowAllCategories unless given"
    )


class ResultShape(Shape):
    month = fields.MonthField()
    pl_type = fields.ChoiceField(choices=PlType.choices)
    category_id = fields.IdField()
    category_name = fields.TextField(max_length=200)
    actual = fields.NumberField()
    planned = fields.NumberField()
    percentage = fields.NumberField(
        allow_null=True,
        help_text="25.0: actual is a quarter of planned; null without a plan, and for past months unless the company "
        "shows them",
    )


class MonthlyDataQuery(Shape):
    mrr_type = fields.ChoiceField(choices=list(TYPES), help_text="arr and carr are twelve times mrr and cmrr")
    start_month = fields.MonthField(required=False, allow_null=True, help_text="eleven months before endMonth")
    end_month = fields.MonthField(required=False, allow_null=True, help_text="the running month")
    product_ids = serializers.ListField(
        child=fields.IdField(),
        max_length=MOST_IDS,
        required=False,
        allow_null=True,
        help_text="as if only these products existed",
    )


MONTHLY = {
    "start": "recurring revenue at the end of the month before",
    "new": "from customers who were never active before",
    "reactivate": "from customers who were active once, but not at the end of the month before",
    "upgrade": "more from customers who stayed, at this month's rates",
    "downgrade": "less from customers who stayed; not positive",
    "cancel": "from customers who left, as it was reported; not positive",
    "currency": "what rates did to customers who stayed",
    "end": "start and all movements together, exactly",
}
MonthlyRowShape = type(
    "MonthlyRowShape",
    (Shape,),
    {"__doc__": "One month of recurring revenue in the base currency; counts are distinct customers."}
    | {"month": fields.MonthField()}
    | {
        name: field
        for word, text in MONTHLY.items()
        for name, field in ((word, fields.NumberField(help_text=text)), (f"{word}_count", fields.CountField()))
    },
)
