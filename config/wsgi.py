"""WSGI application."""

import os
from typing import Any

from django.core.handlers.wsgi import WSGIRequest
from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver
from django.utils.http import parse_header_parameters

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


class CompleteBody:
    """Request body that must be as long as announced; otherwise an aborted form would be processed in part."""

    def __init__(self, body: Any):
        self.body = body

    def read(self, size: int) -> bytes:
        data: bytes = self.body.read(size)
        return self.check_complete(data, len(data) == size)

    def readline(self, size: int) -> bytes:
        line: bytes = self.body.readline(size)
        return self.check_complete(line, len(line) == size or line.endswith(b"\n"))

    def check_complete(self, data: bytes, is_complete: bool) -> bytes:  # noqa: FBT001
        if not is_complete:
            raise OSError("The request body is shorter than its Content-Length.")
        return data


class StrictRequest(WSGIRequest):
    """Request with a complete body and UTF-8 only: other charsets that a client names are ignored."""

    def __init__(self, environ: dict[str, Any]):
        super().__init__({**environ, "wsgi.input": CompleteBody(environ["wsgi.input"])})

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        self.content_type, self.content_params = parse_header_parameters(meta.get("CONTENT_TYPE", ""))


application = get_wsgi_application()
application.request_class = StrictRequest

# Load all views now and not in the first request of each worker; memory loaded before the fork is shared.
_ = get_resolver().url_patterns
