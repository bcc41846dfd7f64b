"""Serializers of the data queries."""

from rest_framework import serializers

from analytics.calc.calendar_periods import PERIOD_MONTHS
from analytics.queries.monthly_rows import TYPES
from analytics.query_window import MAX_WINDOW_DAYS, MAX_WINDOW_MONTHS, Window
from companies.api import fields
from companies.api.serializers import MapSerializer, StrictSerializer
from ledger.models import AccountType, PlType
from ledger.transactions.queries.selections import MAX_SELECTED_IDS
from planning.scenarios.actions.scenarios import MAX_CHANGES


class AccountBalanceQuery(Window):
    account_types = serializers.ListField(
        child=fields.ChoiceField(choices=AccountType.choices),
        required=False,
        allow_empty=False,
        max_length=100,
        help_text="Defaults to bank and cash.",
    )


class AccountBalanceSerializer(StrictSerializer):
    account_id = fields.IdField()
    account_name = fields.TextField(max_length=200)
    value = fields.NumberField(help_text="Balance at the end of endDate, or of today if earlier.")
    value_previous_period = fields.NumberField(help_text="Balance at the end of the day before startDate.")
    value_change = fields.NumberField()


class AccountBalances(MapSerializer):
    """Balances by account ID."""

    child = AccountBalanceSerializer


class PointSerializer(StrictSerializer):
    date = fields.DateField()
    value = fields.NumberField()


class CashTypeSeries(StrictSerializer):
    cash = serializers.ListField(child=PointSerializer(), max_length=MAX_WINDOW_DAYS)
    non_cash = serializers.ListField(child=PointSerializer(), max_length=MAX_WINDOW_DAYS)


INTERVALS = ["day", "week", "month"]
SHOWN_BY = "Length of a point, dated by its first day; weeks start on Monday."


class CashFlowQuery(Window):
    interval = fields.ChoiceField(choices=INTERVALS, required=False, default="day", help_text=SHOWN_BY)


class ScenarioQuery(StrictSerializer):
    scenario_id = fields.IdField(
        required=False, allow_null=True, help_text="Scenario whose changes apply; null for the plan as it is."
    )


def build_broken_changes_field() -> serializers.ListField:
    return serializers.ListField(
        child=fields.CountField(),
        max_length=MAX_CHANGES,
        help_text="With `scenarioId`: positions (from 0) of changes that refer to something deleted and do not apply.",
    )


class ForecastQuery(ScenarioQuery):
    end_date = fields.DateField(help_text="Last day, inclusive.")
    start_date = fields.DateField(
        required=False,
        allow_null=True,
        help_text="Defaults to the first day of the month 11 months before the cutover.",
    )
    cutover_date = fields.DateField(
        required=False, allow_null=True, help_text="Last day of actual values; today by default and at the latest."
    )
    interval = fields.ChoiceField(choices=INTERVALS, required=False, default="day", help_text=SHOWN_BY)


class CashFlowSeries(StrictSerializer):
    inflow = serializers.ListField(child=PointSerializer(), max_length=MAX_WINDOW_DAYS)
    outflow = serializers.ListField(child=PointSerializer(), max_length=MAX_WINDOW_DAYS, help_text="Positive amounts.")


class ForecastSeries(CashFlowSeries):
    optional = ("brokenChanges",)
    planned_inflow = serializers.ListField(child=PointSerializer(), max_length=MAX_WINDOW_DAYS)
    planned_outflow = serializers.ListField(
        child=PointSerializer(), max_length=MAX_WINDOW_DAYS, help_text="Positive amounts."
    )
    broken_changes = build_broken_changes_field()


