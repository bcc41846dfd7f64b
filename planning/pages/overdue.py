"""What is overdue, for the inbox of a company."""

from django.urls import reverse

from companies.pages.amounts import counted
from companies.pages.visits import Visit
from companies.permissions import Permission
from planning.expecting import ONE_DAY, expected, plans


def in_the_inbox(visit: Visit) -> list[tuple[str, str]]:
    """One notice where anything is, for somebody who may see plans."""
    if not visit.may(Permission.PLANNING_READ):
        return []
    today, yesterday = visit.today, visit.today - ONE_DAY
    found = plans(company=visit.company, cutover=yesterday, end=yesterday, today=today)
    count = expected(found, cutover=yesterday, end=yesterday, today=today).overdue_count
    if not count:
        return []
    return [(f"{counted(count, 'expected payment')} overdue", reverse("planned", args=[visit.company.id]))]
