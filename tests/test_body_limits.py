"""Bodies that are too large are refused before anything reads them, wherever they go, in the shape of the place."""

import json
import re
import tracemalloc
from contextlib import suppress
from functools import partial

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import get_resolver

from companies.errors import DomainError, ValidationFailed
from ledger.imports.import_body import TRANSACTION_IMPORT_BODY
from ledger.imports.table_items import read_uploaded_table
from tests.test_house import list_url_routes

pytestmark = pytest.mark.django_db

KIB, MIB = 1024, 1024 * 1024
FORM, MULTIPART, JSON = "application/x-www-form-urlencoded", "multipart/form-data; boundary=end", "application/json"


class UnreadableBody:
    """A body that fails whoever reads it."""

    def read(self, *_: object) -> bytes:
        raise AssertionError("the body was read")

    readline = read


def send_announced_length(client, path, length, content_type=FORM, method="POST", **more):
    """A request whose body is so long, as its head says."""
    given = {"CONTENT_LENGTH": str(length), "CONTENT_TYPE": content_type, "REQUEST_METHOD": method}
    return client.generic(method, path, **{**given, "wsgi.input": UnreadableBody()} | more)


LIMITED_PATHS = [  # address, content type, the largest body
    ("/nowhere", FORM, 64 * KIB),
    ("/nowhere", JSON, MIB),
    ("/nowhere", "text/plain", 64 * KIB),
    ("/healthz", MULTIPART, 64 * KIB),
    ("/app/nowhere", MULTIPART, 64 * KIB),
    ("/app/sign-in", FORM, 64 * KIB),
    ("/app/sign-in", MULTIPART, 64 * KIB),
    ("/app/sign-out", FORM, 64 * KIB),
    ("/app/password-reset", FORM, 64 * KIB),
    ("/app/password-reset/MQ/set-password", FORM, 64 * KIB),
    ("/app/companies/new", FORM, 64 * KIB),
    ("/app/companies/{company}/transactions/new", MULTIPART, 64 * KIB),
    ("/app/companies/{company}/imports/new", MULTIPART, 64 * MIB),
    ("/app/companies/{company}/settings/logo", MULTIPART, 64 * MIB),
    ("/admin/", FORM, 64 * KIB),
    ("/admin/login/", FORM, 64 * KIB),
    ("/admin/oauth/application/add/", MULTIPART, 64 * MIB),
    ("/auth/oauth2/authorize", FORM, 64 * KIB),
    ("/auth/oauth2/token", FORM, 64 * KIB),
    ("/auth/oauth2/revoke", FORM, 64 * KIB),
    ("/auth/oauth2/userinfo", FORM, 64 * KIB),
]


def test_body_over_its_limit_is_rejected_unread(client, acme):
    for route, content_type, most in LIMITED_PATHS:
        path = route.format(company=acme.id)
        answer = send_announced_length(client, path, most + 1, content_type)
        assert answer.status_code == 413, route
        assert answer["X-Request-Id"], route
        assert "default-src 'none'" in answer["Content-Security-Policy"], route
        limit = "64 KB" if most == 64 * KIB else f"{most // MIB} MB"
        assert limit in answer.content.decode(), route
        if path in ("/auth/oauth2/token", "/auth/oauth2/revoke"):
            assert answer["Content-Type"] == "application/json", route
            assert (answer.json()["error"], answer["Cache-Control"]) == ("invalid_request", "no-store"), route
        elif path.startswith(("/app", "/admin", "/auth/oauth2/authorize")):
            assert answer["Content-Type"].startswith("text/html"), route
            assert "<h1>Too large</h1>" in answer.content.decode(), route
        else:
            assert answer["Content-Type"] == "application/problem+json", route
            assert answer.json()["code"] == "body_too_large", route


def test_body_at_its_limit_is_accepted(client, acme):
    for path, content_type, most in LIMITED_PATHS:
        try:
            answer = send_announced_length(client, path.format(company=acme.id), most, content_type)
        except AssertionError as read:
            assert str(read) == "the body was read"  # noqa: PT017 - who reads it does so within the limit
        else:
            assert answer.status_code != 413, path


def test_page_body_over_largest_limit_is_rejected_unread(client, acme):
    """Whatever is routed, and whoever asks: nothing is read."""
    count = 0
    for route, view in list_url_routes(get_resolver()):
        if hasattr(view, "cls") or "^" in route:
            continue
        path = "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda name: VALUES.get(name[1], str(acme.id)), route)
        path = path.replace("(?P1.*)$", "nowhere")
        for method in ("POST", "PUT", "GET"):
            assert send_announced_length(client, path, 64 * MIB + 1, method=method).status_code == 413, (method, path)
        count += 1
    assert count > 80


