"""What the server runs."""

import os
from typing import Any

from django.core.handlers.wsgi import WSGIRequest
from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver
from django.utils.http import parse_header_parameters

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


class Utf8Request(WSGIRequest):
    """Its query and forms are UTF-8, whatever its sender calls them: to Python hex is an encoding too, and UTF-7 makes
    halves of characters, which fail much later."""

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        self.content_type, self.content_params = parse_header_parameters(meta.get("CONTENT_TYPE", ""))


application = get_wsgi_application()
application.request_class = Utf8Request

# Every view is loaded now, once, and not by the first request of each worker: that one does not wait for it, and what
# was loaded before the fork lies in memory once for all of them.
_ = get_resolver().url_patterns
