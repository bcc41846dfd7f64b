"""One budget of requests a minute for each credential, whichever worker answers."""

import multiprocessing
import threading
from datetime import timedelta

import pytest

from companies.api import throttling
from companies.api.throttling import Counters, spend

pytestmark = pytest.mark.django_db
HEADERS = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")


@pytest.fixture(autouse=True)
def own_counters(settings, tmp_path):
    """Counters of the test's own."""
    settings.DATA_DIR = tmp_path
    throttling.counters.cache_clear()
    yield
    throttling.counters.cache_clear()


@pytest.fixture
def noon(monkeypatch, now):
    """The clock stands at twelve seconds past a minute."""
    moment = now.replace(second=12, microsecond=0)
    monkeypatch.setattr("django.utils.timezone.now", lambda: moment)
    return moment


def test_every_answer_tells_the_budget(api, client, settings, noon):
    settings.RATE_LIMIT = 100
    first = api.get("")
    assert [first[name] for name in HEADERS] == ["100", "99", "48"]
    for answer in (
        api.post("account_groups", {"name": 1}),
        api.get("accounts/x"),
        api.get("accounts", accept="text/html"),
        api.client.patch(api.path("accounts"), headers=api.headers),
        api.get("/companies/x"),
        client.get("/companies"),
        client.get("/companies", headers={"Authorization": "Bearer x"}),
    ):
        assert all(name in answer for name in HEADERS), answer.wsgi_request.path
    assert api.get("")["RateLimit-Remaining"] == "93"


def test_a_spent_budget_is_429_until_the_minute_is_over(api, settings, noon, monkeypatch):
    settings.RATE_LIMIT = 3
    assert [api.get("").status_code for _ in range(3)] == [200] * 3
    refused = api.post("account_groups", {"name": "x"})
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert refused["Content-Type"] == "application/problem+json"
    assert refused["Retry-After"] == refused["RateLimit-Reset"] == "48"
    assert refused["RateLimit-Remaining"] == "0"
    later = noon + timedelta(seconds=48)
    monkeypatch.setattr("django.utils.timezone.now", lambda: later)
    assert api.get("account_groups").json() == []


def test_credentials_have_budgets_of_their_own(api, make_api, acme, browser_of, alice, settings, noon):
    settings.RATE_LIMIT = 1
    assert api.get("").status_code == 200
    assert api.get("").status_code == 429
    assert make_api(acme).get("").status_code == 200
    assert browser_of(alice, acme).get("").status_code == 200


def test_callers_without_a_credential_share_their_addresss_budget(client, api, settings, noon):
    settings.RATE_LIMIT = 2
    statuses = [client.get("/companies", headers={"Authorization": f"Bearer {n}"}).status_code for n in range(3)]
    assert statuses == [401, 401, 429]
    assert api.get("").status_code == 200
    elsewhere = client.get("/companies", REMOTE_ADDR="192.0.2.1")
    assert elsewhere.status_code == 401


def test_threads_count_without_losing_one(tmp_path):
    counters = Counters(tmp_path / "c")

    def work():
        for _ in range(500):
            counters.add("k", 7)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counters.add("k", 7) == 8 * 500 + 1


def hammer(path, names):
    counters = Counters(path)
    for _ in range(500):
        for name in names:
            counters.add(name, 7)


def test_processes_count_as_one(tmp_path):
    names = [f"apiKey:{n}" for n in range(5)]
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=hammer, args=(tmp_path / "c", names)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    counters = Counters(tmp_path / "c")
    assert [counters.add(name, 7) for name in names] == [4 * 500 + 1] * 5


def test_a_new_minute_starts_at_zero_and_many_callers_fit(tmp_path):
    counters = Counters(tmp_path / "c")
    for n in range(8000):
        assert counters.add(f"apiKey:{n}", 7) == 1
    again = [counters.add(f"apiKey:{n}", 7) for n in range(8000)]
    assert again.count(2) > 7990
    assert counters.add("apiKey:1", 8) == 1


def test_a_shared_cache_shares_the_budget(settings, monkeypatch):
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://x"}}
    kept = {}

    class Shared:
        def add(self, key, value, timeout):
            kept.setdefault(key, value)

        def incr(self, key):
            kept[key] += 1
            return kept[key]

    monkeypatch.setattr(throttling, "cache", Shared())
    assert [spend("k", now=120.0, limit=2).exceeded for _ in range(3)] == [False, False, True]
    assert not spend("k", now=180.0, limit=2).exceeded
