"""The official TypeScript SDK against a running server: with a key, and as an app that nobody registered."""

import datetime as dt
import http.server
import ipaddress
import json
import ssl
import subprocess
import threading
from urllib.parse import urlsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.assistants.books import Books
from tests.mcp.node import node_and_packages
from tests.oauth.conftest import PASSWORD, Flow, returned

pytestmark = [pytest.mark.server, pytest.mark.django_db(transaction=True)]

REDIRECT = "http://127.0.0.1:7777/callback"
DID = {"tools": 16, "companies": ["Acme"], "done": [False, True], "again": True}


@pytest.fixture(autouse=True)
def reached_both_ways(site, settings):
    """The server knows its own address alone; the test's own client has another name for it."""
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]


@pytest.fixture
def program():
    node, packages = node_and_packages()
    words = [node, "assistant.mjs"]
    with subprocess.Popen(words, cwd=packages, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def said(process):
    line = process.stdout.readline()
    assert line, "the program ended; what it complains of stands above"
    return json.loads(line)


def tell(process, value):
    process.stdin.write(json.dumps(value) + "\n")
    process.stdin.flush()


def test_with_a_key(program, site, api):
    plan = Books(api).writing()["plan_payment"]
    tell(program, {"url": f"{site}/mcp", "key": api.key, "plan": plan})
    assert said(program) == DID | {"clientId": None}


# ---------------------------------------------------------------------------------------------- a document of its own


def certificate(where):
    """One for localhost that vouches for itself, and its key, in a file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(tz=dt.UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = where / "certificate.pem"
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + private)
    return path


@pytest.fixture
def document(tmp_path, monkeypatch):
    """The https address of an app's document on this machine; the server trusts its certificate."""
    pem = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            body = json.dumps(
                {
                    "client_id": address, "client_name": "Assistant", "redirect_uris": [REDIRECT],
                    "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
                    "token_endpoint_auth_method": "none",
                }
            ).encode()  # fmt: skip
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    address = f"https://localhost:{server.server_address[1]}/app.json"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield address, asked
    server.shutdown()
    server.server_close()


def test_as_an_app_that_describes_itself(program, site, settings, document, api, acme, alice):
    address, asked = document
    settings.OUTBOUND_ALLOW_PRIVATE = True
    settings.OAUTH2_PROVIDER = settings.OAUTH2_PROVIDER | {"CIMD_ALLOWED_HOSTS": ["localhost"]}
    alice.set_password(PASSWORD)
    alice.save()
    plan = Books(api).writing()["plan_payment"]
    tell(program, {"url": f"{site}/mcp", "clientMetadataUrl": address, "redirectUrl": REDIRECT, "plan": plan})
    flow = Flow(application=None)  # type: ignore[arg-type] # nobody registered it
    flow.sign_in(alice)
    url = urlsplit(said(program)["url"])
    flow.url = lambda **_: f"{url.path}?{url.query}"
    tell(program, {"code": returned(flow.decide(acme))["code"]})
    assert said(program) == DID | {"clientId": address}
    assert set(asked) == {"/app.json"}
