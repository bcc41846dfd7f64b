"""Every refusal has its status, one body, and an order in which it comes."""

import json
import re
import uuid

import pytest

from companies.models import Company
from ledger.models import Account, AccountGroup

pytestmark = pytest.mark.django_db

UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"
PROBLEM_MEMBERS = {"type", "title", "status", "detail", "instance", "code", "requestId"}


def check_error(answer, status, code):
    """Checks the whole body of a refusal and gives it back."""
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    body = answer.json()
    assert set(body) - {"errors"} == PROBLEM_MEMBERS
    assert (body["status"], body["code"]) == (status, code)
    assert ("errors" in body) == (code == "validation_failed")
    assert body["instance"] == answer.wsgi_request.path
    assert body["requestId"] == answer["X-Request-Id"]
    assert body["title"]
    assert body["detail"]
    assert body["type"].startswith("http")
    return body


def send_raw(api, method, path, body=b"", content_type="application/json", **headers):
    return api.client.generic(method, api.path(path), body, content_type=content_type, headers=api.headers | headers)


# ---------------------------------------------------------------------------------------------- each status


def test_error_body_has_same_shape_for_each_status(api, client, globex, sign_in_browser, bob, acme):
    check_error(api.get("accounts", {"colour": "red"}), 400, "validation_failed")
    check_error(send_raw(api, "POST", "accounts", b"{"), 400, "invalid_json")
    check_error(client.get("/companies"), 401, "not_authenticated")
    check_error(client.get("/companies", headers={"Authorization": "Bearer nonsense"}), 401, "invalid_credentials")
    check_error(sign_in_browser(bob, acme).post("accounts", {}), 403, "permission_denied")
    check_error(api.get(f"/companies/{globex.id}"), 404, "not_found")
    check_error(api.get(f"accounts/{UNKNOWN_ID}"), 404, "not_found")
    check_error(send_raw(api, "PATCH", "accounts"), 405, "method_not_allowed")
    check_error(api.get("accounts", accept="text/html"), 406, "not_acceptable")
    check_error(send_raw(api, "POST", "accounts", b"{}" + b" " * 1024 * 1024), 413, "body_too_large")
    check_error(send_raw(api, "POST", "accounts", b"<a/>", content_type="text/xml"), 415, "unsupported_media_type")
    check_error(api.put("", {"name": "x"}, if_match='"other"'), 412, "precondition_failed")


def test_unknown_url_returns_json_404_for_everyone(client, api):
    for path in ["/nowhere", "/companies/", "/companies/x/accounts/", "/companies/a/b/c/d", "/%00"]:
        check_error(client.get(path), 404, "not_found")
        check_error(api.get(path), 404, "not_found")
        check_error(client.post(path, {}, content_type="application/json"), 404, "not_found")


def test_malformed_id_returns_same_404_as_unknown_id(api):
    for escaped in ["%zz", "%00", "%ff", "%F0%9F%92%A9", "%2e%2e%2f", "%", "a" * 3000, "..%2f..", "%0d%0aX: y"]:
        for address in (f"/companies/{escaped}", f"/companies/{api.company.id}/accounts/{escaped}"):
            body = check_error(api.get(address), 404, "not_found")
            unknown = api.get(f"accounts/{UNKNOWN_ID}").json()
            assert {k: v for k, v in body.items() if k not in {"instance", "requestId"}} == {
                k: v for k, v in unknown.items() if k not in {"instance", "requestId"}
            }, escaped


def test_ids_in_urls_match_canonical_form_case_insensitively(api):
    group = api.post("account_groups", {"name": "Banks"}).json()["id"]
    company = str(api.company.id)
    assert api.get(f"/companies/{company.upper()}/account_groups/{group.upper()}").status_code == 200
    for spelled in (group.replace("-", ""), f"{{{group}}}", f"urn:uuid:{group}", f" {group}", f"{group}%0a"):
        check_error(api.get(f"account_groups/{spelled}"), 404, "not_found")
    for spelled in (company.replace("-", ""), f"{{{company}}}", f"urn:uuid:{company}"):
        check_error(api.get(f"/companies/{spelled}"), 404, "not_found")


def test_ids_in_urls_match_for_session_as_for_api_key(sign_in_browser, alice, acme):
    alice_here = sign_in_browser(alice, acme)
    assert alice_here.get(f"/companies/{str(acme.id).upper()}").status_code == 200
    for spelled in (acme.id.hex, f"{{{acme.id}}}", f"urn:uuid:{acme.id}"):
        check_error(alice_here.get(f"/companies/{spelled}"), 404, "not_found")


