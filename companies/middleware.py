"""The middlewares of this project, in the order in which MIDDLEWARE lists them."""

import re
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.cache import patch_vary_headers

from companies import body_limits, compression, error_pages
from companies.api.request_slots import RequestSlots
from companies.auth import passwords, sessions, sign_in
from companies.direction_marks import remove_direction_marks
from companies.locales import get_request_locale, parse_accept_language, use_locale
from companies.models import generate_id

GetResponse = Callable[[Any], Any]
REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}", re.ASCII)
# Everything else answers programs, or staff, in English.
LOCALIZED_PATHS = ("/app/", "/docs/guides/", "/auth/oauth2/authorize")
API = "/companies"
SHARED_PATH = "/app/shared/"  # pages that set no cookie, not even a signed-in visitor's
PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, DELETE",
    "Access-Control-Allow-Headers": (
        "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-Request-Id"
    ),
    "Access-Control-Max-Age": "7200",  # seconds; browsers cap it there
}
EXPOSED = (
    "Broken-Changes, Content-Disposition, ETag, Idempotency-Replayed, Ignored-Fields, Link, Location, RateLimit-Limit, "
    "RateLimit-Remaining, RateLimit-Reset, Retry-After, WWW-Authenticate, X-Request-Id, X-Total-Amount, X-Total-Count"
)


def set_request_context(get_response: GetResponse) -> GetResponse:
    """Set what the whole request is known by: the caller's address, an id, and the slots it holds.

    ``REMOTE_ADDR`` becomes the caller's address where trusted proxies stand in front. ``request.request_id`` is taken
    from X-Request-Id if it is well-formed, and answered there. Slots are released once the answer is sent.
    """

    def middleware(request: Any) -> Any:
        address = get_forwarded_address(request.META.get("HTTP_X_FORWARDED_FOR", ""), proxies=settings.TRUSTED_PROXIES)
        if address:
            request.META["REMOTE_ADDR"] = address
        given = request.META.get("HTTP_X_REQUEST_ID", "")
        request.request_id = given if REQUEST_ID.fullmatch(given) else str(generate_id())
        request.slots = slots = RequestSlots()
        try:
            response = get_response(request)
        except BaseException:
            slots.release_all()
            raise
        if response.streaming:
            call_after_close(response, slots.release_all)
        else:
            slots.release_all()
        response.headers["X-Request-Id"] = request.request_id
        if request.method == "HEAD" and not response.streaming:
            response.content = b""  # its length was announced; the server would warn of bytes that it may not send
        return response

    return middleware


def call_after_close(response: Any, function: Callable[[], None]) -> None:
    """Call the function once the server has closed the response."""
    close = response.close

    def close_response() -> None:
        try:
            close()
        finally:
            function()

    response.close = close_response


def get_forwarded_address(header: str, *, proxies: int) -> str | None:
    """Return the address that the outermost of ``proxies`` trusted proxies saw, or None.

    Each proxy appends the address that called it; whatever stands further left was written by the caller.
    """
    hops = header.split(",")
    if not 0 < proxies <= len(hops) or "%" in hops[-proxies]:
        return None
    try:
        return str(ip_address(hops[-proxies].strip()))
    except ValueError:
        return None


def allow_cross_origin(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Let pages of CORS_ORIGINS call the API with bearer tokens (https://fetch.spec.whatwg.org/#http-cors-protocol).

    Never with cookies: credentials are not allowed, and no other origin reads what a session's cookie would answer.
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
            trusted = trusted and (
                "Authorization" in request.headers or settings.SESSION_COOKIE_NAME not in request.COOKIES
            )
        if trusted:
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Expose-Headers"] = EXPOSED
        patch_vary_headers(response, ("Origin",))
        return response

    return middleware


def compress_responses(get_response: GetResponse) -> GetResponse:
    """Compress static files, and pages at addresses without a query (see companies.compression)."""
    compress_static_file = compression.StaticFileCompressor()

    def middleware(request: Any) -> Any:
        response = get_response(request)
        if request.path_info.startswith(settings.STATIC_URL):
            return compress_static_file(request, response)
        if response.get("Content-Type", "").startswith("text/html"):
            return compression.compress_page(request, response)
        return response

    return middleware


def limit_bodies(get_response: GetResponse) -> GetResponse:
    """Refuse bodies that are too large, chunked, or incomplete forms.

    Endpoints of the API do so themselves, after 401, 404 and 403 (``ApiViewSet.most_bytes``).
    """

    def middleware(request: Any) -> Any:
        has_body = request.META.get("CONTENT_LENGTH") or "HTTP_TRANSFER_ENCODING" in request.META
        return (body_limits.refuse_body(request) if has_body else None) or get_response(request)

    return middleware


def prepare_pages(get_response: GetResponse) -> GetResponse:
    """Serve pages in the reader's language and without direction marks, redirect forms with 303, and answer 429 with a
    page.

    A redirect that answers a form is 303: every client follows it with GET (RFC 9110, 15.4.4; RFC 9700, 4.12). OAuth
    answers apps in its own way (``oauth.pages.Redirect``).
    """

    def middleware(request: HttpRequest) -> Any:
        if request.path.startswith(LOCALIZED_PATHS):
            is_shared = request.path.startswith(SHARED_PATH)  # the profile is in the session
            header = request.headers.get("Accept-Language", "")
            with use_locale(parse_accept_language(header) if is_shared else get_request_locale(request)):
                response = get_response(request)
            patch_vary_headers(response, ["Accept-Language"])
        else:
            response = get_response(request)
        if response.get("Content-Type", "").startswith("text/html") and not response.streaming:
            response.content = remove_direction_marks(response.content)
        if request.method == "POST" and isinstance(response, HttpResponseRedirect) and response.status_code == 302:
            response.status_code = 303
        return response

    def process_exception(request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return passwords.show_throttled_sign_in(request, exception) or error_pages.show_too_many_requests_page(
            request, exception
        )

    middleware.process_exception = process_exception  # type: ignore[attr-defined]
    return middleware


def check_session(get_response: GetResponse) -> GetResponse:
    """End sessions that are idle, too old, or lack the second factor that their user has set up since."""

    def middleware(request: Any) -> Any:
        if settings.SESSION_COOKIE_NAME in request.COOKIES and not request.path.startswith(SHARED_PATH):
            sessions.end_request_session_if_over(request)
        response = get_response(request)
        if hasattr(request, "device_cookie"):
            sign_in.set_device_cookie(request, response)
        return response

    return middleware
