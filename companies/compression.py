"""Compression middleware: static files, and pages without query parameters.

Compressing a secret together with user input leaks the secret through its length (BREACH). A page
without query parameters contains no input, and its CSRF token is masked anew each time. Other pages opt
in with ``allow_compression``; API responses are not compressed. A proxy in front must do the same.
"""

import gzip
import re
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpResponse
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import patch_vary_headers

COMPRESSIBLE_TYPES = re.compile(r"text/|application/(javascript|json)|image/svg")
GZIP_ACCEPTED = re.compile(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))")


GZIP = GZipMiddleware(lambda request: HttpResponse())


def is_gzip_accepted(request: Any) -> bool:
    """Return whether the client accepts gzip."""
    return GZIP_ACCEPTED.search(request.META.get("HTTP_ACCEPT_ENCODING", "")) is not None


class StaticFileCompressor:
    """Compresses each static file once, when it is first requested, and keeps the result in memory."""

    def __init__(self) -> None:
        self.bodies: dict[tuple[str, str], bytes] = {}  # by path and ETag

    def __call__(self, request: Any, response: Any) -> Any:
        if not COMPRESSIBLE_TYPES.match(response.get("Content-Type", "")):
            return response
        is_complete = request.method == "GET" and response.status_code == 200 and response.streaming
        if is_complete and is_gzip_accepted(request):
            response = self.compress(request.path_info, response)
        patch_vary_headers(response, ["Accept-Encoding"])
        return response

    def compress(self, path: str, response: Any) -> HttpResponse:
        key = path, response.headers.get("ETag", "")
        if key not in self.bodies:
            self.bodies[key] = gzip.compress(b"".join(response.streaming_content), mtime=0)
        response.file_to_stream.close()  # not the response itself, which is replaced
        headers = {name: value for name, value in response.items() if name != "Content-Length"}
        answer = HttpResponse(self.bodies[key], headers=headers | {"Content-Encoding": "gzip"})
        answer.headers["Content-Length"] = str(len(self.bodies[key]))
        return answer


def allow_compression(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Let the page be compressed at addresses with a query too: it must show nothing of the query."""

    @wraps(view)
    def compressible_view(request: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        response = view(request, *args, **kwargs)
        response.is_compressible = True  # type: ignore[attr-defined] # for `compress_page`
        return response

    return compressible_view


def compress_page(request: Any, response: Any) -> Any:
    """Compress a page at an address without a query, or that allows it, by Django's own means."""
    whole_page = request.method == "GET" and response.status_code == 200 and not response.streaming
    if whole_page and (not request.META.get("QUERY_STRING") or getattr(response, "is_compressible", False)):
        return GZIP.process_response(request, response)
    return response