VALUES = {"day": "2026-01-31", "chart": "cash-flow", "uidb64": "MQ", "token": "set-password", "object_id": "1"}


def test_api_body_over_its_limit_is_never_read(api, acme):
    """An endpoint says so in its turn: behind 401, 404 and 403."""
    read, refused = set(), 0
    for route, view in list_url_routes(get_resolver()):
        for method in list(getattr(view, "actions", None) or ()):
            if method not in ("post", "put", "delete"):
                continue
            path = "/" + route.replace("<str:company_id>", str(acme.id)).replace("<str:", "").replace(">", "")
            for content_type in (JSON, FORM, MULTIPART):
                for key in ({}, {"HTTP_IDEMPOTENCY_KEY": f"k{len(read)}-{refused}"}):
                    authorized = {"HTTP_AUTHORIZATION": api.headers["Authorization"]} | key
                    try:
                        answer = send_announced_length(
                            api.client, path, 64 * MIB + 1, content_type, method.upper(), **authorized
                        )
                    except AssertionError:
                        read.add((method, route, content_type, *key))
                    else:
                        assert 400 <= answer.status_code < 500 or method == "delete", (method, path, answer.content)
                        refused += answer.status_code == 413
    assert read == set()
    assert refused > 100


@pytest.mark.parametrize("path", ["/nowhere", "/app/sign-in", "/auth/oauth2/token", "/admin/", "/metrics"])
def test_chunked_body_is_rejected_unread(client, path):
    answer = client.generic(
        "POST", path, content_type=FORM, **{"HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input": UnreadableBody()}
    )
    assert answer.status_code == 411
    assert "Content-Length" in answer.content.decode()


def test_retried_import_may_use_the_full_body_limit(api):
    body = json.dumps({"transactions": [], "pad": "x" * 2 * MIB})
    first, again = (api.post("transactions/import", json.loads(body), Idempotency_Key="once") for _ in range(2))
    assert (first.status_code, again.status_code, again["Idempotency-Replayed"]) == (200, 200, "true")


def test_form_fields_beside_a_file_count_toward_form_limit(sign_in_browser, alice, acme):
    form = {"file": SimpleUploadedFile("a.csv", b"Date,Amount\n2026-01-01,1\n"), "note": "x" * (64 * KIB + 1)}
    browser = sign_in_browser(alice, acme).client
    answer = browser.post(f"/app/companies/{acme.id}/imports/new", form)
    assert answer.status_code == 413
    assert "Nothing was saved." in answer.content.decode()


@pytest.mark.parametrize("path", ["/app/sign-in", "/app/sign-out", "/app/password-reset", "/admin/login/"])
def test_form_with_too_many_fields_is_rejected_with_message(path):
    client = Client(enforce_csrf_checks=True)
    client.get("/app/sign-in")  # with the cookie, the form is looked at for its token
    answer = client.post(path, "a&" * 20_000, content_type=FORM)
    assert answer.status_code == 413
    assert "The form contains too much data" in answer.content.decode()


def test_form_with_too_many_fields_logs_no_security_warning(caplog):
    """An app's request may be posted without our token, by anybody."""
    answer = Client().post("/auth/oauth2/authorize", "a&" * 20_000, content_type=FORM)
    assert answer.status_code == 413
    assert not [each for each in caplog.records if each.name.startswith("django.security")]


# ---------------------------------------------------------------------------------------------- addresses


def test_redirects_stay_under_two_kibibytes(sign_in_browser, alice, acme, client):
    long = "/app/?x=" + "ä" * 1000
    form = {"username": alice.email, "password": "correct horse battery", "next": long}
    alice.set_password("correct horse battery")
    alice.save()
    assert client.post("/app/sign-in", form)["Location"] == "/app/"
    assert client.post("/app/sign-in", form | {"next": "/app/?x=" + "a" * 1000})["Location"].endswith("a" * 1000)
    browser = sign_in_browser(alice, acme).client
    for name, more in [("ü" * 250 + ".csv", {}), ("a.csv", {"account": "x" * 3000})]:
        file = SimpleUploadedFile(name, b"Date,Amount\n2026-01-01,1\n")
        answer = browser.post(f"/app/companies/{acme.id}/imports/new", {"file": file} | more)
        assert answer.status_code == 303
        assert len(answer["Location"]) < 2 * KIB


