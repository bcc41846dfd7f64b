"""Pages of monthly reports: the list of months, and the report of one with its commentary."""

from datetime import date

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from analytics.queries.monthly_report import load_report_month
from analytics.queries.open_transactions import sum_open_transactions
from analytics.reports import notices
from analytics.reports.commentary_draft import draft_commentary
from analytics.reports.monthly_report_results import BuildUrl
from analytics.reports.monthly_report_sections import MonthlyReport, build_monthly_report
from analytics.reports.monthly_report_tables import describe_empty_tables
from companies.audit.names import find_actor_names
from companies.compression import allow_compression
from companies.locales import get_current_locale
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm, bind_form
from companies.permissions import Permission
from companies.versions import NO_VERSION
from ledger.calc.months import add_months, format_month, get_first_day_of_month, list_months
from ledger.closings.pages import parse_path_month
from ledger.closings.queries.closings import find_first_booked_month, list_closings
from ledger.models import MAX_COMMENTARY_LENGTH, ReportCommentary
from ledger.money.calc.fx import RateLookupError
from ledger.money.rates import get_rate_table
from ledger.reports import actions
from ledger.reports.queries import MonthWithoutReport, check_report_month, find_commentary
from ledger.reports.serializers import ReportCommentarySerializer

READ = Permission.FINANCIALS_READ
PAGE_PERMISSIONS = {
    "transactions": Permission.TRANSACTIONS_READ,
    "customer": Permission.SUBSCRIPTIONS_READ,
}


@company_page(reads=READ)
def show_reports(page: CompanyPage) -> HttpResponse:
    """List the months of a year that have a report, latest first."""
    current, first = get_first_day_of_month(page.today), find_first_booked_month(page.company)
    months = list_months(first, current) if first and first <= current else []
    years = sorted({month.year for month in months}, reverse=True)
    text = page.request.GET.get("year", "")
    shown_year = next((year for year in years if str(year) == text), years[0] if years else None)
    closings = {closing.month: closing for closing in list_closings(page.company)}
    months_with_commentary = set(
        ReportCommentary.objects.for_company(page.company.id)
        .exclude(text="")
        .filter(month__year=shown_year or current.year)
        .values_list("month", flat=True)
    )
    return page.render(
        "analytics/reports.html",
        tab="reports",
        years=years,
        shown_year=shown_year,
        rows=[
            {
                "month": format_month(month),
                "name": get_current_locale().format_month(month, full=True),
                "closing": closings.get(month),
                "is_current": month == current,
                "has_commentary": month in months_with_commentary,
            }
            for month in reversed(months)
            if month.year == shown_year
        ],
    )


@allow_compression
@company_page(reads=READ, writes=Permission.PLANNING_WRITE)
def show_report(page: CompanyPage, month: str) -> HttpResponse:
    """Show the report of a month. The form stores its commentary."""
    first = parse_path_month(month)
    if not page.has_permission(READ):
        raise PermissionDenied
    try:
        check_report_month(page.company, first, today=page.today)
    except MonthWithoutReport as error:
        return page.render("analytics/report_missing.html", status=404, tab="reports", text=error.detail)
    commentary = find_commentary(page.company, first)
    form = BoundForm(values={"text": commentary.text if commentary else ""})
    if page.is_post:
        form = bind_form(ReportCommentarySerializer, page.request.POST, texts=("text",))
        if form.is_valid:
            with page.handle_errors(form):
                actions.write_commentary(
                    company=page.company, context=page.audit_context, month=first, text=form.data["text"]
                )
                return page.redirect_with_message(_("Commentary saved."), "report", month=month)
    return render_report(page, first, form, commentary)


def render_report(page: CompanyPage, month: date, form: BoundForm, commentary: ReportCommentary | None) -> HttpResponse:
    report_notices: list[notices.Notice] = []
    report: MonthlyReport | None = None
    rates, can_list = get_rate_table(), page.has_permission(Permission.TRANSACTIONS_READ)
    report_month = load_report_month(page.company, month, today=page.today, rates=rates)
    last_day = min(report_month.last_day, page.today)
    try:
        open_rows = sum_open_transactions(company=page.company, start=month, end=last_day, rates=rates)
        report_notices += notices.build_open_notices(
            page.company, open_rows, first=month, last=last_day, can_list=can_list
        )
        report = build_monthly_report(
            report_month, permissions=page.access.permissions, build_url=make_url_builder(page)
        )
    except RateLookupError as error:
        report_notices.append(notices.build_rate_notice(page.company, error, can_list=can_list))
    actor_names = find_actor_names(page, list_actors(commentary))
    return page.render(
        "analytics/report.html",
        status=400 if form.errors else 200,
        tab="reports",
        title=get_current_locale().format_month(month, full=True),
        month=format_month(month),
        report=report,
        report_month=report_month,
        empty_text=describe_empty_tables(report.tables) if report else "",
        notices=report_notices,
        commentary=commentary,
        author=actor_names.get((commentary.last_updated_user_id or "") if commentary else "", _("System")),
        form=form,
        seen=page.get_seen_version(commentary) if commentary else page.request.POST.get("seen", NO_VERSION),
        draft="" if commentary or page.is_post or report is None else draft_commentary(report, page.access.permissions),
        max_length=MAX_COMMENTARY_LENGTH,
        writes=page.has_permission(Permission.PLANNING_WRITE) and page.has_permission(Permission.PLANNING_READ),
        shares=page.has_permission(Permission.CLOSINGS_MANAGE),
        earlier=build_month_link(add_months(month, -1)) if month > report_month.first_month else None,
        later=build_month_link(add_months(month, 1)) if month < get_first_day_of_month(page.today) else None,
    )


def build_month_link(month: date) -> tuple[str, str]:
    """Return a month as URLs and as people write it."""
    return format_month(month), get_current_locale().format_month(month)


def list_actors(commentary: ReportCommentary | None) -> set[str]:
    return {commentary.last_updated_user_id} if commentary and commentary.last_updated_user_id else set()


def make_url_builder(page: CompanyPage) -> BuildUrl:
    """Return a function that builds URLs of pages that the user may open."""

    def build_url(name: str, target: str) -> str:
        if not page.has_permission(PAGE_PERMISSIONS[name]):
            return ""
        if name == "transactions":
            return f"{reverse(name, args=[page.company.id])}?{target}"
        return reverse(name, args=[page.company.id, target])

    return build_url
