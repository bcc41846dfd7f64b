"""The line chart of one balance, actual and projected."""

from collections.abc import Callable, Collection
from datetime import date
from decimal import Decimal
from uuid import UUID

from django.db.models import Min
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.calc import chart_layout
from analytics.calc.chart_layout import PLOT_HEIGHT_PX
from analytics.charts import cash_sections
from analytics.charts.chart_tables import ChartTable, TableColumn, build_day_rows
from analytics.charts.lowest_balance import (
    build_lowest_balance_marks,
    build_plan_payments_link,
    describe_lowest_balance,
)
from analytics.charts.sections import LegendKey, Section, build_day_chart, get_smallest_step
from analytics.queries.balance_forecast import compute_balance_forecast
from analytics.report_period import ReportPeriod
from companies.locales import get_current_locale
from companies.models import Company
from ledger.models import Account, DayMovement
from ledger.money.calc.fx import RateTable
from ledger.money.rates import get_rate_table

KEYS = (
    LegendKey("cash", gettext_lazy("Balance"), line=True),
    LegendKey("projected", gettext_lazy("Projected balance"), line=True),
)
LEAD_BY_INTERVAL = {
    "day": gettext_lazy("In {currency}, at the end of each day."),
    "month": gettext_lazy("In {currency}, at the end of each month."),
}


def build_balance_line(
    *,
    company: Company,
    period: ReportPeriod,
    accounts: Collection[UUID] | None,
    title: str,
    name: str,
    build_link: Callable[[date, date], str],
    can_write_plan: bool,
    rates: RateTable | None = None,
) -> Section:
    """Build the chart of `data/forecastBalanceTimeSeries` for the given or for cash accounts.

    It starts with the first booking.

    Args:
        build_link: returns the URL of what is behind the days from one to another.
        can_write_plan: whether the user may plan payments.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    base = company.base_currency
    forecast = compute_balance_forecast(
        company=company,
        start=period.first,
        end=period.last,
        cutover=period.today,
        today=period.today,
        interval=period.interval,
        rates=rates or get_rate_table(),
        accounts=accounts,
    )
    values: dict[date, tuple[Decimal | None, Decimal | None]] = {day: (value, None) for day, value in forecast.actual}
    for day, value in forecast.projected:
        values[day] = (values.get(day, (None, None))[0], value)
    days = [*values]
    actual, projected = (list(column) for column in zip(*values.values(), strict=True))
    last_known_place = cash_sections.find_last_known_index(actual)
    if (first := find_first_booking_day(company, accounts)) and first <= period.today:
        actual = cash_sections.mask_before_first_day(first, actual, days)
    chart = chart_layout.build_line_chart(
        [actual, cash_sections.join_projection(projected, actual, last_known_place)], smallest=get_smallest_step(base)
    )
    build_rows = build_day_rows if period.interval == "day" else cash_sections.build_balance_rows
    return Section(
        id="balance",
        title=title,
        intro=f"{LEAD_BY_INTERVAL[period.interval].format(currency=base)} "
        f"{describe_lowest_balance(forecast, period, base, is_one_account=accounts is not None)}",
        description=_("{name} from {first} to {last}.").format(
            name=name,
            first=get_current_locale().format_long_day(period.first),
            last=get_current_locale().format_long_day(period.last),
        ),
        keys=KEYS if forecast.projected else KEYS[:1],
        picture=build_day_chart(
            chart,
            series=[key.series for key in KEYS],
            days=days,
            currency=base,
            height=PLOT_HEIGHT_PX,
            point_marks=build_lowest_balance_marks(forecast, days, chart, base),
            cutover=round(last_known_place * 100 / max(len(days) - 1, 1), 3) if forecast.projected else None,
        ),
        action=build_plan_payments_link(company, forecast, can_write=can_write_plan),
        empty_text=_("No transactions in this period, and none planned."),
        table=ChartTable(
            first=_("Day") if period.interval == "day" else _("Month"),
            columns=[TableColumn(key.label) for key in KEYS],
            rows=build_rows(
                days, values.values(), [build_link(*each) for each in cash_sections.list_bucket_windows(period, days)]
            ),
            currency=base,
            newest_first=True,
        ),
        file=False,
    )


def find_first_booking_day(company: Company, accounts: Collection[UUID] | None) -> date | None:
    """Return the first day with a booking on the given or on cash accounts."""
    rows = DayMovement.objects.for_company(company.id)
    cash_ids = Account.objects.for_company(company.id).cash().values("id") if accounts is None else accounts
    first_booking_day: date | None = rows.filter(account_id__in=cash_ids).aggregate(first=Min("date"))["first"]
    return first_booking_day
