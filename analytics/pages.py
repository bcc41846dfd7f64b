"""The page of one company: key figures and charts, as far as the viewer may see them."""

from collections.abc import Callable
from datetime import date
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from analytics.overview import cash, figures, movements, results
from analytics.overview.figures import Figure
from analytics.overview.shape import Section
from companies.models import Company
from companies.pages.visits import reached, signed_in
from companies.permissions import Permission
from ledger.calc.fx import MissingRate
from ledger.rates import rate_table

SPANS = (6, 12, 24)  # months to look back
USUAL_SPAN = 12
Shown = tuple[list[Figure], list[Section]]


@require_safe
@signed_in
def company(request: HttpRequest, company_id: str) -> HttpResponse:
    """Overview of a company; sections that the viewer may not see say so."""
    access = reached(request, company_id)
    months, today = span(request), timezone.now().date()
    shown: list[Shown] = []
    for permission, part, title in PARTS:
        if permission in access.permissions:
            shown.append(told(part, access.company, months=months, today=today, title=title))
        else:
            note = f"Your role does not show {title.lower()}; it needs the permission {permission}."
            shown.append(([], [withheld(title, note)]))
    context = {
        "access": access,
        "company": access.company,
        "figures": [figure for entries, _ in shown for figure in entries],
        "sections": [section for _, entries in shown for section in entries],
        "months": months,
        "spans": SPANS,
    }
    return render(request, "analytics/company.html", context)


def span(request: HttpRequest) -> int:
    """How many months to look back. Raises Http404 for a span that is not offered."""
    text = request.GET.get("months", str(USUAL_SPAN))
    if text not in {str(months) for months in SPANS}:
        raise Http404
    return int(text)


def told(part: Callable[..., Shown], company: Company, *, months: int, today: date, title: str) -> Shown:
    """A part of the page, or why it cannot be told."""
    try:
        return part(company, months=months, today=today)
    except MissingRate as missing:
        return [], [withheld(title, f"There is no exchange rate for {missing.currency}, so nothing is added up.")]


def withheld(title: str, note: str) -> Section:
    return Section(id=title.lower().replace(" ", "-"), title=title, lead="", note=note)


def of_cash(company: Company, *, months: int, today: date) -> Shown:
    rates = rate_table()
    points = cash.points(company, months=months, today=today, rates=rates)
    flows = cash.forecast(company, months=months, today=today, rates=rates)
    sections = [cash.cash_section(company, points), cash.flow_section(company, flows, today=today)]
    return figures.cash_figures(company, points, flows, today=today), sections


def of_results(company: Company, *, months: int, today: date) -> Shown:
    return [], [results.result_section(company, months=months, today=today)]


def of_subscriptions(company: Company, *, months: int, today: date) -> Shown:
    rows = movements.rows_of(company, months=months, today=today)
    sections = [
        movements.level_section(company, rows, today=today),
        movements.movement_section(company, rows, today=today),
    ]
    return figures.subscription_figures(company, rows), sections


PARTS: tuple[tuple[Permission, Callable[..., Any], str], ...] = (
    (Permission.BALANCES_READ, of_cash, "Cash and cash flow"),
    (Permission.FINANCIALS_READ, of_results, "Revenue and expenses"),
    (Permission.SUBSCRIPTIONS_READ, of_subscriptions, "Recurring revenue"),
)
