"""Apps that nobody registered: a client_id is the address of a document, where staff allow its host."""

import json
from html import unescape
from urllib.parse import urlsplit

import pytest
from django.core.cache import cache

from companies import http_client
from oauth.models import Application, ClientHost, ConsentGrant
from tests.oauth.conftest import OAuthFlow, parse_redirect

pytestmark = pytest.mark.django_db
METADATA_URL = "https://apps.example/forecaster.json"
CALLBACK = "https://apps.example/callback"


@pytest.fixture(autouse=True)
def clear_cache():
    cache.clear()


@pytest.fixture
def web(monkeypatch):
    """Documents by URL, and the URLs that were fetched."""
    contents, fetched_urls = {}, []

    def fetch(url, **_):
        fetched_urls.append(url)
        if url not in contents:
            raise http_client.OutboundError("no such host")
        if isinstance(contents[url], bytes):
            return http_client.OutboundResponse(status=200, headers={}, body=contents[url])
        return http_client.OutboundResponse(status=200, headers={}, body=json.dumps(contents[url]).encode())

    monkeypatch.setattr(http_client, "fetch_url", fetch)
    contents[METADATA_URL] = {"client_id": METADATA_URL, "client_name": "Forecaster", "redirect_uris": [CALLBACK]}
    return contents, fetched_urls


@pytest.fixture
def metadata_flow(alice):
    """The flow of an app known only by its metadata URL, with Alice signed in."""
    flow = OAuthFlow(application=Application(client_id=METADATA_URL), redirect_uri=CALLBACK)
    flow.sign_in(alice)
    return flow


@pytest.fixture
def allow_host(db):
    ClientHost.objects.create(host="apps.example")


def test_metadata_is_not_fetched_without_an_allowed_host(metadata_flow, web, client):
    assert metadata_flow.ask().status_code == 400
    assert web[1] == []
    metadata = client.get("/auth/.well-known/oauth-authorization-server").json()
    assert metadata["client_id_metadata_document_supported"] is False


def test_app_of_allowed_host_is_accepted_and_shown_as_unverified(metadata_flow, web, allow_host, acme, client):
    page = metadata_flow.ask()
    text = page.content.decode()
    assert page.status_code == 200, text
    assert "apps.example" in text
    assert "not verified" in text
    tokens = metadata_flow.tokens(acme)
    assert metadata_flow.call(tokens["access_token"]).status_code == 200
    assert metadata_flow.refresh(tokens["refresh_token"]).status_code == 200
    assert web[1] == [METADATA_URL]
    metadata = client.get("/auth/.well-known/oauth-authorization-server").json()
    assert metadata["client_id_metadata_document_supported"] is True


def test_connected_unverified_app_shows_its_host(metadata_flow, web, allow_host, acme):
    metadata_flow.tokens(acme)
    text = metadata_flow.browser.get(f"/app/companies/{acme.id}/settings/api-keys").content.decode()
    assert "not verified" in text
    assert "at apps.example<" in text


def test_hosts_can_be_allowed_in_settings(metadata_flow, web, settings):
    settings.OAUTH2_PROVIDER = settings.OAUTH2_PROVIDER | {"CIMD_ALLOWED_HOSTS": [".example"]}
    assert metadata_flow.ask().status_code == 200


@pytest.mark.parametrize(
    "change",
    [
        {"client_id": "https://apps.example/other.json"},
        {"redirect_uris": []},
        {"redirect_uris": ["http://apps.example/callback"]},
        {"redirect_uris": ["https://apps.example,evil.example/cb"]},
        {"redirect_uris": "https://apps.example/callback"},
        {"token_endpoint_auth_method": "client_secret_basic"},
        {"client_secret": "x"},
        {"grant_types": ["client_credentials"]},
    ],
)
def test_app_with_invalid_metadata_is_rejected(change, metadata_flow, web, allow_host):
    web[0][METADATA_URL] |= change
    assert metadata_flow.ask().status_code == 400
    assert not Application.objects.filter(client_id=METADATA_URL).exists()


def test_metadata_of_disallowed_host_is_not_fetched(metadata_flow, web, allow_host):
    for client_id in [
        "https://other.example/app.json",
        "http://apps.example/app.json",
        "https://apps.example.evil.example/a.json",
        "https://apps.example@evil.example/a.json",
        "https://apps.example/../a.json#x",
    ]:
        metadata_flow.application.client_id = client_id
        assert metadata_flow.ask().status_code == 400, client_id
        assert web[1] == [], client_id


