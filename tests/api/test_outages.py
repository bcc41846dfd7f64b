"""What no caller can help: a database that is away or full, a disk that is. Each says when to come back."""

import errno
from unittest.mock import Mock
from urllib.parse import urlencode

import psycopg
import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import InternalError, OperationalError

pytestmark = pytest.mark.django_db

FULL_DATABASE = OperationalError("could not extend file")
FULL_DATABASE.__cause__ = psycopg.errors.DiskFull("could not extend file")
STANDBY = InternalError("cannot execute INSERT in a read-only transaction")
STANDBY.__cause__ = psycopg.errors.ReadOnlySqlTransaction("cannot execute INSERT in a read-only transaction")


def test_outages_return_retry_after(api, monkeypatch):
    for failure, status_and_code in [
        (FULL_DATABASE, (507, "storage_full")),
        (psycopg.errors.DiskFull("x"), (507, "storage_full")),
        (OSError(errno.ENOSPC, "No space left"), (507, "storage_full")),
        (OSError(errno.EDQUOT, "Quota"), (507, "storage_full")),
        (OSError(errno.EROFS, "Read-only"), (503, "storage_unavailable")),
        (STANDBY, (503, "unavailable")),
        (OSError("x"), (500, "internal_error")),
    ]:
        monkeypatch.setattr("ledger.accounts.actions.accounts.create_account", Mock(side_effect=failure))
        answer = api.post("accounts", {"type": "bank", "name": "Main"})
        assert (answer.status_code, answer.json()["code"]) == status_and_code, failure
        assert ("Retry-After" in answer.headers) == (status_and_code[0] != 500), failure
        assert "x" not in answer.json()["detail"].split(), failure


def test_storage_outage_on_page_returns_507_with_retry_after(sign_in_browser, alice, acme, monkeypatch):
    def fails(*args, **kwargs):
        raise FULL_DATABASE

    browser = sign_in_browser(alice, acme)
    browser.client.raise_request_exception = False
    monkeypatch.setattr("companies.pages.user.home.render", fails)
    answer = browser.client.get("/app/")
    assert (answer.status_code, answer["Content-Type"]) == (507, "text/html; charset=utf-8")
    assert int(answer["Retry-After"]) > 0


def test_token_endpoint_outage_returns_oauth_error(client, monkeypatch):
    def fails(*args, **kwargs):
        raise OperationalError("connection to server at 10.0.0.7 failed")

    monkeypatch.setattr("oauth.models.Application.objects.get", fails)
    form = {"grant_type": "refresh_token", "refresh_token": "x", "client_id": "x"}
    answer = client.post("/auth/oauth2/token", urlencode(form), content_type="application/x-www-form-urlencoded")
    assert (answer.status_code, answer.json()["error"]) == (503, "temporarily_unavailable")
    assert int(answer["Retry-After"]) > 0
    assert "10.0.0.7" not in answer.content.decode()


def test_key_last_use_error_does_not_change_the_answer(api, monkeypatch):
    def fails(*args, **kwargs):
        raise OperationalError("gone")

    monkeypatch.setattr("companies.auth.authentication.ApiKeyCredential.record_use", fails)
    assert api.post("accounts", {"type": "bank", "name": "Main"}).status_code == 201


PDF = b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"


def test_partly_stored_file_is_removed_if_storage_is_full(api, monkeypatch, tmp_path):
    def chunks(content, *_):
        yield content.read(10)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(ContentFile, "chunks", chunks)
    document = SimpleUploadedFile("a.pdf", PDF)
    answer = api.client.post(api.path("files"), {"file": document}, headers=api.headers)
    assert (answer.status_code, answer.json()["code"]) == (507, "storage_full")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert api.get("files").json() == []
