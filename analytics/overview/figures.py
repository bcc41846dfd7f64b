"""Key figures: on top of a company's page, and on its card among all companies."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from analytics.cash_flow import Forecast
from analytics.overview.amounts import brief, compact, percent
from analytics.overview.facts import Facts
from companies.access import Access
from companies.amounts import MINUS
from companies.models import Company
from companies.permissions import Permission
from ledger import committed
from ledger.balances import balances_on, in_base
from ledger.calc.fx import MissingRate, RateTable
from ledger.calc.money import round_half_up
from ledger.calc.months import first_of_month, last_of_month
from ledger.models import Account
from ledger.rates import rate_table

ZERO = Decimal(0)
CHANGE_DAYS = 30
BURN_MONTHS = 3  # whole months before this one, over which spending is taken
MOST_MONTHS = 60  # beyond, nobody counts


@dataclass(frozen=True, slots=True)
class Figure:
    label: str
    text: str
    hint: str = ""
    tone: str = ""  # good or bad, where the number is either


def cash_figures(facts: Facts) -> list[Figure]:
    """Cash now, its change in thirty days, and how long it lasts."""
    currency, points, today = facts.currency, facts.points, facts.today
    now = points[-1].cash
    before = next((point.cash for point in points if point.day >= today - timedelta(days=CHANGE_DAYS)), now)
    change = now - before
    share = f"{percent(abs(change) / before)} of {compact(before, currency)}" if before > 0 else "no cash before"
    return [
        Figure("Cash", brief(now, currency), "on all cash accounts"),
        Figure("Change in 30 days", brief(change, currency, plus=True), share, tone_of(change)),
        runway(now, facts.flows, today=today, currency=currency),
    ]


def tone_of(change: Decimal) -> str:
    return "good" if change > 0 else "bad" if change < 0 else ""


def runway(cash: Decimal, flows: Forecast, *, today: date, currency: str) -> Figure:
    """How many months cash lasts at the pace of the last whole months; none where there is less than none."""
    if cash < 0:
        return Figure("Runway", "0 months", "cash is below zero", "bad")
    before = [
        inflow - outflow
        for month, inflow, outflow in zip(flows.actual.points, flows.actual.inflow, flows.actual.outflow, strict=True)
        if month < first_of_month(today)
    ][-BURN_MONTHS:]
    if not before or not any(before):
        return Figure("Runway", "–", "no movements yet")
    pace = sum(before, start=ZERO) / len(before)
    average = f"{len(before)}-month average"
    if pace >= 0:
        return Figure("Runway", "No burn", f"{brief(pace, currency, plus=True)} a month, {average}")
    months = max((cash / -pace).quantize(Decimal(1), rounding=ROUND_HALF_UP), ZERO)
    text = "over 5 years" if months > MOST_MONTHS else f"{months} months" if months != 1 else "1 month"
    return Figure("Runway", text, f"at {brief(pace, currency)} a month, {average}")


def subscription_figures(facts: Facts) -> list[Figure]:
    """Committed recurring revenue and who pays it, in the month under way."""
    now, currency = facts.recurring[-1], facts.currency
    share = f"{percent((now.end - now.start) / now.start, plus=True)} this month" if now.start else ""
    more = now.end_count - now.start_count
    return [
        Figure("Committed MRR", brief(now.end, currency), share),
        Figure("Active customers", f"{now.end_count:,}", f"{more:+,d} this month".replace("-", MINUS) if more else ""),
    ]


# ---------------------------------------------------------------------------------------------- among all companies


def on_home(*, accesses: Iterable[Access], today: date) -> dict[Any, list[tuple[str, str]]]:
    """Company id -> (label, text) of what the person may see of each company."""
    rates = rate_table()
    found: dict[Any, list[tuple[str, str]]] = {}
    for access in accesses:
        entries = found.setdefault(access.company.id, [])
        with suppress(MissingRate):
            if Permission.BALANCES_READ in access.permissions:
                cash = cash_on(access.company, day=today, rates=rates)
                entries.append(("Cash", compact(cash, access.company.base_currency)))
        with suppress(MissingRate):
            if Permission.SUBSCRIPTIONS_READ in access.permissions:
                worth, _ = committed.in_all(
                    company_id=access.company.id,
                    month_end=last_of_month(today),
                    base=access.company.base_currency,
                    rates=rates,
                )
                entries.append(("Committed MRR", compact(worth, access.company.base_currency)))
    return found


def cash_on(company: Company, *, day: date, rates: RateTable) -> Decimal:
    """What lies on the accounts that count as cash at the end of a day. Raises MissingRate."""
    held = balances_on(company_id=company.id, day=day)
    cash = Account.objects.of(company.id).cash().values_list("id", flat=True)
    worth = (in_base(held.get(account, {}), base=company.base_currency, day=day, rates=rates) for account in cash)
    return round_half_up(sum(worth, start=ZERO), company.base_currency)
