"""What people see in a browser: signing in and out, passwords, their companies and a company's API keys."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout, update_session_auth_hash
from django.contrib.auth.views import PasswordResetConfirmView
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse_lazy
from django.utils import timezone
from django.utils.module_loading import import_string
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from companies import addresses, api_keys, mailing, sessions
from companies.access import Access
from companies.api import errors, throttling
from companies.authentication import SessionCredential
from companies.errors import Refusal
from companies.forms import KeyForm, NewPasswordForm, ResetForm, RollForm, SignInForm, permission_summary
from companies.members import password_link
from companies.models import ApiKey, Stamp, User
from companies.permissions import Permission, Role

HOME = "/app/"
RESETS_A_MINUTE = 10  # from one address
UNUSED_DAYS = 90  # after which a key is marked as unused
Page = Callable[..., HttpResponse]


# ---------------------------------------------------------------------------------------------- who is there


def signed_in(page: Page) -> Page:
    """Lets nobody in who has not signed in; what is shown is theirs alone."""

    @wraps(page)
    def view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            return to_sign_in(request.get_full_path() if request.method in ("GET", "HEAD") else HOME)
        response = page(request, *args, **kwargs)
        response.headers.setdefault("Cache-Control", "private, no-cache")
        return response

    return view


def to_sign_in(then: str, *, again: bool = False) -> HttpResponse:
    return redirect(addresses.sign_in_page(then, again=again))


def person(request: HttpRequest) -> User:
    """The signed-in user."""
    user = request.user
    assert isinstance(user, User)  # noqa: S101 - pages for people stand behind signed_in
    return user


def reached(request: HttpRequest, company_id: str) -> Access:
    """The user's access to the company of the address. Raises Http404 where there is none."""
    access = SessionCredential(user=person(request)).access(company_id)
    if access is None:
        raise Http404
    return access


def key_manager(request: HttpRequest, company_id: str) -> Access:
    """Access of somebody who may make and revoke keys. Raises Http404, PermissionDenied."""
    access = reached(request, company_id)
    if Permission.API_KEYS_MANAGE not in access.permissions:
        raise PermissionDenied
    return access


def page_stamp(request: HttpRequest) -> Stamp:
    """Who changes something on a page, and when."""
    user = person(request)
    return Stamp(
        time=timezone.now(),
        actor=str(user.pk),
        user_id=user.pk,
        credential=f"session:{user.pk}",
        request_id=getattr(request, "request_id", ""),
    )


# ---------------------------------------------------------------------------------------------- signing in and out


