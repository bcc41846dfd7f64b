"""Restarts that nobody notices: new workers while requests run, and an end that waits for them."""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event

import psycopg
import pytest

from tests.faults.service import Answer, Caller, Service
from tests.machine import get_status, wait_until

pytestmark = pytest.mark.server

CALLER_COUNT = 4
ROW = {"date": "2025-06-01", "amountValue": "1.00"}


@pytest.fixture
def account(service: Service) -> str:
    if service.process.poll() is not None:
        service.start()
    return service.account("Restarted")


def has_new_workers(service: Service, old: list[int]) -> bool:
    """Whether there are only new workers, all at work."""
    return len(service.workers()) == len(old) and not set(old) & set(service.workers())


def reload_workers(service: Service) -> None:
    """All workers anew, at a word to the main process."""
    old = service.workers()
    service.process.send_signal(signal.SIGHUP)
    assert wait_until(lambda: has_new_workers(service, old), seconds=180)


def replace_workers(service: Service) -> None:
    """The workers end one after the other; each is replaced."""
    for worker in service.workers():
        os.kill(worker, signal.SIGTERM)
        assert wait_until(lambda gone=worker: gone not in service.workers(), seconds=180)
        service.answers_again()


@pytest.mark.parametrize("renew", [reload_workers, replace_workers])
def test_worker_replacement_loses_no_request_or_connection(
    service: Service, account: str, renew: Callable[[Service], None]
):
    """A connection that ends without saying so before raises CutOff in its caller, and fails this test."""
    done, booked = Event(), [0] * CALLER_COUNT

    def call(lane: int) -> set[int]:
        caller, answers = service.caller(), set()
        while not done.is_set():
            answers.add(caller.ask("GET", service.path("accounts")).status)
            answers.add(caller.ask("POST", service.path("transactions"), ROW | {"accountId": account}).status)
            booked[lane] += 1
        return answers

    with ThreadPoolExecutor(CALLER_COUNT) as pool:
        lanes = [pool.submit(call, lane) for lane in range(CALLER_COUNT)]
        try:
            for _ in range(2):
                before = sum(booked)
                renew(service)
                assert wait_until(lambda seen=before: sum(booked) > seen + CALLER_COUNT, seconds=180)
        finally:
            done.set()
        assert {status for lane in lanes for status in lane.result()} == {200, 201}
    assert service.cash(account) == sum(booked)


@contextlib.contextmanager
def hold_company_lock(service: Service) -> Iterator[None]:
    """Changes of the company's ledger wait in the database until this ends."""
    where = {"host": str(service.machine.embedded.path), "user": "postgres", "dbname": "app", "autocommit": True}
    with psycopg.connect(**where) as database:
        database.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", [f"ledger:{service.company}"])
        yield


def is_waiting_for_lock(service: Service) -> bool:
    return service.rows("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") != []


def start_import(pool: ThreadPoolExecutor, service: Service, account: str) -> tuple[Caller, Future[Answer]]:
    """An import that is on its way, and waits."""
    caller, body = service.caller(), {"transactions": [ROW | {"accountId": account}] * 100}
    answer = pool.submit(caller.ask, "POST", service.path("transactions/import"), body)
    assert wait_until(lambda: is_waiting_for_lock(service), seconds=180)
    return caller, answer


def test_request_of_old_worker_is_answered_during_worker_replacement(service: Service, account: str):
    old = service.workers()
    with ThreadPoolExecutor(1) as pool:
        with hold_company_lock(service):
            _, answer = start_import(pool, service, account)
            service.process.send_signal(signal.SIGHUP)
            assert wait_until(lambda: len(set(service.workers()) - set(old)) == len(old), seconds=180)
            assert [get_status(service.port, "/readyz") for _ in range(10)] == [200] * 10
            assert not answer.done()
        assert answer.result().body["count"] == 100
    assert wait_until(lambda: has_new_workers(service, old), seconds=180)
    assert service.cash(account) == 100


def test_shutdown_waits_for_running_requests(service: Service, account: str):
    with ThreadPoolExecutor(1) as pool:
        with hold_company_lock(service):
            _, answer = start_import(pool, service, account)
            service.process.send_signal(signal.SIGTERM)
            # A worker that ends keeps its socket, and takes nobody in: the probe must give up before its grace is over.
            assert wait_until(lambda: get_status(service.port, "/healthz", seconds=1) == 0, seconds=20)
            time.sleep(0.5)
            assert not answer.done()
            assert service.process.poll() is None
        done = answer.result()
    assert (done.status, done.body["count"]) == (200, 100)
    assert service.process.wait(180) == 0
    assert not service.machine.embedded.is_running()
    service.start()
    assert service.cash(account) == 100
