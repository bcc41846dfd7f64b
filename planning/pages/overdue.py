"""What is overdue, for the inbox of a company."""

from django.urls import reverse
from django.utils.translation import ngettext

from companies.pages.amounts import number
from companies.pages.visits import Visit
from companies.permissions import Permission
from ledger.calc.fx import MissingRate
from ledger.money.rates import rate_table
from planning.expecting import ONE_DAY, overdue, plans


def in_the_inbox(visit: Visit) -> list[tuple[str, str]]:
    """One notice where anything is, for somebody who may see plans."""
    if not visit.may(Permission.PLANNING_READ):
        return []
    today, yesterday = visit.today, visit.today - ONE_DAY
    try:
        found = plans(company=visit.company, cutover=yesterday, end=yesterday, today=today, rates=rate_table())
    except MissingRate:  # the cash plan names the currency
        return []
    count = overdue(found, today=today).overdue_count
    if not count:
        return []
    said = ngettext("{count} expected payment overdue", "{count} expected payments overdue", count)
    return [(said.format(count=number(count)), reverse("planned", args=[visit.company.id]))]
