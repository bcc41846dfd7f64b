"""Where people sign in, and where they may be sent on to: web application and API can have hosts of their own."""

from urllib.parse import quote, urlsplit

from django.conf import settings
from django.utils.encoding import iri_to_uri
from django.utils.http import url_has_allowed_host_and_scheme

LONGEST = 2048  # characters of an address that somebody is sent on to, as in django.utils.http


def origin_of(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def sign_in_page(then: str, *, again: bool = False, ended: bool = False) -> str:
    """The sign-in page that leads on to a path of the host it is on; ``ended`` has it say that a form was not sent."""
    return f"{settings.LOGIN_URL}{asked(then, again=again)}{'&ended=1' if ended else ''}"


def sign_in_page_from_api(then: str, *, again: bool = False) -> str:
    """The sign-in page that leads back to a path of the API's host. It is the web application's; where that has another
    origin, the way there and the way back are absolute."""
    if origin_of(settings.APP_URL) == settings.BASE_URL:
        return sign_in_page(then, again=again)
    return f"{settings.APP_URL}/sign-in{asked(settings.BASE_URL + then, again=again)}"


def second_step(then: str) -> str:
    """The page that asks for the second factor, and leads on."""
    return f"{settings.LOGIN_URL}/second{asked(then, again=False)}"


def asked(then: str, *, again: bool) -> str:
    """Without the way back where that is too long."""
    back = quote(then, safe="")
    return f"?{'again=1&' if again else ''}next={back if len(back) <= LONGEST else ''}"


def ours(address: str) -> bool:
    """Whether somebody may be sent on to the address: a path, or one of our two origins, and nothing else,
    nor more than browsers and proxies are sure to take."""
    if len(iri_to_uri(address)) > LONGEST:
        return False
    if address.startswith("/"):
        return url_has_allowed_host_and_scheme(address, allowed_hosts=None)
    return any(address.startswith(f"{origin}/") for origin in (settings.BASE_URL, origin_of(settings.APP_URL)))
