"""The page that says why the cash changed: the parts of the cash bridge, each with the transactions behind it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.http import HttpResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from analytics.overview import notices
from analytics.period import period_of
from analytics.queries.cash_bridge import PARTS, REVALUATION, CashBridge, build_part_queries, compute_cash_bridge
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.calc.fx import MissingRate
from ledger.money.rates import rate_table
from ledger.transactions.cash_parts import CashPart
from ledger.transactions.pages.words import CASH_PARTS


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the page: its label, what it means, and (amount, address of the transactions) of the period and the one
    before; the address is "" where there are none or the visitor may not see them."""

    label: str | Promise
    meaning: str | Promise
    cells: list[tuple[Decimal, str]]


LABELS: dict[str, str | Promise] = {
    "opening": _("Opening cash"),
    **{part.value: label for part, label in CASH_PARTS.items()},
    REVALUATION: _("Revaluation"),
    "closing": _("Closing cash"),
}
MEANINGS: dict[str, str | Promise] = {
    CashPart.OPENING_BALANCES: _("Initial balances of accounts added in this period."),
    CashPart.OPERATING_INFLOW: _("Money in on cash accounts, without transfers and financing."),
    CashPart.OPERATING_OUTFLOW: _("Money out on cash accounts, without transfers and financing."),
    CashPart.CARDS: _("Transfers to and from credit cards."),
    CashPart.FINANCING: _("Equity and loans received less paid back, including transfers from and to loan accounts."),
    CashPart.EXCHANGE_RESULT: _("What transfers between your cash accounts gained or lost by bank rates and fees."),
    REVALUATION: _("What exchange rates did to cash in other currencies."),
    CashPart.OTHER_TRANSFERS: _(
        "Payment providers, other accounts that are not cash, and transfers between two periods."
    ),
}


@company_page(reads=Permission.BALANCES_READ)
def page(visit: Visit) -> HttpResponse:
    """From the cash at the start of the period to that at its end, and of the period that it is compared with."""
    period = period_of(visit.request.GET, today=visit.today)
    windows = [(period.first, period.until), *([period.compared] if period.compared else [])]
    bridges: list[CashBridge] = []
    told = []
    try:
        bridges = [build_bridge(visit, *window) for window in windows]
    except MissingRate as error:
        told.append(notices.rate_notice(visit.company, error, lists=visit.may(Permission.TRANSACTIONS_READ)))
    return visit.show(
        "analytics/change_of_cash.html",
        tab="accounts",
        period=period,
        more="",
        notices=told,
        lines=list(build_lines(visit, bridges, windows)),
        compared=period.compared if len(bridges) > 1 else None,
    )


def build_bridge(visit: Visit, start: date, end: date) -> CashBridge:
    """Raises MissingRate."""
    return compute_cash_bridge(company=visit.company, start=start, end=end, today=visit.today, rates=rate_table())


def build_lines(visit: Visit, bridges: list[CashBridge], windows: list[tuple[date, date]]) -> Iterable[Line]:
    """The rows of the page: those between the first and the last add up to their difference."""
    lists = visit.may(Permission.TRANSACTIONS_READ)
    address = reverse("transactions", args=[visit.company.id])
    columns = [
        (
            {"opening": bridge.opening, **bridge.parts, "closing": bridge.closing},
            build_part_queries(start=start, end=bridge.last),
        )
        for bridge, (start, _end) in zip(bridges, windows, strict=False)
    ]
    for part in ("opening", *PARTS, "closing"):
        cells = [
            (amounts[part], f"{address}?{queries[part]}" if lists and queries[part] else "")
            for amounts, queries in columns
        ]
        if cells:
            yield Line(LABELS[part], MEANINGS.get(part, ""), cells)