def test_unsupported_method_returns_405_with_allow_header(api):
    for path, allowed in [
        ("/companies", {"GET", "HEAD", "POST"}),
        ("", {"GET", "HEAD", "PUT", "DELETE"}),
        ("logo", {"PUT", "DELETE"}),
        ("accounts", {"GET", "HEAD", "POST"}),
        ("transactions/import", {"POST"}),
        (f"account_groups/{UNKNOWN_ID}", {"GET", "HEAD", "PUT", "DELETE"}),
    ]:
        for method in ["PATCH", "OPTIONS", "TRACE", "PROPFIND"]:
            answer = send_raw(api, method, path)
            check_error(answer, 405, "method_not_allowed")
            assert {name.strip() for name in answer["Allow"].split(",")} == allowed, (path, method)


@pytest.mark.parametrize("accept", ["*/*", "application/*", "application/json", "text/html, application/json;q=0.1"])
def test_accept_header_that_allows_json_gets_json(api, accept):
    answer = api.get("accounts", accept=accept)
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "image/*", "nonsense"])
def test_unacceptable_request_is_rejected_before_any_change(api, accept):
    check_error(api.post("account_groups", {"name": "Banks"}, accept=accept), 406, "not_acceptable")
    assert not AccountGroup.objects.exists()


# ---------------------------------------------------------------------------------------------- request ids


@pytest.mark.parametrize("sane", ["a", "A-1_b.c:d", "x" * 64, UNKNOWN_ID])
def test_valid_request_id_is_adopted(api, sane):
    answer = api.get(f"accounts/{UNKNOWN_ID}", x_request_id=sane)
    assert answer["X-Request-Id"] == sane == answer.json()["requestId"]


def test_invalid_request_id_is_replaced(api):
    for insane in ["", " ", "x" * 65, "a b", "a\tb", "ü", "<b>", "a,b", "a\x7f", "'"]:
        answer = api.get("", x_request_id=insane)
        assert answer["X-Request-Id"] != insane
        assert uuid.UUID(answer["X-Request-Id"]), insane


def test_responses_outside_the_api_have_request_id(client):
    assert client.get("/healthz", headers={"X-Request-Id": "abc"})["X-Request-Id"] == "abc"
    assert client.get("/nowhere", headers={"X-Request-Id": "abc"}).json()["requestId"] == "abc"


# ---------------------------------------------------------------------------------------------- bodies


def test_invalid_json_is_rejected(api):
    for body in [
        b"{",
        b"nul",
        b"\xff",
        b"\xef\xbb\xbf{}",  # a byte order mark
        '{"name": "x"}'.encode("utf-16"),
        b'{"name": NaN}',
        b'{"order": Infinity}',
        b'{"name": "\\ud800"}',  # half of a pair
        b'{"name": "\xed\xa0\x80"}',
        b'{"name": "a\x01"}',
        b"{'name': 'x'}",
        b'{"name": "x",}',
        b"[" * 20_000,
        b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
        b"\x00",
        b"{}{}",
    ]:
        check_error(send_raw(api, "POST", "account_groups", body[:200_000]), 400, "invalid_json")
        check_error(send_raw(api, "POST", "transactions/import", body), 400, "invalid_json")
        assert not AccountGroup.objects.exists(), body


def test_json_that_is_not_an_object_is_rejected(api):
    for body in [b"[]", b'"x"', b"1", b"null", b"true", b"[{}]", b"1e400", b"-0"]:
        for method, path in (("POST", "account_groups"), ("PUT", ""), ("POST", "transactions/import")):
            answer = send_raw(api, method, path, body)
            assert answer.status_code == 400, body
            if answer.json()["code"] == "validation_failed":
                assert answer.json()["errors"][0]["pointer"] == "#", body
        assert not AccountGroup.objects.exists(), body


def test_huge_or_malformed_integer_is_rejected(api):
    for number in ["1" * 400, "-" + "9" * 30, "9223372036854775808", "1e3", "1.0", "8388608"]:
        answer = send_raw(api, "POST", "account_groups", b'{"name": "x", "order": %s}' % number.encode())
        assert answer.status_code == 400, number
        assert not AccountGroup.objects.exists(), number


def test_nested_data_depth_is_limited(api):
    def nested(depth):
        value = 1
        for _ in range(depth):
            value = {"a": value}
        return {"type": "bank", "name": "x", "importSettings": {"other": value}}

    stored = api.post("accounts", nested(20))
    assert stored.status_code == 201
    assert api.get(f"accounts/{stored.json()['id']}").json()["importSettings"] == nested(20)["importSettings"]
    body = check_error(api.post("accounts", nested(300)), 400, "validation_failed")
    assert body["errors"][0]["code"] == "too_deep"
    assert Account.objects.count() == 1


