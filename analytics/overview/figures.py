"""Key figures: on top of a company's page, and on its card among all companies."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from analytics.overview.amounts import brief, compact, percent
from analytics.overview.facts import Facts
from analytics.queries.balances import cash_on
from analytics.queries.runway import Runway
from companies.callers.access import Access
from companies.locales import current
from companies.pages.amounts import MINUS
from companies.permissions import Permission
from companies.time_zones import get_today
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
    """Cash, its change in thirty days, the lowest that is expected, and how long it lasts. Balances with which accounts
    were opened in these days are no change."""
    currency, points, last = facts.currency, facts.levels, facts.until
    now = points[-1].cash
    then = points[max(len(points) - 1 - CHANGE_DAYS, 0)]  # a point a day
    before = then.cash + facts.cash_opened_after(then.day)
    change = now - before
    share = _("no cash before")
    if before < 0:
        share = _("from {amount}").format(amount=compact(before, currency))
    elif before:
        share = _("{share} of {amount}").format(share=percent(abs(change) / before), amount=compact(before, currency))
    name = _("Cash") if last == facts.today else _("Cash on {day}").format(day=current().day_of(last))
    days = (last - then.day).days
    changed = ngettext("Change in {count} day", "Change in {count} days", days).format(count=days)
    return [
        Figure(name, brief(now, currency), _("on all cash accounts")),
        Figure(changed, brief(change, currency, plus=True), share, tone_of(change)),
        *lowest_figure(facts),
        runway_figure(facts.runway, currency=currency, of=facts.today if last != facts.today else None),
    ]


def lowest_figure(facts: Facts) -> list[Figure]:
    """The least cash that is expected up to the last day of the period, and since when it is below zero."""
    ahead = facts.ahead
    if not ahead.lowest:
        return []
    if not ahead.has_plans:
        return [Figure(_("Lowest ahead"), "–", _("nothing planned yet"))]
    day, value = ahead.lowest
    hint = _("on {day}").format(day=current().day_of(day))
    if ahead.below_zero:
        first = current().day_of(ahead.below_zero[0])
        hint = _("on {day}; below zero from {first}").format(day=current().day_of(day), first=first)
    return [Figure(_("Lowest ahead"), brief(value, facts.currency), hint, "bad" if value < 0 else "")]


def tone_of(change: Decimal) -> str:
    return "good" if change > 0 else "bad" if change < 0 else ""


def runway_figure(found: Runway, *, currency: str, of: date | None = None) -> Figure:
    """How many months cash lasts at the pace of the last whole months without financing; 0 where cash is below zero.

    It is today's whatever the period, and says ``of`` which day it is beside figures of another.
    """
    name = _("Runway on {day}").format(day=current().day_of(of)) if of else _("Runway")
    if found.cash < 0:
        return Figure(name, months(ZERO), _("cash is below zero"), "bad")
    if found.monthly_net is None:
        return Figure(name, "–", _("no movements yet"))
    count, net = len(found.months), found.monthly_net
    if found.runway_months is None:
        hint = _("{amount} a month without financing, {count}-month average").format(
            amount=brief(net, currency, plus=True), count=count
        )
        return Figure(name, _("No burn"), hint)
    text = _("over 5 years") if found.runway_months > MOST_MONTHS else months(found.runway_months)
    hint = _("at {amount} a month without financing, {count}-month average").format(
        amount=brief(net, currency), count=count
    )
    return Figure(name, text, hint)


def months(count: Decimal) -> str:
    """1 month, 4.5 months."""
    whole = count.to_integral_value() if count == count.to_integral_value() else count
    text = ngettext("{count} month", "{count} months", 1 if whole == 1 else 2)  # parts of one are several
    return text.format(count=current().number(whole))


def subscription_figures(facts: Facts) -> list[Figure]:
    """Recurring revenue in effect and committed, and the customers under contract, in the last month that is shown."""
    now, currency = facts.recurring[-1], facts.currency
    when = _("{change} this month")
    if facts.until != facts.today:
        when = _("{change} in {month}")
    month = current().month(facts.month)
    share = percent((now.end - now.start) / now.start, plus=True) if now.start else ""
    more = now.end_count - now.start_count
    gained = f"{'+' if more > 0 else MINUS}{current().number(abs(more))}"
    return [
        Figure("MRR", brief(facts.mrr, currency), _("in effect at the end of the month")),
        Figure(_("Committed MRR"), brief(now.end, currency), when.format(change=share, month=month) if share else ""),
        Figure(
            _("Customers under contract"),
            current().number(now.end_count),
            when.format(change=gained, month=month) if more else "",
        ),
    ]


# ---------------------------------------------------------------------------------------------- among all companies


def on_home(*, accesses: Iterable[Access], now: datetime) -> dict[Any, list[tuple[str, str]]]:
    """Company id -> (label, text) of what the person may see of each company."""
    rates, words = rate_table(), (_("Cash"), _("Committed MRR"))
    found: dict[Any, list[tuple[str, str]]] = {}
    for access in accesses:
        entries, today = found.setdefault(access.company.id, []), get_today(access.company, now)
        with suppress(MissingRate):
            if Permission.BALANCES_READ in access.permissions:
                cash = cash_on(company=access.company, day=today, rates=rates)
                entries.append((words[0], compact(cash, access.company.base_currency)))
        with suppress(MissingRate):
            if Permission.SUBSCRIPTIONS_READ in access.permissions:
                worth, _customers = committed.in_all(
                    company_id=access.company.id,
                    month_end=last_of_month(today),
                    base=access.company.base_currency,
                    rates=rates,
                )
                entries.append((words[1], compact(worth, access.company.base_currency)))
    return found
