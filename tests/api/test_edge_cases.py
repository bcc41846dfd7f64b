"""The last edges: numbers no reader takes, answers that fail late, documents that are only read, and lost databases."""

import logging

import pytest
from django.db import InterfaceError, OperationalError

from ledger.models import Account, Category

pytestmark = pytest.mark.django_db

HUGE_NUMBERS = [2**63, 18446744073709551616, -(2**64), 1e19, -1e20, 1.5e300]


@pytest.fixture
def account(bank):
    return bank


def list_error_codes(answer):
    return [(entry["pointer"], entry["code"]) for entry in answer.json()["errors"]]


# ---------------------------------------------------------------------------------------------- numbers and depth


def test_import_settings_reject_out_of_range_numbers(api, account):
    for number in HUGE_NUMBERS:
        for where in ["csv", "other"]:
            answer = api.put(f"accounts/{account}", {"importSettings": {where: {"rows": [number]}}})
            assert (answer.status_code, list_error_codes(answer)[0][1]) == (400, "out_of_range"), (number, where)
            assert Account.objects.get(id=account).import_settings is None, (number, where)


def test_import_settings_with_storable_numbers_round_trip(api, account):
    for number in [2**63 - 1, -(2**63) + 1, 0.1, 1e15, -5]:
        settings = {"other": {"skip": number}}
        assert api.put(f"accounts/{account}", {"importSettings": settings}).json()["importSettings"] == settings, number
        assert api.get(f"accounts/{account}").json()["importSettings"] == settings, number


@pytest.mark.parametrize("depth", [70, 252, 300])
def test_import_settings_reject_too_deep_nesting(api, account, depth):
    nested = []
    for _ in range(depth):
        nested = [nested]
    answer = api.put(f"accounts/{account}", {"importSettings": {"other": nested}})
    assert (answer.status_code, list_error_codes(answer)[0][1]) == (400, "too_deep")


def test_file_parse_data_rejects_out_of_range_amounts(api):
    from tests.ledger.files.test_files import PDF, upload_file

    file = upload_file(api, PDF).json()["id"]
    for number in (1e20, -1e19, 10**30):
        answer = api.put(f"files/{file}", {"parseData": {"amount": {"value": number, "currency": "EUR"}}})
        assert (answer.status_code, list_error_codes(answer)) == (400, [("#/parseData/amount/value", "out_of_range")])
    assert api.get(f"files/{file}").json()["parseData"] is None


def test_stored_out_of_range_numbers_are_still_returned(api, account):
    Account.objects.filter(id=account).update(import_settings={"csv": {"skip": 2**70}})
    assert api.get(f"accounts/{account}").json()["importSettings"] == {"csv": {"skip": 2**70}}
    listed = api.get("accounts").json()
    assert listed[0]["importSettings"] == {"csv": {"skip": 2**70}}
    assert listed[0]["createdTime"] == api.get(f"accounts/{account}").json()["createdTime"]


# ---------------------------------------------------------------------------------------------- late failures


def test_rendering_failure_returns_500_and_is_logged(api, monkeypatch, caplog):
    def broken(*args, **kwargs):
        raise RuntimeError("secret detail")

    monkeypatch.setattr("companies.api.rendering.JsonRenderer.render", broken)
    api.client.raise_request_exception = False
    with caplog.at_level(logging.ERROR, logger="api"):
        answer = api.get("accounts", x_request_id="my-request")
    assert answer.status_code == 500
    assert "my-request" in caplog.text
    assert "secret detail" in caplog.text


def test_page_failure_returns_html_500_and_is_logged(sign_in_browser, alice, acme, monkeypatch, caplog):
    def broken(*args, **kwargs):
        raise RuntimeError("secret detail")

    browser = sign_in_browser(alice, acme)
    browser.client.raise_request_exception = False
    monkeypatch.setattr("companies.pages.user.home.render", broken)
    with caplog.at_level(logging.ERROR, logger="api"):
        answer = browser.client.get("/app/", headers={"X-Request-Id": "my-request"})
    assert answer.status_code == 500
    assert answer["Content-Type"].startswith("text/html")
    assert b"my-request" in answer.content
    assert b"secret" not in answer.content
    assert "my-request" in caplog.text


@pytest.mark.parametrize("kind", [OperationalError, InterfaceError])
def test_lost_database_returns_503_with_retry_after(api, monkeypatch, kind):
    def lost(*args, **kwargs):
        raise kind("connection to server at 10.0.0.7 failed")

    monkeypatch.setattr("companies.auth.authentication.fetch_first_row", lost)
    answer = api.get("accounts")
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
    assert int(answer["Retry-After"]) > 0
    assert "10.0.0.7" not in answer.content.decode()


@pytest.mark.parametrize("kind", [OperationalError, InterfaceError])
def test_failure_to_record_key_use_does_not_change_response(api, monkeypatch, caplog, kind):
    """The change is stored by then: a 5xx would say that it is not."""

    def lost(*args, **kwargs):
        raise kind("connection to server at 10.0.0.7 failed")

    monkeypatch.setattr("companies.auth.authentication.ApiKeyCredential.record_use", lost)
    answer = api.post("account_groups", {"name": "x"})
    assert answer.status_code == 201
    assert "last use" in caplog.text
    assert [group["id"] for group in api.get("account_groups").json()] == [answer.json()["id"]]


