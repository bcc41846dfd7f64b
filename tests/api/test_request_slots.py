"""How many requests of one credential and one company are answered at the same time."""

import multiprocessing

import pytest

from companies.api import request_slots
from companies.models import ApiKey

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def limit_request_slots(monkeypatch, settings):
    settings.REQUESTS_PER_CREDENTIAL, settings.THREADS = 4, 4
    monkeypatch.setattr(request_slots, "WAIT_SECONDS", 0.0)


@pytest.fixture
def take_slots():
    """Take request slots as running requests do, and release them after the test."""
    held = []

    def take(acquire_slot, name, times):
        held.extend(acquire_slot(name) for _ in range(times))
        assert None not in held

    yield take
    for give_back in held:
        give_back()


def get_rejection(answer):
    assert answer["Content-Type"] == "application/problem+json"
    return answer.status_code, answer.json()["code"], answer["Retry-After"]


TOO_MANY = (429, "too_many_in_work", "1")


def get_credential_name(api):
    return f"apiKey:{ApiKey.objects.get(company=api.company).id}"


def test_fifth_concurrent_request_of_credential_is_rejected(api, make_api, acme, take_slots):
    take_slots(request_slots.acquire_credential_slot, get_credential_name(api), 3)
    assert api.get("accounts").status_code == 200
    take_slots(request_slots.acquire_credential_slot, get_credential_name(api), 1)
    assert get_rejection(api.get("accounts")) == TOO_MANY
    assert get_rejection(api.get("/companies")) == TOO_MANY
    assert make_api(acme).get("accounts").status_code == 200


def test_company_uses_at_most_half_of_the_threads(api, make_api, globex, take_slots, settings):
    settings.THREADS = 4
    take_slots(request_slots.acquire_company_slot, str(api.company.id), 2)
    assert get_rejection(api.get("accounts")) == TOO_MANY
    assert api.get("/companies").status_code == 200
    assert make_api(globex).get("accounts").status_code == 200


def test_request_slots_are_released_after_each_request(api):
    for _ in range(10):
        assert api.get("accounts").status_code == 200
        assert api.get("accounts/x").status_code == 404
        answer = api.get("exports/transactions.csv?startDate=2026-01-01&endDate=2026-01-31")
        assert answer.status_code == 200
        assert b"".join(answer.streaming_content)
    assert str(api.company.id) not in request_slots.COMPANY_REQUESTS


def test_streamed_response_holds_its_slot_until_sent(api):
    answer = api.get("exports/transactions.csv?startDate=2026-01-01&endDate=2026-01-31")
    assert request_slots.COMPANY_REQUESTS[str(api.company.id)] == 1
    b"".join(answer.streaming_content)
    assert str(api.company.id) not in request_slots.COMPANY_REQUESTS


def test_page_without_free_slot_returns_429_html(sign_in_browser, alice, acme, take_slots):
    browser = sign_in_browser(alice, acme).client
    take_slots(request_slots.acquire_credential_slot, f"session:{alice.pk}", 4)
    for path in ("/app/", f"/app/companies/{acme.id}/transactions"):
        answer = browser.get(path)
        assert (answer.status_code, answer["Retry-After"]) == (429, "1")
        assert "Too many requests" in answer.content.decode()
    assert browser.get("/healthz").status_code == 200


def test_company_page_without_free_company_slot_returns_429(sign_in_browser, alice, acme, take_slots, settings):
    settings.THREADS = 4
    take_slots(request_slots.acquire_company_slot, str(acme.id), 2)
    browser = sign_in_browser(alice, acme).client
    assert browser.get(f"/app/companies/{acme.id}/transactions").status_code == 429
    assert browser.get("/app/").status_code == 200


def test_pages_share_rate_limit_with_api(sign_in_browser, alice, acme, settings):
    settings.RATE_LIMIT = 3
    browser = sign_in_browser(alice, acme)
    assert browser.client.get("/app/").status_code == 200
    assert browser.get("accounts").status_code == 200
    assert browser.client.get(f"/app/companies/{acme.id}/transactions").status_code == 200
    answer = browser.client.get("/app/")
    assert answer.status_code == 429
    assert 0 < int(answer["Retry-After"]) <= 60


def test_sign_in_and_health_checks_need_no_slot(client, settings):
    settings.RATE_LIMIT = 1
    for _ in range(3):
        assert client.get("/app/sign-in").status_code == 200
        assert client.get("/healthz").status_code == 200
        assert client.get("/readyz").status_code == 200


def test_assistant_tool_call_counts_once_for_its_key_and_company(api, take_slots, settings):
    settings.THREADS = 4

    def call():
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_categories"}}
        headers = api.headers | {"Accept": "application/json, text/event-stream"}
        return api.client.post("/mcp", body, content_type="application/json", headers=headers)

    take_slots(request_slots.acquire_credential_slot, get_credential_name(api), 3)
    assert "error" not in call().json()
    take_slots(request_slots.acquire_company_slot, str(api.company.id), 2)
    assert "too_many_in_work" in call().content.decode()
    take_slots(request_slots.acquire_credential_slot, get_credential_name(api), 1)
    assert get_rejection(call()) == TOO_MANY


def take_all_slots(name, taken, done):
    for _ in range(4):
        assert request_slots.acquire_credential_slot(name)
    taken.set()
    done.wait(60)


def test_credential_slots_are_shared_by_processes_and_freed_on_exit():
    context = multiprocessing.get_context("fork")
    taken, done = context.Event(), context.Event()
    process = context.Process(target=take_all_slots, args=("apiKey:x", taken, done))
    process.start()
    assert taken.wait(60)
    assert request_slots.acquire_credential_slot("apiKey:x") is None
    other = request_slots.acquire_credential_slot("apiKey:y")
    assert other
    other()
    process.kill()
    process.join()
    again = request_slots.acquire_credential_slot("apiKey:x")
    assert again
    again()


def test_request_waits_briefly_for_a_free_slot(monkeypatch):
    monkeypatch.setattr(request_slots, "WAIT_SECONDS", 5.0)
    answers = iter([None, None, lambda: None])
    slots = request_slots.RequestSlots()
    slots.take_slot("k", lambda: next(answers))
    assert list(slots.held) == ["k"]
