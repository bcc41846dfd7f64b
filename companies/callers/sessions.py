"""How long a browser stays signed in, and when its user last proved who they are."""

from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, login, logout
from django.http import HttpRequest
from rest_framework.request import Request

from companies import emails
from companies.callers import waiting
from companies.models import User
from companies.security import arriving

SEEN_EVERY = 600  # seconds; a session's record is not written more often for being used


def sign_in(request: HttpRequest, user: User, *, now: datetime, factor: str | None = None) -> None:
    """Signs the user in, under a new session id; ``factor`` is what they proved besides the password."""
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    proved(request, now=now, factor=factor)
    arriving.arrive(request, user, now=now)


def proved(request: HttpRequest, *, now: datetime, factor: str | None) -> None:
    """Who is signed in proved who they are, under a new session id: the framework keeps it for the same user."""
    request.session.cycle_key()
    request.session["auth_time"] = now.timestamp()
    if factor:
        request.session["factor"] = factor


def typed_address(request: HttpRequest, credentials: dict[str, Any] | None = None) -> str:
    """The address that somebody tries to sign in with, in its one form, so that another spelling is no way around a
    lock. What is no address is nobody's: it counts as it was typed."""
    typed = str((credentials or {}).get("username") or request.POST.get("username", "")).strip()
    try:
        return emails.canonical(typed)
    except emails.InvalidEmail:
        return typed[: emails.LONGEST]


def auth_time(request: HttpRequest) -> datetime:
    """When the user last proved who they are."""
    return datetime.fromtimestamp(request.session["auth_time"], tz=UTC)


def signed_in_recently(request: HttpRequest | Request, *, now: datetime) -> bool:
    """Whether a sensitive act needs no proof now."""
    return now.timestamp() - request.session["auth_time"] <= settings.RECENT_SIGN_IN


def check_current(request: Any) -> None:
    """End the session of a request if it is over; note that a live one was seen."""
    if settings.SESSION_COOKIE_NAME in request.COOKIES and BACKEND_SESSION_KEY in request.session:
        check(request, now=datetime.now(tz=UTC).timestamp())


def check(request: Any, *, now: float) -> None:
    session, user = request.session, request.user
    if not user.is_authenticated:  # of somebody who is switched off, or has another password now
        return
    if "auth_time" not in session:  # signed in by another door: that was the user's last sign-in
        last = user.last_login
        session["auth_time"] = last.timestamp() if last else 0.0
        session.setdefault("started_time", session["auth_time"])
        arriving.seen(request, now=now)
    over = (
        now - session["auth_time"] > settings.SESSION_COOKIE_AGE or now - session["seen_time"] > settings.SESSION_IDLE
    )
    if over or not proven(session, user):
        logout(request)
        return
    waiting.forget_old(session, now=now)
    if now - session["seen_time"] > SEEN_EVERY:
        arriving.seen(request, now=now)


def proven(session: Any, user: Any) -> bool:
    """Whether the session has proved the second factor that its user has, and none of those they had before."""
    if not has_factor(user):
        return True
    return "factor" in session and session["auth_time"] >= user.second_factor_since.timestamp()


def has_factor(user: Any) -> bool:
    return isinstance(user, User) and user.second_factor_since is not None
