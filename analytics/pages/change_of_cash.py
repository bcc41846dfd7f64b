"""The page that says why the cash changed as it did, and why that is not just what flowed."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from urllib.parse import urlencode

from django.http import HttpResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from analytics.overview import notices
from analytics.period import ONE_DAY, period_of
from analytics.queries.cash_bridge import CashBridge, cash_bridge
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.calc.fx import MissingRate
from ledger.models import Account, Source
from ledger.money.rates import rate_table
from ledger.transactions.filters import MOST_VALUES


@dataclass(frozen=True, slots=True)
class Line:
    """What it is called, what it means, and (amount, address of the rows behind it) of the period and the one before;
    no address where the visitor may not see them."""

    label: str | Promise
    meaning: str | Promise
    cells: list[tuple[Decimal, str]]


@company_page(reads=Permission.BALANCES_READ)
def page(visit: Visit) -> HttpResponse:
    """From the cash at the start of the period to that at its end, and of the period that it is compared with."""
    period = period_of(visit.request.GET, today=visit.today)
    windows = [(period.first, period.until), *([period.compared] if period.compared else [])]
    accounts = list(Account.objects.of(visit.company.id)) if visit.may(Permission.TRANSACTIONS_READ) else None
    bridges: list[CashBridge] = []
    told = []
    try:
        bridges = [bridge(visit, *window) for window in windows]
    except MissingRate as error:
        told.append(notices.rate_notice(visit.company, error, lists=visit.may(Permission.TRANSACTIONS_READ)))
    return visit.show(
        "analytics/change_of_cash.html",
        tab="accounts",
        period=period,
        more="",
        notices=told,
        lines=list(lines(bridges, [addresses(accounts, visit, *window) for window in windows])),
        compared=period.compared if len(bridges) > 1 else None,
    )


def bridge(visit: Visit, start: date, end: date) -> CashBridge:
    """Raises MissingRate."""
    return cash_bridge(company=visit.company, start=start, end=end, today=visit.today, rates=rate_table())


def lines(bridges: list[CashBridge], links: list[list[str]]) -> Iterable[Line]:
    """What leads from the first line to the last: those between are added up."""
    cells = [list(zip(told(each), found, strict=True)) for each, found in zip(bridges, links, strict=False)]
    for place, (label, meaning) in enumerate(WORDS):
        if cells:
            yield Line(label, meaning, [each[place] for each in cells])


def addresses(accounts: list[Account] | None, visit: Visit, start: date, end: date) -> list[str]:
    """Where the rows behind each of the words are listed, in their order; none without the accounts."""
    if accounts is None:
        return [""] * len(WORDS)
    cash = [("accountId", str(each.id)) for each in accounts if each.include_in_cash_balance]
    others = [("accountId", str(each.id)) for each in accounts if not each.include_in_cash_balance]
    base = visit.company.base_currency
    foreign = [
        ("accountId", str(each.id))
        for each in accounts
        if each.include_in_cash_balance and each.default_currency != base
    ]
    booked = [("pending", "false"), ("endDate", end.isoformat())]
    window = [("startDate", start.isoformat()), *booked]
    before = [("pending", "false"), ("endDate", (start - ONE_DAY).isoformat())]
    total = ("total", "true")
    queries = [
        [*cash, *before, total] if cash else None,
        [("flow", "in"), *window, total],
        [("flow", "out"), *window, total],
        [*cash, ("transfer", "true"), *window] if cash else None,
        [*foreign, *booked] if foreign else None,
        [*others, *window] if others else [("source", Source.INITIAL_BALANCE.value), *window],
        [*cash, *booked, total] if cash else None,
    ]
    address = reverse("transactions", args=[visit.company.id])
    return [f"{address}?{urlencode(query)}" if query and len(query) <= MOST_VALUES else "" for query in queries]


WORDS: list[tuple[str | Promise, str | Promise]] = [
    (_("Cash at the start"), ""),
    (_("Came in"), _("On all accounts, without transfers.")),
    (_("Went out"), _("On all accounts, without transfers.")),
    (_("Moved to accounts that are no cash"), _("Less what came back from them.")),
    (_("Exchange rates"), _("What they did to the cash in other currencies.")),
    (_("Not of cash"), _("Takes back what flowed on accounts that are no cash, and adds initial balances.")),
    (_("Cash at the end"), ""),
]


def told(each: CashBridge) -> list[Decimal]:
    """The amounts in the order of the words, each with the sign with which it is added."""
    changes = [each.inflow, -each.outflow, -each.transfers_out, each.revaluation, each.non_cash]
    return [each.opening, *changes, each.closing]
