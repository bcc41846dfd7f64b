"""A company's API keys: made, shown once, rolled, revoked."""

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

from companies.callers import api_keys
from companies.callers.access import Access
from companies.models import ApiKey, User
from companies.pages.settings import key_form
from companies.pages.typed import Typed
from companies.pages.visits import Visit, prove_again, reached, signed_in
from companies.permissions import Permission, in_words, known

UNUSED_DAYS = 90  # after which a key is marked as unused
OVERLAPS = {
    "0": gettext_lazy("Now"),
    "1": gettext_lazy("In 1 hour"),
    "24": gettext_lazy("In 1 day"),
    "168": gettext_lazy("In 7 days"),
}
STATUSES = {
    "active": gettext_lazy("active"),
    "expired": gettext_lazy("expired"),
    "revoked": gettext_lazy("revoked"),
    "unused": gettext_lazy("unused"),
}


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
            "summary": in_words(row.permissions),
            "maker": makers.get(row.created_user_id or "", _("the command line")),
            "status": (status := status_of(row, now=now)),
            "status_word": STATUSES[status],
            "live": status not in ("revoked", "expired"),
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
    asks = _("Make the API key “{name}”.")
    if asking := prove_again(
        request, then=request.path, asks=lambda: asks.format(name=request.POST.get("name", "").strip())
    ):
        return asking
    form = key_form.read(request.POST, held=access.permissions, now=now) if visit.sent else key_form.blank()
    if visit.sent and form.valid:
        with visit.sending(form):
            minted = api_keys.mint(
                company=access.company,
                stamp=visit.stamp,
                name=form.data["name"],
                permissions=known(form.data["permissions"]),
                creator=access,
                expires_time=form.data["expires_time"],
            )
            return show_once(request, access, minted)
    return visit.show(
        "settings/new_key.html",
        status=400 if form.errors else 200,
        section="api-keys",
        form=form,
        presets=key_form.PRESETS,
        resources=key_form.resources(form.values, access.permissions),
        admin_choices=key_form.admin_choices(access),
        expiries=key_form.EXPIRIES,
    )


def show_once(request: HttpRequest, access: Access, minted: api_keys.Minted, **more: Any) -> HttpResponse:
    """The whole key, on a page that nobody keeps."""
    context = {"access": access, "company": access.company, "section": "api-keys", "minted": minted, **more}
    context["summary"] = in_words(minted.key.permissions)
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
    asks = _("Roll the API key “{name}”.")
    if asking := prove_again(request, then=request.path, asks=lambda: asks.format(name=old.name)):
        return asking
    form = Typed(values={"overlap": request.POST.get("overlap", "24")})
    hours = form.values["overlap"]
    if hours not in OVERLAPS:
        form.errors["overlap"] = _("Choose when the old key ends.")
    elif visit.sent:
        with visit.sending(form):
            minted = api_keys.roll(
                company=visit.company,
                stamp=visit.stamp,
                key_id=key_id,
                creator=access,
                overlap=timedelta(hours=int(hours)),
            )
            return show_once(request, access, minted, old=old)
    status = 400 if form.errors else 200
    return visit.show(
        "settings/roll_key.html", status=status, section="api-keys", key=old, form=form, overlaps=OVERLAPS
    )


@require_POST
@signed_in
def revoke_key(request: HttpRequest, company_id: str, key_id: Any) -> HttpResponse:
    """The key's next request is refused."""
    visit = key_manager(request, company_id)
    name = get_object_or_404(ApiKey.objects.of(visit.company.id), id=key_id).name
    asks = _("Revoke the API key “{name}”.")
    then = reverse("api-keys", kwargs={"company_id": visit.company.id})
    if asking := prove_again(request, then=then, asks=lambda: asks.format(name=name)):
        return asking
    with visit.sending():
        key = api_keys.revoke(company=visit.company, stamp=visit.stamp, key_id=key_id)
        return visit.done(_("The key “{name}” was revoked.").format(name=key.name), "api-keys")
    return visit.to("api-keys")


def live_key(access: Access, key_id: Any, *, now: Any) -> ApiKey:
    return get_object_or_404(ApiKey.objects.of(access.company.id).live(now), id=key_id)
