"""The page of one company: key figures and charts, as far as the viewer may see them, and the numbers as files."""

from collections.abc import Callable
from dataclasses import dataclass

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from analytics.overview import cash, figures, movements, notices, results
from analytics.overview.facts import Facts
from analytics.overview.figures import Figure
from analytics.overview.first_hour import first_hour
from analytics.overview.notices import Notice
from analytics.overview.shape import Section
from analytics.period import period_of
from companies.membership.founding import change_company
from companies.pages.kept import kept
from companies.pages.visits import Visit, company_page, reached, signed_in
from companies.permissions import Permission
from ledger.calc.fx import MissingRate
from ledger.money.rates import valued_at

COMPARED = {"cash-compared", "results-compared"}  # sections that a period compared with another has besides


@dataclass(frozen=True)
class Part:
    """Sections that one permission shows, by their ids, and the key figures that go with them; ``named`` is the title
    in a sentence."""

    permission: Permission
    title: str | Promise
    named: str | Promise
    sections: dict[str, Callable[[Facts], Section]]
    figures: Callable[[Facts], list[Figure]] | None = None


PARTS = (
    Part(
        Permission.BALANCES_READ,
        gettext_lazy("Cash and cash flow"),
        gettext_lazy("cash and cash flow"),
        {
            "cash-balance": cash.balance_section,
            "accounts": cash.account_section,
            "cash-flow": cash.flow_section,
            "cash-compared": cash.compared_section,
        },
        figures.cash_figures,
    ),
    Part(
        Permission.FINANCIALS_READ,
        gettext_lazy("Revenue and expenses"),
        gettext_lazy("revenue and expenses"),
        {
            "revenue-expenses": results.bar_section,
            "results-compared": results.compared_section,
            "plan-actual": results.plan_section,
        },
    ),
    Part(
        Permission.SUBSCRIPTIONS_READ,
        gettext_lazy("Recurring revenue"),
        gettext_lazy("recurring revenue"),
        {
            "mrr": movements.level_section,
            "mrr-bridge": movements.bridge_section,
        },
        figures.subscription_figures,
    ),
)
"""What the page of a company shows: each section is drawn from the answer of a data query, with its table."""
SHOWN_BY = (
    *(part.permission for part in PARTS),
    Permission.ACCOUNTS_READ,
    Permission.ACCOUNTS_WRITE,
    Permission.TRANSACTIONS_READ,
    Permission.TRANSACTIONS_WRITE,
    Permission.PLANNING_READ,
    Permission.PLANNING_WRITE,
    Permission.COMPANY_WRITE,
    Permission.COMPANY_MANAGE,
)
"""The permissions on which it depends what the page shows."""


@gzip_page  # nothing that a caller sends is echoed here and the form's token is masked anew each time: no BREACH
@require_safe
@signed_in
def company(request: HttpRequest, company_id: str) -> HttpResponse:
    """Overview of a company; parts that the viewer may not see say so."""
    visit = visited(request, company_id)
    valued = valued_at()
    facts = facts_of(visit, rates_version=valued.newest)
    overview = kept(
        company_id=visit.company.id,
        name="overview",
        of=(
            facts.today,
            facts.period.query,
            *map(visit.may, SHOWN_BY),
            *valued,
            facts.company.last_updated_time.isoformat(),  # it was read before, and may be another by now
        ),
        draw=lambda: drawn(facts, visit),
    )
    putting_away = visit.may(Permission.COMPANY_WRITE) and not visit.company.first_hour_over
    return visit.show(
        "analytics/company.html", overview=overview, facts=facts, period=facts.period, putting_away=putting_away
    )


@company_page(writes=Permission.COMPANY_WRITE)
def put_first_hour_away(visit: Visit) -> HttpResponse:
    """The overview leads nobody through the first hour any more."""
    with visit.sending():
        change_company(
            company=visit.company,
            stamp=visit.stamp,
            permissions=visit.access.permissions,
            values={"first_hour_over": True},
        )
        return visit.done(_("The steps of the first hour were put away."), "company")
    return visit.to("company")


