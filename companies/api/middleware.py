"""A name for every request, taken over from the caller where it is a sane token."""

import re
from collections.abc import Callable
from typing import Any

from companies.models import new_id

SANE = re.compile(r"[A-Za-z0-9._:-]{1,64}", re.ASCII)


def request_id(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Sets ``request.request_id`` and answers it as X-Request-Id."""

    def middleware(request: Any) -> Any:
        given = request.META.get("HTTP_X_REQUEST_ID", "")
        request.request_id = given if SANE.fullmatch(given) else str(new_id())
        response = get_response(request)
        response.headers["X-Request-Id"] = request.request_id
        if request.method == "HEAD" and not response.streaming:
            response.content = b""  # its length was announced; the server would warn of bytes that it may not send
        return response

    return middleware
