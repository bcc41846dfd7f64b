"""Notifications of low cash."""

from datetime import timedelta

from analytics.queries.balance_forecast import Point, compute_balance_forecast
from companies.models import AuditContext, Company
from companies.time_zones import get_today
from ledger.money.calc.fx import RateTable
from notifications.notify import notify_cash_below_zero

FORECAST_WINDOW = timedelta(days=90)
ONE_DAY = timedelta(days=1)


def find_shortfall(*, company: Company, context: AuditContext, rates: RateTable) -> Point | None:
    """Return the first day of the next 90 with projected cash below zero, and the amount.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    today = get_today(company, context.time)
    forecast = compute_balance_forecast(
        company=company,
        start=today + ONE_DAY,
        end=today + FORECAST_WINDOW,
        cutover=today,
        today=today,
        interval="day",
        rates=rates,
    )
    return forecast.below_zero


def warn_of_low_cash(*, company: Company, context: AuditContext, rates: RateTable) -> None:
    """Notify owners and admins of a shortfall, once until they have read it.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    shortfall_point = find_shortfall(company=company, context=context, rates=rates)
    if shortfall_point:
        day, amount = shortfall_point
        notify_cash_below_zero(
            company_id=company.id, context=context, day=day, amount=amount, currency=company.base_currency
        )