@csrf_protect
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """The door. Someone who is signed in already goes on, unless the password is wanted again."""
    then = safe_next(request)
    again = "again" in request.GET
    if request.method != "POST" and request.user.is_authenticated and not again:
        return redirect(then)
    form = SignInForm(request, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        assert form.user is not None  # noqa: S101 - a valid form has its user
        sessions.sign_in(request, form.user, now=timezone.now())
        return redirect(then)
    user = person(request) if request.user.is_authenticated else None
    typed = form.data.get("username") if form.is_bound else request.GET.get("username")
    context = {"form": form, "next": then, "again": user, "username": typed or (user.email if user else "")}
    response = render(request, "companies/sign_in.html", context, status=400 if form.is_bound else 200)
    response["Cache-Control"] = "no-store"
    targets = addresses.origins_on_the_way(then)
    targets += [target for path in settings.SIGN_IN_TARGETS for target in import_string(path)(then)]
    if targets:
        response._csp_update = {"form-action": targets}  # type: ignore[attr-defined]
    return response


def safe_next(request: HttpRequest) -> str:
    """Where to go after signing in: a place of ours and nothing else."""
    then = request.POST.get("next") or request.GET.get("next") or HOME
    return then if addresses.ours(then) else HOME


def locked_out(request: HttpRequest, *_: Any, **__: Any) -> HttpResponse:
    """Too many wrong passwords for one e-mail address from one place."""
    response = render(request, "companies/locked_out.html", status=429)
    response["Retry-After"] = str(int(settings.AXES_COOLOFF_TIME * 3600))
    response["Cache-Control"] = "no-store"
    return response


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect(settings.LOGOUT_REDIRECT_URL)


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def password_change(request: HttpRequest) -> HttpResponse:
    """A new password; every other session of the user ends."""
    form = NewPasswordForm(request, person(request), request.POST or None)
    if request.method == "POST" and form.is_valid():
        user = form.save()
        update_session_auth_hash(request, user)
        request.session["auth_time"] = timezone.now().timestamp()
        messages.success(request, "Your password was changed. Other sessions were signed out.")
        return redirect(HOME)
    if getattr(request, "axes_locked_out", False):  # whoever sits there does not know the password: the answer is a 429
        logout(request)
    return render(request, "companies/password_change.html", {"form": form}, status=400 if form.is_bound else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def password_reset(request: HttpRequest) -> HttpResponse:
    """Mails a link to set a new password; the answer is the same whoever asks."""
    form = ResetForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        address = f"reset:{request.META.get('REMOTE_ADDR', '')}"
        budget = throttling.spend(address, now=timezone.now().timestamp(), limit=RESETS_A_MINUTE)
        if budget.exceeded:
            return locked_out(request)
        mail_reset(form.user(), email=form.cleaned_data["email"])
        return render(request, "companies/password_reset_sent.html")
    status = 400 if form.is_bound else 200
    return render(request, "companies/password_reset.html", {"form": form}, status=status)


def mail_reset(user: User | None, *, email: str) -> None:
    """Mails a link to set a new password; for nobody it does the same work, so that its time tells nothing."""
    named = user or User(email=email)
    mailing.send_later(
        to=[user.email] if user else [],
        subject="Set a new password",
        message=(
            f"Somebody, probably you, asked for a new password for {named.email}. Set it here:\n\n"
            f"{password_link(named)}\n\n"
            "The link holds for three days and works once. If it was not you, you can ignore this message."
        ),
    )


class SetPassword(PasswordResetConfirmView):
    """Behind the mailed link; the token moves from the address into the session, so that no Referer carries it."""

    template_name = "companies/password_set.html"
    success_url = reverse_lazy("sign-in")

    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        messages.success(self.request, "Your password is set. Sign in with it.")
        return response


# ---------------------------------------------------------------------------------------------- companies


@require_safe
@signed_in
def home(request: HttpRequest) -> HttpResponse:
    """The user's companies. Other apps add figures to their cards (HOME_FIGURES)."""
    accesses = SessionCredential(user=person(request)).accesses()
    figures: dict[Any, list[tuple[str, str]]] = {}
    for path in settings.HOME_FIGURES:
        for company_id, entries in import_string(path)(accesses=accesses, today=timezone.now().date()).items():
            figures.setdefault(company_id, []).extend(entries)
    cards = [{"access": access, "figures": figures.get(access.company.id, [])} for access in accesses]
    return render(request, "companies/home.html", {"cards": cards})


# ---------------------------------------------------------------------------------------------- API keys


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
    access = key_manager(request, company_id)
    now = timezone.now()
    if not sessions.signed_in_recently(request, now=now):
        return to_sign_in(request.path, again=True)
    bound = request.POST if request.method == "POST" else None
    form = KeyForm(bound, holder=access.permissions, role=access.role, now=now)
    if request.method == "POST" and form.is_valid():
        try:
            with transaction.atomic():
                minted = api_keys.mint(
                    company=access.company,
                    stamp=page_stamp(request),
                    name=form.cleaned_data["name"],
                    permissions=form.permissions(),
                    creator=access,
                    expires_time=form.expires_time(),
                )
        except Refusal as refusal:
            form.add_error(None, refusal.detail)
        else:
            return show_once(request, access, minted)
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
    access = key_manager(request, company_id)
    now = timezone.now()
    old = live_key(access, key_id, now=now)
    if not sessions.signed_in_recently(request, now=now):
        return to_sign_in(request.path, again=True)
    form = RollForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            with transaction.atomic():
                minted = api_keys.roll(key=old, stamp=page_stamp(request), creator=access, overlap=form.overlap_time())
        except Refusal as refusal:
            form.add_error(None, refusal.detail)
        else:
            return show_once(request, access, minted, old=old)
    context = {"access": access, "company": access.company, "section": "api-keys", "key": old, "form": form}
    return render(request, "settings/roll_key.html", context, status=400 if form.is_bound else 200)


@require_POST
@signed_in
def revoke_key(request: HttpRequest, company_id: str, key_id: Any) -> HttpResponse:
    """The key's next request is refused."""
    access = key_manager(request, company_id)
    with transaction.atomic():
        key = ApiKey.objects.of(access.company.id).select_for_update().filter(id=key_id).first()
        if key is None:
            raise Http404
        api_keys.revoke(key=key, stamp=page_stamp(request))
    messages.success(request, f"The key “{key.name}” was revoked.")
    return redirect("api-keys", company_id=company_id)


def live_key(access: Access, key_id: Any, *, now: Any) -> ApiKey:
    key = ApiKey.objects.of(access.company.id).live(now).filter(id=key_id).first()
    if key is None:
        raise Http404
    return key


# ---------------------------------------------------------------------------------------------- what went wrong

PAGES = ("/app", "/admin", "/auth/oauth2/authorize")


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """A page for people, the usual body for programs."""
    if not request.path.startswith(PAGES):
        return errors.page_not_found(request, exception)
    return render(request, "companies/error.html", {"title": "Nothing here", "text": errors.NOT_FOUND}, status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Written without what may have failed: a page of its own, without the database."""
    answer = errors.server_error(request)
    if not request.path.startswith(PAGES):
        return answer
    values = {"title": "Something went wrong", "text": f"It is our fault. Tell us this number: {request.request_id}"}  # type: ignore[attr-defined]
    return HttpResponse(render_to_string("companies/error.html", values), status=500)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    if not request.path.startswith(PAGES):
        return errors.permission_denied(request, exception)
    text = "Your role in this company does not allow this. An owner can change that."
    return render(request, "companies/error.html", {"title": "Not allowed", "text": text}, status=403)


def form_refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form without our token: sent by another site, or from a page that stood open across a sign-in."""
    text = "This form was not sent from a current page of ours, so nothing was changed. Go back, reload, and try again."
    return render(request, "companies/error.html", {"title": "Please try again", "text": text}, status=403)
