"""A company's API keys: made, shown once, rolled, revoked."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from companies import api_keys, sessions
from companies.access import Access
from companies.forms import KeyForm, RollForm, permission_summary
from companies.models import ApiKey, User
from companies.pages.visits import Visit, reached, signed_in, to_sign_in
from companies.permissions import Permission, Role

UNUSED_DAYS = 90  # after which a key is marked as unused


def key_manager(request: HttpRequest, company_id: str) -> Visit:
    """The visit of somebody who may make and revoke keys. Raises Http404, PermissionDenied."""
    visit = Visit(request=request, access=reached(request, company_id), now=timezone.now())
    if not visit.may(Permission.API_KEYS_MANAGE):
        raise PermissionDenied
    return visit


def key_settings(request: HttpRequest, access: Access) -> dict[str, Any]:
    """What the settings page shows of keys; nothing of them to somebody who does not manage them."""
    context: dict[str, Any] = {"access": access, "company": access.company, "section": "api-keys"}
    if Permission.API_KEYS_MANAGE in access.permissions:
        now = timezone.now()
        rows = list(ApiKey.objects.of(access.company.id).newest_first())
        context |= {"keys": shown_keys(rows, now=now), "manages_keys": True}
    return context


def shown_keys(rows: list[ApiKey], *, now: Any) -> list[dict[str, Any]]:
    makers = {str(user.pk): user.display_name for user in User.objects.filter(pk__in=maker_ids(rows))}
    return [
        {
            "key": row,
            "summary": permission_summary(row.permissions),
            "maker": makers.get(row.created_user_id or "", "the command line"),
            "status": status_of(row, now=now),
            "live": status_of(row, now=now) not in ("revoked", "expired"),
        }
        for row in rows
    ]


def maker_ids(rows: list[ApiKey]) -> list[str]:
    return [row.created_user_id for row in rows if row.created_user_id and len(row.created_user_id) == 36]


def status_of(row: ApiKey, *, now: Any) -> str:
    if row.revoked_time is not None:
        return "revoked"
    if row.expires_time is not None and row.expires_time <= now:
        return "expired"
    idle = now - (row.last_used_time or row.created_time)
    return "unused" if idle.days >= UNUSED_DAYS else "active"


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def new_key(request: HttpRequest, company_id: str) -> HttpResponse:
    """Makes a key, after a recent sign-in, and shows it this once."""
    visit = key_manager(request, company_id)
    access, now = visit.access, visit.now
    if not sessions.signed_in_recently(request, now=now):
        return to_sign_in(request.path, again=True)
    bound = request.POST if request.method == "POST" else None
    form = KeyForm(bound, holder=access.permissions, role=access.role, now=now)
    if request.method == "POST" and form.is_valid():
        with visit.change() as change:
            minted = api_keys.mint(
                company=access.company,
                stamp=visit.stamp,
                name=form.cleaned_data["name"],
                permissions=form.permissions(),
                creator=access,
                expires_time=form.expires_time(),
            )
        if change.refusal is None:
            return show_once(request, access, minted)
        form.add_error(None, change.refusal.detail)
    context = {"access": access, "company": access.company, "form": form, "section": "api-keys"}
    context["is_owner"] = access.role == Role.OWNER
    return render(request, "settings/new_key.html", context, status=400 if form.is_bound else 200)


def show_once(request: HttpRequest, access: Access, minted: api_keys.Minted, **more: Any) -> HttpResponse:
    """The whole key, on a page that nobody keeps."""
    context = {"access": access, "company": access.company, "section": "api-keys", "minted": minted, **more}
    context["summary"] = permission_summary(minted.key.permissions)
    response = render(request, "settings/key_shown.html", context)
    response["Cache-Control"] = "no-store"
    return response


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def roll_key(request: HttpRequest, company_id: str, key_id: Any) -> HttpResponse:
    """A new key in the place of an old one, which lives on for as long as it takes to swap them."""
    visit = key_manager(request, company_id)
    access, now = visit.access, visit.now
    old = live_key(access, key_id, now=now)
    if not sessions.signed_in_recently(request, now=now):
        return to_sign_in(request.path, again=True)
    form = RollForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        with visit.change() as change:
            minted = api_keys.roll(key=old, stamp=visit.stamp, creator=access, overlap=form.overlap_time())
        if change.refusal is None:
            return show_once(request, access, minted, old=old)
        form.add_error(None, change.refusal.detail)
    context = {"access": access, "company": access.company, "section": "api-keys", "key": old, "form": form}
    return render(request, "settings/roll_key.html", context, status=400 if form.is_bound else 200)


@require_POST
@signed_in
def revoke_key(request: HttpRequest, company_id: str, key_id: Any) -> HttpResponse:
    """The key's next request is refused."""
    visit = key_manager(request, company_id)
    with visit.change() as change:
        key = ApiKey.objects.of(visit.company.id).select_for_update().filter(id=key_id).first()
        if key is None:
            raise Http404
        api_keys.revoke(key=key, stamp=visit.stamp)
    if change.refusal:
        messages.error(request, change.refusal.detail)
    else:
        messages.success(request, f"The key “{key.name}” was revoked.")
    return redirect("api-keys", company_id=company_id)


def live_key(access: Access, key_id: Any, *, now: Any) -> ApiKey:
    key = ApiKey.objects.of(access.company.id).live(now).filter(id=key_id).first()
    if key is None:
        raise Http404
    return key