def test_redirect_uri_missing_in_metadata_is_rejected(metadata_flow, web, allow_host):
    answer = metadata_flow.ask(redirect_uri="https://evil.example/")
    assert (answer.status_code, "Location" in answer) == (400, False)


def test_token_endpoint_fetches_no_metadata(flow, web, allow_host):
    flow.application.client_id = METADATA_URL
    assert flow.redeem("x").status_code == 401
    assert flow.refresh("x").status_code == 401
    assert web[1] == []


def test_unverified_app_can_be_disabled(metadata_flow, web, allow_host, acme):
    tokens = metadata_flow.tokens(acme)
    Application.objects.filter(client_id=METADATA_URL).update(enabled=False)
    assert metadata_flow.call(tokens["access_token"]).status_code == 401
    assert metadata_flow.ask().status_code == 400


@pytest.mark.parametrize(
    ("name", "shown"), [(None, "apps.example"), ("", "apps.example"), ("A\u202eB\n", "AB"), ("x" * 300, "x" * 100)]
)
def test_app_name_is_sanitized_and_defaults_to_host(name, shown, metadata_flow, web, allow_host):
    web[0][METADATA_URL]["client_name"] = name
    assert metadata_flow.ask().status_code == 200
    assert Application.objects.get(client_id=METADATA_URL).name == shown


def test_silent_authorization_of_unverified_app_needs_standing_consent(metadata_flow, web, allow_host, acme):
    assert parse_redirect(metadata_flow.ask(prompt="none"))["error"] == "consent_required"
    metadata_flow.tokens(acme)
    assert "code" in parse_redirect(metadata_flow.ask(prompt="none"))
    assert ConsentGrant.objects.count() == 1


def test_metadata_is_not_fetched_before_sign_in(web, allow_host, client, metadata_flow, alice):
    flow = OAuthFlow(application=Application(client_id=METADATA_URL), redirect_uri=CALLBACK)
    answer = flow.ask()
    assert (answer.status_code, web[1]) == (302, [])
    assert urlsplit(answer["Location"]).path == "/app/sign-in"
    assert flow.ask(prompt="none").status_code == 400
    assert web[1] == []
    assert not Application.objects.filter(client_id=METADATA_URL).exists()
    flow.sign_in(alice)
    assert flow.ask().status_code == 200
    assert web[1] == [METADATA_URL]


def test_metadata_fetches_are_limited_to_ten_per_minute(metadata_flow, web, allow_host, alice):
    for n in range(12):
        metadata_flow.application.client_id = f"https://apps.example/{n}.json"
        answer = metadata_flow.ask()
        assert answer.status_code == (400 if n < 10 else 429)
    assert len(web[1]) == 10
    assert 0 < int(answer["Retry-After"]) <= 60


def test_client_id_query_does_not_create_another_client(metadata_flow, web, allow_host, acme):
    for n in range(20):
        metadata_flow.application.client_id = f"{METADATA_URL}?n={n}"
        assert metadata_flow.ask().status_code == 200
    assert Application.objects.filter(client_id__startswith=METADATA_URL).count() == 1
    assert web[1] == [METADATA_URL]
    tokens = metadata_flow.tokens(acme)
    assert metadata_flow.call(tokens["access_token"]).status_code == 200
    assert metadata_flow.refresh(tokens["refresh_token"]).status_code == 200


@pytest.mark.parametrize("body", [b"[" * 60_000, b'{"a":' * 12_000, b"\xff", b"[]", b""], ids=len)
def test_unreadable_metadata_is_rejected_without_error_log(body, metadata_flow, web, allow_host, caplog):
    web[0][METADATA_URL] = body
    answer = metadata_flow.ask()
    assert answer.status_code == 400
    assert "This app is unknown" in answer.content.decode()
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


def test_invalid_redirect_uris_are_ignored_if_a_valid_one_remains(metadata_flow, web, allow_host, acme):
    web[0][METADATA_URL]["redirect_uris"] = ["http://apps.example/callback", CALLBACK, "https://apps.example/#x"]
    page = metadata_flow.ask()
    assert page.status_code == 200
    text = unescape(page.content.decode())
    assert "http://apps.example/callback: http is for 127.0.0.1" in text
    assert "https://apps.example/#x: no fragment is allowed." in text
    assert metadata_flow.tokens(acme)["access_token"]
    assert Application.objects.get(client_id=METADATA_URL).uris == [CALLBACK]
    assert metadata_flow.ask(redirect_uri="http://apps.example/callback").status_code == 400
