"""Settings → API keys, with the connected apps."""

from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from companies.auth.access import Access
from companies.pages.context import (
    CompanyPage,
    get_access_or_404,
    get_signed_in_user,
    require_sign_in,
)
from companies.pages.settings.api_keys import build_key_settings_context
from companies.permissions import Permission
from oauth.connected_apps import actions, queries
from oauth.models import ConsentGrant
from oauth.protocol import scopes


@require_safe
@require_sign_in
def show_api_keys_and_apps(request: HttpRequest, company_id: str) -> HttpResponse:
    """Show API keys and connected apps of a company: the user's own, and everyone's for those who manage them."""
    access = get_access_or_404(request, company_id)
    context = build_key_settings_context(request, access)
    context["apps"] = list_visible_apps(request, access)
    context["manages_apps"] = Permission.APPS_MANAGE in access.permissions
    response = render(request, "companies/settings/api_keys.html", context)
    response["Cache-Control"] = "no-store"
    return response


def list_visible_apps(request: HttpRequest, access: Access) -> Any:
    rows = ConsentGrant.objects.for_company(access.company.id)
    visible_consents = (
        rows if Permission.APPS_MANAGE in access.permissions else rows.filter(user_id=get_signed_in_user(request).pk)
    )
    connections = queries.list_connected_apps(visible_consents)
    for consent in connections:
        consent.able = [(scope, scopes.SCOPE_SENTENCES[scope]) for scope in consent.scopes]  # type: ignore[attr-defined]
    return connections


@require_POST
@require_sign_in
def disconnect_app_page(request: HttpRequest, company_id: str, consent_id: UUID) -> HttpResponse:
    """Disconnect an app; its next request is rejected."""
    access = get_access_or_404(request, company_id)
    consent = ConsentGrant.objects.for_company(access.company.id).live().filter(id=consent_id).first()
    if consent is None:
        raise Http404
    if consent.user_id != get_signed_in_user(request).pk and Permission.APPS_MANAGE not in access.permissions:
        raise PermissionDenied
    page = CompanyPage(request=request, access=access, now=timezone.now())
    with page.handle_errors():
        actions.disconnect_app(consent, context=page.audit_context)
    return redirect(f"/app/companies/{company_id}/settings/api-keys#apps")
