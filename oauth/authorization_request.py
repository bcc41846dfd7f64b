"""Checks of authorization requests, whether the user must sign in again, and the response URL.

A request is read from its query string alone. The consent form carries no part of it: everything but
company and decision is derived from the URL again.
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

from oauth.protocol import redirects, tokens

PROMPT_VALUES = {"login", "consent", "select_account"}  # or none, alone
AUTHORIZE_PATH = "/auth/oauth2/authorize"
SIGN_IN_GRACE_PERIOD = timedelta(minutes=10)  # time to read the page before a sign-in required by the app is stale
RESPONSE_PARAMETERS = ("code", "error", "error_description", "state")
# The parameters that are read; names that oauthlib uses internally must not come from a request.
REQUEST_PARAMETERS = {
    "client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "code_challenge",
    "code_challenge_method", "nonce", "prompt", "max_age", "login_hint", "id_token_hint", "resource", "request",
    "request_uri", "registration",
}  # fmt: skip


def raise_request_error(request: Request, error: str, description: str) -> NoReturn:
    """Raise an error that is sent to the app's redirect URI."""
    raise CustomOAuth2Error(error, description=description, request=request)


# What each parameter must match, its default, and the error sent to the app otherwise. oauthlib's own checks follow.
PARAMETER_RULES = [
    # name, default, pattern, error, message
    ("response_type", "code", re.compile("code"), "unsupported_response_type", "must be code."),
    ("response_mode", "query", re.compile("query"), "invalid_request", "must be query."),
    ("code_challenge", "", re.compile("[A-Za-z0-9_-]{43}"), "invalid_request", "must be 43 base64url characters."),
    ("code_challenge_method", "", re.compile("S256"), "invalid_request", "must be S256."),
    ("nonce", "", re.compile("(?s:.{0,255})"), "invalid_request", "must have at most 255 characters."),
    ("max_age", "0", re.compile("[0-9]{1,9}"), "invalid_request", "must be a number of seconds."),
]


def check_authorization_request(request: Request) -> dict[str, Any]:
    """Check a request whose client and redirect URI oauthlib has validated.

    Raises:
        CustomOAuth2Error: a parameter is invalid.
    """
    parameters = dict(request.uri_query_params)
    for name in ("request", "request_uri", "registration"):
        if name in parameters:
            raise_request_error(request, f"{name}_not_supported", f"The parameter {name} is not supported.")
    for name, default, pattern, error, message in PARAMETER_RULES:
        if not pattern.fullmatch(parameters.get(name, default)):
            raise_request_error(request, error, f"{name} {message}")
    if not is_own_resource(parameters.get("resource", settings.BASE_URL)):
        raise_request_error(request, "invalid_target", "resource must be the URL of this API or a URL below it.")
    prompt_values = parse_prompts(parameters)
    if not prompt_values <= PROMPT_VALUES and prompt_values != {"none"}:
        raise_request_error(request, "invalid_request", "prompt has unknown values or combines none with other values.")
    if "id_token_hint" in parameters and not get_hinted_user_id(parameters):
        raise_request_error(request, "invalid_request", "id_token_hint must be an ID token issued by this server.")
    return {}


def get_hinted_user_id(parameters: Mapping[str, str]) -> str | None:
    """Return the user of the ID token hint; an expired token is accepted."""
    claims = tokens.verify_token(parameters.get("id_token_hint", ""), kind="JWT")
    return str(claims["sub"]) if claims and isinstance(claims.get("sub"), str) else None


def is_own_resource(resource: str) -> bool:
    """Return whether a resource is this API's URL or one below it, without a fragment (RFC 8707, section 2)."""
    return "#" not in resource and (resource == settings.BASE_URL or resource.startswith(f"{settings.BASE_URL}/"))


def parse_prompts(parameters: Mapping[str, str]) -> set[str]:
    return set(parameters.get("prompt", "").split())


# ---------------------------------------------------------------------------------------------- required sign-in

# Which requests required a new sign-in, and when: stored in a signed cookie, so that a request creates no row.
SIGN_IN_REQUESTS_COOKIE = "svc-asked"


def read_sign_in_requests(request: HttpRequest, *, now: datetime) -> dict[str, float]:
    """Return digest of a request → when it required a sign-in; stale ones are left out."""
    try:
        requests = signing.loads(
            request.COOKIES.get(SIGN_IN_REQUESTS_COOKIE, ""), salt=SIGN_IN_REQUESTS_COOKIE, max_age=SIGN_IN_GRACE_PERIOD
        )
    except signing.BadSignature:
        return {}
    return {
        digest: requested_at
        for digest, requested_at in requests.items()
        if now.timestamp() - requested_at < SIGN_IN_GRACE_PERIOD.total_seconds()
    }


def store_sign_in_requests(response: HttpResponse, requests: dict[str, float]) -> None:
    response.set_cookie(
        SIGN_IN_REQUESTS_COOKIE, signing.dumps(requests, salt=SIGN_IN_REQUESTS_COOKIE), max_age=SIGN_IN_GRACE_PERIOD,
        path=AUTHORIZE_PATH, httponly=True, samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )  # fmt: skip


def is_sign_in_recent_enough(
    parameters: Mapping[str, str], request: HttpRequest, *, query: str, now: datetime, is_decision: bool
) -> bool:
    """Return whether the sign-in is as recent as the app requires.

    A sign-in after this request first required one is recent, however short `max_age` is.
    """
    must_sign_in = "login" in parse_prompts(parameters)
    if not must_sign_in and "max_age" not in parameters:
        return True
    signed_in_at = request.session.get("auth_time", 0)
    requested_at = read_sign_in_requests(request, now=now).get(tokens.compute_token_digest(query))
    if requested_at is not None and signed_in_at >= requested_at:
        return True
    grace_seconds = SIGN_IN_GRACE_PERIOD.total_seconds() if is_decision else 0
    return not must_sign_in and now.timestamp() - signed_in_at <= int(parameters["max_age"]) + grace_seconds


def record_sign_in_request(response: HttpResponse, request: HttpRequest, *, query: str, now: datetime) -> None:
    """Remember that this request requires a sign-in from now on."""
    other_requests = list(read_sign_in_requests(request, now=now).items())[-4:]
    store_sign_in_requests(response, dict(other_requests) | {tokens.compute_token_digest(query): now.timestamp()})


def delete_sign_in_request(response: HttpResponse, request: HttpRequest, *, query: str, now: datetime) -> None:
    """Forget an answered request, so that the next one like it requires a sign-in again."""
    requests = read_sign_in_requests(request, now=now)
    if requests.pop(tokens.compute_token_digest(query), None) is not None:
        store_sign_in_requests(response, requests)


# ---------------------------------------------------------------------------------------------- responses


def build_response_uri(uri: str, redirect_uri: str) -> str:
    """Build the response at the registered redirect URI, unchanged, and with our issuer (RFC 9207).

    The toolkit re-encodes the query and leaves the issuer out of errors (#1846).
    """
    response_values = dict(parse_qsl(urlsplit(uri).query, keep_blank_values=True))
    values = {name: response_values[name] for name in RESPONSE_PARAMETERS if name in response_values}
    return redirects.add_parameters(redirect_uri, values | get_issuer_parameter())


def get_issuer_parameter() -> dict[str, str]:
    return {"iss": settings.AUTH_URL}
