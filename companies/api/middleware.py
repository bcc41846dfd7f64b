"""Around every request: whose address it came from, its name, and whether pages of another origin may ask for it."""

import re
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.utils.cache import patch_vary_headers

from companies.models import new_id

SANE = re.compile(r"[A-Za-z0-9._:-]{1,64}", re.ASCII)


def callers_address(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Puts the caller's address in the place of the proxy's, where the settings say that proxies stand in front: locks
    and budgets count by it."""

    def middleware(request: Any) -> Any:
        told = forwarded(request.META.get("HTTP_X_FORWARDED_FOR", ""), proxies=settings.TRUSTED_PROXIES)
        if told:
            request.META["REMOTE_ADDR"] = told
        return get_response(request)

    return middleware


def forwarded(header: str, *, proxies: int) -> str | None:
    """The address that the outermost of so many proxies saw, or None. Each adds at the right whom it was called by;
    what stands further left was written by the caller."""
    hops = header.split(",")
    if not 0 < proxies <= len(hops) or "%" in hops[-proxies]:
        return None
    try:
        return str(ip_address(hops[-proxies].strip()))
    except ValueError:
        return None


API = "/companies"
PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, DELETE",
    "Access-Control-Allow-Headers": (
        "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-Request-Id"
    ),
    "Access-Control-Max-Age": "7200",  # seconds; browsers cap it there
}
EXPOSED = (
    "Content-Disposition, ETag, Idempotency-Replayed, Ignored-Fields, Link, Location, RateLimit-Limit, "
    "RateLimit-Remaining, RateLimit-Reset, Retry-After, WWW-Authenticate, X-Request-Id, X-Total-Amount, X-Total-Count"
)


def cross_origin(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Lets pages of CORS_ORIGINS call the API with bearer tokens (https://fetch.spec.whatwg.org/#http-cors-protocol).

    Never with cookies: credentials are not allowed, and what a session's cookie would answer is told no other origin.
    """

    def middleware(request: Any) -> Any:
        if not settings.CORS_ORIGINS or not request.path.startswith(API):
            return get_response(request)
        origin = request.headers.get("Origin")
        trusted = origin in settings.CORS_ORIGINS
        if trusted and request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers:
            response = HttpResponse(status=204, headers=PREFLIGHT)
        else:
            response = get_response(request)
            trusted = trusted and ("Authorization" in request.headers or not has_session(request))
        if trusted:
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Expose-Headers"] = EXPOSED
        patch_vary_headers(response, ("Origin",))
        return response

    return middleware


def has_session(request: Any) -> bool:
    return settings.SESSION_COOKIE_NAME in request.COOKIES


def request_id(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Sets ``request.request_id``, taken over where it is a sane token, and answers it as X-Request-Id."""

    def middleware(request: Any) -> Any:
        given = request.META.get("HTTP_X_REQUEST_ID", "")
        request.request_id = given if SANE.fullmatch(given) else str(new_id())
        response = get_response(request)
        response.headers["X-Request-Id"] = request.request_id
        if request.method == "HEAD" and not response.streaming:
            response.content = b""  # its length was announced; the server would warn of bytes that it may not send
        return response

    return middleware
