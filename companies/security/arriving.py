"""Somebody signs in: the session learns from where, their log gets a line, a browser that is new is told by mail."""

import hashlib
import re
import secrets
from datetime import datetime
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from companies.models import PersonalEntry, PersonalEvent, User
from companies.security import ending, log, telling

COOKIE = re.compile(r"[A-Za-z0-9_-]{32}")


def arrive(request: HttpRequest, user: User, *, now: datetime) -> None:
    """Call after every sign-in, whichever door it came through."""
    browser = known_again(request)
    before = PersonalEntry.objects.of(user).since(now - log.KEPT).signed_in_with(browser)
    new = not before.exists()
    log.note(
        user=user,
        event=PersonalEvent.SIGNED_IN,
        request=request,
        now=now,
        detail="new device" if new else "",
        browser=browser,
    )
    if new:
        telling.new_device(user=user, request=request, now=now)
    request.session.setdefault("started_time", now.timestamp())
    seen(request, now=now.timestamp())
    ending.end_oldest(user, but=request.session.session_key)


def seen(request: Any, *, now: float) -> None:
    """What the session's row says of its latest use."""
    session = request.session
    session["seen_time"] = now
    session["device"], session["address"] = log.device_of(request), log.address_of(request)


def known_again(request: Any) -> str:
    """The digest of the cookie by which this browser is known again; one that has none gets it with the answer."""
    kept = request.COOKIES.get(settings.DEVICE_COOKIE_NAME, "")
    request.device_cookie = kept if COOKIE.fullmatch(kept) else secrets.token_urlsafe(24)
    return hashlib.sha256(request.device_cookie.encode()).hexdigest()


def remember(request: Any, response: HttpResponse) -> None:
    """Gives the browser its cookie after a sign-in, for as long as the log would know it."""
    kept = getattr(request, "device_cookie", None)
    if kept is not None:
        response.set_cookie(
            settings.DEVICE_COOKIE_NAME,
            kept,
            max_age=log.KEPT,
            domain=settings.SESSION_COOKIE_DOMAIN,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )
