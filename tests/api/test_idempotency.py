"""A retried request has its effect once."""

import threading
import time
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import connection
from django.test import Client
from django.test.client import encode_multipart

from companies.api import idempotency
from companies.api.idempotency import compute_request_digest, get_answer_cipher
from companies.models import AuditEntry, IdempotencyRecord
from ledger.accounts.actions import account_groups
from ledger.models import Account, AccountGroup, Transaction

pytestmark = pytest.mark.django_db


def test_idempotent_create_retry_replays_response_and_creates_nothing(api):
    one = api.post("account_groups", {"name": "Banks", "colour": 1}, idempotency_key="k")
    two = api.post("account_groups", {"name": "Banks", "colour": 1}, idempotency_key="k")
    assert (one.status_code, two.status_code) == (201, 201)
    assert one.content == two.content
    for header in ("Location", "ETag", "Ignored-Fields", "Content-Type"):
        assert one[header] == two[header]
    assert "Idempotency-Replayed" not in one
    assert two["Idempotency-Replayed"] == "true"
    assert two["RateLimit-Limit"]
    assert two["X-Request-Id"] != one["X-Request-Id"]
    assert AccountGroup.objects.count() == 1
    assert AuditEntry.objects.filter(action="accountGroup.created").count() == 1


def test_idempotent_delete_retry_returns_success_again(api):
    group = api.post("account_groups", {"name": "Banks"}).json()["id"]
    assert api.delete(f"account_groups/{group}", idempotency_key="k").json() == {"success": True}
    assert api.delete(f"account_groups/{group}", idempotency_key="k").json() == {"success": True}
    assert api.delete(f"account_groups/{group}").status_code == 404


def test_idempotent_import_retry_stores_rows_once(api):
    bank = api.post("accounts", {"type": "bank", "name": "Main"}).json()["id"]
    body = {"transactions": [{"accountId": bank, "date": "2024-05-01", "amountValue": "-1.00"}]}
    one = api.post("transactions/import", body, idempotency_key="k")
    assert api.post("transactions/import", body, idempotency_key="k").json() == one.json()
    assert Transaction.objects.count() == 1


@pytest.mark.parametrize("key", ["a", "x" * 255, "!~", "0f8f7a2e-1f67-4f0a-9d3b-5a3b7c1e2d4f"])
def test_idempotency_key_accepts_1_to_255_visible_characters(api, key):
    assert api.post("account_groups", {"name": "x"}, idempotency_key=key).status_code == 201


def test_idempotency_key_with_invalid_format_is_rejected(api):
    for key in ["", " ", "x" * 256, "a b", "ü", "a\tb"]:
        answer = api.post("account_groups", {"name": "x"}, idempotency_key=key)
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_idempotency_key"), key
        assert not AccountGroup.objects.exists(), key


def test_idempotency_key_reuse_with_another_body_is_rejected(api):
    api.post("account_groups", {"name": "x"}, idempotency_key="k")
    for body in ({"name": "y"}, {}, {"name": "x", "order": 0}):
        answer = api.post("account_groups", body, idempotency_key="k")
        assert (answer.status_code, answer.json()["code"]) == (400, "idempotency_key_reused")
    assert AccountGroup.objects.count() == 1


def test_idempotency_key_reuse_with_another_query_is_rejected(api):
    group = api.post("account_groups", {"name": "x"}).json()["id"]
    api.put(f"account_groups/{group}?a=1", {}, idempotency_key="k")
    assert api.put(f"account_groups/{group}?a=2", {}, idempotency_key="k").json()["code"] == "idempotency_key_reused"


