"""Serializers of the data queries."""

from rest_framework import serializers

from analytics.calc.calendar_periods import PERIOD_MONTHS
from analytics.queries.monthly_rows import TYPES
from analytics.query_window import MAX_WINDOW_DAYS, MAX_WINDOW_MONTHS, Window
from companies.api import fields
from companies.api.serializers import MapSerializer, StrictSerializer
from ledger.models import AccountType, PlType
from ledger.transactions.queries.selections import MAX_SELECTED_IDS


class AccountBalanceQuery(Window):
    account_types = serializers.ListField(
        child=fields.ChoiceField(choices=AccountType.choices),
        required=False,
        allow_empty=False,
        max_length=100,
        help_text="bank and cash where it is left out",
    )


class AccountBalanceSerializer(StrictSerializer):
    account_id = fields.IdField()
    account_name = fields.TextField(max_length=200)
    value = fields.NumberField(help_text="at the end of endDate, or of today where that is earlier")
    value_previous_period = fields.NumberField(help_text="at the end of the day before startDate")
    value_change = fields.NumberField()


class AccountBalances(MapSerializer):
    """By account id."""

    child = AccountBalanceSerializer


class PointSerializer(StrictSerializer):
    date = fields.DateField()
    value = fields.NumberField()


class CashTypeSeries(StrictSerializer):
    cash = serializers.ListField(child=PointSerializer(), max_length=MAX_WINDOW_DAYS)
    non_cash = serializers.ListField(child=PointSerializer(), max_length=MAX_WINDOW_DAYS)


INTERVALS = ["day", "week", "month"]
SHOWN_BY = "a week starts on Monday; a point's date is the first day of its bucket"


class CashFlowQuery(Window):
    interval = fields.ChoiceField(choices=INTERVALS, required=False, default="day", help_text=SHOWN_BY)


class ForecastQuery(StrictSerializer):
    end_date = fields.DateField(help_text="the last day, included")
    start_date = fields.DateField(
        required=False,
        allow_null=True,
        help_text="left out: the first of the month that is eleven months before the cutover's",
    )
    cutover_date = fields.DateField(
        required=False, allow_null=True, help_text="the last day of actual flows, today at the latest; default today"
    )
    interval = fields.ChoiceField(choices=INTERVALS, required=False, default="day", help_text=SHOWN_BY)


class CashFlowSeries(StrictSerializer):
    inflow = serializers.ListField(child=PointSerializer(), max_length=MAX_WINDOW_DAYS)
    outflow = serializers.ListField(child=PointSerializer(), max_length=MAX_WINDOW_DAYS, help_text="positive")


class ForecastSeries(CashFlowSeries):
    planned_inflow = serializers.ListField(child=PointSerializer(), max_length=MAX_WINDOW_DAYS)
    planned_outflow = serializers.ListField(child=PointSerializer(), max_length=MAX_WINDOW_DAYS, help_text="positive")


class RunwaySerializer(StrictSerializer):
    cash = fields.NumberField(help_text="what lies today on the accounts that count as cash")
    monthly_net = fields.NumberField(
        allow_null=True,
        help_text="mean monthly change of cash without revaluation and financing inflow, rounded to cents; negative "
        "when cash falls, null without a month",
    )
    months = serializers.ListField(
        child=fields.MonthField(), max_length=3, help_text="the last whole months with bookings, in order"
    )
    runway_months = fields.NumberField(
        allow_null=True,
        help_text="cash divided by the mean monthly burn, rounded down to a tenth; 0 without cash, null without burn",
    )
    change_of_cash = fields.NumberField(
        help_text="of the accounts that count as cash over these months, without initial balances; base currency"
    )
    revaluation = fields.NumberField(help_text="what of it exchange rates did")
    financing_inflow = fields.NumberField(help_text="what of it came from owners and lenders; not negative")


class ForecastBalanceQuery(ForecastQuery):
    account_ids = serializers.ListField(
        child=fields.IdField(),
        max_length=MAX_SELECTED_IDS,
        required=False,
        allow_null=True,
        allow_empty=False,
        help_text="those that count as cash where it is left out",
    )
    by_account = fields.BooleanField(required=False, default=False, help_text="tells each account by itself too")


class OverdueSerializer(StrictSerializer):
    count = fields.CountField()
    value = fields.NumberField(help_text="what they come to, negative where more goes out")


class AccountForecastSerializer(StrictSerializer):
    """An account by itself, in its own currency."""

    account_id = fields.IdField()
    lowest = PointSerializer(
        allow_null=True, help_text="the day with the lowest projected balance; null where nothing is projected"
    )
    below_zero = fields.DateField(allow_null=True, help_text="the first day with a projected balance below zero")


