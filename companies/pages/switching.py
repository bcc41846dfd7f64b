"""From one company to another, and the keys that pages know."""

from typing import NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from companies.models import Company
from companies.pages.visits import signed_in
from companies.permissions import Permission

# Parts of a company that the other one is opened at too, by the name of their address.
PARTS = {
    "inbox": Permission.TRANSACTIONS_READ,
    "transactions": Permission.TRANSACTIONS_READ,
    "accounts": Permission.ACCOUNTS_READ,
    "planned": Permission.PLANNING_READ,
    "profit-and-loss": Permission.FINANCIALS_READ,
    "recurring-revenue": Permission.SUBSCRIPTIONS_READ,
}


class Other(NamedTuple):
    """Another company of the visitor, and the page of it that fits the one they look at."""

    company: Company
    address: str


def others(request: HttpRequest, company: Company, *, part: str) -> list[Other]:
    """The visitor's other companies by name, each at the same part where they may see it."""
    found = []
    for access in request.accesses:  # type: ignore[attr-defined] # of whoever reached the company
        if access.company.id != company.id:
            name = part if PARTS.get(part) in access.permissions else "company"
            found.append(Other(access.company, reverse(name, args=[access.company.id])))
    return found


@require_safe
@signed_in
def shortcuts(request: HttpRequest) -> HttpResponse:
    """The keys that pages know where there is JavaScript."""
    return render(request, "companies/shortcuts.html")
