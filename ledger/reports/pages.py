"""Pages of links that show a report, or the figures of a closing, without sign-in: create, copy once, list, revoke."""

from datetime import date, timedelta
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companies.audit.names import find_actor_names
from companies.errors import NotFoundError
from companies.locales import get_current_locale
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm
from companies.permissions import Permission
from ledger.closings.pages import parse_path_month
from ledger.closings.queries.closings import get_closing
from ledger.reports import actions
from ledger.reports.queries import check_report_month, list_links

MANAGE = Permission.CLOSINGS_MANAGE
LIFETIME_LABELS = {
    "7": gettext_lazy("In 7 days"),
    "30": gettext_lazy("In 30 days"),
    "90": gettext_lazy("In 90 days"),
    "365": gettext_lazy("In a year"),
}
DEFAULT_LIFETIME = "30"


@company_page(reads=MANAGE, writes=MANAGE)
def share_report_page(page: CompanyPage, month: str) -> HttpResponse:
    """Show the links to a month's report. The form creates one and shows its URL once."""
    return render_links(page, month, of_closings=False)


@company_page(reads=MANAGE, writes=MANAGE)
def share_closing_page(page: CompanyPage, month: str) -> HttpResponse:
    """Show the links to the figures of a closed month. The form creates one and shows its URL once."""
    return render_links(page, month, of_closings=True)


@company_page(writes=MANAGE)
def revoke_report_link_page(page: CompanyPage, month: str, link_id: UUID) -> HttpResponse:
    """Revoke a link to a report."""
    return revoke_link_and_redirect(page, month, link_id, of_closing=False)


@company_page(writes=MANAGE)
def revoke_closing_link_page(page: CompanyPage, month: str, link_id: UUID) -> HttpResponse:
    """Revoke a link to the figures of a closing."""
    return revoke_link_and_redirect(page, month, link_id, of_closing=True)


def revoke_link_and_redirect(page: CompanyPage, month: str, link_id: UUID, *, of_closing: bool) -> HttpResponse:
    url_name = "closing-links" if of_closing else "report-links"
    first = parse_path_month(month)
    with page.handle_errors():
        actions.revoke_link(
            company=page.company, context=page.audit_context, month=first, link_id=link_id, of_closing=of_closing
        )
        return page.redirect_with_message(_("Link revoked."), url_name, month=month)
    return page.redirect(url_name, month=month)


def render_links(page: CompanyPage, month: str, *, of_closings: bool) -> HttpResponse:
    first = parse_path_month(month)
    check_page_month(page, first, of_closings=of_closings)
    form, url = BoundForm(values={"days": page.request.POST.get("days", DEFAULT_LIFETIME)}), ""
    if page.is_post:
        url = create_link_from_form(page, first, form, of_closings=of_closings)
    rows = list(list_links(page.company, first, of_closings=of_closings).newest_first())  # type: ignore[attr-defined]
    people = find_actor_names(page, {row.created_user_id for row in rows if row.created_user_id})
    response = page.render(
        "ledger/reports/links.html",
        status=400 if form.errors else 200,
        tab="reports",
        form=form,
        url=url,
        month=month,
        title=get_current_locale().format_month(first, full=True),
        of_closings=of_closings,
        lifetimes=LIFETIME_LABELS,
        rows=[describe_link_row(row, people, now=page.now) for row in rows],
        revoke_page="closing-link-revoke" if of_closings else "report-link-revoke",
    )
    response["Cache-Control"] = "no-store"
    return response


def check_page_month(page: CompanyPage, month: date, *, of_closings: bool) -> None:
    """Raise Http404 for a month that has no report, or that was never closed."""
    try:
        if of_closings:
            get_closing(page.company, month)
        else:
            check_report_month(page.company, month, today=page.today)
    except NotFoundError:
        raise Http404 from None


def create_link_from_form(page: CompanyPage, month: date, form: BoundForm, *, of_closings: bool) -> str:
    """Create a link, and return its URL; empty with errors in the form."""
    if form.values["days"] not in LIFETIME_LABELS:
        form.errors["days"] = _("Choose when the link expires.")
        return ""
    create_link = actions.create_closing_link if of_closings else actions.create_report_link
    with page.handle_errors(form):
        _link, url = create_link(
            company=page.company,
            context=page.audit_context,
            month=month,
            expires_time=page.now + timedelta(days=int(form.values["days"])),
            permissions=page.access.permissions,
        )
        return url
    return ""


def describe_link_row(row: Any, people: dict[str, str], *, now: Any) -> dict[str, Any]:
    """Return a link with its creator's name, and whether it has expired."""
    return {
        "link": row,
        "creator": people.get(row.created_user_id or "", _("System")),
        "ended": row.expires_time <= now,
    }
