"""What is compressed on the wire: static files, which are the same for everybody, and pages that nothing was asked of.

Where a secret and a caller's words share one compressed body, its length betrays the secret byte by byte (BREACH).
A page at an address without a query has no words of a caller in it, and masks its forms' token anew each time. Others
say it themselves where they stand (``gzip_page``); answers go out as they are. A proxy in front must do likewise.
"""

import gzip
import re
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import patch_vary_headers

TEXTS = re.compile(r"text/|application/(javascript|json)|image/svg")
ACCEPTED = re.compile(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))")


def takes_gzip(request: Any) -> bool:
    return ACCEPTED.search(request.META.get("HTTP_ACCEPT_ENCODING", "")) is not None


def static_files(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Compresses each static file once, when somebody first asks for it, and keeps it."""
    kept: dict[tuple[str, str], bytes] = {}

    def compressed(path: str, response: Any) -> HttpResponse:
        key = path, response.headers.get("ETag", "")
        if key not in kept:
            kept[key] = gzip.compress(b"".join(response.streaming_content), mtime=0)
        response.file_to_stream.close()  # the response itself is not over: another goes out in its place
        headers = {name: value for name, value in response.items() if name != "Content-Length"}
        answer = HttpResponse(kept[key], headers=headers | {"Content-Encoding": "gzip"})
        answer.headers["Content-Length"] = str(len(kept[key]))
        return answer

    def middleware(request: Any) -> Any:
        response = get_response(request)
        if not request.path_info.startswith(settings.STATIC_URL) or not TEXTS.match(response.get("Content-Type", "")):
            return response
        whole = request.method == "GET" and response.status_code == 200 and response.streaming
        if whole and takes_gzip(request):
            response = compressed(request.path_info, response)
        patch_vary_headers(response, ["Accept-Encoding"])
        return response

    return middleware


def pages(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Compresses what is shown at an address without a query, by the framework's own means."""
    framework = GZipMiddleware(get_response)

    def middleware(request: Any) -> Any:
        response = get_response(request)
        page = response.status_code == 200 and response.get("Content-Type", "").startswith("text/html")
        if page and request.method == "GET" and not request.META.get("QUERY_STRING") and not response.streaming:
            return framework.process_response(request, response)
        return response

    return middleware