class RunwaySerializer(StrictSerializer):
    optional = ("belowZero", "brokenChanges")
    cash = fields.NumberField(help_text="Today's balance of all cash accounts.")
    monthly_net = fields.NumberField(
        allow_null=True,
        help_text="Average monthly change of cash without revaluation and financing inflow; negative if cash "
        "decreases, null without full months.",
    )
    months = serializers.ListField(
        child=fields.MonthField(), max_length=3, help_text="Up to three last full months with transactions, in order."
    )
    runway_months = fields.NumberField(
        allow_null=True,
        help_text="Cash divided by monthly burn, in months, rounded down to one decimal; 0 without cash, null "
        "without burn.",
    )
    change_of_cash = fields.NumberField(
        help_text="Change of all cash accounts over these months, without opening balances, in the base currency."
    )
    revaluation = fields.NumberField(help_text="Part of the change caused by exchange rates.")
    financing_inflow = fields.NumberField(help_text="Part of it from owners and lenders; not negative.")
    below_zero = fields.DateField(
        allow_null=True,
        help_text="With `scenarioId`: first day of the next three years with projected cash below zero; null if none.",
    )
    broken_changes = build_broken_changes_field()


class ForecastBalanceQuery(ForecastQuery):
    account_ids = serializers.ListField(
        child=fields.IdField(),
        max_length=MAX_SELECTED_IDS,
        required=False,
        allow_null=True,
        allow_empty=False,
        help_text="Defaults to all cash accounts.",
    )
    by_account = fields.BooleanField(required=False, default=False, help_text="Also return each account separately.")


class OverdueSerializer(StrictSerializer):
    count = fields.CountField()
    value = fields.NumberField(help_text="Net amount; negative is money out.")


class AccountForecastSerializer(StrictSerializer):
    """The forecast of an account, in its currency."""

    account_id = fields.IdField()
    lowest = PointSerializer(
        allow_null=True, help_text="Lowest projected balance and its date; null without a projection."
    )
    below_zero = fields.DateField(allow_null=True, help_text="First day with a projected balance below zero.")


class ForecastBalanceSeries(StrictSerializer):
    optional = ("brokenChanges",)
    actual = serializers.ListField(
        child=PointSerializer(),
        max_length=MAX_WINDOW_DAYS,
        help_text="Balances up to the cutover, or all if the window ends in the past.",
    )
    projected = serializers.ListField(
        child=PointSerializer(),
        max_length=MAX_WINDOW_DAYS,
        help_text="Balances from the interval of the day after the cutover.",
    )
    lowest = PointSerializer(
        allow_null=True, help_text="Lowest projected balance and its date; null without a projection."
    )
    below_zero = fields.DateField(allow_null=True, help_text="First day with a projected balance below zero.")
    overdue = OverdueSerializer(
        help_text="Occurrences of the last 60 days not settled; they count on the day after the cutover."
    )
    planned_inflow = fields.NumberField(help_text="Money in after the cutover: booked, expected and overdue.")
    planned_outflow = fields.NumberField(help_text="Money out after the cutover, as a positive amount.")
    transfers_out = fields.NumberField(
        help_text="Net transfers to other accounts after the cutover, booked or expected, less opening balances."
    )
    revaluation = fields.NumberField(help_text="Effect of exchange rates after the cutover.")
    accounts = serializers.ListField(
        child=AccountForecastSerializer(),
        max_length=MAX_SELECTED_IDS,
        allow_null=True,
        help_text="Forecast by account, without amounts that have no account; null unless byAccount is true.",
    )
    broken_changes = build_broken_changes_field()


