"""Key figures of a company: on its overview, and on its card on the home page."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from analytics.charts.amount_format import format_brief_amount, format_compact_amount, format_share
from analytics.charts.chart_data import ChartData
from analytics.charts.lowest_balance import find_lower_balance_of_today
from analytics.queries.balances import compute_cash_at_day
from analytics.queries.runway import Runway
from companies.auth.access import Access
from companies.locales import get_current_locale
from companies.pages.amount_formats import MINUS
from companies.permissions import Permission
from companies.time_zones import get_today
from ledger.calc.months import get_last_day_of_month
from ledger.money.calc.fx import RateLookupError
from ledger.money.rates import get_rate_table
from ledger.subscriptions.queries import committed_revenue

ZERO = Decimal(0)
CHANGE_DAYS = 30
MAX_RUNWAY_MONTHS = 60  # longer runways are shown as "over 5 years"


@dataclass(frozen=True, slots=True)
class KeyFigure:
    label: str
    text: str
    hint: str = ""
    tone: str = ""  # "good", "bad" or empty
    link: tuple[str, str] | None = None  # URL and label of the page behind it


def build_cash_figures(data: ChartData) -> list[KeyFigure]:
    """Build the figures of cash: balance, change in thirty days, lowest expected, and runway.

    Initial balances of accounts opened in these days are not part of the change.
    """
    currency, points, last_day = data.currency, data.points_with_opening, data.until
    cash = points[-1].cash
    point_before = points[max(len(points) - 1 - CHANGE_DAYS, 0)]  # one point for each day
    cash_before = point_before.cash + data.sum_initial_balances_after(point_before.day)
    change = cash - cash_before
    share = _("no cash before")
    if cash_before < 0:
        share = _("from {amount}").format(amount=format_compact_amount(cash_before, currency))
    elif cash_before:
        share = _("{share} of {amount}").format(
            share=format_share(change / cash_before), amount=format_compact_amount(cash_before, currency)
        )
    name = (
        _("Cash")
        if last_day == data.today
        else _("Cash on {day}").format(day=get_current_locale().format_day(last_day))
    )
    days = (last_day - point_before.day).days
    change_label = ngettext("Change in {count} day", "Change in {count} days", days).format(count=days)
    bridge_url = data.links.bridge_url
    runway_figure = build_runway_figure(
        data.runway, currency=currency, day=data.today if last_day != data.today else None
    )
    if months := data.runway.months:
        query = f"startDate={months[0]}&endDate={get_last_day_of_month(months[-1])}"
        runway_figure = replace(runway_figure, link=(f"{bridge_url}{query}", _("Cash bridge")))
    return [
        KeyFigure(
            name,
            format_brief_amount(cash, currency),
            _("all cash accounts"),
            link=(f"{bridge_url}{data.period.query}", _("Cash bridge")),
        ),
        KeyFigure(change_label, format_brief_amount(change, currency, plus=True), share, get_figure_tone(change)),
        *build_lowest_figure(data),
        runway_figure,
    ]


def build_lowest_figure(data: ChartData) -> list[KeyFigure]:
    """Build the figure of the lowest cash from today to the end of the period, and since when it is below zero."""
    forecast = data.balance_forecast
    if not forecast.lowest:
        return []
    if not forecast.has_plans:
        return [KeyFigure(_("Lowest forecast"), "–", _("nothing planned yet"))]
    lower = find_lower_balance_of_today(forecast)
    day, value = (data.today, lower[1]) if lower else forecast.lowest
    hint = _("on {day}: lowest planned balance to {last}")
    if day == data.today:
        hint = _("today; no planned balance to {last} is lower")
    elif day == data.period.last:
        hint = _("on {day}, where the forecast ends")
    if forecast.below_zero:
        hint = _("on {day}: lowest planned balance to {last}; below zero from {first}")
    format_day = get_current_locale().format_day
    first = format_day(forecast.below_zero[0]) if forecast.below_zero else ""
    hint = hint.format(day=format_day(day), last=format_day(data.period.last), first=first)
    return [
        KeyFigure(_("Lowest forecast"), format_brief_amount(value, data.currency), hint, "bad" if value < 0 else "")
    ]


def get_figure_tone(change: Decimal) -> str:
    return "good" if change > 0 else "bad" if change < 0 else ""


def build_runway_figure(runway: Runway, *, currency: str, day: date | None = None) -> KeyFigure:
    """Build the figure of the runway at the pace of the last whole months without financing; 0 below zero cash.

    Args:
        day: today, where other figures are of another day.
    """
    name = _("Runway on {day}").format(day=get_current_locale().format_day(day)) if day else _("Runway")
    if runway.cash < 0:
        return KeyFigure(name, format_month_count(ZERO), _("cash is below zero"), "bad")
    if runway.monthly_net is None:
        return KeyFigure(name, "–", _("no full month of transactions yet"))
    count, monthly_net = len(runway.months), runway.monthly_net
    hint = ngettext(
        "{amount} without new financing in the last month",
        "{amount} a month without new financing, average of the last {count} months",
        count,
    ).format(amount=format_brief_amount(monthly_net, currency, plus=runway.runway_months is None), count=count)
    if runway.runway_months is None:
        return KeyFigure(name, _("No burn"), hint)
    if runway.runway_months > MAX_RUNWAY_MONTHS:
        return KeyFigure(name, _("over 5 years"), hint)
    return KeyFigure(name, format_month_count(runway.runway_months), hint)


def format_month_count(count: Decimal) -> str:
    """Format a number of months: "1 month", "4.5 months"."""
    rounded_count = count.to_integral_value() if count == count.to_integral_value() else count
    text = ngettext("{count} month", "{count} months", 1 if rounded_count == 1 else 2)  # fractions are plural
    return text.format(count=get_current_locale().format_number(rounded_count))


def build_subscription_figures(data: ChartData) -> list[KeyFigure]:
    """Build the figures of recurring revenue in effect, committed, and customers, in the last month shown."""
    last_row, currency = data.recurring[-1], data.currency
    change_text = _("{change} this month")
    if data.until != data.today:
        change_text = _("{change} in {month}")
    month = get_current_locale().format_month(data.month)
    share = format_share((last_row.end - last_row.start) / last_row.start, plus=True) if last_row.start else ""
    added_customers = last_row.end_count - last_row.start_count
    added_text = f"{'+' if added_customers > 0 else MINUS}{get_current_locale().format_number(abs(added_customers))}"
    return [
        KeyFigure("MRR", format_brief_amount(data.mrr, currency), _("at the end of the month")),
        KeyFigure(
            _("Committed MRR"),
            format_brief_amount(last_row.end, currency),
            change_text.format(change=share, month=month) if share else "",
        ),
        KeyFigure(
            _("Contracted customers"),
            get_current_locale().format_number(last_row.end_count),
            change_text.format(change=added_text, month=month) if added_customers else "",
        ),
    ]


# ---------------------------------------------------------------------------------------------- among all companies


def list_home_figures(*, accesses: Iterable[Access], now: datetime) -> dict[Any, list[tuple[str, str]]]:
    """Return company id -> (label, text) of the figures that the user may see of each company."""
    rates, labels = get_rate_table(), (_("Cash"), _("Committed MRR"))
    figures_by_company: dict[Any, list[tuple[str, str]]] = {}
    for access in accesses:
        entries, today = figures_by_company.setdefault(access.company.id, []), get_today(access.company, now)
        with suppress(RateLookupError):
            if Permission.BALANCES_READ in access.permissions:
                cash = compute_cash_at_day(company=access.company, day=today, rates=rates)
                entries.append((labels[0], format_compact_amount(cash, access.company.base_currency)))
        with suppress(RateLookupError):
            if Permission.SUBSCRIPTIONS_READ in access.permissions:
                committed_mrr, _customers = committed_revenue.compute_committed_revenue(
                    company_id=access.company.id,
                    month_end=get_last_day_of_month(today),
                    base_currency=access.company.base_currency,
                    rates=rates,
                )
                entries.append((labels[1], format_compact_amount(committed_mrr, access.company.base_currency)))
    return figures_by_company