def test_idempotency_keys_are_separate_by_path_method_caller_and_company(api, make_api, acme, globex_api):
    group = api.post("account_groups", {"name": "x"}, idempotency_key="k").json()["id"]
    assert api.put(f"account_groups/{group}", {"name": "x"}, idempotency_key="k").json()["id"] == group
    assert api.delete(f"account_groups/{group}", idempotency_key="k").json() == {"success": True}
    other = make_api(acme).post("account_groups", {"name": "other"}, idempotency_key="k")
    assert (other.status_code, other.json()["name"]) == (201, "other")
    assert globex_api.post("account_groups", {"name": "theirs"}, idempotency_key="k").json()["name"] == "theirs"


def test_idempotency_does_not_store_rejected_requests(api):
    assert api.post("account_groups", {"name": 1}, idempotency_key="k").status_code == 400
    assert not IdempotencyRecord.objects.exists()
    assert api.post("account_groups", {"name": "now right"}, idempotency_key="k").status_code == 201


def test_idempotency_does_not_store_failed_requests(api, monkeypatch):
    add_group = account_groups.create_account_group

    def broken(**values):
        add_group(**values)
        raise RuntimeError

    monkeypatch.setattr(account_groups, "create_account_group", broken)
    assert api.post("account_groups", {"name": "x"}, idempotency_key="k").status_code == 500
    assert not AccountGroup.objects.exists()
    assert not IdempotencyRecord.objects.exists()
    monkeypatch.undo()
    assert api.post("account_groups", {"name": "x"}, idempotency_key="k").status_code == 201


def test_idempotency_key_expires_after_a_day(api, monkeypatch, now):
    api.post("account_groups", {"name": "x"}, idempotency_key="k")
    for later, count in ((timedelta(hours=23, minutes=59), 1), (timedelta(hours=24, minutes=1), 2)):
        monkeypatch.setattr("companies.api.viewsets.timezone.now", lambda later=later: now + later)
        assert api.post("account_groups", {"name": "x"}, idempotency_key="k").status_code == 201
        assert AccountGroup.objects.count() == count
    assert api.post("account_groups", {"name": "x"}, idempotency_key="k")["Idempotency-Replayed"] == "true"


def test_idempotency_key_is_ignored_on_reads(api):
    assert api.get("account_groups", idempotency_key="k").json() == []
    api.post("account_groups", {"name": "x"})
    assert len(api.get("account_groups", idempotency_key="k").json()) == 1
    assert not IdempotencyRecord.objects.exists()


QUERIES = [
    ("data/accountBalanceByAccount", {"startDate": "2026-01-01", "endDate": "2026-01-31"}),
    ("transactions/categorization_status", {"transactionIds": []}),
    ("transactions/proposals", {"transactionIds": []}),
    ("transactions/transfer_proposals", {"startDate": "2026-01-01", "endDate": "2026-01-31"}),
    ("planned_transactions/matches", {"startDate": "2026-01-01", "endDate": "2026-01-31"}),
    ("plan_items/proposals", {"startDate": "2026-01-01", "endDate": "2026-01-31"}),
    ("planned_transactions/proposals", {}),
]


def test_idempotency_key_is_ignored_on_query_endpoints(api):
    for path, body in QUERIES:
        for key in ("k", "k", "not a key"):
            answer = api.post(path, body, idempotency_key=key)
            assert answer.status_code == 200, answer.content
            assert "Idempotency-Replayed" not in answer, path
        assert not IdempotencyRecord.objects.exists(), path


def test_idempotency_does_not_store_dry_runs(api):
    bank = api.post("accounts", {"type": "bank", "name": "Main"}).json()["id"]
    body = {"dryRun": True, "transactions": [{"accountId": bank, "date": "2024-05-01", "amountValue": "-1.00"}]}
    for path, sent in (("transactions/import", body), ("subscription_events/import", {"dryRun": True, "events": []})):
        answer = api.post(path, sent, idempotency_key="k")
        assert (answer.status_code, answer.json()["dryRun"]) == (200, True), answer.content
    assert not IdempotencyRecord.objects.exists()


def count_stored_bytes():
    return sum(len(row.body) + idempotency.ROW_OVERHEAD_BYTES for row in IdempotencyRecord.objects.all())


