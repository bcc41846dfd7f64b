"""Reading an authorization request: what is wrong with it, whom to tell, and whether the user must sign in anew.

A request is read from its query string alone. The form with the user's decision carries no part of it: everything but
the company and the decision is derived here again.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from oauth import issuing, redirects, scopes, tokens
from oauth.models import Application
from oauth.parameters import Malformed, parse

CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
PROMPTS = {"none", "login", "consent", "select_account"}
PATH = "/auth/oauth2/authorize"
GRACE = timedelta(minutes=10)  # for reading the page, after which a sign-in asked for by the app is stale


class Unanswerable(Exception):
    """The request names no app, or no address of it: the user is told, and nobody is redirected."""


class Refused(Exception):
    """The app is told, at its redirect URI."""

    def __init__(self, error: str, description: str):
        self.error, self.description = error, description
        super().__init__(error)


@dataclass(frozen=True, slots=True)
class Target:
    """Where answers go: the app, its address and its state."""

    application: Application
    redirect_uri: str
    state: str | None


@dataclass(frozen=True, slots=True)
class Wish:
    """A sound request."""

    scopes: list[str]
    challenge: str
    nonce: str
    prompts: frozenset[str]
    max_age: int | None
    hinted_user: str | None  # of id_token_hint

    @property
    def silent(self) -> bool:
        return "none" in self.prompts


def target_of(query: str) -> tuple[Target, dict[str, str]]:
    """(where answers go, the parameters). Raises Unanswerable."""
    try:
        parameters = parse(query)
    except Malformed as error:
        raise Unanswerable(str(error)) from None
    application = Application.objects.filter(client_id=parameters.get("client_id", ""), enabled=True).first()
    if application is None:
        raise Unanswerable("The app that sent you here is not known, or was switched off.")
    uri = parameters.get("redirect_uri") or issuing.only_uri(application)
    if uri is None or not application.redirect_uri_allowed(uri):
        raise Unanswerable("The app named an address to return to that is not registered for it.")
    return Target(application=application, redirect_uri=uri, state=parameters.get("state")), parameters


def wish_of(parameters: dict[str, str], application: Application) -> Wish:
    """What the app asks for. Raises Refused."""
    refuse_unsupported(parameters)
    if not CHALLENGE.fullmatch(parameters.get("code_challenge", "")):
        raise Refused("invalid_request", "code_challenge must be 43 base64url characters (PKCE, S256).")
    if parameters.get("code_challenge_method") != "S256":
        raise Refused("invalid_request", "code_challenge_method must be S256.")
    if "resource" in parameters and not issuing.ours(parameters["resource"]):
        raise Refused("invalid_target", "resource must be this API's address, or one below it.")
    if len(parameters.get("nonce", "")) > 255:
        raise Refused("invalid_request", "nonce is longer than 255 characters.")
    prompts = frozenset(parameters.get("prompt", "").split())
    if prompts - PROMPTS or ("none" in prompts and len(prompts) > 1):
        raise Refused("invalid_request", "prompt has unknown values, or none together with others.")
    return Wish(
        scopes=asked_scopes(parameters, application),
        challenge=parameters["code_challenge"],
        nonce=parameters.get("nonce", ""),
        prompts=prompts,
        max_age=max_age(parameters),
        hinted_user=hinted_user(parameters),
    )


def refuse_unsupported(parameters: dict[str, str]) -> None:
    for name in ("request", "request_uri", "registration"):
        if name in parameters:
            raise Refused(f"{name}_not_supported", f"The parameter {name} is not supported.")
    if "response_type" not in parameters:
        raise Refused("invalid_request", "response_type is missing.")
    if parameters["response_type"] != "code":
        raise Refused("unsupported_response_type", "response_type must be code.")
    if parameters.get("response_mode", "query") != "query":
        raise Refused("invalid_request", "response_mode must be query.")


def asked_scopes(parameters: dict[str, str], application: Application) -> list[str]:
    asked = set(parameters.get("scope", "").split(" ")) - {""}
    if not asked:
        raise Refused("invalid_scope", "scope is missing.")
    if not asked <= set(application.allowed_scopes):
        raise Refused("invalid_scope", "A scope is unknown, or not allowed to this app.")
    return scopes.in_order(asked)


def max_age(parameters: dict[str, str]) -> int | None:
    if "max_age" not in parameters:
        return None
    if not re.fullmatch(r"\d{1,9}", parameters["max_age"], re.ASCII):
        raise Refused("invalid_request", "max_age must be a number of seconds.")
    return int(parameters["max_age"])


def hinted_user(parameters: dict[str, str]) -> str | None:
    """The user whom an ID token of ours names; an expired one is as good."""
    if "id_token_hint" not in parameters:
        return None
    claims = tokens.verified(parameters["id_token_hint"], kind="JWT")
    if claims is None or not isinstance(claims.get("sub"), str):
        raise Refused("invalid_request", "id_token_hint is no ID token of this server.")
    return str(claims["sub"])


# ---------------------------------------------------------------------------------------------- signing in anew


def fresh_enough(wish: Wish, session: Any, *, query: str, now: datetime, deciding: bool) -> bool:
    """Whether the sign-in is as recent as the app wants; where it is not, notes in the session that it was asked for.

    A sign-in that came after it was asked for this very request is recent, however short max_age is.
    """
    if not ("login" in wish.prompts or wish.max_age is not None):
        return True
    asked = session.get("asked_to_sign_in", {}).get(tokens.digest(query))
    if asked is not None and now.timestamp() - asked < GRACE.total_seconds() and session.get("auth_time", 0) >= asked:
        return True
    age = now.timestamp() - session.get("auth_time", 0)
    patience = GRACE.total_seconds() if deciding else 0
    return "login" not in wish.prompts and wish.max_age is not None and age <= wish.max_age + patience


def ask_to_sign_in(session: Any, *, query: str, now: datetime) -> None:
    """Remembers that this request wants a new sign-in, from now on."""
    asked = {
        known: time
        for known, time in session.get("asked_to_sign_in", {}).items()
        if now.timestamp() - time < GRACE.total_seconds()
    }
    session["asked_to_sign_in"] = dict(list(asked.items())[-4:]) | {tokens.digest(query): now.timestamp()}


def forget_sign_in(session: Any, *, query: str) -> None:
    """The request is answered: the next one like it asks again."""
    asked = session.get("asked_to_sign_in", {})
    if asked.pop(tokens.digest(query), None) is not None:
        session["asked_to_sign_in"] = asked


# ---------------------------------------------------------------------------------------------- answers


def answer_uri(target: Target, values: dict[str, str]) -> str:
    """The redirect URI with an answer, the state and our name (RFC 9207)."""
    state = {"state": target.state} if target.state is not None else {}
    return redirects.with_parameters(target.redirect_uri, values | state | issuer())


def issuer() -> dict[str, str]:
    return {"iss": settings.AUTH_URL}


def sign_in_targets(address: str) -> list[str]:
    """For the sign-in page's policy: the app's origin, where the address to go on to is a sound request of an app.

    Browsers hold a form to its page's policy through all redirects that follow.
    """
    parts = urlsplit(address)
    if parts.path != PATH:
        return []
    try:
        target, _ = target_of(parts.query)
    except Unanswerable:
        return []
    return [redirects.form_target(target.redirect_uri)]