class ForecastBalanceSeries(StrictSerializer):
    actual = serializers.ListField(
        child=PointSerializer(),
        max_length=MAX_WINDOW_DAYS,
        help_text="up to the cutover, whose bucket ends with it; all of a window that ends in the past",
    )
    projected = serializers.ListField(
        child=PointSerializer(), max_length=MAX_WINDOW_DAYS, help_text="from the bucket of the day after the cutover on"
    )
    lowest = PointSerializer(
        allow_null=True, help_text="the day with the lowest projected balance; null where nothing is projected"
    )
    below_zero = fields.DateField(allow_null=True, help_text="the first day with a projected balance below zero")
    overdue = OverdueSerializer(
        help_text="expected in the last sixty days, not settled; it counts on the day after the cutover"
    )
    planned_inflow = fields.NumberField(help_text="on these accounts after the cutover: booked, expected and overdue")
    planned_outflow = fields.NumberField(help_text="positive")
    transfers_out = fields.NumberField(
        help_text="booked after the cutover: moved to other accounts, less what comes from them and initial balances"
    )
    revaluation = fields.NumberField(help_text="what exchange rates did after the cutover")
    accounts = serializers.ListField(
        child=AccountForecastSerializer(),
        max_length=MAX_SELECTED_IDS,
        allow_null=True,
        help_text="with byAccount each account by itself, without what is expected on no account; else null",
    )


CASH_PARTS = {
    "opening": "the cash at the end of the day before startDate, in the base currency as all parts",
    "opening_balances": "initial balances of cash accounts within the window",
    "operating_inflow": "money that came into cash accounts, without transfers and financing",
    "operating_outflow": "money that left cash accounts, without transfers and financing; not positive",
    "cards": "transfers between cash accounts and credit cards; negative where cards were settled",
    "financing": "money in and out in categories with financing: true, and transfers from and to loan accounts",
    "exchange_result": "what transfers between cash accounts gained or lost by the bank's rates and fees, both legs at "
    "their day's rate",
    "revaluation": "what exchange rates did to the cash in other currencies, and the cents that rounding leaves",
    "other_transfers": "transfers between cash accounts and all other accounts, such as payment providers; and "
    "transfers between cash accounts of which one leg lies outside the window",
    "closing": "the cash at the end of endDate, or of today where that is earlier",
}
CashBridgeSerializer = type(
    "CashBridgeSerializer",
    (StrictSerializer,),
    {"__doc__": "The change of cash in parts that add up to it."}
    | {part: fields.NumberField(help_text=text) for part, text in CASH_PARTS.items()}
    | {
        f"{part}_url": fields.TextField(
            max_length=500,
            allow_null=True,
            help_text="the transactions behind it; null, for no transaction is behind a revaluation"
            if part == "revaluation"
            else "the transactions behind it",
        )
        for part in CASH_PARTS
    },
)


class OpenTransactionsSerializer(StrictSerializer):
    count = fields.CountField()
    inflow = fields.NumberField(help_text="what of money that came in is not categorized")
    outflow = fields.NumberField(help_text="what of money that went out is not categorized; positive")


class BarSerializer(StrictSerializer):
    month = fields.MonthField()
    revenue_recurring = fields.NumberField()
    revenue_one_off = fields.NumberField()
    revenue_usage = fields.NumberField()
    revenue_other = fields.NumberField()
    cogs = fields.NumberField(help_text="expenses are positive")
    cac = fields.NumberField()
    pd = fields.NumberField()
    ga = fields.NumberField()


COMPARISONS = ["previousPeriod", "previousYear"]


class ProfitAndLossQuery(StrictSerializer):
    start_month = fields.MonthField()
    end_month = fields.MonthField()
    show_all_categories = fields.BooleanField(
        required=False, allow_null=True, help_text="empty ones too; the company's plShowAllCategories unless given"
    )
    interval = fields.ChoiceField(
        choices=list(PERIOD_MONTHS), required=False, default="month", help_text="periods of the calendar"
    )
    comparison = fields.ChoiceField(
        choices=COMPARISONS,
        required=False,
        allow_null=True,
        help_text="previousPeriod: the month, quarter or year before; previousYear: the same one a year before",
    )
    to_date = fields.BooleanField(
        required=False,
        default=False,
        help_text="ends with the running month, which counts up to today: of what is dated later nothing, of a service "
        "period its days so far, of the plan its share by days; what it is compared with is cut on the same day",
    )


