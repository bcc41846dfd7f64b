"""One budget of requests a minute for each credential, whichever worker answers."""

import contextlib
import socket
import socketserver
import subprocess
import sys
import threading
import time
from datetime import timedelta

import pytest
from django.db import connection
from fakeredis import TcpFakeServer
from redis import Redis

from companies.auth import throttling
from companies.auth.throttling import consume_budget
from companies.models import RateCounter
from tests.machine import ROOT, Machine

pytestmark = pytest.mark.django_db
HEADERS = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")


@pytest.fixture(autouse=True)
def isolate_counters(settings):
    """Use counters of this test only."""
    settings.CACHE_URL = ""
    throttling.reset_local_counts()
    yield
    throttling.reset_local_counts()


@pytest.fixture
def fixed_time(monkeypatch, now):
    """A fixed time, twelve seconds past a minute."""
    moment = now.replace(second=12, microsecond=0)
    monkeypatch.setattr("django.utils.timezone.now", lambda: moment)
    return moment


def test_rate_limit_headers_are_on_every_response(api, client, settings, fixed_time):
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


def test_exceeded_rate_limit_returns_429_until_window_ends(api, settings, fixed_time, monkeypatch):
    settings.RATE_LIMIT = 3
    assert [api.get("").status_code for _ in range(3)] == [200] * 3
    refused = api.post("account_groups", {"name": "x"})
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert refused["Content-Type"] == "application/problem+json"
    assert refused["Retry-After"] == refused["RateLimit-Reset"] == "48"
    assert refused["RateLimit-Remaining"] == "0"
    later = fixed_time + timedelta(seconds=48)
    monkeypatch.setattr("django.utils.timezone.now", lambda: later)
    assert api.get("account_groups").json() == []


def test_rate_limit_is_separate_per_credential(api, make_api, acme, sign_in_browser, alice, settings, fixed_time):
    settings.RATE_LIMIT = 1
    assert api.get("").status_code == 200
    assert api.get("").status_code == 429
    assert make_api(acme).get("").status_code == 200
    assert sign_in_browser(alice, acme).get("").status_code == 200


def test_rate_limit_without_credential_is_shared_per_ip_address(client, api, settings, fixed_time):
    settings.RATE_LIMIT = 2
    statuses = [client.get("/companies", headers={"Authorization": f"Bearer {n}"}).status_code for n in range(3)]
    assert statuses == [401, 401, 429]
    assert api.get("").status_code == 200
    elsewhere = client.get("/companies", REMOTE_ADDR="192.0.2.1")
    assert elsewhere.status_code == 401


def forget_counts():
    """What a process that has counted nothing yet knows."""
    throttling.reset_local_counts()


def test_small_rate_limit_is_exact_across_processes():
    for used in range(1, 6):
        assert consume_budget("k", now=120.0, limit=150).used == used
        forget_counts()


def test_large_rate_limit_is_exceeded_by_at_most_one_percent_per_process():
    processes, limit, allowed = [{}, {}, {}], 600, 0
    for n in range(3 * limit):
        throttling.LOCAL_COUNTS = processes[n % 3]
        allowed += not consume_budget("k", now=120.0, limit=limit).is_exceeded
    throttling.LOCAL_COUNTS = {}
    assert limit <= allowed <= limit + 3 * limit // 100


def test_large_rate_limit_rarely_queries_database(django_assert_num_queries):
    with django_assert_num_queries(1):
        for _ in range(60):
            consume_budget("k", now=120.0, limit=6000)


def test_rate_counter_is_thread_safe():
    def work():
        for _ in range(500):
            consume_budget("k", now=120.0, limit=1_000_000)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert consume_budget("k", now=120.0, limit=1_000_000).used == 8 * 500 + 1


def test_rate_counter_is_not_displaced_by_other_names(monkeypatch):
    """Neither in the table, which exact counts are kept in, nor in a process that counts many names."""
    monkeypatch.setattr(throttling, "MAX_LOCAL_NAMES", 10)
    for _ in range(3):
        consume_budget("mails of a victim", now=120.0, limit=5, seconds=3600, exact=True)
        consume_budget("requests of a victim", now=120.0, limit=6000)
    for n in range(2000):
        consume_budget(f"chosen {n}", now=120.0, limit=6000)
    assert len(throttling.LOCAL_COUNTS) <= 10
    assert consume_budget("requests of a victim", now=120.0, limit=6000).used == 4
    forget_counts()
    assert consume_budget("mails of a victim", now=120.0, limit=5, seconds=3600, exact=True).used == 4
    assert consume_budget("chosen 1999", now=120.0, limit=6000, exact=True).used == 2


def test_rate_counter_starts_at_zero_in_new_window():
    for exact in (True, False):
        assert [consume_budget(f"k{exact}", now=now, exact=exact).used for now in (120.0, 179.0, 180.0)] == [1, 2, 1]


def test_rate_counters_of_past_windows_are_pruned(now):
    consume_budget("old", now=now.timestamp() - 7200, exact=True)
    consume_budget("new", now=now.timestamp(), exact=True)
    assert throttling.prune_rate_counters(now=now) == 1
    assert RateCounter.objects.count() == 1


def test_rate_counter_table_hides_email_addresses_and_is_unlogged():
    consume_budget("reset-of:somebody@example.com", now=120.0, exact=True)
    assert "somebody" not in RateCounter.objects.get().name
    with connection.cursor() as cursor:
        cursor.execute("SELECT relpersistence FROM pg_class WHERE relname = 'companies_ratecounter'")
        assert cursor.fetchone() == ("u",)


@pytest.fixture
def redis():
    """A Redis server on a free port."""
    with run_server(TcpFakeServer(("127.0.0.1", 0))) as server:
        yield server


