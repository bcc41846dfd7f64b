"""The official TypeScript SDK against a running server: with a key, and as an app that nobody registered."""

import json
import subprocess
from urllib.parse import urlsplit

import pytest

from tests.assistants.sample_company import SampleCompany
from tests.mcp.node import find_node_and_packages
from tests.oauth.conftest import PASSWORD, OAuthFlow, parse_redirect
from tests.tls import serve_https

pytestmark = [pytest.mark.server, pytest.mark.django_db(transaction=True)]

REDIRECT = "http://127.0.0.1:7777/callback"
EXPECTED_RESULT = {"tools": 16, "companies": ["Acme"], "done": [False, True], "again": True}


@pytest.fixture(autouse=True)
def reached_both_ways(site, settings):
    """Allow the host name of Django's test client on the live server."""
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]


@pytest.fixture
def program():
    node, packages = find_node_and_packages()
    words = [node, "assistant.mjs"]
    with subprocess.Popen(words, cwd=packages, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def read_message(process):
    line = process.stdout.readline()
    assert line, "the program ended; what it complains of stands above"
    return json.loads(line)


def send_message(process, value):
    process.stdin.write(json.dumps(value) + "\n")
    process.stdin.flush()


def test_sdk_client_works_with_api_key(program, site, api):
    plan = SampleCompany(api).build_tool_arguments()["plan_payment"]
    send_message(program, {"url": f"{site}/mcp", "key": api.key, "plan": plan})
    assert read_message(program) == EXPECTED_RESULT | {"clientId": None}


# ---------------------------------------------------------------------------------------------- a document of its own


@pytest.fixture
def document(tmp_path, monkeypatch):
    """The https address of an app's document on this machine; the server trusts its certificate."""
    queries = []

    def answer(path):
        queries.append(path)
        answers = {
            "client_id": address, "client_name": "Assistant", "redirect_uris": [REDIRECT],
            "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        }  # fmt: skip
        return 200, {"Content-Type": "application/json"}, json.dumps(answers).encode()

    with serve_https(answer, folder=tmp_path) as (host, pem):
        address = f"https://{host}/app.json"
        monkeypatch.setenv("SSL_CERT_FILE", str(pem))
        yield address, queries


def test_sdk_client_works_with_client_metadata_document(program, site, settings, document, api, acme, alice):
    address, query = document
    settings.OUTBOUND_ALLOW_PRIVATE = True
    settings.OAUTH2_PROVIDER = settings.OAUTH2_PROVIDER | {"CIMD_ALLOWED_HOSTS": ["localhost"]}
    alice.set_password(PASSWORD)
    alice.save()
    plan = SampleCompany(api).build_tool_arguments()["plan_payment"]
    send_message(program, {"url": f"{site}/mcp", "clientMetadataUrl": address, "redirectUrl": REDIRECT, "plan": plan})
    flow = OAuthFlow(application=None)  # type: ignore[arg-type] # nobody registered it
    flow.sign_in(alice)
    url = urlsplit(read_message(program)["url"])
    flow.url = lambda **_: f"{url.path}?{url.query}"
    send_message(program, {"code": parse_redirect(flow.decide(acme))["code"]})
    assert read_message(program) == EXPECTED_RESULT | {"clientId": address}
    assert set(query) == {"/app.json"}
