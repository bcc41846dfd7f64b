"""The page of one company: key figures and charts, as far as the viewer may see them, and the numbers as files."""

from collections.abc import Callable
from dataclasses import dataclass

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils import timezone
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from analytics.overview import cash, figures, movements, results
from analytics.overview.facts import Facts
from analytics.overview.figures import Figure
from analytics.overview.first_step import first_step
from analytics.overview.shape import Section
from companies.pages.kept import kept
from companies.pages.visits import Visit, reached, signed_in
from companies.permissions import Permission
from ledger.calc.fx import MissingRate
from ledger.rates import valued_at

SPANS = (6, 12, 24)  # months to look back
USUAL_SPAN = 12


@dataclass(frozen=True)
class Part:
    """Sections that one permission shows, by their ids, and the key figures that go with them."""

    permission: Permission
    title: str
    sections: dict[str, Callable[[Facts], Section]]
    figures: Callable[[Facts], list[Figure]] | None = None


PARTS = (
    Part(
        Permission.BALANCES_READ,
        "Cash and cash flow",
        {
            "cash-balance": cash.balance_section,
            "accounts": cash.account_section,
            "cash-flow": cash.flow_section,
        },
        figures.cash_figures,
    ),
    Part(
        Permission.FINANCIALS_READ,
        "Revenue and expenses",
        {"revenue-expenses": results.bar_section, "plan-actual": results.plan_section},
    ),
    Part(
        Permission.SUBSCRIPTIONS_READ,
        "Recurring revenue",
        {
            "mrr": movements.level_section,
            "mrr-bridge": movements.bridge_section,
            "mrr-movements": movements.movement_section,
        },
        figures.subscription_figures,
    ),
)
"""What the page of a company shows: each section is drawn from the answer of a data query, with its table."""
SHOWN_BY = (
    *(part.permission for part in PARTS),
    Permission.ACCOUNTS_READ,
    Permission.ACCOUNTS_WRITE,
    Permission.TRANSACTIONS_WRITE,
)
"""The permissions on which it depends what the page shows."""


@gzip_page  # nothing that a caller sends is echoed here and the form's token is masked anew each time: no BREACH
@require_safe
@signed_in
def company(request: HttpRequest, company_id: str) -> HttpResponse:
    """Overview of a company; parts that the viewer may not see say so."""
    visit = visited(request, company_id)
    facts = facts_of(visit)
    overview = kept(
        company_id=visit.company.id,
        name="overview",
        of=(
            facts.today,
            facts.months,
            *map(visit.may, SHOWN_BY),
            valued_at(),
            facts.company.last_updated_time.isoformat(),  # it was read before, and may be another by now
        ),
        draw=lambda: drawn(facts, visit),
    )
    return visit.show("analytics/company.html", overview=overview, facts=facts, spans=SPANS)


def drawn(facts: Facts, visit: Visit) -> str:
    """Key figures and sections. Of the viewer nothing goes in but their permissions: the next one sees it too."""
    shown = [told(part, facts, visit) for part in PARTS]
    opens, books = visit.may(Permission.ACCOUNTS_WRITE), visit.may(Permission.TRANSACTIONS_WRITE)
    return render_to_string(
        "analytics/overview.html",
        {
            "step": first_step(facts, opens=opens, books=books) if visit.may(Permission.BALANCES_READ) else None,
            "figures": [figure for found, _ in shown for figure in found],
            "sections": [section for _, found in shown for section in found],
            "company": facts.company,
            "months": facts.months,
        },
    )


@require_safe
@signed_in
def download(request: HttpRequest, company_id: str, chart: str) -> HttpResponse:
    """The numbers behind a chart as a file, the very ones of its table."""
    visit = visited(request, company_id)
    part = next((part for part in PARTS if chart in part.sections), None)
    if part is None:
        raise Http404
    if not visit.may(part.permission):
        raise PermissionDenied
    facts = facts_of(visit)
    try:
        table = part.sections[chart](facts).table
    except MissingRate:
        raise Http404 from None  # the page, which says why, offers no such file
    assert table is not None  # noqa: S101 - every section has one
    name = f"{chart}-{facts.start.isoformat()}-{facts.today.isoformat()}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(table.csv(), content_type="text/csv; charset=utf-8", headers=headers)


def visited(request: HttpRequest, company_id: str) -> Visit:
    return Visit(request=request, access=reached(request, company_id), now=timezone.now())


def facts_of(visit: Visit) -> Facts:
    """Of as many months as the address says. Raises Http404 for a span that is not offered."""
    text = visit.request.GET.get("months", str(USUAL_SPAN))
    if text not in {str(months) for months in SPANS}:
        raise Http404
    opens = visit.may(Permission.ACCOUNTS_READ)
    return Facts(company=visit.company, months=int(text), today=visit.today, opens_accounts=opens)


def told(part: Part, facts: Facts, visit: Visit) -> tuple[list[Figure], list[Section]]:
    """A part of the page, or why it cannot be told."""
    if not visit.may(part.permission):
        note = f"Your role does not show {part.title.lower()}; it needs the permission {part.permission}."
        return [], [withheld(part.title, note)]
    try:
        return part.figures(facts) if part.figures else [], [draw(facts) for draw in part.sections.values()]
    except MissingRate as missing:
        note = f"There is no exchange rate for {missing.currency}, so nothing is added up."
        return [], [withheld(part.title, note)]


def withheld(title: str, note: str) -> Section:
    return Section(id=f"no-{title.lower().replace(' ', '-')}", title=title, note=note)
