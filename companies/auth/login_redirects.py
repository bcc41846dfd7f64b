"""URLs of the sign-in pages, and which URLs a user may be redirected to afterwards. App and API can have
separate hosts.
"""

from urllib.parse import quote, urlsplit

from django.conf import settings
from django.utils.encoding import iri_to_uri
from django.utils.http import url_has_allowed_host_and_scheme

MAX_URL_LENGTH = 2048  # characters, as in django.utils.http


def get_origin(url: str) -> str:
    """Return the origin (scheme://host[:port]) of a URL."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def build_sign_in_url(next_path: str, *, reauthenticate: bool = False, form_expired: bool = False) -> str:
    """Build the URL of the sign-in page that continues to `next_path` on the same host.

    `form_expired` makes the page say that a form was not submitted.
    """
    query = build_next_query(next_path, reauthenticate=reauthenticate)
    return f"{settings.LOGIN_URL}{query}{'&ended=1' if form_expired else ''}"


def build_sign_in_url_from_api(next_path: str, *, reauthenticate: bool = False) -> str:
    """Build the URL of the sign-in page that leads back to a path on the API's host.

    The sign-in page belongs to the web application. If that has another origin, both URLs are absolute.
    """
    if get_origin(settings.APP_URL) == settings.BASE_URL:
        return build_sign_in_url(next_path, reauthenticate=reauthenticate)
    return f"{settings.APP_URL}/sign-in{build_next_query(settings.BASE_URL + next_path, reauthenticate=reauthenticate)}"


def build_second_step_url(next_path: str) -> str:
    """Build the URL of the page that asks for the second factor and continues to `next_path`."""
    return f"{settings.LOGIN_URL}/second{build_next_query(next_path, reauthenticate=False)}"


def build_next_query(next_path: str, *, reauthenticate: bool) -> str:
    """Build the query string of a sign-in URL; `next` is left empty if it is longer than MAX_URL_LENGTH."""
    quoted_next = quote(next_path, safe="")
    return f"?{'again=1&' if reauthenticate else ''}next={quoted_next if len(quoted_next) <= MAX_URL_LENGTH else ''}"


def is_own_host(url: str) -> bool:
    """Return whether a redirect to the URL is allowed: a path, or a URL on one of our two origins, within
    MAX_URL_LENGTH.
    """
    if len(iri_to_uri(url)) > MAX_URL_LENGTH:
        return False
    if url.startswith("/"):
        return url_has_allowed_host_and_scheme(url, allowed_hosts=None)
    return any(url.startswith(f"{origin}/") for origin in (settings.BASE_URL, get_origin(settings.APP_URL)))
