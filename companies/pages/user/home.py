"""Home page: the user's companies."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from companies import hooks
from companies.auth.authentication import SessionCredential
from companies.pages.context import get_signed_in_user, require_sign_in


@require_safe
@require_sign_in
def show_home(request: HttpRequest) -> HttpResponse:
    """The user's companies. Other apps add figures to their cards."""
    accesses = SessionCredential(user=get_signed_in_user(request)).accesses()
    now = timezone.now()
    figures: dict[Any, list[tuple[str, str]]] = {}
    for figures_by_company in hooks.list_home_figures.run(accesses=accesses, now=now):
        for company_id, entries in figures_by_company.items():
            figures.setdefault(company_id, []).extend(entries)
    cards = [{"access": access, "figures": figures.get(access.company.id, [])} for access in accesses]
    return render(request, "companies/home.html", {"cards": cards})
