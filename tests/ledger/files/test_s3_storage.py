"""Files in an S3-compatible store in place of a directory, and what callers are told when it does not answer."""

import socket
import threading
from datetime import timedelta
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import boto3
import pytest
from botocore.config import Config
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from moto.server import ThreadedMotoServer

from companies.storage import s3
from config import environment
from ledger.imports.actions import uploads
from ledger.models import File
from tests.ledger.files.test_files import PDF, upload_file
from tests.machine import find_free_port

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def s3_server():
    """The address of an S3 server."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"{host}:{port}"
    server.stop()


@pytest.fixture
def set_storage_url(settings, monkeypatch, tmp_path):
    """Store files at a STORAGE_URL."""

    def set_storage_url(address):
        monkeypatch.setenv("STORAGE_URL", address)
        settings.STORAGES = {**settings.STORAGES, "default": environment.read_storage_settings("STORAGE_URL", tmp_path)}

    return set_storage_url


@pytest.fixture
def list_stored_names(s3_server, set_storage_url):
    """Store files in a bucket; return the names of its objects."""
    client = boto3.client(
        "s3",
        endpoint_url=f"http://{s3_server}",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
        region_name="us-east-1",
    )
    client.create_bucket(Bucket="documents")
    set_storage_url(f"s3+http://key:secret@{s3_server}/documents?region=us-east-1")
    yield lambda: [each["Key"] for each in client.list_objects_v2(Bucket="documents").get("Contents", [])]
    for each in client.list_objects_v2(Bucket="documents").get("Contents", []):
        client.delete_object(Bucket="documents", Key=each["Key"])
    client.delete_bucket(Bucket="documents")


def test_s3_storage_stores_reads_and_deletes_document(api, list_stored_names, django_capture_on_commit_callbacks):
    made = upload_file(api, PDF).json()
    assert list_stored_names() == [made["storagePath"]]
    answer = api.get(f"files/{made['id']}/content")
    assert b"".join(answer.streaming_content) == PDF
    assert answer["Content-Length"] == str(len(PDF))
    with django_capture_on_commit_callbacks(execute=True):
        assert api.delete(f"files/{made['id']}").status_code == 200
    assert list_stored_names() == []


def test_document_with_missing_content_is_not_found(api, list_stored_names, set_storage_url, s3_server):
    made = upload_file(api, PDF).json()
    s3.BucketStorage(**build_s3_options(s3_server)).delete(made["storagePath"])
    assert api.get(f"files/{made['id']}/content").status_code == 404


def build_s3_options(s3_server):
    return {
        "bucket_name": "documents", "endpoint_url": f"http://{s3_server}", "access_key": "key", "secret_key": "secret",
        "region_name": "us-east-1",
    }  # fmt: skip


def test_import_upload_is_kept_in_storage_for_a_day(acme, alice, list_stored_names, now):
    owned = {"company_id": acme.id, "user_id": alice.id}
    upload_id = uploads.store_upload(**owned, file=ContentFile(b"Date;Amount\n"))
    assert uploads.read_upload(**owned, upload_id=upload_id) == b"Date;Amount\n"
    assert uploads.is_upload_stored(**owned, upload_id=upload_id)
    assert uploads.prune_uploads(now=now) == 0
    assert uploads.prune_uploads(now=now + timedelta(days=2)) == 1
    with pytest.raises(uploads.UploadExpired):
        uploads.read_upload(**owned, upload_id=upload_id)
    assert not uploads.is_upload_stored(**owned, upload_id=upload_id)
    assert list_stored_names() == []


@pytest.mark.parametrize("fault", ["nobody listens", "it never answers", "there is no such bucket"])
def test_storage_failure_returns_503_and_stores_nothing(
    api, list_stored_names, set_storage_url, s3_server, monkeypatch, fault
):
    made = upload_file(api, PDF).json()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        where = {
            "nobody listens": f"127.0.0.1:{find_free_port()}/documents",
            "it never answers": f"127.0.0.1:{silent.getsockname()[1]}/documents",
            "there is no such bucket": f"{s3_server}/others",
        }[fault]
        monkeypatch.setattr(s3, "CLIENT_CONFIG", Config(read_timeout=0.2, retries={"total_max_attempts": 1}))
        set_storage_url(f"s3+http://key:secret@{where}?region=us-east-1")
        answers = [upload_file(api, PDF)]
        if fault != "there is no such bucket":
            answers.append(api.get(f"files/{made['id']}/content"))
    for answer in answers:
        assert (answer.status_code, answer.json()["code"]) == (503, "storage_unavailable")
        assert "Retry-After" in answer
    assert File.objects.count() == 1
    assert list_stored_names() == [made["storagePath"]]


class BreakingServer(BaseHTTPRequestHandler):
    """A store that begins to send what it has, and stops in the middle."""

    requested_paths: ClassVar[list[str]] = []

    def do_HEAD(self):
        self.send_response(200)
        for name, value in {"Content-Length": "1000", "ETag": '"1"', "Last-Modified": formatdate(usegmt=True)}.items():
            self.send_header(name, value)
        self.end_headers()

    def do_GET(self):
        self.requested_paths.append(self.path)
        self.do_HEAD()
        self.wfile.write(b"%PDF-1.4")

    def log_message(self, *_):
        """Nobody listens."""


def test_truncated_document_download_returns_503_without_many_retries(api, list_stored_names, set_storage_url):
    made = upload_file(api, PDF).json()
    BreakingServer.requested_paths.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), BreakingServer) as broken:
        threading.Thread(target=broken.serve_forever, daemon=True).start()
        set_storage_url(f"s3+http://key:secret@127.0.0.1:{broken.server_port}/documents?region=us-east-1")
        answer = api.get(f"files/{made['id']}/content")
        broken.shutdown()
    assert (answer.status_code, answer.json()["code"]) == (503, "storage_unavailable")
    assert len(BreakingServer.requested_paths) <= 2


def test_page_shows_storage_outage_and_imports_nothing(
    api, acme, alice, sign_in_browser, list_stored_names, set_storage_url
):
    client = sign_in_browser(alice, acme).client
    client.raise_request_exception = False
    account = api.post("accounts", {"type": "bank", "name": "Main"}).json()["id"]
    address = f"/app/companies/{acme.id}/imports/new"
    table = b"Date;Amount\n2026-11-02;5,00\n"
    check = client.post(address, {"file": SimpleUploadedFile("a.csv", table), "account": account})["Location"]
    choices = client.get(check).context["form"].data
    set_storage_url(f"s3+http://key:secret@127.0.0.1:{find_free_port()}/documents?region=us-east-1")
    answers = [
        client.post(address, {"file": SimpleUploadedFile("a.csv", table), "account": account}),
        client.get(check),
        client.post(check, choices),
    ]
    for answer in answers:
        assert answer.status_code == 503
        assert "Service unavailable" in answer.content.decode()
    assert api.get("transactions").json() == []


def test_document_deletion_succeeds_even_if_storage_is_unavailable(
    api, list_stored_names, set_storage_url, caplog, django_capture_on_commit_callbacks
):
    made = upload_file(api, PDF).json()
    set_storage_url(f"s3+http://key:secret@127.0.0.1:{find_free_port()}/documents?region=us-east-1")
    with django_capture_on_commit_callbacks(execute=True):
        assert api.delete(f"files/{made['id']}").json() == {"success": True}
    assert api.get(f"files/{made['id']}").status_code == 404
    assert "the store" in caplog.text


def test_storage_client_has_short_timeouts_and_one_retry():
    options = {"bucket_name": "b", "endpoint_url": "http://127.0.0.1:9", "access_key": "k", "secret_key": "s"}
    patience = s3.BucketStorage(**options).client_config
    assert (patience.connect_timeout, patience.read_timeout, patience.retries) == (3, 15, {"total_max_attempts": 2})
