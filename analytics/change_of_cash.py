"""The page that says why the cash changed as it did, and why that is not just what flowed."""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal

from django.http import HttpResponse

from analytics.cash_bridge import CashBridge, cash_bridge
from analytics.overview import notices
from analytics.period import period_of
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.calc.fx import MissingRate
from ledger.money.rates import rate_table

Line = tuple[str, str, Decimal, Decimal | None]  # what it is called, what it means, of the period, of the one before


@company_page(reads=Permission.BALANCES_READ)
def page(visit: Visit) -> HttpResponse:
    """From the cash at the start of the period to that at its end, and of the period that it is compared with."""
    period = period_of(visit.request.GET, today=visit.today)
    bridges: list[CashBridge] = []
    told = []
    try:
        bridges.append(bridge(visit, period.first, period.until))
        if period.compared:
            bridges.append(bridge(visit, *period.compared))
    except MissingRate as error:
        bridges = []
        told.append(notices.rate_notice(visit.company, error, lists=visit.may(Permission.TRANSACTIONS_READ)))
    return visit.show(
        "analytics/change_of_cash.html",
        tab="accounts",
        period=period,
        more="",
        notices=told,
        lines=list(lines(*bridges)) if bridges else [],
        compared=period.compared if len(bridges) > 1 else None,
    )


def bridge(visit: Visit, start: date, end: date) -> CashBridge:
    """Raises MissingRate."""
    return cash_bridge(company=visit.company, start=start, end=end, today=visit.today, rates=rate_table())


def lines(now: CashBridge, before: CashBridge | None = None) -> Iterable[Line]:
    """What leads from the first line to the last: those between are added up."""
    signed = [told(now), told(before) if before else None]
    for place, (label, meaning) in enumerate(WORDS):
        yield label, meaning, signed[0][place], signed[1][place] if signed[1] else None  # type: ignore[index]


WORDS = [
    ("Cash at the start", ""),
    ("Came in", "On all accounts, without transfers."),
    ("Went out", "On all accounts, without transfers."),
    ("Moved to accounts that are no cash", "Less what came back from them."),
    ("Exchange rates", "What they did to the cash in other currencies."),
    ("Not of cash", "Takes back what flowed on accounts that are no cash, and adds initial balances."),
    ("Cash at the end", ""),
]


def told(each: CashBridge) -> list[Decimal]:
    """The amounts in the order of the words, each with the sign with which it is added."""
    changes = [each.inflow, -each.outflow, -each.transfers_out, each.revaluation, each.non_cash]
    return [each.opening, *changes, each.closing]
