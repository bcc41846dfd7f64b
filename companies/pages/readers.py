"""For whom a page is drawn."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from django.utils.cache import patch_vary_headers

from companies.locales import locale_of, reading_as

PAGES = ("/app/", "/auth/oauth2/authorize")  # what else there is answers programs, or staff, in English


def as_they_read(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Pages are in the locale and in the language of who reads them."""

    def middleware(request: HttpRequest) -> Any:
        if not request.path.startswith(PAGES):
            return get_response(request)
        with reading_as(locale_of(request)):
            response = get_response(request)
        patch_vary_headers(response, ["Accept-Language"])
        return response

    return middleware