CASH_PARTS = {
    "opening": "Cash at the end of the day before startDate, in the base currency like all parts.",
    "opening_balances": "Opening balances of cash accounts in the window.",
    "operating_inflow": "Money in on cash accounts, without transfers and financing.",
    "operating_outflow": "Money out on cash accounts, without transfers and financing; not positive.",
    "cards": "Transfers between cash accounts and credit cards; negative if cards were paid.",
    "financing": "Amounts in categories with `financing: true`, and transfers to and from loan accounts.",
    "exchange_result": "Gains and losses on transfers between cash accounts from bank rates and fees, with both legs "
    "at the rate of their day.",
    "revaluation": "Effect of exchange rates on cash in other currencies, and rounding differences.",
    "other_transfers": "Transfers between cash accounts and other accounts such as payment providers, and transfers "
    "between cash accounts with one leg outside the window.",
    "closing": "Cash at the end of endDate, or of today if earlier.",
}
CashBridgeSerializer = type(
    "CashBridgeSerializer",
    (StrictSerializer,),
    {"__doc__": "The cash bridge: opening cash, changes and closing cash."}
    | {part: fields.NumberField(help_text=text) for part, text in CASH_PARTS.items()}
    | {
        f"{part}_url": fields.TextField(
            max_length=500,
            allow_null=True,
            help_text="Always null: a revaluation has no transactions."
            if part == "revaluation"
            else "URL of the transactions of this part.",
        )
        for part in CASH_PARTS
    },
)


class OpenTransactionsSerializer(StrictSerializer):
    count = fields.CountField()
    inflow = fields.NumberField(help_text="Uncategorized money in.")
    outflow = fields.NumberField(help_text="Uncategorized money out, as a positive amount.")


class BarSerializer(StrictSerializer):
    month = fields.MonthField()
    revenue_recurring = fields.NumberField()
    revenue_one_off = fields.NumberField()
    revenue_usage = fields.NumberField()
    revenue_other = fields.NumberField()
    cogs = fields.NumberField(help_text="Cost of revenue; expenses are positive.")
    cac = fields.NumberField()
    pd = fields.NumberField()
    ga = fields.NumberField()


COMPARISONS = ["previousPeriod", "previousYear"]


class ProfitAndLossQuery(ScenarioQuery):
    start_month = fields.MonthField()
    end_month = fields.MonthField()
    show_all_categories = fields.BooleanField(
        required=False,
        allow_null=True,
        help_text="Whether to include empty categories; default is the company's plShowAllCategories.",
    )
    interval = fields.ChoiceField(
        choices=list(PERIOD_MONTHS), required=False, default="month", help_text="Length of the periods."
    )
    comparison = fields.ChoiceField(
        choices=COMPARISONS,
        required=False,
        allow_null=True,
        help_text="Period to compare with: `previousPeriod`, or `previousYear` for the same period a year earlier.",
    )
    to_date = fields.BooleanField(
        required=False,
        default=False,
        help_text="Whether the current month counts up to today only, in plan and comparison too.",
    )
    as_reported = fields.BooleanField(
        required=False,
        default=False,
        help_text="Whether to show closed months as reported; open months are shown as they are now.",
    )


class StatementQuery(StrictSerializer):
    start_date = fields.DateField(required=False)
    end_date = fields.DateField(required=False)
    interval = fields.ChoiceField(choices=list(PERIOD_MONTHS), required=False, default="month")
    comparison = fields.ChoiceField(choices=COMPARISONS, required=False)
    to_date = fields.ChoiceField(choices=["true", "false"], required=False, default="false")


class ResultSerializer(StrictSerializer):
    month = fields.MonthField(help_text="First month of the period, YYYY-MM.")
    pl_type = fields.ChoiceField(choices=PlType.choices)
    category_id = fields.IdField()
    category_name = fields.TextField(max_length=200)
    actual = fields.NumberField()
    planned = fields.NumberField()
    percentage = fields.NumberField(
        allow_null=True,
        help_text="Actual in percent of planned; null without a plan, and for past months unless the company shows "
        "them.",
    )
    variance = fields.NumberField(allow_null=True, help_text="Actual less planned; null without a plan.")
    favourable = fields.BooleanField(
        allow_null=True,
        help_text="Whether the variance improves the result, such as revenue above plan; null without a variance and "
        "on neutral lines.",
    )
    comparison_actual = fields.NumberField(
        allow_null=True, help_text="Actual in the comparison period; null without a comparison."
    )
    transactions_url = fields.TextField(
        max_length=500,
        help_text="URL of the transactions of `actual`, whose `X-Total-Amount` is the same amount.",
    )


