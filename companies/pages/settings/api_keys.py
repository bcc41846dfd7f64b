"""Settings pages of API keys: create, roll, revoke."""

from datetime import timedelta
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from companies.auth import api_keys
from companies.auth.access import Access
from companies.models import ApiKey, User
from companies.pages.context import CompanyPage, get_access_or_404, redirect_unless_recent_login, require_sign_in
from companies.pages.forms import BoundForm
from companies.pages.settings import api_key_form
from companies.permissions import Permission, describe_permissions, parse_permissions

UNUSED_DAYS = 90  # after which a key is marked as unused
OVERLAP_LABELS = {
    "0": gettext_lazy("Now"),
    "1": gettext_lazy("In 1 hour"),
    "24": gettext_lazy("In 1 day"),
    "168": gettext_lazy("In 7 days"),
}
KEY_STATUS_LABELS = {
    "active": gettext_lazy("active"),
    "expired": gettext_lazy("expired"),
    "revoked": gettext_lazy("revoked"),
    "unused": gettext_lazy("unused"),
}


def get_key_manager_page(request: HttpRequest, company_id: str) -> CompanyPage:
    """Return the page context of a user who may manage keys. Raises Http404, PermissionDenied."""
    page = CompanyPage(request=request, access=get_access_or_404(request, company_id), now=timezone.now())
    if not page.has_permission(Permission.API_KEYS_MANAGE):
        raise PermissionDenied
    return page


def build_key_settings_context(request: HttpRequest, access: Access) -> dict[str, Any]:
    """Build the template context of the key settings; no keys for users who may not manage them."""
    context: dict[str, Any] = {"access": access, "company": access.company, "section": "api-keys"}
    if Permission.API_KEYS_MANAGE in access.permissions:
        now = timezone.now()
        rows = list(ApiKey.objects.for_company(access.company.id).newest_first())
        context |= {"keys": build_key_rows(rows, now=now), "manages_keys": True}
    return context


def build_key_rows(rows: list[ApiKey], *, now: Any) -> list[dict[str, Any]]:
    """Build the table rows of keys."""
    creator_names = {str(user.pk): user.display_name for user in User.objects.filter(pk__in=list_creator_ids(rows))}
    return [
        {
            "key": row,
            "summary": describe_permissions(row.permissions),
            "maker": creator_names.get(row.created_user_id or "", _("the command line")),
            "status": (status := get_key_status(row, now=now)),
            "status_word": KEY_STATUS_LABELS[status],
            "live": status not in ("revoked", "expired"),
        }
        for row in rows
    ]


def list_creator_ids(rows: list[ApiKey]) -> list[str]:
    """Return the ids of the users who created the keys."""
    return [row.created_user_id for row in rows if row.created_user_id and len(row.created_user_id) == 36]


def get_key_status(row: ApiKey, *, now: Any) -> str:
    """Return the status of a key: active, expired, revoked or unused."""
    if row.revoked_time is not None:
        return "revoked"
    if row.expires_time is not None and row.expires_time <= now:
        return "expired"
    idle = now - (row.last_used_time or row.created_time)
    return "unused" if idle.days >= UNUSED_DAYS else "active"


@require_sign_in
@require_http_methods(["GET", "HEAD", "POST"])
def create_api_key_page(request: HttpRequest, company_id: str) -> HttpResponse:
    """Create a key and show it once; needs a recent sign-in."""
    page = get_key_manager_page(request, company_id)
    access, now = page.access, page.now
    label_text = _("Create API key “{name}”.")
    if login_redirect := redirect_unless_recent_login(
        request,
        next_path=request.path,
        get_action_label=lambda: label_text.format(name=request.POST.get("name", "").strip()),
    ):
        return login_redirect
    form = (
        api_key_form.parse_key_form(request.POST, held_permissions=access.permissions, now=now)
        if page.is_post
        else api_key_form.build_blank_key_form()
    )
    if page.is_post and form.is_valid:
        with page.handle_errors(form):
            minted_key = api_keys.create_api_key(
                company=access.company,
                context=page.audit_context,
                name=form.data["name"],
                permissions=parse_permissions(form.data["permissions"]),
                creator=access,
                expires_time=form.data["expires_time"],
            )
            return render_new_key(request, access, minted_key)
    return page.render(
        "companies/settings/api_key_form.html",
        status=400 if form.errors else 200,
        section="api-keys",
        form=form,
        presets=api_key_form.PRESET_LABELS,
        resources=api_key_form.list_resource_choices(form.values, access.permissions),
        admin_choices=api_key_form.list_admin_permission_choices(access),
        expiries=api_key_form.EXPIRY_LABELS,
    )


def render_new_key(
    request: HttpRequest, access: Access, minted_key: api_keys.MintedApiKey, **more: Any
) -> HttpResponse:
    """Render the full key on a page that is never cached."""
    context = {"access": access, "company": access.company, "section": "api-keys", "minted": minted_key, **more}
    context["summary"] = describe_permissions(minted_key.key.permissions)
    response = render(request, "companies/settings/new_api_key.html", context)
    response["Cache-Control"] = "no-store"
    return response


@require_sign_in
@require_http_methods(["GET", "HEAD", "POST"])
def roll_api_key_page(request: HttpRequest, company_id: str, key_id: Any) -> HttpResponse:
    """Roll a key; the old one stays valid for the chosen overlap."""
    page = get_key_manager_page(request, company_id)
    access, now = page.access, page.now
    old_key = get_active_key_or_404(access, key_id, now=now)
    label_text = _("Roll API key “{name}”.")
    if login_redirect := redirect_unless_recent_login(
        request, next_path=request.path, get_action_label=lambda: label_text.format(name=old_key.name)
    ):
        return login_redirect
    form = BoundForm(values={"overlap": request.POST.get("overlap", "24")})
    hours = form.values["overlap"]
    if hours not in OVERLAP_LABELS:
        form.errors["overlap"] = _("Choose when the old key expires.")
    elif page.is_post:
        with page.handle_errors(form):
            minted_key = api_keys.roll_api_key(
                company=page.company,
                context=page.audit_context,
                key_id=key_id,
                creator=access,
                overlap=timedelta(hours=int(hours)),
            )
            return render_new_key(request, access, minted_key, old=old_key)
    status = 400 if form.errors else 200
    return page.render(
        "companies/settings/roll_api_key.html",
        status=status,
        section="api-keys",
        key=old_key,
        form=form,
        overlaps=OVERLAP_LABELS,
    )


@require_POST
@require_sign_in
def revoke_api_key_page(request: HttpRequest, company_id: str, key_id: Any) -> HttpResponse:
    """Revoke a key."""
    page = get_key_manager_page(request, company_id)
    name = get_object_or_404(ApiKey.objects.for_company(page.company.id), id=key_id).name
    label_text = _("Revoke API key “{name}”.")
    next_path = reverse("api-keys", kwargs={"company_id": page.company.id})
    if login_redirect := redirect_unless_recent_login(
        request, next_path=next_path, get_action_label=lambda: label_text.format(name=name)
    ):
        return login_redirect
    with page.handle_errors():
        key = api_keys.revoke_api_key(company=page.company, context=page.audit_context, key_id=key_id)
        return page.redirect_with_message(_("API key “{name}” revoked.").format(name=key.name), "api-keys")
    return page.redirect("api-keys")


def get_active_key_or_404(access: Access, key_id: Any, *, now: Any) -> ApiKey:
    """Return the active key with this id. Raises Http404."""
    return get_object_or_404(ApiKey.objects.for_company(access.company.id).active(now), id=key_id)
