"""Company switcher, and the page of keyboard shortcuts."""

from typing import NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from companies.models import Company
from companies.pages.context import require_sign_in
from companies.pages.navigation import find_part_page


class OtherCompany(NamedTuple):
    """Another company of the user, with the URL of the corresponding page."""

    company: Company
    address: str


def list_other_companies(request: HttpRequest, company: Company, *, part: str) -> list[OtherCompany]:
    """Return the user's other companies by name, each with the same page if they may see it."""
    other_companies = []
    for access in request.accesses:  # type: ignore[attr-defined] # of whoever reached the company
        if access.company.id != company.id:
            name = find_part_page(part, access.permissions)
            other_companies.append(OtherCompany(access.company, reverse(name, args=[access.company.id])))
    return other_companies


@require_safe
@require_sign_in
def show_keyboard_shortcuts(request: HttpRequest) -> HttpResponse:
    """Show the keyboard shortcuts."""
    return render(request, "companies/keyboard_shortcuts.html")
