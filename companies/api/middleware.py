"""What is known of a request before anything looks at it: whose address it came from, and its name."""

import re
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

from django.conf import settings

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
