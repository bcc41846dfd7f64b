"""The line of the cash, for pages of apps below: a template may name what is drawn above it, code may not."""

from datetime import date
from typing import Any

from django import template
from django.urls import reverse
from django.utils.translation import gettext as _

from analytics.overview.line import balance_line
from analytics.period import Period
from companies.permissions import Permission
from ledger.calc.fx import MissingRate

register = template.Library()


@register.inclusion_tag("analytics/cash_line.html", takes_context=True)
def cash_line(context: dict[str, Any], period: Period) -> dict[str, Any]:
    """Of the days of a period, each day leading to what is behind it; nothing for who may not see balances."""
    access, company, today = context["access"], context["company"], period.today
    if Permission.BALANCES_READ not in access.permissions:
        return {}
    lists = Permission.TRANSACTIONS_READ in access.permissions
    coming, listed = reverse("ahead", args=[company.id]), reverse("transactions", args=[company.id])

    def link(first: date, last: date) -> str:
        if first > today:
            return f"{coming}?startDate={first}&endDate={last}"
        return f"{listed}?startDate={first}&endDate={last}&pending=false" if lists else ""

    try:
        section = balance_line(
            company=company,
            period=period,
            accounts=None,
            title=_("Cash ahead"),
            of=_("Cash"),
            link=link,
            writes_plan=Permission.PLANNING_WRITE in access.permissions,
        )
    except MissingRate:  # the page says so where it adds up
        return {}
    return {"section": section, "company": company}
