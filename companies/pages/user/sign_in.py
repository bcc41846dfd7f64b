"""Sign-in, sign-out and passwords."""

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

from companies import email_limits, hooks, mailer
from companies.actions.members import build_password_link
from companies.auth import login_redirects, session_revocation, sessions, throttling
from companies.auth.client_network import get_client_network
from companies.auth.mfa import passkeys, sign_in_state
from companies.locales import get_user_locale, use_locale
from companies.models import User
from companies.pages.context import (
    HOME_PATH,
    build_audit_context,
    build_user_audit_context,
    get_signed_in_user,
    require_sign_in,
)
from companies.pages.forms import bind_form
from companies.pages.user.forms import FirstPasswordForm, NewPasswordForm, SignInForm
from companies.serializers import NewMember

ViewFunction = Callable[..., HttpResponseBase]
MAX_RESETS_PER_MINUTE = 10  # per client network


def allow_return_to_app(view: ViewFunction) -> ViewFunction:
    """Allow forms of the page to end at an app's callback, and a popup with the page to report back to the app.

    Chromium applies ``form-action`` to every redirect after a form, and cannot name an IPv6 host: the
    directive would block callbacks that redirect on. An opener policy of ``same-origin`` would cut a popup
    off from its opener.
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
def sign_in_page(request: HttpRequest) -> HttpResponse:
    """Sign in with e-mail address and password. Signed-in users are redirected unless they must authenticate
    again.
    """
    next_path = get_safe_next(request)
    reauthenticate = "again" in request.GET
    if request.method != "POST" and request.user.is_authenticated and not reauthenticate:
        return redirect(next_path)
    if request.method != "POST" and "else" not in request.GET and sessions.has_mfa(request.user):
        return redirect(login_redirects.build_second_step_url(next_path))
    form = SignInForm(request, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        assert form.user is not None  # noqa: S101 - a valid form has its user
        return complete_password_step(request, form.user, next_path)
    user = get_signed_in_user(request) if request.user.is_authenticated else None
    typed_email = form.data.get("username") if form.is_bound else request.GET.get("username")
    form_expired = "ended" in request.GET
    context = {
        "form": form,
        "next": next_path,
        "again": user,
        "ended": form_expired,
        "username": typed_email or (user.email if user else ""),
        "passkeys": passkeys.can_use_passkeys(),
        "offers_sign_up": settings.SIGN_UP == "open" and user is None,
    }
    return render(request, "companies/sign_in.html", context, status=400 if form.is_bound else 200)


def complete_password_step(request: HttpRequest, user: User, next_path: str) -> HttpResponse:
    """Continue after a correct password: sign in, or ask for the second factor."""
    if sessions.has_mfa(user):
        sign_in_state.begin_second_step(request, user, now=timezone.now())
        return redirect(login_redirects.build_second_step_url(next_path))
    sessions.sign_in_user(request, user, now=timezone.now())
    return redirect(next_path)


def get_safe_next(request: HttpRequest) -> str:
    """Return the path to continue to after sign-in, limited to our own hosts."""
    next_path = request.POST.get("next") or request.GET.get("next") or HOME_PATH
    return next_path if login_redirects.is_own_host(next_path) else HOME_PATH


def render_lockout(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
    """Show the page for too many wrong passwords of one address from one client."""
    response = render(request, "companies/locked_out.html", status=429)
    response["Retry-After"] = str(int(settings.AXES_COOLOFF_TIME * 3600))
    response["Cache-Control"] = "no-store"
    return response


@require_POST
def sign_out_page(request: HttpRequest) -> HttpResponse:
    """Sign out."""
    logout(request)
    return redirect(settings.LOGOUT_REDIRECT_URL)


@require_sign_in
@require_http_methods(["GET", "HEAD", "POST"])
def change_password_page(request: HttpRequest) -> HttpResponse:
    """Change the password; all other sessions of the user are revoked."""
    form = NewPasswordForm(request, get_signed_in_user(request), request.POST or None)
    if request.method == "POST" and form.is_valid():
        context = build_audit_context(request)
        with transaction.atomic():
            user = form.save()
            if form.cleaned_data["sign_out_apps"]:
                hooks.connected_apps_revoked.run(user=user, context=context)
            update_session_auth_hash(request, user)
            session_key = request.session.session_key
            session_revocation.handle_password_change(
                user=user, now=context.time, request=request, except_session_key=session_key
            )
        if not sessions.has_mfa(user):  # with MFA the password alone is no authentication
            request.session["auth_time"] = context.time.timestamp()
        messages.success(request, _("Password changed. Your other sessions were signed out."))
        return redirect(HOME_PATH)
    if getattr(request, "axes_locked_out", False):  # the user does not know the password: the response is a 429
        logout(request)
    return render(request, "companies/password_change.html", {"form": form}, status=400 if form.is_bound else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def request_password_reset_page(request: HttpRequest) -> HttpResponse:
    """Mail a password reset link; the response is the same for unknown addresses."""
    form = bind_form(NewMember, request.POST, texts=("email",), partial=True) if request.method == "POST" else None
    if form and form.is_valid:
        email, now = form.data["email"], timezone.now()
        limit_name = f"reset:{get_client_network(request)}"
        if throttling.consume_budget(
            limit_name, now=now.timestamp(), limit=MAX_RESETS_PER_MINUTE, exact=True
        ).is_exceeded:
            return render_lockout(request)
        # Beyond the limit nothing is sent; the response must not reveal it.
        may_send = email_limits.consume_email_limit(email, now=now)
        user = User.objects.find_by_email(email)
        send_password_reset_email(user if user and user.is_active and may_send else None, email=email)
        return render(request, "companies/password_reset_sent.html")
    return render(request, "companies/password_reset.html", {"form": form}, status=400 if form else 200)


def send_password_reset_email(user: User | None, *, email: str) -> None:
    """Send the password reset e-mail; does the same work without a user, so that timing reveals nothing."""
    recipient = user or User(email=email)
    with use_locale(get_user_locale(recipient)):
        message = _(
            "Reset the password for {email} here:\n\n{link}\n\nThe link is valid for 3 days and can be "
            "used once. If you did not request this, ignore this email."
        )
        mailer.send_email_later(
            to=[user.email] if user else [],
            subject=_("Reset password"),
            message=message.format(email=recipient.email, link=build_password_link(recipient)),
        )


class SetPasswordView(PasswordResetConfirmView):
    """Page behind the reset link; the token moves from the URL to the session, so that no Referer leaks it."""

    template_name = "companies/password_set.html"
    form_class = FirstPasswordForm
    success_url = reverse_lazy("sign-in")

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        """Store the password, once: the second of two concurrent requests finds the link used."""
        user = User.objects.select_for_update().get(pk=form.user.pk)
        if not self.token_generator.check_token(user, self.request.session.get(INTERNAL_RESET_SESSION_TOKEN)):
            self.validlink = False
            return self.render_to_response(self.get_context_data(form=None))
        form.user = user
        response = super().form_valid(form)
        context = build_user_audit_context(form.user, self.request)
        if form.cleaned_data["sign_out_apps"]:
            hooks.connected_apps_revoked.run(user=form.user, context=context)
        session_key = self.request.session.session_key  # an anonymous session, or one that becomes invalid by itself
        session_revocation.handle_password_change(
            user=form.user, now=context.time, request=self.request, except_session_key=session_key
        )
        messages.success(self.request, _("Password saved. Sign in with your new password."))
        return response
