"""Sign-in of a user: session details, security log, and an e-mail for a new device."""

import hashlib
import re
import secrets
from datetime import datetime
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from companies.auth import emails, security_log, session_revocation
from companies.models import SecurityEvent, SecurityLogEntry, User

DEVICE_COOKIE_PATTERN = re.compile(r"[A-Za-z0-9_-]{32}")


def record_sign_in(request: HttpRequest, user: User, *, now: datetime) -> None:
    """Record a sign-in. Call it after every sign-in, whatever its method."""
    browser = identify_browser(request)
    earlier_sign_ins = (
        SecurityLogEntry.objects.for_user(user).since(now - security_log.LOG_RETENTION).sign_ins_from(browser)
    )
    is_new_device = not earlier_sign_ins.exists()
    security_log.record_security_event(
        user=user,
        event=SecurityEvent.SIGNED_IN,
        request=request,
        now=now,
        detail="new device" if is_new_device else "",
        browser=browser,
    )
    if is_new_device:
        emails.send_new_device_email(user=user, request=request, now=now)
    request.session.setdefault("started_time", now.timestamp())
    update_last_seen(request, now=now.timestamp())
    session_revocation.revoke_oldest_sessions(user, except_session_key=request.session.session_key)


def update_last_seen(request: Any, *, now: float) -> None:
    """Store time, device and address of the session's latest use."""
    session = request.session
    session["seen_time"] = now
    session["device"], session["address"] = (
        security_log.get_device_name(request),
        security_log.get_client_address(request),
    )


def identify_browser(request: Any) -> str:
    """Return the digest of the browser's device cookie; a browser without one gets it with the response."""
    cookie = request.COOKIES.get(settings.DEVICE_COOKIE_NAME, "")
    request.device_cookie = cookie if DEVICE_COOKIE_PATTERN.fullmatch(cookie) else secrets.token_urlsafe(24)
    return hashlib.sha256(request.device_cookie.encode()).hexdigest()


def set_device_cookie(request: Any, response: HttpResponse) -> None:
    """Set the device cookie after a sign-in, for as long as the security log is kept."""
    response.set_cookie(
        settings.DEVICE_COOKIE_NAME,
        request.device_cookie,
        max_age=security_log.LOG_RETENTION,
        domain=settings.SESSION_COOKIE_DOMAIN,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
