"""The inbox notice of overdue payments."""

from django.urls import reverse
from django.utils.translation import ngettext

from companies.pages.amount_formats import format_count
from companies.pages.context import CompanyPage
from companies.permissions import Permission
from ledger.money.calc.fx import RateLookupError
from ledger.money.rates import get_rate_table
from planning.forecast.expected_cash import ONE_DAY, find_expectations_after_cutover, sum_overdue_cash


def list_overdue_notices(page: CompanyPage) -> list[tuple[str, str]]:
    """Return one notice if payments are overdue; empty without the permission to read plans."""
    if not page.has_permission(Permission.PLANNING_READ):
        return []
    today, yesterday = page.today, page.today - ONE_DAY
    try:
        expectations = find_expectations_after_cutover(
            company=page.company, cutover=yesterday, end=yesterday, today=today, rates=get_rate_table()
        )
    except RateLookupError:  # the cash plan shows the error
        return []
    count = sum_overdue_cash(expectations, today=today).overdue_count
    if not count:
        return []
    message = ngettext("{count} overdue planned transaction", "{count} overdue planned transactions", count)
    return [(message.format(count=format_count(count)), reverse("planned", args=[page.company.id]))]