@require_safe
@signed_in
def without_slash(request: HttpRequest, company_id: str) -> HttpResponse:
    """To the page's one address."""
    company = reached(request, company_id).company
    address, query = reverse("company", args=[company.id]), request.META["QUERY_STRING"]
    return redirect(f"{address}?{query}" if query else address)


def drawn(facts: Facts, visit: Visit) -> str:
    """Key figures and sections. Of the viewer nothing goes in but their permissions: the next one sees it too."""
    shown = [told(part, facts, visit) for part in PARTS]
    return render_to_string(
        "analytics/overview.html",
        {
            "notices": notices_of(facts, visit),
            "steps": first_hour(facts, visit) if visit.may(Permission.BALANCES_READ) else [],
            "figures": [figure for found, _ in shown for figure in found],
            "sections": [section for _, found in shown for section in found],
            "putting_away": visit.may(Permission.COMPANY_WRITE),
            "company": facts.company,
            "query": facts.period.query,
        },
    )


def notices_of(facts: Facts, visit: Visit) -> list[Notice]:
    """What is missing in the figures that the viewer sees."""
    found: list[Notice] = []
    try:
        if visit.may(Permission.BALANCES_READ):
            opens = visit.may(Permission.ACCOUNTS_READ)
            found += notices.mismatch_notices(facts.company, facts.account_rows, opens=opens)
            found += notices.overdue_notice(facts, plans=visit.may(Permission.PLANNING_READ))
            if facts.ahead.has_plans:
                found += notices.overdraft_notices(
                    facts.company, facts.account_rows, facts.account_forecasts, opens=opens
                )
        if visit.may(Permission.FINANCIALS_READ):
            found += notices.open_notice(
                facts.company, facts.missing, first=facts.calendar[0], last=facts.last_counted, lists=facts.lists
            )
    except MissingRate as missing:
        found.append(notices.rate_notice(facts.company, missing, lists=facts.lists))
    return found


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
    if facts.period.mended or (chart in COMPARED and not facts.period.comparison):
        raise Http404
    try:
        table = part.sections[chart](facts).table
    except MissingRate:
        raise Http404 from None  # the page, which says why, offers no such file
    assert table is not None  # noqa: S101 - every section has one
    name = f"{chart}-{facts.start.isoformat()}-{facts.until.isoformat()}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(table.csv(), content_type="text/csv; charset=utf-8", headers=headers)


def visited(request: HttpRequest, company_id: str) -> Visit:
    return Visit(request=request, access=reached(request, company_id), now=timezone.now())


def facts_of(visit: Visit, *, rates_version: int | None = None) -> Facts:
    """Of the period that the address asks for."""
    return Facts(
        company=visit.company,
        period=period_of(visit.request.GET, today=visit.today),
        rates_version=rates_version,
        opens_accounts=visit.may(Permission.ACCOUNTS_READ),
        lists=visit.may(Permission.TRANSACTIONS_READ),
        writes_plan=visit.may(Permission.PLANNING_READ) and visit.may(Permission.PLANNING_WRITE),
    )


def told(part: Part, facts: Facts, visit: Visit) -> tuple[list[Figure], list[Section]]:
    """A part of the page, or why it cannot be told."""
    if not visit.may(part.permission):
        note = _("Your role does not show {part}; it needs the permission {permission}.")
        return [], [withheld(part, note.format(part=part.named, permission=part.permission))]
    try:
        wanted = [name for name in part.sections if name not in COMPARED or facts.period.comparison]
        return part.figures(facts) if part.figures else [], [part.sections[name](facts) for name in wanted]
    except MissingRate as missing:
        note = _("There is no exchange rate for {currency}, so nothing is added up.")
        return [], [withheld(part, note.format(currency=missing.currency))]


def withheld(part: Part, note: str) -> Section:
    return Section(id=f"no-{part.permission.partition(':')[0]}", title=str(part.title), note=note)
