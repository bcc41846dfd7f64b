"""Sign-in of users: OAuth 2.1, authorization code with PKCE."""

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


class SignInError(Exception):
    """A failed sign-in; `error` is the code of the standard, such as access_denied or invalid_grant."""

    def __init__(self, error: str, description: str = ""):
        self.error = error
        super().__init__(f"{error}: {description}" if description else error)


@dataclass(frozen=True)
class SignIn:
    """A started sign-in: redirect the user to `url`, and keep it in their session until they return."""

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
    """A registered app; `client_secret` for a confidential one."""

    base_url: str
    client_id: str
    redirect_uri: str
    scope: str = "svc:read offline_access"
    client_secret: str | None = None

    @cached_property
    def server(self) -> dict[str, Any]:
        """The authorization server's metadata (RFC 9728, RFC 8414)."""
        resource = fetch_json(f"{self.base_url.rstrip('/')}/.well-known/oauth-protected-resource")
        issuer = str(resource["authorization_servers"][0])
        parts = urlsplit(issuer)
        metadata = fetch_json(f"{parts.scheme}://{parts.netloc}/.well-known/oauth-authorization-server{parts.path}")
        if metadata["issuer"] != issuer:
            raise SignInError("invalid_issuer")
        return metadata

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
        """Return the tokens for the callback URL.

        Raises:
            SignInError: it failed, or the callback is not of this sign-in.
        """
        callback_values = {name: values[0] for name, values in parse_qs(urlsplit(callback_url).query).items()}
        if not hmac.compare_digest(callback_values.get("state", "").encode(), sign_in.state.encode()):
            raise SignInError("invalid_state")
        if callback_values.get("iss") != self.server["issuer"]:
            raise SignInError("invalid_issuer")
        if "code" not in callback_values:
            raise SignInError(
                callback_values.get("error", "invalid_response"), callback_values.get("error_description", "")
            )
        return self.tokens(
            grant_type="authorization_code",
            code=callback_values["code"],
            redirect_uri=self.redirect_uri,
            code_verifier=sign_in.verifier,
        )

    def refresh(self, tokens: Tokens) -> Tokens:
        """Return new tokens. A refresh token is valid once: store the new ones before using them."""
        return self.tokens(grant_type="refresh_token", refresh_token=tokens.refresh_token or "")

    def revoke(self, tokens: Tokens) -> None:
        """Revoke the consent of the tokens."""
        self.post("revocation_endpoint", token=tokens.refresh_token or tokens.access_token)

    def tokens(self, **form: str) -> Tokens:
        now, values = time.time(), self.post("token_endpoint", **form).json()
        return Tokens(
            access_token=values["access_token"],
            expires=now + values["expires_in"],
            scope=values["scope"],
            refresh_token=values.get("refresh_token"),
            id_token=values.get("id_token"),
        )

    def post(self, endpoint: str, **form: str) -> httpx.Response:
        secret = {"client_secret": self.client_secret} if self.client_secret else {}
        response = httpx.post(self.server[endpoint], data={"client_id": self.client_id, **secret, **form}, timeout=30)
        if response.status_code != 200:
            error = response.json() if "json" in response.headers.get("Content-Type", "") else {}
            raise SignInError(error.get("error", str(response.status_code)), error.get("error_description", ""))
        return response


def fetch_json(url: str) -> dict[str, Any]:
    document: dict[str, Any] = httpx.get(url, timeout=30).raise_for_status().json()
    return document
