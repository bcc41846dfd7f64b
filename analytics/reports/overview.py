"""The overview of a company: key figures and charts that the user may see, and their tables as CSV files."""

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
from django.views.decorators.http import require_safe

from analytics.charts import cash_sections, key_figures, profit_and_loss_sections, recurring_revenue_sections
from analytics.charts.chart_data import ChartData
from analytics.charts.key_figures import KeyFigure
from analytics.charts.sections import Section
from analytics.queries.profit_and_loss import find_first_data_month
from analytics.report_period import has_chosen_period, parse_report_period
from analytics.reports import notices
from analytics.reports.notices import Notice
from analytics.reports.onboarding_steps import build_onboarding_steps
from companies.actions.companies import update_company
from companies.compression import allow_compression
from companies.pages.context import CompanyPage, company_page, get_access_or_404, require_sign_in
from companies.pages.csv_files import build_csv_response
from companies.permissions import Permission
from ledger.money.calc.fx import RateLookupError
from ledger.money.current_rates import list_old_rates

COMPARISON_SECTIONS = {"cash-compared", "results-compared"}  # shown only with a comparison


@dataclass(frozen=True)
class OverviewPart:
    """Sections and key figures that one permission shows."""

    permission: Permission
    title: str | Promise
    title_in_sentence: str | Promise
    sections: dict[str, Callable[[ChartData], Section]]
    build_figures: Callable[[ChartData], list[KeyFigure]] | None = None


OVERVIEW_PARTS = (
    OverviewPart(
        Permission.BALANCES_READ,
        gettext_lazy("Cash and cash flow"),
        gettext_lazy("cash and cash flow"),
        {
            "cash-balance": cash_sections.build_balance_section,
            "accounts": cash_sections.build_account_section,
            "cash-flow": cash_sections.build_flow_section,
            "cash-compared": cash_sections.build_cash_comparison_section,
        },
        key_figures.build_cash_figures,
    ),
    OverviewPart(
        Permission.FINANCIALS_READ,
        gettext_lazy("Revenue and expenses"),
        gettext_lazy("revenue and expenses"),
        {
            "revenue-expenses": profit_and_loss_sections.build_bar_section,
            "results-compared": profit_and_loss_sections.build_results_comparison_section,
            "plan-actual": profit_and_loss_sections.build_plan_section,
        },
    ),
    OverviewPart(
        Permission.SUBSCRIPTIONS_READ,
        gettext_lazy("Recurring revenue"),
        gettext_lazy("recurring revenue"),
        {
            "mrr": recurring_revenue_sections.build_level_section,
            "mrr-bridge": recurring_revenue_sections.build_bridge_section,
        },
        key_figures.build_subscription_figures,
    ),
)
"""What the page of a company shows: each section is drawn from the answer of a data query, with its table."""


@allow_compression  # safe from BREACH: no input is echoed, and the CSRF token is masked anew each time
@require_safe
@require_sign_in
def show_overview(request: HttpRequest, company_id: str) -> HttpResponse:
    """Show the overview; parts without permission say so."""
    page = build_company_page(request, company_id)
    data = build_chart_data(page)
    overview = render_overview(data, page)
    can_dismiss_onboarding = page.has_permission(Permission.COMPANY_WRITE) and not page.company.first_hour_over
    return page.render(
        "analytics/overview_page.html",
        overview=overview,
        chart_data=data,
        period=data.period,
        can_dismiss_onboarding=can_dismiss_onboarding,
    )


@company_page(writes=Permission.COMPANY_WRITE)
def dismiss_onboarding_page(page: CompanyPage) -> HttpResponse:
    """Dismiss the onboarding steps."""
    with page.handle_errors():
        update_company(
            company=page.company,
            context=page.audit_context,
            permissions=page.access.permissions,
            values={"first_hour_over": True},
        )
        return page.redirect_with_message(_("Setup steps hidden."), "company")
    return page.redirect("company")


@require_safe
@require_sign_in
def redirect_without_slash(request: HttpRequest, company_id: str) -> HttpResponse:
    """Redirect to the URL without a trailing slash."""
    company = get_access_or_404(request, company_id).company
    address, query = reverse("company", args=[company.id]), request.META["QUERY_STRING"]
    return redirect(f"{address}?{query}" if query else address)


def render_overview(data: ChartData, page: CompanyPage) -> str:
    """Render key figures and sections."""
    parts = [build_overview_part(part, data, page) for part in OVERVIEW_PARTS]
    return render_to_string(
        "analytics/overview.html",
        {
            "notices": list_overview_notices(data, page),
            "steps": build_onboarding_steps(data, page) if page.has_permission(Permission.BALANCES_READ) else [],
            "figures": [figure for figures, _ in parts for figure in figures],
            "sections": [section for _, sections in parts for section in sections],
            "can_dismiss_onboarding": page.has_permission(Permission.COMPANY_WRITE),
            "company": data.company,
            "query": data.period.query,
        },
    )


