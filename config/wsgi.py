"""What the server runs."""

import os
from typing import Any

from django.core.handlers.wsgi import WSGIRequest
from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver
from django.utils.http import parse_header_parameters

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


class Whole:
    """A body that is as long as its head says. What came of one whose sender went away is none: of a form all would be
    taken that is there, and 10 be booked of 1000."""

    def __init__(self, body: Any):
        self.body = body

    def read(self, size: int) -> bytes:
        data: bytes = self.body.read(size)
        return self.complete(data, len(data) == size)

    def readline(self, size: int) -> bytes:
        line: bytes = self.body.readline(size)
        return self.complete(line, len(line) == size or line.endswith(b"\n"))

    def complete(self, data: bytes, is_complete: bool) -> bytes:  # noqa: FBT001
        if not is_complete:
            raise OSError("The body ends before its announced length.")
        return data


class StrictRequest(WSGIRequest):
    """Its body came whole. Its query and forms are UTF-8, whatever its sender calls them: to Python hex is an encoding
    too, and UTF-7 makes halves of characters, which fail much later."""

    def __init__(self, environ: dict[str, Any]):
        super().__init__({**environ, "wsgi.input": Whole(environ["wsgi.input"])})

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        self.content_type, self.content_params = parse_header_parameters(meta.get("CONTENT_TYPE", ""))


application = get_wsgi_application()
application.request_class = StrictRequest

# Every view is loaded now, once, and not by the first request of each worker: that one does not wait for it, and what
# was loaded before the fork lies in memory once for all of them.
_ = get_resolver().url_patterns
