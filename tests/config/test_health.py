"""Health, the document and what every answer carries."""

import json

import pytest
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from openapi_spec_validator import OpenAPIV31SpecValidator

from config.monitoring import health

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def unknown_state():
    """Nothing is known of the migrations yet."""
    health.READY_CHECKS.clear()
    yield
    health.READY_CHECKS.clear()


def test_healthz_works_without_database(client, monkeypatch):
    monkeypatch.setattr(connection, "cursor", lambda: pytest.fail("asked the database"))
    assert client.get("/healthz").status_code == 200


def test_readyz_returns_200_with_a_migrated_database(client):
    assert client.get("/readyz").status_code == 200


def test_readyz_returns_503_with_missing_migration(client):
    MigrationRecorder(connection).migration_qs.filter(app="webhooks").delete()
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "migrations" in answer.json()["status"]


def test_readyz_returns_503_without_database_and_hides_its_address(client, monkeypatch):
    def dead():
        raise OperationalError("connection to server at 10.0.0.7 failed: password hunter2")

    client.get("/readyz")
    monkeypatch.setattr(connection, "cursor", dead)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert b"10.0.0.7" not in answer.content
    assert b"hunter2" not in answer.content


def test_openapi_document_lists_methods_in_fixed_order(client):
    order = ["get", "post", "put", "delete"]
    for path, operations in client.get("/openapi.json").json()["paths"].items():
        assert list(operations) == [method for method in order if method in operations], path


def test_openapi_document_is_valid_3_1(client):
    answer = client.get("/openapi.json")
    assert answer["Content-Type"] == "application/json"
    document = answer.json()
    assert document["openapi"].startswith("3.1")
    OpenAPIV31SpecValidator(document).validate()


def test_openapi_operations_have_unique_ids_errors_and_security(client):
    document = client.get("/openapi.json").json()
    operations = [operation for item in document["paths"].values() for operation in item.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(names) == len(set(names))
    for operation in operations:
        assert {"400", "401", "429"} <= set(operation["responses"]), operation["operationId"]
        assert operation["summary" if "summary" in operation else "description"]
        assert operation["security"] == [{"apiKey": []}, {"oauth2": ["svc:read", "svc:write"]}, {"session": []}]


def test_openapi_examples_contain_no_working_secret(client):
    assert "svc_0" not in json.dumps(client.get("/openapi.json").json())


@pytest.mark.parametrize("path", ["/healthz", "/docs", "/companies", "/nowhere", "/openapi.json", "/app/sign-in"])
def test_security_headers_are_on_every_response(client, path):
    answer = client.get(path)
    policy = answer["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["Referrer-Policy"] == "same-origin"
    popups = path == "/app/sign-in"  # a popup with it reports back to the app that opened it
    assert answer["Cross-Origin-Opener-Policy"] == ("unsafe-none" if popups else "same-origin")
    assert "Server" not in answer


def test_hsts_header_is_sent_over_https_only(client, settings):
    settings.SECURE_HSTS_SECONDS = 31_536_000
    assert "Strict-Transport-Security" not in client.get("/healthz")
    assert "max-age=31536000" in client.get("/healthz", secure=True)["Strict-Transport-Security"]
