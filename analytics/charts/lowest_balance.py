"""The lowest balance of a forecast: its mark in a chart, and what texts say about it."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.calc import chart_layout
from analytics.charts.amount_format import format_brief_amount, format_compact_amount
from analytics.charts.svg import PointMark
from analytics.queries.balance_forecast import BalanceForecast
from analytics.report_period import ReportPeriod
from companies.locales import get_current_locale
from companies.models import Company

NOTHING_PLANNED = gettext_lazy("No forecast: no transactions are planned yet.")
NOTHING_PLANNED_ON_ACCOUNT = gettext_lazy("No forecast: no transactions are planned on this account yet.")


def find_lower_balance_of_today(forecast: BalanceForecast) -> tuple[date, Decimal] | None:
    """Return the last actual balance under the day of its point, if no forecast one is lower; else None."""
    if not forecast.lowest or not forecast.actual:
        return None
    latest = forecast.actual[-1]
    return latest if latest[1] <= forecast.lowest[1] else None


def build_lowest_balance_marks(
    forecast: BalanceForecast, days: Sequence[date], chart: chart_layout.LineChart, currency: str
) -> list[PointMark]:
    """Mark the day with the lowest balance from today on, if anything is planned."""
    if not forecast.lowest or not forecast.has_plans:
        return []
    day, value = find_lower_balance_of_today(forecast) or forecast.lowest
    x = max(index for index, each in enumerate(days) if each <= day) * 100 / max(len(days) - 1, 1)
    text = _("Lowest {amount}, {day}").format(
        amount=format_compact_amount(value, currency), day=get_current_locale().format_short_day(day)
    )
    return [
        PointMark(x=round(x, 3), y=chart.scale.get_position(value), text=text, kind="negative" if value < 0 else "")
    ]


def describe_lowest_balance(
    forecast: BalanceForecast, period: ReportPeriod, currency: str, *, is_one_account: bool = False
) -> str:
    """Describe the lowest balance of a forecast; empty where nothing is projected."""
    if not forecast.lowest:
        return ""
    if not forecast.has_plans:
        return str(NOTHING_PLANNED_ON_ACCOUNT if is_one_account else NOTHING_PLANNED)
    format_day, (day, value) = get_current_locale().format_day, forecast.lowest
    parameters = {
        "last": format_day(period.last),
        "amount": format_brief_amount(value, currency),
        "day": format_day(day),
    }
    counted = _("It counts planned transactions and open invoices only.")
    if forecast.below_zero:
        text = _("Forecast from tomorrow to {last}: lowest {amount} on {day}, below zero from {first}.")
        text = text.format(first=format_day(forecast.below_zero[0]), **parameters)
    elif today := find_lower_balance_of_today(forecast):
        amount = format_brief_amount(today[1], currency)
        text = _("Forecast from tomorrow to {last}: never below the {amount} of today.")
        text = text.format(last=parameters["last"], amount=amount)
    else:
        text = _("Forecast from tomorrow to {last}: lowest {amount} on {day}, never below zero.").format(**parameters)
    return f"{text} {counted}"


def build_plan_payments_link(company: Company, forecast: BalanceForecast, *, can_write: bool) -> tuple[str, str] | None:
    """Return (URL, label) of the link to plan payments; None without the permission or if something is planned."""
    if not can_write or not forecast.lowest or forecast.has_plans:
        return None
    return reverse("planned-new", args=[company.id]), _("Add planned transactions")
