"""Signing in and out, and passwords."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from csp.decorators import csp_replace
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout, update_session_auth_hash
from django.contrib.auth.views import INTERNAL_RESET_SESSION_TOKEN, PasswordResetConfirmView
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.http import require_http_methods, require_POST

from companies import hooks
from companies.api import throttling
from companies.callers import addresses, sessions
from companies.callers.client_network import get_client_network
from companies.factors import passkeys, steps
from companies.locales import locale_of_person, reading_as
from companies.membership.members import password_link
from companies.models import User
from companies.pages.people.forms import FirstPasswordForm, NewPasswordForm, SignInForm
from companies.pages.typed import typed
from companies.pages.visits import HOME, page_stamp, person, signed_in, stamp_of
from companies.running import letters, mailing
from companies.security import ending
from companies.serializers import NewMember

View = Callable[..., HttpResponseBase]
RESETS_A_MINUTE = 10  # from one place


def allow_return_to_app(view: View) -> View:
    """Let forms of the view's page end at an app's callback, and a popup with the page report back to the app.

    Chromium applies ``form-action`` to every redirect that follows a form, and cannot name an IPv6 host: the directive
    would block callbacks that redirect on. An opener policy of ``same-origin`` would cut a popup off its opener.
    """

    @csp_replace({"form-action": None})
    @wraps(view)
    def add_headers(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = view(request, *args, **kwargs)
        response["Cache-Control"] = "no-store"
        response["Cross-Origin-Opener-Policy"] = "unsafe-none"
        return response

    return add_headers


@allow_return_to_app
@csrf_protect
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """The door. Someone who is signed in already goes on, unless a proof is wanted again: of who has a second factor
    that one, unless somebody else is to sign in."""
    then = safe_next(request)
    again = "again" in request.GET
    if request.method != "POST" and request.user.is_authenticated and not again:
        return redirect(then)
    if request.method != "POST" and "else" not in request.GET and sessions.has_factor(request.user):
        return redirect(addresses.second_step(then))
    form = SignInForm(request, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        assert form.user is not None  # noqa: S101 - a valid form has its user
        return signed_in_as(request, form.user, then)
    user = person(request) if request.user.is_authenticated else None
    typed = form.data.get("username") if form.is_bound else request.GET.get("username")
    ended = "ended" in request.GET
    context = {
        "form": form,
        "next": then,
        "again": user,
        "ended": ended,
        "username": typed or (user.email if user else ""),
        "passkeys": passkeys.possible(),
    }
    return render(request, "companies/sign_in.html", context, status=400 if form.is_bound else 200)


def signed_in_as(request: HttpRequest, user: User, then: str) -> HttpResponse:
    """The password was right: that is all, or the second factor is next."""
    if sessions.has_factor(user):
        steps.begin(request, user, now=timezone.now())
        return redirect(addresses.second_step(then))
    sessions.sign_in(request, user, now=timezone.now())
    return redirect(then)


def safe_next(request: HttpRequest) -> str:
    """Where to go after signing in: a place of ours and nothing else."""
    then = request.POST.get("next") or request.GET.get("next") or HOME
    return then if addresses.ours(then) else HOME


def locked_out(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
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
        stamp = page_stamp(request)
        with transaction.atomic():
            user = form.save()
            if form.cleaned_data["sign_out_apps"]:
                hooks.connected_apps_revoked.run(user=user, stamp=stamp)
            update_session_auth_hash(request, user)
            here = request.session.session_key
            ending.password_changed(user=user, now=stamp.time, request=request, but=here)
        if not sessions.has_factor(user):  # else that is the proof, and was not given here
            request.session["auth_time"] = stamp.time.timestamp()
        messages.success(request, _("Your password was changed. Other sessions were signed out."))
        return redirect(HOME)
    if getattr(request, "axes_locked_out", False):  # whoever sits there does not know the password: the answer is a 429
        logout(request)
    return render(request, "companies/password_change.html", {"form": form}, status=400 if form.is_bound else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def password_reset(request: HttpRequest) -> HttpResponse:
    """Mails a link to set a new password; the answer is the same whoever asks."""
    form = typed(NewMember, request.POST, texts=("email",), partial=True) if request.method == "POST" else None
    if form and form.valid:
        email, now = form.data["email"], timezone.now()
        place = f"reset:{get_client_network(request)}"
        if throttling.spend(place, now=now.timestamp(), limit=RESETS_A_MINUTE, exact=True).exceeded:
            return locked_out(request)
        # Beyond that the mails before hold good; the answer stays the same, or it would tell strangers of each other.
        may_send = letters.may_send(email, now=now)
        user = User.objects.with_email(email)
        mail_reset(user if user and user.is_active and may_send else None, email=email)
        return render(request, "companies/password_reset_sent.html")
    return render(request, "companies/password_reset.html", {"form": form}, status=400 if form else 200)


def mail_reset(user: User | None, *, email: str) -> None:
    """Mails a link to set a new password; for nobody it does the same work, so that its time tells nothing."""
    named = user or User(email=email)
    with reading_as(locale_of_person(named)):
        message = _(
            "Somebody, probably you, asked for a new password for {email}. Set it here:\n\n{link}\n\n"
            "The link holds for three days and works once. If it was not you, you can ignore this message."
        )
        mailing.send_later(
            to=[user.email] if user else [],
            subject=_("Set a new password"),
            message=message.format(email=named.email, link=password_link(named)),
        )


class SetPassword(PasswordResetConfirmView):
    """Behind the mailed link; the token moves from the address into the session, so that no Referer carries it."""

    template_name = "companies/password_set.html"
    form_class = FirstPasswordForm
    success_url = reverse_lazy("sign-in")

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        """Stores the password, once: of two requests at the same moment the second finds the link used."""
        user = User.objects.select_for_update().get(pk=form.user.pk)
        if not self.token_generator.check_token(user, self.request.session.get(INTERNAL_RESET_SESSION_TOKEN)):
            self.validlink = False
            return self.render_to_response(self.get_context_data(form=None))
        form.user = user
        response = super().form_valid(form)
        stamp = stamp_of(form.user, self.request)
        if form.cleaned_data["sign_out_apps"]:
            hooks.connected_apps_revoked.run(user=form.user, stamp=stamp)
        here = self.request.session.session_key  # a visitor's, or it knows by itself that the password is another
        ending.password_changed(user=form.user, now=stamp.time, request=self.request, but=here)
        messages.success(self.request, _("Your password is set. Sign in with it."))
        return response
