"""What keeps the service safe wherever one looks: every page, every comparison, every body with an address in it."""

import ast
import io
import json
import re
import socket
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.staticfiles.finders import get_finders
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import get_resolver
from PIL import Image

from companies.models import User
from tests.api.seeded_company import seeded_company, shared_seeded_company  # noqa: F401 - fixtures
from tests.api.test_fuzz import build_path, fill_ids, get_request_body, list_places, replace_value
from tests.oauth.conftest import OAuthFlow, alice_flow, alice_tokens, application, flow, get_latest_consent  # noqa: F401 - fixtures
from tests.rollback import undo_changes
from tests.test_house import ROOT, SOURCES, list_url_routes
from tests.test_permissions import OPERATIONS

TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
INLINE = re.compile(r"\sstyle=|\son[a-z]+=|<style\b|<script(?![^>]*\ssrc=)|javascript:")

# ---------------------------------------------------------------------------------------------- pages


def test_templates_contain_no_inline_code():
    assert len(TEMPLATES) > 100
    assert [
        (str(path.relative_to(ROOT)), found) for path in TEMPLATES if (found := INLINE.findall(path.read_text()))
    ] == []


@pytest.fixture
def staff(alice: User) -> Client:
    """The browser of Alice, who owns Acme and is staff: she can see every page."""
    alice.is_staff = alice.is_superuser = True
    alice.save(update_fields=["is_staff", "is_superuser"])
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    return client


def list_pages(values: dict[str, str]) -> list[str]:
    """Every address outside the API that can be filled in; the admin's rows are a user's own."""
    results = []
    for route, view in list_url_routes(get_resolver()):
        if not hasattr(view, "cls") and "^" not in route:
            path = re.sub(r"<(?:\w+:)?(\w+)>", lambda name: values.get(name[1], "1"), route)
            results.append("/" + path.replace("(?P1.*)$", "nowhere"))
    return results


@pytest.mark.django_db
def test_every_page_has_strict_content_security_policy(staff, acme, alice, api, client):
    key = api.get("api_keys").json()[0]["id"]
    filled_in = {
        "company_id": str(acme.id),
        "key_id": key,
        "object_id": str(alice.pk),
        "id": str(alice.pk),
    }
    shown, seen = 0, set()
    # Nobody, a form without our token, and addresses that lead nowhere have pages of their own.
    answers = [(path, staff.get(path)) for path in list_pages(filled_in)]
    answers += [(path, client.get(path)) for path in ("/app/sign-in", "/app/nowhere", "/admin/login/")]
    answers += [("csrf", staff.post("/app/password")), ("refused", client.get("/auth/oauth2/authorize?client_id=x"))]
    for path, answer in answers:
        if answer.get("Content-Type", "").startswith("text/html") and answer.status_code not in (301, 302, 303):
            policy = answer["Content-Security-Policy"]
            assert "default-src 'none'" in policy, path
            assert "unsafe" not in policy, path
            assert "*" not in policy.replace("*.", ""), path
            assert INLINE.findall(answer.content.decode()) == [], path
            shown, seen = shown + 1, seen | {answer.status_code}
    assert shown > 40
    assert {200, 400, 403, 404} <= seen
    assert 500 not in seen
    assert len([path for path, answer in answers if path.startswith("/admin/") and answer.status_code == 200]) >= 15
    assert admin.site.is_registered(User)


STATIC = sorted(path for finder in get_finders() for path, _ in finder.list(None))


def test_static_files_have_strict_content_security_policy(client):
    for path in ["site.css", *(path for path in STATIC if path.endswith((".html", ".svg")))]:
        answer = client.get(f"/static/{path}")
        assert answer.status_code == 200, path
        assert "default-src 'none'" in answer["Content-Security-Policy"], path
        assert "unsafe" not in answer["Content-Security-Policy"], path
        assert answer["X-Content-Type-Options"] == "nosniff", path
        if path.endswith(".html"):
            assert INLINE.findall(answer.getvalue().decode()) == [], f"{path} would not work under it"


# ---------------------------------------------------------------------------------------------- comparisons

SECRET = re.compile(r"secret|digest|verifier|challenge|password|pepper|hash|signature|token", re.IGNORECASE)
# Comparisons of what sounds secret and is not, each with its reason.
PLAIN = {
    "bytes(stored_record.request_digest) != digest": "the digest of a request's body, which its sender knows",
    "values.pop(0) != compute_list_digest(request, order)": "the digest of the filters that a page link belongs to",
    "closing.previous_digest != (previous.digest if previous else None)": "digests of closings are public to auditors",
    "closing.digest != compute_closing_digest(closing)": "digests of closings are public to auditors",
    "page.request.POST.get('reviewed') == review.plan_digest": "says which plan was shown to its sender",
    "bool(parts.username) == bool(parts.password)": "whether both are there",
    "bool(parts.username) != bool(parts.password)": "whether both are there",
    "authenticate(self.request, username=self.user.email, password=old) != self.user": "compares two people",
}


def list_comparisons(path: Path) -> list[str]:
    """Each == and != of a file that has something with a secret's name on a side, and no plain text on the other."""
    results = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq):
            sides = [ast.unparse(side) for side in (node.left, *node.comparators)]
            literal = any(isinstance(side, ast.Constant) for side in (node.left, *node.comparators))
            if not literal and any(SECRET.search(side) for side in sides):
                results.append(ast.unparse(node))
    return results