class MonthlyDataQuery(StrictSerializer):
    mrr_type = fields.ChoiceField(choices=list(TYPES), help_text="`arr` and `carr` are twelve times `mrr` and `cmrr`.")
    start_month = fields.MonthField(required=False, allow_null=True, help_text="Defaults to 11 months before endMonth.")
    end_month = fields.MonthField(required=False, allow_null=True, help_text="Defaults to the current month.")
    product_ids = serializers.ListField(
        child=fields.IdField(),
        max_length=MAX_SELECTED_IDS,
        required=False,
        allow_null=True,
        help_text="Only count subscriptions to these products.",
    )


class RecurringRevenueQuery(StrictSerializer):
    month = fields.MonthField(required=False, allow_null=True, help_text="Defaults to the current month.")


def build_rate_field(text: str) -> fields.NumberField:
    return fields.NumberField(allow_null=True, help_text=f"{text}, in percent; null without MRR 12 months ago.")


class RecurringRevenueSerializer(StrictSerializer):
    mrr = fields.NumberField(help_text="MRR at the end of the month.")
    arr = fields.NumberField(help_text="Twelve times MRR.")
    customers = fields.CountField()
    arpa = fields.NumberField(allow_null=True, help_text="MRR per customer; null without customers.")
    net_revenue_retention = build_rate_field("MRR now of customers with MRR 12 months ago, divided by their MRR then")
    gross_revenue_retention = build_rate_field("Net revenue retention without upgrades")
    customer_churn_rate = build_rate_field("Customers who left, divided by customers 12 months ago")
    revenue_churn_rate = build_rate_field("Cancellations and downgrades, divided by MRR 12 months ago")
    quick_ratio = fields.NumberField(
        allow_null=True,
        help_text="New, reactivated and upgraded MRR divided by cancelled and downgraded MRR; null if nothing was "
        "cancelled or downgraded.",
    )


MEASURES = ["revenue", "customers"]


class CohortsQuery(StrictSerializer):
    start_month = fields.MonthField(help_text="First cohort, YYYY-MM.")
    end_month = fields.MonthField(help_text="Last cohort and last month of all cohorts, YYYY-MM.")
    measure = fields.ChoiceField(choices=MEASURES)


class CohortMarkSerializer(StrictSerializer):
    month = fields.MonthField()
    value = fields.NumberField(help_text="MRR or number of customers at the end of the month.")
    percentage = fields.NumberField(
        allow_null=True,
        help_text="Share of the first month in percent, at the same exchange rates; null for an empty cohort.",
    )


class CohortSerializer(StrictSerializer):
    month = fields.MonthField(help_text="Month in which the cohort's customers started.")
    start = fields.NumberField(help_text="Value in that month.")
    values = serializers.ListField(child=CohortMarkSerializer(), max_length=MAX_WINDOW_MONTHS)


MONTHLY = {
    "start": "Recurring revenue at the end of the previous month.",
    "new": "Revenue of customers who were never active before.",
    "reactivate": "Revenue of customers who were active earlier but not at the end of the previous month.",
    "upgrade": "Increase of existing customers, at this month's rates.",
    "downgrade": "Decrease of existing customers above zero; not positive.",
    "cancel": "Revenue of customers who left, as reported; not positive.",
    "currency": "Effect of exchange rates on existing customers, and rounding differences.",
    "end": "Exact sum of start and all movements.",
}
MonthlyRowSerializer = type(
    "MonthlyRowSerializer",
    (StrictSerializer,),
    {"__doc__": "Recurring revenue of a month in the base currency. Counts are distinct customers."}
    | {"month": fields.MonthField()}
    | {
        name: field
        for word, text in MONTHLY.items()
        for name, field in ((word, fields.NumberField(help_text=text)), (f"{word}_count", fields.CountField()))
    },
)