def test_nested_text_with_null_characters_is_rejected(api):
    for value in ({"a": "\0"}, {"\0": 1}, ["\0"]):
        answer = api.post("accounts", {"type": "bank", "name": "x", "importSettings": {"other": {"x": value}}})
        assert answer.status_code == 400
    assert not Account.objects.exists()


def test_duplicate_json_key_takes_last_value(api):
    assert send_raw(api, "POST", "account_groups", b'{"name": "a", "name": "b"}').json()["name"] == "b"


@pytest.mark.parametrize("content_type", ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON"])
def test_json_content_type_variants_are_accepted(api, content_type):
    assert send_raw(api, "POST", "account_groups", b'{"name": "a"}', content_type).status_code == 201


def test_other_media_type_returns_415(api):
    for content_type in [
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonx",
        "nonsense",
        "ü/ü",
    ]:
        check_error(
            send_raw(api, "POST", "account_groups", b'{"name": "a"}', content_type), 415, "unsupported_media_type"
        )
        check_error(
            send_raw(api, "POST", "transactions/import", b'{"transactions": []}', content_type),
            415,
            "unsupported_media_type",
        )


def test_compressed_body_returns_415(api):
    check_error(
        send_raw(api, "POST", "account_groups", b"\x1f\x8b", **{"Content-Encoding": "gzip"}),
        415,
        "unsupported_media_type",
    )


@pytest.mark.parametrize("path", ["account_groups", "transactions/import"])
def test_body_without_length_returns_411(api, path):
    answer = api.client.generic(
        "POST",
        api.path(path),
        b"",
        content_type="application/json",
        HTTP_TRANSFER_ENCODING="chunked",
        headers=api.headers,
    )
    check_error(answer, 411, "length_required")


def test_body_size_limit_is_one_mebibyte_and_higher_for_imports(api):
    fitting = json.dumps({"name": "x", "pad": ""}).encode()
    fitting = fitting.replace(b'""', b'"%s"' % (b"p" * (1024 * 1024 - len(fitting))))
    assert len(fitting) == 1024 * 1024
    assert send_raw(api, "POST", "account_groups", fitting).status_code == 201
    check_error(send_raw(api, "POST", "account_groups", fitting + b" "), 413, "body_too_large")
    large = b'{"transactions": [], "pad": "%s"}' % (b"p" * 2 * 1024 * 1024)
    assert send_raw(api, "POST", "transactions/import", large).status_code == 200


def test_unknown_fields_are_ignored_and_named_in_header(api):
    answer = api.post("account_groups", {"name": "x", "farbe": 1, "companyId": "y", "id": 3, "ü\n": 1})
    assert answer.status_code == 201
    assert "companyId" not in answer["Ignored-Fields"]
    assert answer["Ignored-Fields"].isascii()
    assert "farbe" in answer["Ignored-Fields"]


def test_validation_errors_point_at_every_invalid_field(api):
    body = check_error(api.post("accounts", {"type": 1, "name": None, "order": "1"}), 400, "validation_failed")
    assert [(e["pointer"], e["code"]) for e in body["errors"]] == [
        ("#/type", "invalid_choice"), ("#/name", "must_not_be_null"), ("#/order", "invalid_value"),
    ]  # fmt: skip
    assert all(e["detail"] for e in body["errors"])


# ---------------------------------------------------------------------------------------------- parameters


def test_invalid_query_parameter_is_rejected(api):
    for query in [
        "colour=red",
        "limit=0",
        "limit=1001",
        "limit=",
        "limit=1.5",
        "limit=-1",
        "limit=１",
        "limit=1&limit=2",
        "limit=%00",
        "cursor=",
        "cursor=x",
        "cursor=%00",
        "cursor=W10",
        "cursor=bnVsbA",
        "cursor=" + "A" * 2000,
        "cursor=%F0%9F%92%A9",
        "since=yesterday",
        "since=",
        "since=2026-13-01T00:00:00Z",
        "entityId=%00",
        "entityType=a&entityType=b",
        "LIMIT=1",
        "since=99999-01-01T00:00:00Z",
        "=",
        "limit[]=1",
    ]:
        body = check_error(api.get(f"audit_log?{query}"), 400, "validation_failed")
        assert body["errors"], query


def test_thousands_of_query_parameters_are_rejected(api):
    assert api.get("audit_log?" + "&".join(f"a{n}=1" for n in range(25_000))).status_code == 400


def test_unpaginated_lists_reject_limit_parameter(api):
    for path in ["/companies", "members", "api_keys", "accounts", "account_groups"]:
        body = check_error(api.get(f"{path}?limit=5"), 400, "validation_failed")
        assert body["errors"][0]["code"] == "unknown_parameter", path


# ---------------------------------------------------------------------------------------------- the order of checks


def test_checks_run_in_the_documented_order(api, client, globex, make_api, acme):
    """401, the company's 404, 405, 403, the resource's 404, the body's 400, 413, 415, the state's 409."""
    reader = make_api(acme, "accounts:read")
    bad = {"body": b"{", "content_type": "application/json"}
    assert client.generic("PATCH", f"/companies/{globex.id}/accounts/x").status_code == 401
    assert send_raw(reader, "PATCH", f"/companies/{globex.id}/accounts/x", **bad).status_code == 404
    assert send_raw(reader, "PATCH", "accounts/x", **bad).status_code == 405
    assert send_raw(reader, "PUT", "accounts/x", **bad).status_code == 403
    assert send_raw(api, "PUT", "accounts/x", **bad).status_code == 404
    assert send_raw(api, "PUT", "accounts/x", b"x" * 2_000_000, "text/plain").status_code == 404
    group = api.post("account_groups", {"name": "Banks"}).json()
    api.post("accounts", {"type": "bank", "name": "Main", "accountGroupId": group["id"]})
    assert send_raw(api, "PUT", f"account_groups/{group['id']}", **bad).status_code == 400
    assert send_raw(api, "DELETE", f"account_groups/{group['id']}").status_code == 409


def test_rejected_change_stores_nothing(api, acme):
    before = Company.objects.get(id=acme.id).last_overall_updated_time
    api.post("account_groups", {"name": 1})
    api.put("", {"name": "New", "baseCurrency": "XXX"})
    assert not AccountGroup.objects.exists()
    stored = Company.objects.get(id=acme.id)
    assert (stored.name, stored.last_overall_updated_time) == ("Acme", before)


def test_internal_error_does_not_reveal_server_details(api, monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError("psycopg secret detail")

    monkeypatch.setattr("ledger.accounts.actions.account_groups.create_account_group", broken)
    answer = api.post("account_groups", {"name": "x"})
    body = check_error(answer, 500, "internal_error")
    assert not re.search("psycopg|secret|Traceback", json.dumps(body))
    assert answer["RateLimit-Limit"]


def test_invalid_host_returns_json_400(client, settings):
    settings.ALLOWED_HOSTS = ["api.example.com"]
    answer = client.get("/companies", headers={"Host": "evil.example"})
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_request")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "body", "pointer", "words"),
    [
        ("accounts", {"type": "piggyBank", "name": "x"}, "#/type", ["bank", "creditCard", "other"]),
        (
            "accounts",
            {"type": "bank", "name": "x", "defaultCurrency": "eur"},
            "#/defaultCurrency",
            ["EUR", "upper case"],
        ),
        ("api_keys", {"name": "x", "permissions": ["fly"]}, "#/permissions/0", ["accounts:read", "company:manage"]),
        ("data/cohorts", {"startMonth": "2024-01", "endMonth": "2024-02", "measure": "x"}, "#/measure", ["revenue"]),
    ],
)
def test_invalid_choice_names_the_choices(api, path, body, pointer, words):
    errors = {error["pointer"]: error for error in api.post(path, body).json()["errors"]}
    assert errors[pointer]["code"] == "invalid_choice"
    assert all(word in errors[pointer]["detail"] for word in words), errors[pointer]["detail"]


@pytest.mark.django_db
def test_lower_case_currency_is_rejected_with_reason_everywhere(api):
    account = api.post("accounts", {"type": "bank", "name": "x"}).json()["id"]
    row = {"accountId": account, "date": "2024-01-01", "amountValue": "1.00", "amountCurrency": "eur"}
    answers = [
        api.post("transactions", row),
        api.post("transactions/import", {"transactions": [row]}),
        api.get("transactions", {"currency": "eur"}),
        api.put("", {"baseCurrency": "eur"}),
    ]
    for answer in answers:
        (error,) = answer.json()["errors"]
        assert (answer.status_code, error["code"]) in {(400, "invalid_choice"), (400, "invalid_filter")}
        assert "EUR" in error["detail"]
        assert "upper case" in error["detail"]
