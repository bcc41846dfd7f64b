"""Signing people in: OAuth 2.1, authorization code with PKCE."""

import hashlib
import hmac
import secrets
import time
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx


class SignInRefused(Exception):
    """``error`` is the standard's word, as access_denied or invalid_grant."""

    def __init__(self, error: str, description: str = ""):
        self.error = error
        super().__init__(f"{error}: {description}" if description else error)


@dataclass(frozen=True)
class SignIn:
    """One that was begun: send the person to ``url``, keep all of it in their session until they come back."""

    url: str
    state: str
    verifier: str


@dataclass(frozen=True)
class Tokens:
    access_token: str
    expires: float  # seconds since 1970
    scope: str
    refresh_token: str | None = None
    id_token: str | None = None


@dataclass(frozen=True)
class App:
    """An app as it was registered; ``client_secret`` of a confidential one."""

    base_url: str
    client_id: str
    redirect_uri: str
    scope: str = "svc:read offline_access"
    client_secret: str | None = None

    @cached_property
    def server(self) -> dict[str, Any]:
        """The authorization server's metadata (RFC 9728, RFC 8414)."""
        resource = read(f"{self.base_url.rstrip('/')}/.well-known/oauth-protected-resource")
        issuer = str(resource["authorization_servers"][0])
        parts = urlsplit(issuer)
        found = read(f"{parts.scheme}://{parts.netloc}/.well-known/oauth-authorization-server{parts.path}")
        if found["issuer"] != issuer:
            raise SignInRefused("invalid_issuer")
        return found

    def begin(self) -> SignIn:
        state, verifier = secrets.token_urlsafe(24), secrets.token_urlsafe(48)
        challenge = urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        query = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "scope": self.scope,
            "state": state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return SignIn(f"{self.server['authorization_endpoint']}?{urlencode(query)}", state, verifier)

    def finish(self, sign_in: SignIn, callback_url: str) -> Tokens:
        """The tokens for where the person was sent. Raises SignInRefused, also where somebody else sent them."""
        came = {name: values[0] for name, values in parse_qs(urlsplit(callback_url).query).items()}
        if not hmac.compare_digest(came.get("state", "").encode(), sign_in.state.encode()):
            raise SignInRefused("invalid_state")
        if came.get("iss") != self.server["issuer"]:
            raise SignInRefused("invalid_issuer")
        if "code" not in came:
            raise SignInRefused(came.get("error", "invalid_response"), came.get("error_description", ""))
        return self.tokens(
            grant_type="authorization_code",
            code=came["code"],
            redirect_uri=self.redirect_uri,
            code_verifier=sign_in.verifier,
        )

    def refresh(self, tokens: Tokens) -> Tokens:
        """New ones for old ones, whose refresh token is good once: keep the new before you use them."""
        return self.tokens(grant_type="refresh_token", refresh_token=tokens.refresh_token or "")

    def revoke(self, tokens: Tokens) -> None:
        """Ends the consent, whichever token is named."""
        self.post("revocation_endpoint", token=tokens.refresh_token or tokens.access_token)

    def tokens(self, **form: str) -> Tokens:
        now, found = time.time(), self.post("token_endpoint", **form).json()
        return Tokens(
            access_token=found["access_token"],
            expires=now + found["expires_in"],
            scope=found["scope"],
            refresh_token=found.get("refresh_token"),
            id_token=found.get("id_token"),
        )

    def post(self, endpoint: str, **form: str) -> httpx.Response:
        secret = {"client_secret": self.client_secret} if self.client_secret else {}
        answer = httpx.post(self.server[endpoint], data={"client_id": self.client_id, **secret, **form}, timeout=30)
        if answer.status_code != 200:
            told = answer.json() if "json" in answer.headers.get("Content-Type", "") else {}
            raise SignInRefused(told.get("error", str(answer.status_code)), told.get("error_description", ""))
        return answer


def read(url: str) -> dict[str, Any]:
    found: dict[str, Any] = httpx.get(url, timeout=30).raise_for_status().json()
    return found