@contextlib.contextmanager
def run_server(server):
    with server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


def build_redis_url(server, database=0):
    return f"redis://127.0.0.1:{server.server_address[1]}/{database}"


COUNT = """
import django
django.setup()
from companies.auth.throttling import consume_budget
for _ in range(50):
    consume_budget("k", now=120.0, limit=1000)
"""


def test_rate_limit_is_shared_between_machines(redis, settings, tmp_path):
    settings.CACHE_URL = build_redis_url(redis, 3)
    processes = []
    for name in "ab":
        environment = Machine(home=tmp_path / name).environment(
            CACHE_URL=settings.CACHE_URL, DJANGO_SETTINGS_MODULE="config.settings"
        )
        processes.append(subprocess.Popen([sys.executable, "-c", COUNT], cwd=ROOT, env=environment))
    assert [process.wait(60) for process in processes] == [0, 0]
    assert consume_budget("k", now=120.0, limit=101).used == 101
    assert consume_budget("k", now=120.0, limit=101).is_exceeded
    assert consume_budget("another", now=120.0, limit=101).used == 1
    assert consume_budget("k", now=180.0, limit=101).used == 1


def test_shared_rate_counters_expire_after_two_minutes(redis, settings):
    settings.CACHE_URL = build_redis_url(redis)
    consume_budget("k", now=120.0)
    with Redis.from_url(build_redis_url(redis)) as client:
        (key,) = client.keys()
        assert 118 <= client.ttl(key) <= 120
    with Redis.from_url(build_redis_url(redis, 1)) as client:
        assert client.keys() == []


@pytest.fixture
def unreachable_redis_url():
    """The URL of a Redis server that does not exist."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    return f"redis://:hunter2@127.0.0.1:{port}"


def list_log_lines(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "companies.auth.throttling"]


def test_rate_limit_falls_back_to_local_counts_without_redis(api, settings, unreachable_redis_url, fixed_time, caplog):
    settings.CACHE_URL, settings.RATE_LIMIT = unreachable_redis_url, 3
    answers = [api.get("") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert [answers[0][name] for name in HEADERS] == ["3", "2", "48"]
    (line,) = list_log_lines(caplog)
    assert "CACHE_URL" in line
    assert "hunter2" not in line


def test_redis_failure_is_logged_once_a_minute(settings, unreachable_redis_url, caplog):
    settings.CACHE_URL = unreachable_redis_url
    for now in (120.0, 121.0, 179.0, 180.0, 239.0):
        throttling.RESTING["until"] = 0.0
        consume_budget("k", now=now)
    assert len(list_log_lines(caplog)) == 2


def test_silent_redis_delays_only_one_request(settings, caplog, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.CACHE_URL = f"redis://127.0.0.1:{silent.getsockname()[1]}/1"
        began = time.monotonic()
        consume_budget("k", now=120.0)
        took = time.monotonic() - began
        monkeypatch.setattr(throttling.time, "monotonic", lambda: began + took)  # however long the others are at it
        for _ in range(19):
            consume_budget("k", now=120.0)
        silent.setblocking(False)
        silent.accept()
        with pytest.raises(BlockingIOError):
            silent.accept()  # nobody but the first one waited for it
    assert 0.2 < took < 10
    assert len(list_log_lines(caplog)) == 1


def test_redis_is_tried_again_after_a_pause(redis, settings, unreachable_redis_url, monkeypatch):
    settings.CACHE_URL = unreachable_redis_url
    consume_budget("k", now=120.0)
    settings.CACHE_URL = build_redis_url(redis)
    assert consume_budget("k", now=120.0).used == 2
    assert 2 <= throttling.REDIS_REST_SECONDS <= 30
    later = time.monotonic() + throttling.REDIS_REST_SECONDS
    monkeypatch.setattr(throttling.time, "monotonic", lambda: later)
    assert consume_budget("k", now=120.0).used == 1


def test_restarted_redis_is_used_without_failure(settings, caplog):
    with run_server(TcpFakeServer(("127.0.0.1", 0))) as first:
        settings.CACHE_URL = build_redis_url(first)
        assert [consume_budget("k", now=120.0).used for _ in range(2)] == [1, 2]
    with run_server(TcpFakeServer(first.server_address)):
        assert consume_budget("k", now=120.0).used == 1
    assert list_log_lines(caplog) == []


@pytest.mark.parametrize(
    "reply",
    [
        b"-ERR unknown command 'AUTH', with args beginning with: 'hunter2'\r\n",
        b"-WRONGPASS hunter2\r\n",
        b"+OK\r\n-OOM command not allowed when used memory > 'maxmemory'.\r\n" * 4,
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b":hunter2\r\n",
        b"\xff\xfe\r\n",
        b"",
    ],
    ids=repr,
)
def test_broken_counter_falls_back_to_local_counts(settings, caplog, reply):
    class Answer(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.recv(4096)
            self.request.sendall(reply)

    with run_server(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Answer)) as server:
        settings.CACHE_URL = build_redis_url(server).replace("//", "//u:hunter2@")
        assert [consume_budget("k", now=120.0).used for _ in range(2)] == [1, 2]
    (line,) = list_log_lines(caplog)
    assert "hunter2" not in line


@pytest.mark.django_db(transaction=True)
def test_rate_limit_counts_per_process_if_database_is_read_only(settings, caplog):
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
        try:
            assert [consume_budget("k", now=120.0, limit=3).used for _ in range(4)] == [1, 2, 3, 4]
        finally:
            cursor.execute("SET default_transaction_read_only = off")
    (line,) = list_log_lines(caplog)
    assert "rate limits are counted per process (InternalError)" in line
