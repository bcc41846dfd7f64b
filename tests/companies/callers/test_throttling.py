"""One budget of requests a minute for each credential, whichever worker answers."""

import contextlib
import multiprocessing
import socket
import socketserver
import subprocess
import sys
import threading
import time
from datetime import timedelta

import pytest
from fakeredis import TcpFakeServer
from redis import Redis

from companies.api import throttling
from companies.api.throttling import Counters, spend
from tests.machine import ROOT, Machine

pytestmark = pytest.mark.django_db
HEADERS = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")


@pytest.fixture(autouse=True)
def own_counters(settings, tmp_path, monkeypatch):
    """Counters of the test's own."""
    settings.DATA_DIR = tmp_path
    settings.CACHE_URL = ""
    monkeypatch.setitem(throttling.RESTING, "until", 0.0)
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


def hammer(path, names, together):
    together.wait()  # none may clear what another has counted already
    counters = Counters(path)
    for _ in range(500):
        for name in names:
            counters.add(name, 7)


def test_processes_count_as_one(tmp_path):
    names = [f"apiKey:{n}" for n in range(5)]
    context = multiprocessing.get_context("spawn")
    together = context.Barrier(4)
    processes = [context.Process(target=hammer, args=(tmp_path / "c", names, together)) for _ in range(4)]
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


@pytest.fixture
def redis():
    """A server that speaks Redis's protocol, on a port of its own."""
    with running(TcpFakeServer(("127.0.0.1", 0))) as server:
        yield server


@contextlib.contextmanager
def running(server):
    with server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


def at(server, database=0):
    return f"redis://127.0.0.1:{server.server_address[1]}/{database}"


COUNT = """
import django
django.setup()
from companies.api.throttling import spend
for _ in range(50):
    spend("k", now=120.0, limit=1000)
"""


def test_machines_share_the_budget_of_a_credential(redis, settings, tmp_path):
    settings.CACHE_URL = at(redis, 3)
    processes = []
    for name in "ab":
        environment = Machine(home=tmp_path / name).environment(
            CACHE_URL=settings.CACHE_URL, DJANGO_SETTINGS_MODULE="config.settings"
        )
        processes.append(subprocess.Popen([sys.executable, "-c", COUNT], cwd=ROOT, env=environment))
    assert [process.wait(60) for process in processes] == [0, 0]
    assert spend("k", now=120.0, limit=101).used == 101
    assert spend("k", now=120.0, limit=101).exceeded
    assert spend("another", now=120.0, limit=101).used == 1
    assert spend("k", now=180.0, limit=101).used == 1


def test_what_machines_count_together_is_gone_two_minutes_later(redis, settings):
    settings.CACHE_URL = at(redis)
    spend("k", now=120.0)
    with Redis.from_url(at(redis)) as client:
        (key,) = client.keys()
        assert 118 <= client.ttl(key) <= 120
    with Redis.from_url(at(redis, 1)) as client:
        assert client.keys() == []


@pytest.fixture
def nobody():
    """The address of a port on which no one listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    return f"redis://:hunter2@127.0.0.1:{port}"


def lines(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "companies.api.throttling"]


def test_without_the_shared_counters_the_machines_own_go_on(api, settings, nobody, noon, caplog):
    settings.CACHE_URL, settings.RATE_LIMIT = nobody, 3
    answers = [api.get("") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert [answers[0][name] for name in HEADERS] == ["3", "2", "48"]
    (line,) = lines(caplog)
    assert "CACHE_URL" in line
    assert "hunter2" not in line


def test_the_log_tells_it_once_a_minute(settings, nobody, caplog):
    settings.CACHE_URL = nobody
    for now in (120.0, 121.0, 179.0, 180.0, 239.0):
        throttling.RESTING["until"] = 0.0
        spend("k", now=now)
    assert len(lines(caplog)) == 2


def test_a_redis_that_is_silent_holds_up_one_request_for_a_moment(settings, caplog, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.CACHE_URL = f"redis://127.0.0.1:{silent.getsockname()[1]}/1"
        began = time.monotonic()
        spend("k", now=120.0)
        took = time.monotonic() - began
        monkeypatch.setattr(throttling.time, "monotonic", lambda: began + took)  # however long the others are at it
        for _ in range(19):
            spend("k", now=120.0)
        silent.setblocking(False)
        silent.accept()
        with pytest.raises(BlockingIOError):
            silent.accept()  # nobody but the first one waited for it
    assert 0.2 < took < 10
    assert len(lines(caplog)) == 1


def test_a_redis_that_is_back_is_asked_again_after_a_rest(redis, settings, nobody, monkeypatch):
    settings.CACHE_URL = nobody
    spend("k", now=120.0)
    settings.CACHE_URL = at(redis)
    assert spend("k", now=120.0).used == 2
    assert 2 <= throttling.REST <= 30
    later = time.monotonic() + throttling.REST
    monkeypatch.setattr(throttling.time, "monotonic", lambda: later)
    assert spend("k", now=120.0).used == 1


def test_a_restarted_redis_is_found_without_a_failure(settings, caplog):
    with running(TcpFakeServer(("127.0.0.1", 0))) as first:
        settings.CACHE_URL = at(first)
        assert [spend("k", now=120.0).used for _ in range(2)] == [1, 2]
    with running(TcpFakeServer(first.server_address)):
        assert spend("k", now=120.0).used == 1
    assert lines(caplog) == []


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
def test_whatever_answers_in_its_place_costs_no_request(settings, caplog, reply):
    class Answer(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.recv(4096)
            self.request.sendall(reply)

    with running(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Answer)) as server:
        settings.CACHE_URL = at(server).replace("//", "//u:hunter2@")
        assert [spend("k", now=120.0).used for _ in range(2)] == [1, 2]
    (line,) = lines(caplog)
    assert "hunter2" not in line


def test_on_a_full_disk_each_process_counts_for_itself(tmp_path):
    """Counters in a hole of a file would end the process that touches them: this one has no hole, or no file."""
    script = (
        "import resource, signal; from pathlib import Path; from companies.api.throttling import Counters\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))\n"
        "print([Counters(Path('c')).add('x', 1), Counters(Path('c')).add('x', 1)])\n"
    )
    environment = {"DJANGO_SETTINGS_MODULE": "config.settings", "PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[1, 1]\n"
    assert "counted by each process" in done.stderr


def test_the_counters_file_has_no_holes(tmp_path):
    Counters(tmp_path / "c")
    assert (tmp_path / "c").stat().st_blocks * 512 >= throttling.BYTES
