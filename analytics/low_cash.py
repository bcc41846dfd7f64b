"""Telling people in time that the cash will not last."""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from analytics.balances import by_cash_type
from analytics.cash_flow import planned_flows
from companies.models import Company, Stamp
from ledger.calc.fx import RateTable
from ledger.calc.money import round_half_up
from notifications.telling import cash_below_zero

AHEAD = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class Shortfall:
    """The first day on which the forecast is below zero, and by how much; base currency."""

    day: date
    amount: Decimal


def shortfall(*, company: Company, today: date, rates: RateTable) -> Shortfall | None:
    """Where today's cash and what is planned for the next 90 days first fall below zero. Raises MissingRate."""
    (now,) = by_cash_type(company=company, start=today, end=today, today=today, rates=rates)
    flows = planned_flows(company=company, start=today + timedelta(days=1), end=today + AHEAD, today=today, rates=rates)
    changes: dict[date, Decimal] = {}
    for day, inflow, outflow in flows:
        changes[day] = changes.get(day, Decimal(0)) + inflow - outflow
    cash = now.cash
    for day in sorted(changes):
        cash += changes[day]
        if cash < 0:
            return Shortfall(day=day, amount=round_half_up(cash, company.base_currency))
    return None


def warn(*, company: Company, stamp: Stamp, rates: RateTable) -> None:
    """Tells owners and admins, once until they have read it. Raises MissingRate."""
    found = shortfall(company=company, today=stamp.today, rates=rates)
    if found:
        cash_below_zero(
            company_id=company.id,
            stamp=stamp,
            day=found.day,
            amount=found.amount,
            currency=company.base_currency,
        )
