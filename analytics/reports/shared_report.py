"""The page behind a shared link: one report, or the figures of one closing, for anyone who has the link."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from analytics.queries.monthly_report import load_report_month
from analytics.reports.frozen_figures import build_frozen_tables
from analytics.reports.monthly_report_sections import build_monthly_report
from analytics.reports.monthly_report_tables import ReportTable, describe_empty_tables
from companies.api import request_slots
from companies.auth import throttling
from companies.auth.client_network import get_client_network
from companies.locales import get_current_locale
from companies.pages.table_csv import serve_table
from companies.permissions import parse_permissions
from companies.time_zones import get_today
from ledger.models import ReportLink
from ledger.money.calc.fx import RateLookupError
from ledger.money.rates import get_rate_table
from ledger.reports.queries import find_commentary, find_link_by_token

MAX_REQUESTS_PER_MINUTE = 60  # of a network
PRIVATE_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
}


@require_safe
def show_shared_report(request: HttpRequest, company_id: str, token: str) -> HttpResponse:
    """Show what a link shares. It reads no session, sets no cookie, and has no links to other pages.

    Unknown, expired and revoked links are the same 404.

    Raises:
        RateLimited, TooManyInWork
    """
    now = timezone.now()
    budget = throttling.consume_budget(
        f"shared:{get_client_network(request)}", now=now.timestamp(), limit=MAX_REQUESTS_PER_MINUTE
    )
    if budget.is_exceeded:
        raise throttling.RateLimited(wait=budget.resets_in)
    link = find_link_by_token(company_id=company_id, token=token, now=now)
    if link is None:
        text = _("This link is not valid. It may have expired, or it was revoked.")
        return render_without_request("analytics/shared_missing.html", {"text": text}, status=404)
    request_slots.get_request_slots(request).take_company_slot(link.company_id)
    return serve_table(
        request, lambda: render_without_request("analytics/shared_report.html", build_shared_context(link, now=now))
    )


def render_without_request(template: str, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    """Render a page without the request, which keeps sessions and their cookies out of it."""
    return HttpResponse(render_to_string(template, context), status=status, headers=PRIVATE_HEADERS)


def build_shared_context(link: ReportLink, *, now: Any) -> dict[str, Any]:
    """Build what the page shows: no more than the link's creator could see, and no links."""
    company = link.company
    month = load_report_month(company, link.month, today=get_today(company, now), rates=get_rate_table())
    context: dict[str, Any] = {
        "company": company,
        "title": get_current_locale().format_month(link.month, full=True),
        "link": link,
        "report_month": month,
        "closing": link.closing,
    }
    if link.closing:
        return context | build_table_context(build_frozen_tables(replace(month, closing=link.closing)))
    try:
        report = build_monthly_report(month, permissions=parse_permissions(link.permissions), build_url=return_no_url)
    except RateLookupError as error:
        return context | {"missing_currency": error.currency}
    return (
        context
        | build_table_context(report.tables)
        | {
            "has_differences": report.has_differences,
            "commentary": find_commentary(company, link.month),
        }
    )


def build_table_context(tables: Sequence[ReportTable]) -> dict[str, Any]:
    """Return the sections with figures, and a line that says what there was none of."""
    return {"tables": [table for table in tables if table.has_values], "empty_text": describe_empty_tables(tables)}


def return_no_url(name: str, target: str) -> str:
    """Return no URL: readers of a shared report have no access to other pages."""
    return ""
