"""Fixtures for OAuth tests: an app, a browser that signs in and consents, and tokens."""

import hashlib
import re
import secrets
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.conf import settings
from django.test import Client

from companies.models import User
from oauth.models import Application, ConsentGrant
from oauth.registration import register_app

REDIRECT = "https://app.example/callback"
SCOPE = "svc:read svc:write openid profile email offline_access"
AUTHORIZE, TOKEN, USERINFO, REVOKE = (f"/auth/oauth2/{name}" for name in ("authorize", "token", "userinfo", "revoke"))
PASSWORD = "correct horse battery"


def compute_s256_challenge(verifier: str) -> str:
    """Return the code challenge of a verifier (RFC 7636)."""
    return urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


@dataclass
class OAuthFlow:
    """The authorization code flow of one app in one browser."""

    application: Application
    secret: str | None = None
    redirect_uri: str = REDIRECT
    browser: Client = field(default_factory=lambda: Client(enforce_csrf_checks=True))
    app: Client = field(default_factory=Client)  # the app's own HTTP client
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))

    def sign_in(self, user: Any, *, password: str = PASSWORD, then: str = "/app/") -> Any:
        page = self.browser.get("/app/sign-in", {"next": then, "again": "1"})
        body = {"username": user.email, "password": password, "next": then, "csrfmiddlewaretoken": get_csrf_token(page)}
        return self.browser.post("/app/sign-in", body)

    def parameters(self, **changes: Any) -> dict[str, str]:
        defaults = {
            "response_type": "code",
            "client_id": self.application.client_id,
            "redirect_uri": self.redirect_uri,
            "scope": SCOPE,
            "state": "some state",
            "code_challenge": compute_s256_challenge(self.verifier),
            "code_challenge_method": "S256",
        } | changes
        return {name: value for name, value in defaults.items() if value is not None}

    def url(self, **changes: Any) -> str:
        return f"{AUTHORIZE}?{urlencode(self.parameters(**changes))}"

    def ask(self, **changes: Any) -> Any:
        return self.browser.get(self.url(**changes))

    def decide(
        self, company: Any, *, decision: str = "allow", page: Any = None, body: Any = None, **changes: Any
    ) -> Any:
        page = page or self.ask(**changes)
        assert page.status_code == 200, (page.status_code, page.headers.get("Location"), page.content[:500])
        form = {"company": str(getattr(company, "id", company)), "decision": decision}
        form |= {"csrfmiddlewaretoken": get_csrf_token(page)} | (body or {})
        return self.browser.post(self.url(**changes), form)

    def code(self, company: Any, **changes: Any) -> str:
        response = self.decide(company, **changes)
        assert response.status_code == 303, response.content
        values = parse_redirect(response)
        assert "code" in values, values
        return values["code"]

    def redeem(self, code: str, /, *, headers: Any = None, **changes: Any) -> Any:
        body = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            "client_id": self.application.client_id,
            "code_verifier": self.verifier,
            "client_secret": self.secret,
        } | changes
        return self.post(TOKEN, body, headers=headers)

    def refresh(self, token: str, *, headers: Any = None, **changes: Any) -> Any:
        body = {
            "grant_type": "refresh_token",
            "refresh_token": token,
            "client_id": self.application.client_id,
            "client_secret": self.secret,
        } | changes
        return self.post(TOKEN, body, headers=headers)

    def revoke(self, token: str, **changes: Any) -> Any:
        body = {"token": token, "client_id": self.application.client_id, "client_secret": self.secret} | changes
        return self.post(REVOKE, body)

    def post(self, path: str, body: dict[str, Any], *, headers: Any = None, client: Client | None = None) -> Any:
        text = urlencode({name: value for name, value in body.items() if value is not None})
        return (client or self.app).post(
            path, text, content_type="application/x-www-form-urlencoded", headers=headers or {}
        )

    def tokens(self, company: Any, **changes: Any) -> dict[str, Any]:
        response = self.redeem(self.code(company, **changes))
        assert response.status_code == 200, response.content
        return response.json()

    def call(self, token: str, path: str = "/companies", **more: Any) -> Any:
        return self.app.get(path, headers={"Authorization": f"Bearer {token}"}, **more)


def get_csrf_token(page: Any) -> str:
    return re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.content.decode())[1]


def parse_redirect(response: Any) -> dict[str, str]:
    """Return the query parameters of a redirect to the app."""
    query = parse_qs(urlsplit(response["Location"]).query, keep_blank_values=True)
    assert all(len(values) == 1 for values in query.values()), query
    return {name: values[0] for name, values in query.items()}


def move_clock_ahead(monkeypatch: Any, *, seconds: float) -> None:
    """Move the clock of the oauth app and of sessions ahead."""
    from datetime import UTC, datetime, timedelta

    from django.utils import timezone

    monkeypatch.setattr(timezone, "now", lambda: datetime.now(tz=UTC) + timedelta(seconds=seconds))


@pytest.fixture
def application(db: None) -> Application:
    """A registered public app."""
    return register_app(name="Forecaster", redirect_uris=[REDIRECT], allowed=[], confidential=False).application


@pytest.fixture
def flow(application: Application) -> OAuthFlow:
    """The flow of the app, in a browser that is not signed in."""
    return OAuthFlow(application=application)


@pytest.fixture
def alice_flow(flow: OAuthFlow, alice: Any) -> OAuthFlow:
    """The flow with Alice signed in; she owns Acme."""
    assert flow.sign_in(alice).status_code == 303
    return flow


@pytest.fixture
def alice_tokens(alice_flow: OAuthFlow, acme: Any) -> dict[str, Any]:
    """The tokens of Alice's consent for Acme, with every scope."""
    return alice_flow.tokens(acme)


@pytest.fixture
def staff(db):
    """The browser of a superuser."""
    client = Client()
    client.force_login(
        User.objects.create_superuser("staff@example.com", PASSWORD), "django.contrib.auth.backends.ModelBackend"
    )
    return client


@pytest.fixture
def confidential_flow(db: None) -> OAuthFlow:
    """The flow of an app with a client secret."""
    registration = register_app(name="Server app", redirect_uris=[REDIRECT], allowed=[], confidential=True)
    return OAuthFlow(application=registration.application, secret=registration.secret)


def get_latest_consent() -> ConsentGrant:
    return ConsentGrant.objects.latest("created_time")


ISSUER = settings.AUTH_URL
