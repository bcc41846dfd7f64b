"""Notifications of low cash."""

from datetime import date, timedelta

from analytics.queries.balance_forecast import Point, compute_balance_forecast
from companies.models import AuditContext, Company
from companies.time_zones import get_today
from ledger.calc.months import add_months
from ledger.money.calc.fx import RateTable
from notifications.notify import notify_cash_below_zero
from planning.scenarios.queries import LoadedScenario

FORECAST_WINDOW = timedelta(days=90)
RUNWAY_MONTHS = 36  # how far the runway under a plan is looked for
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


def find_day_below_zero(
    *, company: Company, today: date, rates: RateTable, scenario: LoadedScenario | None
) -> date | None:
    """Return the first day of the next three years with projected cash below zero; None without one.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    forecast = compute_balance_forecast(
        company=company,
        start=today + ONE_DAY,
        end=add_months(today, RUNWAY_MONTHS),
        cutover=today,
        today=today,
        interval="month",
        rates=rates,
        scenario=scenario,
    )
    return forecast.below_zero and forecast.below_zero[0]


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