class StatementQuery(StrictSerializer):
    start_date = fields.DateField(required=False)
    end_date = fields.DateField(required=False)
    interval = fields.ChoiceField(choices=list(PERIOD_MONTHS), required=False, default="month")
    comparison = fields.ChoiceField(choices=COMPARISONS, required=False)
    to_date = fields.ChoiceField(choices=["true", "false"], required=False, default="false")


class ResultSerializer(StrictSerializer):
    month = fields.MonthField(help_text="the first of the period")
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
    variance = fields.NumberField(allow_null=True, help_text="actual less planned; null without a plan")
    favourable = fields.BooleanField(
        allow_null=True,
        help_text="whether the variance is good for the result: revenue above plan is, cost above plan is not; null "
        "without a variance and on neutral lines",
    )
    comparison_actual = fields.NumberField(
        allow_null=True, help_text="what it was in the period compared with; null without a comparison"
    )
    transactions_url = fields.TextField(
        max_length=500,
        help_text="the transactions behind `actual`, whose `X-Total-Amount` is the same amount",
    )


class MonthlyDataQuery(StrictSerializer):
    mrr_type = fields.ChoiceField(choices=list(TYPES), help_text="arr and carr are twelve times mrr and cmrr")
    start_month = fields.MonthField(
        required=False, allow_null=True, help_text="left out: eleven months before endMonth"
    )
    end_month = fields.MonthField(required=False, allow_null=True, help_text="left out: the running month")
    product_ids = serializers.ListField(
        child=fields.IdField(),
        max_length=MAX_SELECTED_IDS,
        required=False,
        allow_null=True,
        help_text="as if only these products existed",
    )


class RecurringRevenueQuery(StrictSerializer):
    month = fields.MonthField(required=False, allow_null=True, help_text="the running month where it is left out")


def build_rate_field(text: str) -> fields.NumberField:
    return fields.NumberField(allow_null=True, help_text=f"{text}; a percentage, null where nobody paid then")


class RecurringRevenueSerializer(StrictSerializer):
    mrr = fields.NumberField(help_text="at the end of the month")
    arr = fields.NumberField(help_text="twelve times mrr")
    customers = fields.CountField()
    arpa = fields.NumberField(allow_null=True, help_text="mrr by customers; null without any")
    net_revenue_retention = build_rate_field(
        "what the customers of twelve months before pay now, by what they paid then; no others count"
    )
    gross_revenue_retention = build_rate_field("the same without upgrades")
    customer_churn_rate = build_rate_field("customers who left, by the customers of twelve months before")
    revenue_churn_rate = build_rate_field("cancellations and downgrades, by the revenue of twelve months before")
    quick_ratio = fields.NumberField(
        allow_null=True,
        help_text="new, reactivated and upgraded revenue by cancelled and downgraded revenue; null without the latter",
    )


MEASURES = ["revenue", "customers"]


class CohortsQuery(StrictSerializer):
    start_month = fields.MonthField(help_text="the first cohort")
    end_month = fields.MonthField(help_text="the last cohort, and the last month that all are followed to")
    measure = fields.ChoiceField(choices=MEASURES)


class CohortMarkSerializer(StrictSerializer):
    month = fields.MonthField()
    value = fields.NumberField(help_text="recurring revenue, or how many customers, at the month's end")
    percentage = fields.NumberField(
        allow_null=True, help_text="of what it was in the first month, at the same rates; null for a cohort of nobody"
    )


class CohortSerializer(StrictSerializer):
    month = fields.MonthField(help_text="in which the cohort's customers were active for the first time")
    start = fields.NumberField(help_text="its value in that month")
    values = serializers.ListField(child=CohortMarkSerializer(), max_length=MAX_WINDOW_MONTHS)


MONTHLY = {
    "start": "recurring revenue at the end of the month before",
    "new": "from customers who were never active before",
    "reactivate": "from customers who were active once, but not at the end of the month before",
    "upgrade": "more from customers who stayed, at this month's rates",
    "downgrade": "less from customers who stayed; not positive",
    "cancel": "from customers who left, as it was reported; not positive",
    "currency": "what rates did to customers who stayed, and the cents that rounding the other movements leaves over",
    "end": "start and all movements together, exactly",
}
MonthlyRowSerializer = type(
    "MonthlyRowSerializer",
    (StrictSerializer,),
    {"__doc__": "One month of recurring revenue in the base currency; counts are distinct customers."}
    | {"month": fields.MonthField()}
    | {
        name: field
        for word, text in MONTHLY.items()
        for name, field in ((word, fields.NumberField(help_text=text)), (f"{word}_count", fields.CountField()))
    },
)