# ---------------------------------------------------------------------------------------------- methods


READ_ONLY = [
    *("/healthz", "/readyz", "/openapi.json", "/docs", "/docs/errors", "/assets/x.png", "/auth/oauth2/jwks"),
    *("/auth/.well-known/openid-configuration", "/.well-known/oauth-protected-resource"),
]


def test_read_only_endpoints_answer_405_to_other_methods(client):
    client.handler.enforce_csrf_checks = True
    for path in READ_ONLY:
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            answer = client.generic(method, path)
            assert (answer.status_code, answer["Content-Type"]) == (405, "application/problem+json"), method
            assert answer.json()["code"] == "method_not_allowed", path
            assert {"GET", "HEAD"} <= set(answer["Allow"].split(", ")), path
        assert client.head(path).status_code == client.get(path).status_code


def test_read_only_pages_answer_405_to_put(sign_in_browser, alice, acme):
    browser = sign_in_browser(alice, acme)
    for path in ("/app/", f"/app/companies/{acme.id}", f"/app/companies/{acme.id}/settings/api-keys"):
        assert browser.client.put(path).status_code == 405, path
        assert browser.client.get(path).status_code == 200, path


# ---------------------------------------------------------------------------------------------- what is taken and sent


def test_accept_header_is_parsed_as_in_http(api):
    for accept, status in [
        ("application/json;q=0", 406),
        ("*/*;q=0", 406),
        ("application/json;q=0, */*", 406),
        ("text/html, */*;q=0.1", 200),
        ("application/*", 200),
        ("application/json;q=0.5, */*;q=0", 200),
        ("", 200),
        ("text/html", 406),
    ]:
        assert api.get("accounts", accept=accept).status_code == status


def test_unexpected_request_body_is_validated(api, account):
    answer = api.put(f"accounts/{account}/unarchive", {"z": 1})
    assert (answer.status_code, answer["Ignored-Fields"]) == (200, "z")
    api.put(f"accounts/{account}/archive")
    assert Account.objects.get(id=account).archived
    for body, media_type, status in ((b"{", "application/json", 400), (b"{}", "text/plain", 415)):
        path = api.path(f"accounts/{account}/unarchive")
        answer = api.client.generic("PUT", path, body, content_type=media_type, headers=api.headers)
        assert answer.status_code == status
        assert Account.objects.get(id=account).archived


# ---------------------------------------------------------------------------------------------- cursors and versions


def test_cursor_is_rejected_by_other_lists(api):
    for name in "abc":
        api.post("counterparties", {"type": "vendor", "name": name})
    link = api.get("audit_log", {"limit": "1"})["Link"]
    cursor = link.partition("cursor=")[2].partition(">")[0].partition("&")[0]
    assert api.get("audit_log", {"limit": "1", "cursor": cursor}).status_code == 200
    for path in ("imports", "transactions", "files"):
        answer = api.get(path, {"cursor": cursor})
        assert (answer.status_code, list_error_codes(answer)) == (400, [("#/cursor", "invalid_cursor")]), path


@pytest.mark.parametrize("tag", ['"x"', "*"])
def test_if_match_fails_for_resource_that_does_not_exist_yet(api, account, tag):
    answer = api.put(f"accounts/{account}/initial_balance", {"date": "2024-01-01", "amountValue": "1.00"}, if_match=tag)
    assert (answer.status_code, answer.json()["code"]) == (412, "precondition_failed")
    assert "ETag" not in answer
    assert api.get(f"accounts/{account}/initial_balance").json()["transaction"] is None


def test_create_accepts_read_only_fields_of_listed_resource(api, account):
    (listed,) = api.get("accounts").json()
    answer = api.post("accounts", listed)
    assert (answer.status_code, "Ignored-Fields" in answer) == (201, False)


def test_file_etag_changes_if_its_transaction_is_deleted(api, account):
    from tests.ledger.files.test_files import PDF, upload_file

    row = {"accountId": account, "date": "2026-01-01", "amountValue": "1.00"}
    booked = api.post("transactions", row).json()["id"]
    file = upload_file(api, PDF, transactionIds=[booked]).json()["id"]
    before = api.get(f"files/{file}")["ETag"]
    assert api.get(f"files/{file}", if_none_match=before).status_code == 304
    api.delete(f"transactions/{booked}")
    after = api.get(f"files/{file}", if_none_match=before)
    assert (after.status_code, after.json()["transactionIds"]) == (200, [])
    assert api.put(f"files/{file}", {"parseStatus": "parsed"}, if_match=after["ETag"]).status_code == 200


def test_category_etag_changes_with_its_usage(api, account):
    category = Category.objects.filter(system=False).first() or Category.objects.first()
    path = f"categories/{category.id}"
    before = api.get(path)["ETag"]
    row = {"accountId": account, "date": "2026-01-01", "amountValue": "1.00", "categoryId": str(category.id)}
    answer = api.post("transactions/import", {"transactions": [row | {"plType": category.pl_types[0]}]})
    assert answer.status_code == 200, answer.content
    after = api.get(path, if_none_match=before)
    assert (after.status_code, after.json()["usedTransactions"]) == (200, 1)
    assert api.put(path, {"name": "Other"}, if_match=before).status_code == 200  # its own data are the same
