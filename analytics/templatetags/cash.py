"""The cash line for pages of lower apps: their templates may name what this app draws, their code may not."""

from datetime import date
from typing import Any

from django import template
from django.urls import reverse
from django.utils.translation import gettext as _

from analytics.charts.balance_line import build_balance_line
from analytics.charts.scenario_section import compare_scenarios
from analytics.report_period import ReportPeriod
from companies.permissions import Permission
from ledger.money.calc.fx import RateLookupError
from ledger.money.rates import get_rate_table
from planning.models import Scenario

register = template.Library()


@register.inclusion_tag("analytics/balance_chart.html", takes_context=True, name="cash_line")
def build_cash_line(context: dict[str, Any], period: ReportPeriod) -> dict[str, Any]:
    """Build the cash line of a period, each day linked to its movements; empty without the permission."""
    access, company, today = context["access"], context["company"], period.today
    if Permission.BALANCES_READ not in access.permissions:
        return {}
    can_list = Permission.TRANSACTIONS_READ in access.permissions
    upcoming_url, transactions_url = reverse("ahead", args=[company.id]), reverse("transactions", args=[company.id])

    def link(first: date, last: date) -> str:
        if first > today:
            return f"{upcoming_url}?startDate={first}&endDate={last}"
        return f"{transactions_url}?startDate={first}&endDate={last}&pending=false" if can_list else ""

    try:
        section = build_balance_line(
            company=company,
            period=period,
            accounts=None,
            title=_("Cash forecast"),
            name=_("Cash"),
            build_link=link,
            can_write_plan=Permission.PLANNING_WRITE in access.permissions,
        )
    except RateLookupError:  # the page shows the error beside its sums
        return {}
    return {"section": section, "company": company, "request": context["request"]}


@register.inclusion_tag("planning/scenarios/comparison.html", takes_context=True, name="scenario_comparison")
def build_scenario_comparison(context: dict[str, Any], today: date) -> dict[str, Any]:
    """Compare the plan with the scenarios of the URL, or with the newest four; empty without one."""
    page_access, company = context["access"], context["company"]
    request = context["request"]
    rows = list(Scenario.objects.for_company(company.id).filter(adoption_id=None).order_by("-id"))
    compared_rows = [row for row in rows if str(row.id) in request.GET.getlist("scenario")] or rows
    if not compared_rows:
        return {}
    try:
        comparison = compare_scenarios(
            compared_rows,
            company=company,
            today=today,
            rates=get_rate_table(),
            can_read_balances=Permission.BALANCES_READ in page_access.permissions,
        )
    except RateLookupError as missing:
        return {"missing": missing.currency, "company": company}
    return {"comparison": comparison, "section": comparison.section, "company": company, "request": request}