def test_secrets_are_compared_in_constant_time():
    sources = [path for path in SOURCES if path.relative_to(ROOT).parts[0] != "tests"]
    results = {(str(path.relative_to(ROOT)), text) for path in sources for text in list_comparisons(path)}
    assert {(path, text) for path, text in results if text not in PLAIN} == set()
    assert {text for _, text in results} == set(PLAIN), "an explanation that explains nothing"


# ---------------------------------------------------------------------------------------------- addresses in bodies

METADATA_URL = "http://169.254.169.254/latest/meta-data/"


@pytest.fixture
def refused_connections(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The DNS lookups and connections that the test tried; all are refused, except those of the database."""
    called: list[Any] = []

    def refuse(*args: Any, **_: Any) -> None:
        called.append(args)
        raise OSError("called")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket, "gethostbyname", refuse)
    return called


def test_outbound_call_guard_detects_calls(refused_connections):
    with pytest.raises(OSError, match="called"):
        urllib.request.urlopen(METADATA_URL, timeout=5)
    assert refused_connections


@pytest.mark.django_db
def test_urls_in_request_bodies_are_never_called(seeded_company, refused_connections):  # noqa: F811
    api, ids = seeded_company.api, seeded_company.rows
    for path, method in [case for case in OPERATIONS if case[1] in ("POST", "PUT")]:
        with undo_changes():
            body = fill_ids(get_request_body(path), ids)
            here = api.path(build_path(path, ids))
            for place in list_places(body):
                sent = json.dumps(replace_value(body, place, METADATA_URL))
                api.client.generic(method, here, sent, content_type="application/json", headers=api.headers)
            extra = body | {
                "url": METADATA_URL,
                "logoUrl": METADATA_URL,
                "invoiceUrl": METADATA_URL,
                "webhook": METADATA_URL,
                "callback": METADATA_URL,
            }
            api.client.generic(method, here, json.dumps(extra), content_type="application/json", headers=api.headers)
            assert refused_connections == [], path


@pytest.mark.django_db
@pytest.mark.parametrize(
    "content",
    [
        f'<!DOCTYPE a SYSTEM "{METADATA_URL}"><a/>',
        f'<!DOCTYPE a [<!ENTITY b SYSTEM "{METADATA_URL}">]><a>&b;</a>',
        f'<a xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="{METADATA_URL}"/></a>',
        f'<?xml-stylesheet href="{METADATA_URL}"?><a xsi:schemaLocation="a {METADATA_URL}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"/>',
        f'a,b\n=WEBSERVICE("{METADATA_URL}"),1\n',
        f"%PDF-1.7\n1 0 obj << /URI ({METADATA_URL}) /F ({METADATA_URL}) >>\n%%EOF",
    ],
)
def test_urls_in_uploaded_documents_are_never_called(api, refused_connections, content):
    paper = SimpleUploadedFile("a.xml", content.encode())
    api.client.post(api.path("files"), {"file": paper}, headers=api.headers)
    assert refused_connections == []


@pytest.mark.django_db
def test_urls_in_oauth_requests_are_never_called(flow, acme, alice, refused_connections):  # noqa: F811
    flow.sign_in(alice, then=METADATA_URL)
    parameters = {
        "resource": METADATA_URL,
        "request_uri": METADATA_URL,
        "request": METADATA_URL,
        "login_hint": METADATA_URL,
        "client_uri": METADATA_URL,
    }
    for name, value in (
        parameters | {"redirect_uri": METADATA_URL, "client_id": METADATA_URL, "jwks_uri": METADATA_URL}
    ).items():
        flow.ask(**{name: value})
    flow.redeem("x", resource=METADATA_URL, client_assertion=METADATA_URL, redirect_uri=METADATA_URL)
    head = {"alg": "RS256", "typ": "at+jwt", "jku": METADATA_URL, "x5u": METADATA_URL, "kid": METADATA_URL}
    parts = [json.dumps(each).encode().hex() for each in (head, {"iss": METADATA_URL})]
    assert flow.call(".".join([*parts, "c2ln"])).status_code == 401
    assert flow.tokens(acme)["access_token"]
    assert refused_connections == []


# ---------------------------------------------------------------------------------------------- documents


@pytest.mark.django_db
def test_oversized_image_is_rejected(api):
    from companies.storage import images

    small = io.BytesIO()
    Image.new("1", (7100, 7100)).save(small, format="PNG")  # fifty million pixels in seven kilobytes
    assert images.MAX_PIXELS < 7100 * 7100
    paper = SimpleUploadedFile("scan.png", small.getvalue())
    answer = api.client.post(api.path("files"), {"file": paper}, headers=api.headers)
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_file_type")


@pytest.mark.django_db
@pytest.mark.parametrize(("depth", "status"), [(64, 201), (65, 415)])
def test_deeply_nested_xml_is_rejected(api, depth, status):
    paper = SimpleUploadedFile("invoice.xml", b"<a>" * depth + b"</a>" * depth)
    answer = api.client.post(api.path("files"), {"file": paper}, headers=api.headers)
    assert answer.status_code == status, answer.content
    endless = SimpleUploadedFile("endless.xml", b"<a>" * 1_000_000)
    assert api.client.post(api.path("files"), {"file": endless}, headers=api.headers).status_code == 415


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["../secret-key", "%2e%2e/secret-key", "..%5csecret-key", "....//secret-key", "%252e%252e/x"]
)
def test_asset_path_traversal_is_rejected(client, settings, path, tmp_path):
    (tmp_path / "secret-key").write_text("found")
    (tmp_path / "assets").mkdir()
    assert client.get(f"/assets/{path}").status_code == 404
    assert client.get(f"/static/{path}").status_code == 404
