"""Clients that other people wrote, against a running server: each signs in, is let in, calls, refreshes, is ended."""

import asyncio
import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
import requests
from authlib.integrations.requests_client import OAuth2Session
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata

from oauth.registration import register_app
from tests.conftest import CLIENTS
from tests.oauth.conftest import PASSWORD
from tests.oauth_user import OAuthUser

pytestmark = [pytest.mark.server, pytest.mark.django_db(transaction=True)]
REDIRECT = "http://127.0.0.1:7/callback"  # nobody listens there: the browser below stops before it


@pytest.fixture
def oauth_user(site, alice, acme):
    someone = OAuthUser(site, email=alice.email, password=PASSWORD, company_id=acme.id)
    yield someone
    someone.session.close()  # an open connection keeps a thread of the server, and that one the database


@pytest.fixture(params=["public", "confidential"])
def registration(request, transactional_db):
    return register_app(
        name="Client", redirect_uris=[REDIRECT], allowed=[], confidential=request.param == "confidential"
    )


# ------------------------------------------------------------------------------ openid-client, oauth4webapi


class NodeClient:
    """The script: a line in, a line out."""

    def __init__(self, script: str):
        self.process = subprocess.Popen(
            ["node", script], cwd=CLIENTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip

    def __call__(self, value):
        self.process.stdin.write(json.dumps(value) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            pytest.fail(self.process.communicate()[1])
        return json.loads(line)


@pytest.mark.parametrize("script", ["openid.mjs", "oauth4webapi.mjs"])
def test_javascript_clients_complete_oauth_flow(node_modules, site, oauth_user, registration, alice, script):
    node = NodeClient(script)
    start = {"base": site, "clientId": registration.application.client_id, "secret": registration.secret}
    url = node(start | {"redirectUri": REDIRECT})["url"]
    step = node({"callback": oauth_user.allow_app(url)})
    assert step["companies"]["status"] == 200
    assert [c["name"] for c in step["companies"]["body"]] == ["Acme"]
    assert step["person"] == {"sub": str(alice.id), "email": alice.email, "name": alice.name}
    assert step["claims"]["auth_time"] > 0
    step = node({})
    assert (step["companies"]["status"], step["rotated"]) == (200, True)
    step = node({})
    assert (step["companies"]["status"], step["refused"]) == (401, "invalid_grant")
    node.process.communicate(timeout=10)


# ---------------------------------------------------------------------------------------------- Authlib


def test_authlib_client_completes_oauth_flow(site, oauth_user, registration):
    metadata = requests.get(f"{site}/.well-known/oauth-authorization-server/auth", timeout=10).json()
    session = OAuth2Session(
        registration.application.client_id,
        registration.secret,
        redirect_uri=REDIRECT,
        scope="openid svc:read offline_access",
        code_challenge_method="S256",
        token_endpoint=metadata["token_endpoint"],
        token_endpoint_auth_method="client_secret_basic" if registration.secret else "none",
    )
    verifier = "v" * 64
    url, _ = session.create_authorization_url(metadata["authorization_endpoint"], code_verifier=verifier)
    callback = oauth_user.allow_app(url)
    first = session.fetch_token(authorization_response=callback, code_verifier=verifier)
    assert session.get(f"{site}/companies").json()[0]["role"] == "app"
    fresh = session.refresh_token(metadata["token_endpoint"], refresh_token=first["refresh_token"])
    assert fresh["access_token"] != first["access_token"]
    assert session.get(f"{site}/companies").status_code == 200
    oauth_user.disconnect()
    refused = session.get(f"{site}/companies")
    assert refused.status_code == 401
    assert 'error="invalid_token"' in refused.headers["WWW-Authenticate"]
    session.close()


# ---------------------------------------------------------------------------------------------- MCP


class SdkStorage:
    """Token storage of the SDK; staff registered the app beforehand."""

    def __init__(self, registration):
        method = "client_secret_basic" if registration.secret else "none"
        self.tokens = None
        self.client = OAuthClientInformationFull(
            client_id=registration.application.client_id,
            client_secret=registration.secret,
            redirect_uris=[REDIRECT],
            token_endpoint_auth_method=method,
        )

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


async def run_mcp_client(site, oauth_user, registration):
    """The SDK finds everything from the first 401: resource metadata, server metadata, scopes."""
    storage, callbacks = SdkStorage(registration), []

    async def redirected(url):
        callbacks.append(await asyncio.to_thread(oauth_user.allow_app, url))

    async def called_back():
        values = {name: value[0] for name, value in parse_qs(urlsplit(callbacks[-1]).query).items()}
        return AuthorizationCodeResult(code=values["code"], state=values["state"], iss=values["iss"])

    def provider():
        metadata = OAuthClientMetadata(redirect_uris=[REDIRECT], client_name="MCP")
        return OAuthClientProvider(
            server_url=f"{site}/mcp",
            client_metadata=metadata,
            storage=storage,
            redirect_handler=redirected,
            callback_handler=called_back,
        )

    first = provider()
    async with httpx2.AsyncClient(auth=first) as client:
        assert (await client.get(f"{site}/companies")).status_code == 200
        before = storage.tokens
        assert before.refresh_token
        first.context.token_expiry_time = 1  # long ago: the SDK refreshes by itself
        assert (await client.get(f"{site}/companies")).status_code == 200
        assert storage.tokens.refresh_token != before.refresh_token
    assert len(callbacks) == 1
    await asyncio.to_thread(oauth_user.disconnect)
    async with httpx2.AsyncClient() as client:
        headers = {"Authorization": f"Bearer {storage.tokens.access_token}"}
        assert (await client.get(f"{site}/companies", headers=headers)).status_code == 401
    async with httpx2.AsyncClient(auth=provider()) as client:  # which asks its user again
        assert (await client.get(f"{site}/companies")).status_code == 200
    assert len(callbacks) == 2


def test_mcp_client_completes_oauth_flow(site, oauth_user, registration):
    with ThreadPoolExecutor(1) as own:  # a thread without a loop: tests in a browser leave theirs running here
        own.submit(asyncio.run, run_mcp_client(site, oauth_user, registration)).result()
