"""Telling people in time that the cash will not last."""

from datetime import timedelta

from analytics.queries.balance_forecast import Point, balance_forecast
from companies.models import Company, Stamp
from companies.time_zones import get_today
from ledger.calc.fx import RateTable
from notifications.telling import cash_below_zero

AHEAD = timedelta(days=90)
ONE_DAY = timedelta(days=1)


def shortfall(*, company: Company, stamp: Stamp, rates: RateTable) -> Point | None:
    """The first day of the next 90 on which the projected cash is below zero, and by how much. Raises MissingRate."""
    today = get_today(company, stamp.time)
    found = balance_forecast(
        company=company,
        start=today + ONE_DAY,
        end=today + AHEAD,
        cutover=today,
        today=today,
        interval="day",
        rates=rates,
    )
    return found.below_zero


def warn(*, company: Company, stamp: Stamp, rates: RateTable) -> None:
    """Tells owners and admins, once until they have read it. Raises MissingRate."""
    found = shortfall(company=company, stamp=stamp, rates=rates)
    if found:
        day, amount = found
        cash_below_zero(company_id=company.id, stamp=stamp, day=day, amount=amount, currency=company.base_currency)