def test_dry_run_with_the_key_of_a_real_request_runs_and_leaves_its_answer(api):
    bank = api.post("accounts", {"name": "Main", "type": "bank"}).json()["id"]
    body = {"transactions": [{"accountId": bank, "date": "2024-05-01", "amountValue": "-1.00"}]}
    assert api.post("transactions/import", body, idempotency_key="k").json()["count"] == 1
    dry = api.post("transactions/import", body | {"dryRun": True, "duplicates": "skip"}, idempotency_key="k")
    assert (dry.status_code, dry.json()["dryRun"], dry.json()["duplicates"]) == (200, True, 1)
    replayed = api.post("transactions/import", body, idempotency_key="k")
    assert (replayed.json()["count"], replayed.headers["Idempotency-Replayed"]) == (1, "true")
    assert len(api.get("transactions").json()) == 1


def test_idempotency_storage_is_limited_per_credential_to_latest_answers(api, make_api, acme, settings, monkeypatch):
    monkeypatch.setattr(idempotency, "MAX_STORED_BYTES", 20_000)
    monkeypatch.setattr(idempotency, "CHECK_INTERVAL_BYTES", 1)
    other = make_api(acme)
    other.post("account_groups", {"name": "x"}, idempotency_key="first")
    for n in range(30):
        assert api.post("account_groups", {"name": str(n)}, idempotency_key=f"k{n}").status_code == 201
    assert 15_000 < count_stored_bytes() < 25_000
    assert api.post("account_groups", {"name": "29"}, idempotency_key="k29")["Idempotency-Replayed"] == "true"
    assert other.post("account_groups", {"name": "x"}, idempotency_key="first")["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in api.post("account_groups", {"name": "0"}, idempotency_key="k0")


def test_idempotent_retry_of_unstorable_large_answer_returns_409(api, monkeypatch):
    monkeypatch.setattr(idempotency, "MAX_STORED_BYTES", 1100)
    assert api.post("account_groups", {"name": "x"}, idempotency_key="k").status_code == 201
    again = api.post("account_groups", {"name": "x"}, idempotency_key="k")
    assert (again.status_code, again.json()["code"]) == (409, "idempotency_answer_lost")
    assert AccountGroup.objects.count() == 1


def test_idempotent_retry_with_revoked_key_returns_401(api, client, make_api, acme, sign_in_browser, alice):
    key = sign_in_browser(alice, acme).post("api_keys", {"name": "ci", "permissions": ["accounts:write"]}).json()
    caller = make_api(acme)
    caller.headers = {"Authorization": f"Bearer {key['key']}"}
    assert caller.post("account_groups", {"name": "x"}, idempotency_key="k").status_code == 201
    api.delete(f"api_keys/{key['id']}")
    assert caller.post("account_groups", {"name": "x"}, idempotency_key="k").status_code == 401


def test_idempotency_record_does_not_store_readable_api_key(sign_in_browser, alice, acme):
    caller = sign_in_browser(alice, acme)
    body = {"name": "ci", "permissions": ["accounts:read"]}
    made = caller.post("api_keys", body, idempotency_key="k").json()
    with connection.cursor() as cursor:
        cursor.execute("SELECT encode(body, 'escape') FROM companies_idempotencyrecord")
        (stored,) = cursor.fetchone()
    assert made["key"][-36:] not in stored
    replayed = caller.post("api_keys", body, idempotency_key="k")
    assert (replayed.json(), replayed["Cache-Control"]) == (made, "no-store")


def test_request_digest_ignores_multipart_boundary():
    assert compute_form_digest("one", "a") == compute_form_digest("two", "a")
    assert compute_form_digest("one", "a") != compute_form_digest("one", "b")


def compute_form_digest(boundary, value):
    meta = {"CONTENT_TYPE": f"multipart/form-data; boundary={boundary}", "QUERY_STRING": ""}
    return compute_request_digest(SimpleNamespace(body=encode_multipart(boundary, {"file": value}), META=meta))


@pytest.mark.django_db(transaction=True)
def test_idempotent_retry_during_first_request_returns_409(api, monkeypatch):
    add_group, started, go_on = account_groups.create_account_group, threading.Event(), threading.Event()

    def slow(**values):
        started.set()
        assert go_on.wait(10)
        return add_group(**values)

    monkeypatch.setattr(account_groups, "create_account_group", slow)
    answers = []

    def first():
        answers.append(api.post("account_groups", {"name": "x"}, idempotency_key="k"))
        connection.close()

    thread = threading.Thread(target=first)
    thread.start()
    assert started.wait(10)
    second = Client().post(
        api.path("account_groups"), {"name": "x"}, content_type="application/json",
        headers=api.headers | {"Idempotency-Key": "k"},
    )  # fmt: skip
    go_on.set()
    thread.join()
    assert (second.status_code, second.json()["code"]) == (409, "idempotency_in_progress")
    assert second["Retry-After"] == "1"
    assert answers[0].status_code == 201
    assert AccountGroup.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_twelve_concurrent_idempotent_requests_have_one_effect(api):
    answers, gate = [], threading.Barrier(12)

    def call():
        client = Client()
        gate.wait()
        for _ in range(6000):
            answer = client.post(
                api.path("accounts"), {"type": "bank", "name": "x"}, content_type="application/json",
                headers=api.headers | {"Idempotency-Key": "k"},
            )  # fmt: skip
            if answer.status_code != 409:
                break
            time.sleep(0.02)
        answers.append(answer)
        connection.close()

    threads = [threading.Thread(target=call) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert sum("Idempotency-Replayed" not in answer for answer in answers) == 1
    assert Account.objects.count() == 1


def test_company_creation_by_session_can_be_retried(sign_in_browser, bob, acme):
    caller = sign_in_browser(bob, acme)
    one = caller.post("/companies", {"name": "New"}, idempotency_key="k")
    assert one.status_code == 201, one.content
    assert caller.post("/companies", {"name": "New"}, idempotency_key="k").json() == one.json()
    assert len(caller.get("/companies").json()) == 2


def test_idempotency_digest_covers_whole_json_body_despite_boundary(api):
    """Or clients could name a part of a body that is not looked at."""
    sent = {"content_type": "application/json; boundary=5", "headers": api.headers | {"Idempotency-Key": "k"}}
    assert api.client.post(api.path("account_groups"), '{"name": "15"}', **sent).status_code == 201
    other = api.client.post(api.path("account_groups"), '{"name": "1"}', **sent)
    assert (other.status_code, other.json()["code"]) == (400, "idempotency_key_reused")


def test_request_digest_ignores_boundary_only_as_separator():
    assert compute_form_digest("a", "banana") != compute_form_digest("a", "bnn")
    assert compute_form_digest("a", "banana") == compute_form_digest("b", "banana")


@pytest.mark.parametrize("malformed", ["%00", "a%00b", "%ff", "x" * 600])
def test_malformed_id_returns_404_with_idempotency_key(api, malformed):
    answer = api.delete(f"account_groups/{malformed}", idempotency_key="k")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_idempotent_retry_of_unreadable_answer_returns_409(sign_in_browser, alice, acme, settings):
    """A new pepper ends all API keys, but not sessions and apps, whose kept answers were sealed under the old one."""
    caller = sign_in_browser(alice, acme)
    assert caller.post("account_groups", {"name": "x"}, idempotency_key="k").status_code == 201
    settings.API_KEY_PEPPER = "another pepper, of a length that will do"
    get_answer_cipher.cache_clear()
    again = caller.post("account_groups", {"name": "x"}, idempotency_key="k")
    get_answer_cipher.cache_clear()
    assert (again.status_code, again.json()["code"]) == (409, "idempotency_answer_lost")
    assert AccountGroup.objects.count() == 1