# ---------------------------------------------------------------------------------------------- memory


def measure_peak_memory(act):
    """The most memory that was held at once, in bytes."""
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


GOOD_ITEM = b'{"accountId":"x","date":"2026-01-01","amountValue":"1"}'
HUGE_BODIES = {
    "empty items": b'{"transactions":[%s]}' % b",".join([b"{}"] * MIB),
    "empty items, to be skipped": b'{"transactions":[%s],"onError":"skip"}' % b",".join([b"{}"] * MIB),
    "numbers": b'{"transactions":[%s]}' % b",".join([b"1"] * MIB),
    "more good items than one call takes": b'{"transactions":[%s]}' % b",".join([GOOD_ITEM] * 300_000),
    "an unknown field of empty objects": b'{"transactions":[],"more":[%s]}' % b",".join([b"{}"] * MIB),
    "unknown fields": b"{%s}" % b",".join([b'"%i":1' % number for number in range(300_000)]),
    "an item of empty objects": b'{"transactions":[{"date":[%s]}]}' % b",".join([b"{}"] * MIB),
    "an option of empty objects": b'{"transactions":[{}],"onError":[%s]}' % b",".join([b"{}"] * MIB),
    "an array": b"[%s]" % b",".join([b"{}"] * MIB),
}


@pytest.mark.parametrize("body", HUGE_BODIES.values(), ids=HUGE_BODIES)
def test_rejected_import_uses_at_most_twice_its_body_in_memory(body):
    def read():
        with suppress(ValidationFailed):
            assert not any(TRANSACTION_IMPORT_BODY.parse(body).items)

    assert measure_peak_memory(read) <= 2 * len(body)


GARBAGE_FILES = {
    "cells": (b",".join([b"ab"] * 240) + b"\n") * 4_500,  # as long as 100,000 rows of the largest file
    "columns": b",".join([b"ab"] * 1_000_000),
    "rows of many columns": (b",".join([b"ab"] * 250) + b"\n") * 4_000,
    "one row over many lines": b'"\n",' * 600_000,
    "empty cells": (b"," * 249 + b"1\n") * 12_000,
    "one line": b"a" * 3 * MIB,
    "letters beyond": (";".join(["Straße"] * 100) + "\n").encode("cp1252") * 4_500,
    "no text": b"\x81\x8d\xff\x00" * MIB,
}


@pytest.mark.parametrize("content", GARBAGE_FILES.values(), ids=GARBAGE_FILES)
def test_rejected_table_file_uses_at_most_twice_its_size_in_memory(content):
    def read():
        with suppress(DomainError):
            read_uploaded_table(content)

    assert measure_peak_memory(read) <= 2 * len(content)


MANY_ITEMS_BODIES = {
    "objects": b"[%s]" % b",".join([b"{}"] * 300_000),
    "arrays": b"[" * 500_000,
    "texts": b'{"name":[%s]}' % b",".join([b'"ab"'] * 200_000),
}


@pytest.mark.parametrize("body", MANY_ITEMS_BODIES.values(), ids=MANY_ITEMS_BODIES)
def test_body_with_too_many_values_is_rejected_before_parsing(api, body):
    authorized = {"HTTP_AUTHORIZATION": api.headers["Authorization"]}
    send = partial(api.client.post, f"/companies/{api.company.id}/accounts", body, content_type=JSON, **authorized)
    answer = send()
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
    held = measure_peak_memory(send)
    assert held <= 4 * len(body)  # the client and the server have it once each


def test_large_form_to_a_page_with_uploads_is_refused_without_traceback(sign_in_browser, alice, acme, caplog):
    """Its length is that of a file, but its fields are too long."""
    body = "name=" + "x" * 64 * KIB
    client = sign_in_browser(alice, acme).client
    answer = client.post(f"/app/companies/{acme.id}/imports/new", body, content_type=FORM)
    assert answer.status_code == 413
    assert "The form contains too much data. Nothing was saved." in answer.content.decode()
    assert caplog.records == []


def test_large_body_to_the_api_is_refused_without_traceback(api, caplog):
    authorized = {"HTTP_AUTHORIZATION": api.headers["Authorization"]}
    for path, content_type, length in (("accounts", JSON, MIB), ("statements", MULTIPART, 64 * MIB)):
        address = f"/companies/{api.company.id}/{path}"
        answer = api.client.post(address, b"x" * (length + 1), content_type=content_type, **authorized)
        assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
    assert caplog.records == []
