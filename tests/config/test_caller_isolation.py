"""A running server that one caller tries to hold: health, sign-in and other companies are answered meanwhile."""

import json
import threading
import time
import urllib.error
import urllib.request
from functools import partial

import psycopg
import pytest

from tests.machine import create_prepared_machine, find_free_port

pytestmark = pytest.mark.server
WORKERS, THREADS = 2, 4
HELD_SECONDS = 3  # that queries are held for; whoever waits for them takes longer


class IsolatedServer:
    def __init__(self, port, machine):
        self.port, self.machine = port, machine
        self.companies = [machine.companies[name] for name in ("Acme", "Globex")]

    def call(self, method, path, *, key=None, body=None):
        """(status, code, headers, seconds)"""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        query = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, headers, method=method)
        start = time.monotonic()
        try:
            with urllib.request.urlopen(query, timeout=60) as answer:
                answer.read()
                return answer.status, None, answer.headers, time.monotonic() - start
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read()).get("code"), error.headers, time.monotonic() - start

    def all_at_once(self, calls):
        """The answers of calls that are made at the same time, and a function that waits for them."""
        answers = []
        threads = [threading.Thread(target=lambda call=call: answers.append(call())) for call in calls]
        for thread in threads:
            thread.start()

        def wait():
            for thread in threads:
                thread.join()
            return answers

        return wait


@pytest.fixture(scope="module")
def server():
    port = find_free_port()
    with create_prepared_machine() as machine:
        machine.settings |= {"QUERY_TIMEOUT_SECONDS": HELD_SECONDS, "THREADS": THREADS}
        with machine.up(port, "--workers", str(WORKERS)):
            yield IsolatedServer(port, machine)


@pytest.fixture
def database(server):
    where = {"host": str(server.machine.embedded.path), "user": "postgres", "dbname": "app"}
    with psycopg.connect(**where) as database:
        yield database


def check_responsive(server):
    """Others are answered as if nothing were."""
    (_, _), (globex, key) = server.companies
    for _ in range(5):
        for path, caller in (
            ("/healthz", None),
            ("/readyz", None),
            ("/app/sign-in", None),
            (f"/companies/{globex}/accounts", key),
        ):
            status, _, _, seconds = server.call("GET", path, key=caller)
            assert (status, seconds < HELD_SECONDS) == (200, True), (path, status, seconds)


def test_writes_waiting_for_company_lock_do_not_block_others(server, database):
    (acme, key), _ = server.companies
    database.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"ledger:{acme}"])
    write = lambda: server.call("POST", f"/companies/{acme}/account_groups", key=key, body={"name": "x"})  # noqa: E731
    wait = server.all_at_once([write] * 12)
    time.sleep(0.5)
    check_responsive(server)
    answers = wait()
    database.rollback()
    actual = {(status, code) for status, code, _, _ in answers}
    assert actual == {(409, "concurrent_change"), (429, "too_many_in_work")}
    assert all(headers["Retry-After"] == "1" for _, _, headers, _ in answers)
    assert sum(status == 409 for status, *_ in answers) <= 4
    assert write()[0] == 201


def test_long_queries_are_cancelled_and_do_not_block_others(server, database):
    (acme, key), _ = server.companies
    database.execute("LOCK TABLE ledger_file IN ACCESS EXCLUSIVE MODE")
    wait = server.all_at_once([lambda: server.call("GET", f"/companies/{acme}/files", key=key)] * 12)
    time.sleep(0.5)
    check_responsive(server)
    answers = wait()
    actual = {(status, code) for status, code, _, _ in answers}
    assert actual == {(503, "query_timeout"), (429, "too_many_in_work")}
    assert all(int(headers["Retry-After"]) > 0 for _, _, headers, _ in answers)
    database.rollback()
    assert server.call("GET", f"/companies/{acme}/files", key=key)[0] == 200


def test_health_and_sign_in_respond_while_all_threads_are_busy(server, database):
    database.execute("LOCK TABLE ledger_file IN ACCESS EXCLUSIVE MODE")
    is_over = threading.Event()

    def hold_thread(company, key):
        while not is_over.is_set():  # a company has half of the threads of a process; it is told to come back for more
            server.call("GET", f"/companies/{company}/files", key=key)

    calls = [partial(hold_thread, *each) for each in server.companies for _ in range(12)]
    wait = server.all_at_once(calls)
    try:
        wait_until_held(server.machine, threads=WORKERS * (THREADS - 1))  # in the last one a request waits for its turn
        answers = [server.call("GET", path) for path in ("/healthz", "/app/sign-in", "/healthz", "/healthz")]
    finally:
        is_over.set()
        database.rollback()  # the queries end now, not when they are cancelled
        wait()
    assert [status for status, *_ in answers] == [200] * 4
    assert max(seconds for *_, seconds in answers) < HELD_SECONDS


def wait_until_held(machine, *, threads):
    """Wait until so many queries wait for the lock."""
    where = {"host": str(machine.embedded.path), "user": "postgres", "dbname": "app", "autocommit": True}
    with psycopg.connect(**where) as database:
        for _ in range(500):
            counted = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            if database.execute(counted).fetchone()[0] >= threads:
                return
            time.sleep(0.02)
    raise AssertionError("not all threads are held")
