"""The page of the cash bridge: the parts that changed cash, each with its transactions."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.http import HttpResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from analytics.queries.cash_bridge import PARTS, REVALUATION, CashBridge, build_part_queries, compute_cash_bridge
from analytics.report_period import parse_report_period
from analytics.reports import notices
from companies.pages.context import CompanyPage, company_page
from companies.pages.sheets import Sheet, SheetCell, SheetColumn, SheetRow, build_sheet_csv_response
from companies.permissions import Permission
from ledger.money.calc.fx import RateLookupError
from ledger.money.rates import get_rate_table
from ledger.transactions.pages.labels import CASH_PART_LABELS
from ledger.transactions.queries.cash_parts import CashPart


@dataclass(frozen=True, slots=True)
class BridgeLine:
    """A row of the page; `cells` are (amount, URL of the transactions) of the period and the compared one.

    The URL is empty without transactions or without the permission to see them.
    """

    label: str | Promise
    description: str | Promise
    cells: list[tuple[Decimal, str]]


PART_LABELS: dict[str, str | Promise] = {
    "opening": _("Opening cash"),
    **{part.value: label for part, label in CASH_PART_LABELS.items()},
    REVALUATION: _("Revaluation"),
    "closing": _("Closing cash"),
}
PART_DESCRIPTIONS: dict[str, str | Promise] = {
    CashPart.OPENING_BALANCES: _("Opening balances of accounts added in this period."),
    CashPart.OPERATING_INFLOW: _("Cash received, without transfers and financing."),
    CashPart.OPERATING_OUTFLOW: _("Cash spent, without transfers and financing."),
    CashPart.CARDS: _("Transfers to and from credit cards."),
    CashPart.FINANCING: _("Equity and loans received less repayments, including transfers to and from loan accounts."),
    CashPart.EXCHANGE_RESULT: _("Gains and losses on transfers between cash accounts from bank rates and fees."),
    REVALUATION: _("Effect of exchange rates on cash in other currencies."),
    CashPart.OTHER_TRANSFERS: _(
        "Transfers to and from payment providers and other non-cash accounts, and transfers across period ends."
    ),
}


@company_page(reads=Permission.BALANCES_READ)
def show_cash_bridge(page: CompanyPage) -> HttpResponse:
    """Show the bridge from opening to closing cash of the period and of the compared one."""
    period = parse_report_period(page.request.GET, today=page.today)
    windows = [(period.first, period.until), *([period.compared] if period.compared else [])]
    bridges: list[CashBridge] = []
    rate_notices = []
    try:
        bridges = [build_bridge(page, *window) for window in windows]
    except RateLookupError as error:
        rate_notices.append(
            notices.build_rate_notice(page.company, error, can_list=page.has_permission(Permission.TRANSACTIONS_READ))
        )
    return page.render(
        "analytics/cash_bridge.html",
        tab="accounts",
        period=period,
        more="",
        notices=rate_notices,
        lines=list(build_bridge_lines(page, bridges, windows)),
        compared=period.compared if len(bridges) > 1 else None,
    )


@company_page(reads=Permission.BALANCES_READ)
def download_cash_bridge(page: CompanyPage) -> HttpResponse:
    """Download the bridge of the period and of the compared one as CSV."""
    period = parse_report_period(page.request.GET, today=page.today)
    windows = [(period.first, period.until), *([period.compared] if period.compared else [])]
    try:
        bridges = [build_bridge(page, *window) for window in windows]
    except RateLookupError:
        return page.redirect("cash-bridge")  # which shows the error
    rows = [
        SheetRow(str(line.label), [SheetCell(amount) for amount, _ in line.cells])
        for line in build_bridge_lines(page, bridges, windows)
    ]
    sheet = Sheet(
        title="",
        first=gettext("Description"),
        currency=page.company.base_currency,
        columns=[SheetColumn(f"{start} – {end}") for start, end in windows],
        rows=rows,
    )
    return build_sheet_csv_response(sheet, name="cash-bridge")


def build_bridge(page: CompanyPage, start: date, end: date) -> CashBridge:
    """Compute the cash bridge of a window.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    return compute_cash_bridge(company=page.company, start=start, end=end, today=page.today, rates=get_rate_table())


def build_bridge_lines(
    page: CompanyPage, bridges: list[CashBridge], windows: list[tuple[date, date]]
) -> Iterable[BridgeLine]:
    """Yield the rows of the page: those between the first and the last add up to their difference."""
    can_list = page.has_permission(Permission.TRANSACTIONS_READ)
    address = reverse("transactions", args=[page.company.id])
    columns = [
        (
            {"opening": bridge.opening, **bridge.parts, "closing": bridge.closing},
            build_part_queries(start=start, end=bridge.last),
        )
        for bridge, (start, _) in zip(bridges, windows, strict=False)
    ]
    for part in ("opening", *PARTS, "closing"):
        cells = [
            (amounts[part], f"{address}?{queries[part]}" if can_list and queries[part] else "")
            for amounts, queries in columns
        ]
        if cells:
            yield BridgeLine(PART_LABELS[part], PART_DESCRIPTIONS.get(part, ""), cells)
