"""Pages of the second sign-in step, of sign-in with a passkey alone, and of step-up authentication with
either.
"""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.http import require_http_methods, require_POST

from companies.auth import login_redirects, passwords, sessions, throttling
from companies.auth.client_network import get_client_network
from companies.auth.mfa import backends, devices, passkeys, sign_in_state
from companies.models import Passkey, RecoveryCode, User
from companies.pages.user.sign_in import allow_return_to_app, get_safe_next

PROVE_PURPOSE = "prove"  # the purpose of a challenge
WRONG_CODE_TEXT = gettext_lazy("The code is incorrect or was already used. Wait for the next code.")
WRONG_PASSKEY_TEXT = gettext_lazy("Passkey not accepted. Try again or use another method.")
SIGN_IN_EXPIRED_TEXT = gettext_lazy("Sign-in timed out. Sign in again.")


@allow_return_to_app
@csrf_protect
@require_http_methods(["GET", "HEAD", "POST"])
def verify_second_step_page(request: HttpRequest) -> HttpResponse:
    """Ask for the second factor after the password, or again for step-up authentication."""
    now, next_path = timezone.now(), get_safe_next(request)
    user = sign_in_state.find_second_step_user(request, now=now)
    if user is None:
        messages.error(request, str(SIGN_IN_EXPIRED_TEXT))
        return redirect(login_redirects.build_sign_in_url(next_path))
    if request.method != "POST":
        return render_second_step(request, user, next_path)
    if "answer" in request.POST:
        authenticated_user, error_text = authenticate_by_passkey(request, user.email), WRONG_PASSKEY_TEXT
    else:
        credentials = {"username": user.email, "code": request.POST.get("code", "")}
        authenticated_user, error_text = authenticate_second_factor(request, credentials), WRONG_CODE_TEXT
    return (
        complete_second_step(request, authenticated_user, next_path)
        if authenticated_user
        else render_second_step(request, user, next_path, error_text=str(error_text))
    )


def render_second_step(request: HttpRequest, user: User, next_path: str, *, error_text: str = "") -> HttpResponse:
    """Render the page of the second step."""
    context = {
        "person": user,
        "next": next_path,
        "again": sign_in_state.find_pending_user(request, now=timezone.now()) is None,
        "app": devices.find_authenticator_app(user),
        "has_passkeys": passkeys.can_use_passkeys() and Passkey.objects.for_user(user.pk).exists(),
        "wrong": error_text,
    }
    return render(request, "companies/mfa_sign_in.html", context, status=400 if error_text else 200)


@allow_return_to_app
@csrf_protect
@require_POST
def sign_in_with_passkey_page(request: HttpRequest) -> HttpResponse:
    """Sign in with a passkey alone: it verifies both the device and the user."""
    next_path = get_safe_next(request)
    user = authenticate_by_passkey(request, "")
    if user is None:
        messages.error(request, str(WRONG_PASSKEY_TEXT))
        return redirect(login_redirects.build_sign_in_url(next_path))
    return complete_second_step(request, user, next_path)


@csrf_protect
@require_POST
def show_passkey_login_options(request: HttpRequest) -> HttpResponse:
    """Return the WebAuthn authentication options, as JSON. Without a known user any passkey of this site is
    allowed.
    """
    now = timezone.now()
    rate_limit_name = f"challenges:{get_client_network(request)}"
    budget = throttling.consume_budget(
        rate_limit_name,
        now=now.timestamp(),
        limit=settings.SIGN_IN_LIMIT,
        seconds=passwords.SIGN_IN_WINDOW_SECONDS,
        exact=True,
    )  # each creates a session row
    if budget.is_exceeded:
        raise passwords.SignInThrottled(wait=budget.resets_in)
    user = sign_in_state.find_second_step_user(request, now=now) if "known" in request.GET else None
    user_passkeys = list(Passkey.objects.for_user(user.pk)) if user else []
    challenge = sign_in_state.create_challenge(request, purpose=PROVE_PURPOSE, now=now)
    response = HttpResponse(
        passkeys.build_authentication_options(challenge=challenge, allowed=user_passkeys),
        content_type="application/json",
    )
    response["Cache-Control"] = "no-store"
    return response


def authenticate_by_passkey(request: HttpRequest, username: str) -> User | None:
    """Authenticate with the posted answer of a passkey. An empty `username` allows any user."""
    challenge = sign_in_state.pop_challenge(request, purpose=PROVE_PURPOSE, now=timezone.now())
    return authenticate_second_factor(
        request, {"username": username, "assertion": request.POST.get("answer", ""), "challenge": challenge}
    )


def authenticate_second_factor(request: HttpRequest, credentials: Mapping[str, Any]) -> User | None:
    """Authenticate with Django's backends; a failure counts like a wrong password, for the address and the
    account.
    """
    user = authenticate(request, **credentials)
    return user if isinstance(user, User) else None


def complete_second_step(request: HttpRequest, user: User, next_path: str) -> HttpResponse:
    """Sign the user in after the second factor, and warn if a recovery code was used."""
    sessions.sign_in_user(request, user, now=timezone.now(), mfa_method=user.mfa_method)
    sign_in_state.clear_sign_in_state(request)
    devices.reset_totp_throttling(user.pk)
    remaining_codes = RecoveryCode.objects.for_user(user.pk).count()
    if user.mfa_method == backends.RECOVERY:
        message = gettext("You signed in with a recovery code; {left} left. Create new codes before you run out.")
        messages.info(request, message.format(left=remaining_codes))
    return redirect(next_path)