def list_overview_notices(data: ChartData, page: CompanyPage) -> list[Notice]:
    """List what is missing in the figures that the user sees."""
    can_see_rates = page.has_permission(Permission.BALANCES_READ)
    old_rates = list_old_rates(company=data.company, today=data.today, rates=data.rates)
    overview_notices = notices.build_old_rates_notices(data.company, old_rates, can_open=can_see_rates)
    try:
        if page.has_permission(Permission.BALANCES_READ):
            can_open_accounts = page.has_permission(Permission.ACCOUNTS_READ)
            overview_notices += notices.build_mismatch_notices(
                data.company, data.account_rows, can_open=can_open_accounts
            )
            overview_notices += notices.build_overdue_notices(
                data, can_read_plans=page.has_permission(Permission.PLANNING_READ)
            )
            if data.balance_forecast.has_plans:
                overview_notices += notices.build_overdraft_notices(
                    data.company,
                    data.account_rows,
                    data.account_forecasts,
                    today=data.today,
                    end=data.period.last,
                    can_open=can_open_accounts,
                )
        if page.has_permission(Permission.FINANCIALS_READ):
            overview_notices += notices.build_open_notices(
                data.company,
                data.open_transactions,
                first=data.calendar[0],
                last=data.last_counted_day,
                can_list=data.can_list_transactions,
            )
    except RateLookupError as error:
        overview_notices.append(notices.build_rate_notice(data.company, error, can_list=data.can_list_transactions))
    if page.has_permission(Permission.CLOSINGS_MANAGE):
        overview_notices += notices.build_closing_notices(data.company, today=data.today)
    return overview_notices


@require_safe
@require_sign_in
def download_overview_chart(request: HttpRequest, company_id: str, chart: str) -> HttpResponse:
    """Download the table of a chart as CSV."""
    page = build_company_page(request, company_id)
    part = next((part for part in OVERVIEW_PARTS if chart in part.sections), None)
    if part is None:
        raise Http404
    if not page.has_permission(part.permission):
        raise PermissionDenied
    data = build_chart_data(page)
    if data.period.messages or (chart in COMPARISON_SECTIONS and not data.period.comparison):
        raise Http404
    try:
        table = part.sections[chart](data).table
    except RateLookupError:
        raise Http404 from None  # the page shows the error and has no such link
    assert table is not None  # noqa: S101 - every section has one
    name = f"{chart}-{data.start.isoformat()}-{data.until.isoformat()}"
    return build_csv_response(table.list_csv_rows(), name=name)


def build_company_page(request: HttpRequest, company_id: str) -> CompanyPage:
    return CompanyPage(request=request, access=get_access_or_404(request, company_id), now=timezone.now())


def build_chart_data(page: CompanyPage) -> ChartData:
    """Build the chart data of the period in the URL."""
    period = parse_report_period(page.request.GET, today=page.today)
    if not has_chosen_period(page.request.GET):
        period = period.starting_with(find_first_data_month(page.company, period.calendar))
    return ChartData(
        company=page.company,
        period=period,
        can_open_accounts=page.has_permission(Permission.ACCOUNTS_READ),
        can_list_transactions=page.has_permission(Permission.TRANSACTIONS_READ),
        can_write_plan=page.has_permission(Permission.PLANNING_READ) and page.has_permission(Permission.PLANNING_WRITE),
    )


def build_overview_part(
    part: OverviewPart, data: ChartData, page: CompanyPage
) -> tuple[list[KeyFigure], list[Section]]:
    """Build the figures and sections of a part, or a section that says why there are none."""
    if not page.has_permission(part.permission):
        note = _("Your role cannot view {part}. It needs the permission {permission}.")
        return [], [build_withheld_section(part, note.format(part=part.title_in_sentence, permission=part.permission))]
    try:
        section_ids = [name for name in part.sections if name not in COMPARISON_SECTIONS or data.period.comparison]
        return part.build_figures(data) if part.build_figures else [], [
            part.sections[name](data) for name in section_ids
        ]
    except RateLookupError as error:
        note = _("No exchange rate for {currency}. Totals are not shown.")
        return [], [build_withheld_section(part, note.format(currency=error.currency))]


def build_withheld_section(part: OverviewPart, note: str) -> Section:
    return Section(id=f"no-{part.permission.partition(':')[0]}", title=str(part.title), note=note)
