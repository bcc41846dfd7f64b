"""What an app may ask of the authorization endpoint, whether the user must sign in anew for it, and where answers go.

A request is read from its query string alone. The form with the user's decision carries no part of it: everything but
the company and the decision is derived from the address again.
"""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NoReturn
from urllib.parse import parse_qsl, urlsplit

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from oauthlib.common import Request
from oauthlib.oauth2.rfc6749.errors import CustomOAuth2Error

from oauth.wire import redirects, tokens

PROMPTS = {"login", "consent", "select_account"}  # or none, alone
PATH = "/auth/oauth2/authorize"
GRACE = timedelta(minutes=10)  # for reading the page, after which a sign-in asked for by the app is stale
ANSWERS = ("code", "error", "error_description", "state")
# What is read of a request; a name that oauthlib uses for itself cannot come from the wire.
KNOWN = {
    "client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "code_challenge",
    "code_challenge_method", "nonce", "prompt", "max_age", "login_hint", "id_token_hint", "resource", "request",
    "request_uri", "registration",
}  # fmt: skip


def refuse(request: Request, error: str, description: str) -> NoReturn:
    """The app is told, at its redirect URI."""
    raise CustomOAuth2Error(error, description=description, request=request)


# What a parameter must be, and the error that the app is told where it is not; one that is left out passes for what
# stands beside it. oauthlib's own rules come after.
RULES = [
    # name, left out, must match, error, what to say
    ("response_type", "code", re.compile("code"), "unsupported_response_type", "must be code."),
    ("response_mode", "query", re.compile("query"), "invalid_request", "must be query."),
    ("code_challenge", "", re.compile("[A-Za-z0-9_-]{43}"), "invalid_request", "must be 43 base64url characters."),
    ("code_challenge_method", "", re.compile("S256"), "invalid_request", "must be S256."),
    ("nonce", "", re.compile("(?s:.{0,255})"), "invalid_request", "is longer than 255 characters."),
    ("max_age", "0", re.compile("[0-9]{1,9}"), "invalid_request", "must be a number of seconds."),
]


def check(request: Request) -> dict[str, Any]:
    """Where oauthlib has found the app and its address: is everything else as we want it? Raises CustomOAuth2Error."""
    asked = dict(request.uri_query_params)
    for name in ("request", "request_uri", "registration"):
        if name in asked:
            refuse(request, f"{name}_not_supported", f"The parameter {name} is not supported.")
    for name, left_out, pattern, error, told in RULES:
        if not pattern.fullmatch(asked.get(name, left_out)):
            refuse(request, error, f"{name} {told}")
    if not ours(asked.get("resource", settings.BASE_URL)):
        refuse(request, "invalid_target", "resource must be this API's address, or one below it.")
    wanted = prompts(asked)
    if not wanted <= PROMPTS and wanted != {"none"}:
        refuse(request, "invalid_request", "prompt has unknown values, or none together with others.")
    if "id_token_hint" in asked and not hinted_user(asked):
        refuse(request, "invalid_request", "id_token_hint is no ID token of this server.")
    return {}


def hinted_user(asked: Mapping[str, str]) -> str | None:
    """The user whom an ID token of ours names; an expired one is as good."""
    claims = tokens.verified(asked.get("id_token_hint", ""), kind="JWT")
    return str(claims["sub"]) if claims and isinstance(claims.get("sub"), str) else None


def ours(resource: str) -> bool:
    """This API's address, or one below it; no fragment (RFC 8707, section 2)."""
    return "#" not in resource and (resource == settings.BASE_URL or resource.startswith(f"{settings.BASE_URL}/"))


def prompts(asked: Mapping[str, str]) -> set[str]:
    return set(asked.get("prompt", "").split())


# ---------------------------------------------------------------------------------------------- signing in anew

# Which requests asked for a new sign-in, and when: the browser keeps it, signed, so that who only asks makes no row.
ASKED = "svc-asked"


def asked_before(request: HttpRequest, *, now: datetime) -> dict[str, float]:
    """Digest of a request → when it asked; those that are not stale."""
    try:
        asked = signing.loads(request.COOKIES.get(ASKED, ""), salt=ASKED, max_age=GRACE)
    except signing.BadSignature:
        return {}
    return {known: time for known, time in asked.items() if now.timestamp() - time < GRACE.total_seconds()}


def keep_asked(response: HttpResponse, asked: dict[str, float]) -> None:
    response.set_cookie(
        ASKED, signing.dumps(asked, salt=ASKED), max_age=GRACE, path=PATH, httponly=True, samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )  # fmt: skip


def fresh_enough(asked: Mapping[str, str], request: HttpRequest, *, query: str, now: datetime, deciding: bool) -> bool:
    """Whether the sign-in is as recent as the app wants.

    A sign-in that came after it was asked for this very request is recent, however short max_age is.
    """
    again = "login" in prompts(asked)
    if not again and "max_age" not in asked:
        return True
    signed_in = request.session.get("auth_time", 0)
    before = asked_before(request, now=now).get(tokens.digest(query))
    if before is not None and signed_in >= before:
        return True
    patience = GRACE.total_seconds() if deciding else 0
    return not again and now.timestamp() - signed_in <= int(asked["max_age"]) + patience


def ask_to_sign_in(response: HttpResponse, request: HttpRequest, *, query: str, now: datetime) -> None:
    """Remembers that this request wants a new sign-in, from now on."""
    others = list(asked_before(request, now=now).items())[-4:]
    keep_asked(response, dict(others) | {tokens.digest(query): now.timestamp()})


def forget_sign_in(response: HttpResponse, request: HttpRequest, *, query: str, now: datetime) -> None:
    """The request is answered: the next one like it asks again."""
    asked = asked_before(request, now=now)
    if asked.pop(tokens.digest(query), None) is not None:
        keep_asked(response, asked)


# ---------------------------------------------------------------------------------------------- answers


def answer_uri(uri: str, redirect_uri: str) -> str:
    """The toolkit's answer at the very address that was registered, whose query oauthlib writes anew, and with our name
    on it (RFC 9207): the toolkit leaves it out of errors (#1846)."""
    said = dict(parse_qsl(urlsplit(uri).query, keep_blank_values=True))
    values = {name: said[name] for name in ANSWERS if name in said}
    return redirects.with_parameters(redirect_uri, values | issuer())


def issuer() -> dict[str, str]:
    return {"iss": settings.AUTH_URL}
