"""Key figures: on top of a company's page, and on its card among all companies."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from analytics.balances import cash_on
from analytics.overview.amounts import brief, compact, percent
from analytics.overview.facts import Facts
from analytics.runway import Runway
from companies.callers.access import Access
from companies.locales import current
from companies.pages.amounts import MINUS
from companies.permissions import Permission
from ledger.calc.fx import MissingRate
from ledger.calc.months import last_of_month
from ledger.money.rates import rate_table
from ledger.subscriptions import committed

ZERO = Decimal(0)
CHANGE_DAYS = 30
MOST_MONTHS = 60  # beyond, nobody counts


@dataclass(frozen=True, slots=True)
class Figure:
    label: str
    text: str
    hint: str = ""
    tone: str = ""  # good or bad, where the number is either


def cash_figures(facts: Facts) -> list[Figure]:
    """Cash, its change in thirty days, the lowest that is expected, and how long it lasts."""
    currency, points, last = facts.currency, facts.points, facts.until
    now = points[-1].cash
    then = next((point for point in points if point.day >= last - timedelta(days=CHANGE_DAYS)), points[-1])
    change, before = now - then.cash, then.cash
    share = f"{percent(abs(change) / before)} of {compact(before, currency)}" if before > 0 else "no cash before"
    name = "Cash" if last == facts.today else f"Cash on {current().day_of(last)}"
    return [
        Figure(name, brief(now, currency), "on all cash accounts"),
        Figure(f"Change in {(last - then.day).days} days", brief(change, currency, plus=True), share, tone_of(change)),
        *lowest_figure(facts),
        runway_figure(facts.runway, currency=currency),
    ]


def lowest_figure(facts: Facts) -> list[Figure]:
    """The least cash that is expected up to the last day of the period, and since when it is below zero."""
    ahead = facts.ahead
    if not ahead.lowest:
        return []
    day, value = ahead.lowest
    hint = f"on {current().day_of(day)}"
    if ahead.below_zero:
        hint = f"{hint}; below zero from {current().day_of(ahead.below_zero[0])}"
    return [Figure("Lowest ahead", brief(value, facts.currency), hint, "bad" if value < 0 else "")]


def tone_of(change: Decimal) -> str:
    return "good" if change > 0 else "bad" if change < 0 else ""


def runway_figure(found: Runway, *, currency: str) -> Figure:
    """How many months cash lasts at the pace of the last whole months; none where there is less than none."""
    if found.cash < 0:
        return Figure("Runway", "0 months", "cash is below zero", "bad")
    if found.monthly_net is None:
        return Figure("Runway", "–", "no movements yet")
    average = f"{len(found.months)}-month average"
    if found.runway_months is None:
        return Figure("Runway", "No burn", f"{brief(found.monthly_net, currency, plus=True)} a month, {average}")
    lasting = found.runway_months
    whole = lasting.to_integral_value() if lasting == lasting.to_integral_value() else lasting
    text = "over 5 years" if lasting > MOST_MONTHS else f"{current().number(whole)} months" if whole != 1 else "1 month"
    return Figure("Runway", text, f"at {brief(found.monthly_net, currency)} a month, {average}")


def subscription_figures(facts: Facts) -> list[Figure]:
    """Committed recurring revenue and who pays it, in the month under way."""
    now, currency = facts.recurring[-1], facts.currency
    when = "this month" if facts.until == facts.today else f"in {facts.month:%b %Y}"
    share = f"{percent((now.end - now.start) / now.start, plus=True)} {when}" if now.start else ""
    more = now.end_count - now.start_count
    return [
        Figure("Committed MRR", brief(now.end, currency), share),
        Figure(
            "Active customers",
            current().number(now.end_count),
            f"{more:+,d} {when}".replace("-", MINUS) if more else "",
        ),
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
                cash = cash_on(company=access.company, day=today, rates=rates)
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
