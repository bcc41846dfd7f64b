"""Session lifetime, and when the user of a session last authenticated."""

from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, login, logout
from django.http import HttpRequest
from rest_framework.request import Request

from companies import email_addresses
from companies.auth import pending_form, sign_in
from companies.models import User

LAST_SEEN_INTERVAL_SECONDS = 600  # seconds between two writes of a session's last use


def sign_in_user(request: HttpRequest, user: User, *, now: datetime, mfa_method: str | None = None) -> None:
    """Sign the user in with a new session id. `mfa_method` is the second factor that was verified, if any."""
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    record_authentication(request, now=now, mfa_method=mfa_method)
    sign_in.record_sign_in(request, user, now=now)


def record_authentication(request: HttpRequest, *, now: datetime, mfa_method: str | None) -> None:
    """Record that the signed-in user authenticated now, with a new session id: Django keeps the id for the same
    user.
    """
    request.session.cycle_key()
    request.session["auth_time"] = now.timestamp()
    if mfa_method:
        request.session["factor"] = mfa_method


def normalize_typed_email(request: HttpRequest, credentials: dict[str, Any] | None = None) -> str:
    """Return the e-mail address of a sign-in attempt in canonical form, so that another spelling does not evade
    a lockout.

    Text that is not an e-mail address is returned as typed.
    """
    typed_email = str((credentials or {}).get("username") or request.POST.get("username", "")).strip()
    try:
        return email_addresses.to_canonical_email(typed_email)
    except email_addresses.InvalidEmail:
        return typed_email[: email_addresses.MAX_EMAIL_LENGTH]


def get_auth_time(request: HttpRequest) -> datetime:
    """Return when the session's user last authenticated."""
    return datetime.fromtimestamp(request.session["auth_time"], tz=UTC)


def is_recently_authenticated(request: HttpRequest | Request, *, now: datetime) -> bool:
    """Return whether the last authentication is recent enough for a sensitive operation."""
    return now.timestamp() - request.session["auth_time"] <= settings.RECENT_SIGN_IN


def end_request_session_if_over(request: Any) -> None:
    """End the session of a request if it is over; note that a live one was seen."""
    if BACKEND_SESSION_KEY in request.session:
        end_session_if_over(request, now=datetime.now(tz=UTC).timestamp())


def end_session_if_over(request: Any, *, now: float) -> None:
    """Log the session out if it is idle, too old or lacks MFA; otherwise update its last use."""
    session, user = request.session, request.user
    if not user.is_authenticated:  # the user was deactivated or has a new password
        return
    if "auth_time" not in session:  # signed in elsewhere: that was the user's last sign-in
        last_login = user.last_login
        session["auth_time"] = last_login.timestamp() if last_login else 0.0
        session.setdefault("started_time", session["auth_time"])
        sign_in.update_last_seen(request, now=now)
    is_expired = (
        now - session["auth_time"] > settings.SESSION_COOKIE_AGE or now - session["seen_time"] > settings.SESSION_IDLE
    )
    if is_expired or not is_mfa_satisfied(session, user):
        logout(request)
        return
    pending_form.delete_expired_pending_form(session, now=now)
    if now - session["seen_time"] > LAST_SEEN_INTERVAL_SECONDS:
        sign_in.update_last_seen(request, now=now)


def is_mfa_satisfied(session: Any, user: Any) -> bool:
    """Return whether the session verified a second factor since the user set up the current ones. True for
    users without MFA.
    """
    if not has_mfa(user):
        return True
    return "factor" in session and session["auth_time"] >= user.second_factor_since.timestamp()


def has_mfa(user: Any) -> bool:
    """Return whether the user has set up a second factor."""
    return isinstance(user, User) and user.second_factor_since is not None
