"""``kill -9`` of deliverers in the middle of their work: no event is lost, and each endpoint has them in order."""

import contextlib
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.faults.service import ConnectionCutOff, Service, start_service
from tests.machine import wait_until
from tests.webhooks.receiver import Message, Receiver

pytestmark = pytest.mark.server

ROUNDS = int(os.environ.get("FAULT_ROUNDS", "1"))
WRITERS, ENDPOINTS = 8, 3
FAILURE_RATE = 0.01  # of the calls: each keeps its endpoint waiting for five seconds, and eight writers do not wait
RECOVERY_SECONDS = 120  # seconds: one that was killed lets go of what it held after ten


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with start_service(OUTBOUND_ALLOW_PRIVATE="1") as started_service:
        yield started_service


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    made.start()
    yield made
    made.stop()


def list_worker_pids(service: Service) -> list[int]:
    results = []
    for child in Path(f"/proc/{service.process.pid}/task").glob("*/children"):
        for pid in map(int, child.read_text().split()):
            if b"deliver_webhooks" in Path(f"/proc/{pid}/cmdline").read_bytes():
                results.append(pid)
    return results


def create_endpoint(service: Service, receiver: Receiver, path: str) -> str:
    values = {"url": receiver.url(path), "types": ["accountGroup.created"]}
    answer = service.caller().ask("POST", service.path("webhook_endpoints"), values)
    assert answer.fine, answer
    return str(answer.body["id"])


def list_feed_ids(service: Service) -> list[str]:
    """The feed's ids of what is sent, in its order, as the database has them."""
    rows = service.rows(
        "SELECT id FROM companies_auditentry WHERE company_id = %s AND action = 'accountGroup.created' ORDER BY number",
        service.company,
    )
    return [str(result) for (result,) in rows]


def list_entity_ids(service: Service) -> set[str]:
    """What those events are about."""
    rows = service.rows("SELECT entity_id FROM companies_auditentry WHERE action = 'accountGroup.created'")
    return {result for (result,) in rows}


def test_webhook_worker_runs_with_server_and_is_replaced_if_killed(service: Service, receiver: Receiver):
    create_endpoint(service, receiver, "/up")
    assert wait_until(lambda: len(list_worker_pids(service)) == 1, seconds=RECOVERY_SECONDS)
    (first,) = list_worker_pids(service)
    os.kill(first, signal.SIGKILL)
    service.caller().ask("POST", service.path("account_groups"), {"name": "x"})
    assert wait_until(lambda: len(receiver.came) == 1, seconds=RECOVERY_SECONDS)
    (second,) = list_worker_pids(service)
    assert second != first
    os.kill(service.process.pid, signal.SIGKILL)  # the server alone
    assert wait_until(lambda: not Path(f"/proc/{second}").exists(), seconds=RECOVERY_SECONDS)
    service.kill("server")  # and up again
    service.caller().ask("POST", service.path("account_groups"), {"name": "y"})
    assert wait_until(lambda: len(receiver.came) == 2, seconds=RECOVERY_SECONDS)


class OccasionalFailure:
    """A receiver's failures; never two about one event, for the second wait would be five minutes."""

    def __init__(self) -> None:
        self.failed: set[str] = set()
        self.over = False

    def __call__(self, message: Message) -> int:
        about = message.path + message.headers["webhook-id"]
        if not self.over and random.random() < FAILURE_RATE and about not in self.failed:
            self.failed.add(about)
            return random.choice([500, 503, 404, 302])
        return 200


@contextlib.contextmanager
def run_writers(service: Service) -> Iterator[set[str]]:
    """Writers, for as long as it lasts; the ids of what they were told is stored."""
    done = threading.Event()
    acknowledged: set[str] = set()

    def write(lane: int) -> None:
        caller = service.caller()
        while not done.wait(random.uniform(0, 2)):
            with contextlib.suppress(ConnectionCutOff):
                made = caller.ask("POST", service.path("account_groups"), {"name": f"{lane} {time.monotonic()}"})
                acknowledged.add(made.body["id"])
        caller.close()

    with ThreadPoolExecutor(WRITERS) as pool:
        lanes = [pool.submit(write, lane) for lane in range(WRITERS)]
        try:
            yield acknowledged
        finally:
            done.set()
        for lane in lanes:
            lane.result()


def kill_workers(service: Service, receiver: Receiver) -> int:
    """How many deliverers were killed, some moment after something came: one at least."""
    before = len(receiver.came)
    assert wait_until(lambda: len(receiver.came) > before, seconds=RECOVERY_SECONDS)
    time.sleep(random.uniform(0, 0.3))
    assert wait_until(lambda: list_worker_pids(service), seconds=RECOVERY_SECONDS), "the one before has a successor"
    pids = list_worker_pids(service)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    return len(pids)


def follow_feed(service: Service) -> list[str]:
    """The same ids as a program has them that follows the feed by its links from the beginning."""
    caller, event_ids = service.caller(), []
    path = service.path("events?type=accountGroup.created&limit=100")
    while True:
        answer = caller.ask("GET", path)
        assert answer.fine, answer
        if not answer.body:
            return event_ids
        event_ids += [each["id"] for each in answer.body]
        path = service.path(f"events?type=accountGroup.created&limit=100&after={event_ids[-1]}")


def list_received_ids(receiver: Receiver, path: str) -> list[str]:
    """The events that were taken there, each where it came first."""
    return list(dict.fromkeys(each.headers["webhook-id"] for each in receiver.taken if each.path == path))


def test_webhook_worker_kills_lose_no_event_and_keep_order(
    service: Service, receiver: Receiver, record_property: Callable[[str, object], None]
):
    service.use_company("Globex")
    receiver.answers = failing = OccasionalFailure()
    paths = [f"/{number}" for number in range(ENDPOINTS)]
    for path in paths:
        create_endpoint(service, receiver, path)
    with run_writers(service) as acknowledged:
        kills = sum(kill_workers(service, receiver) for _ in range(ROUNDS))
    failing.over = True
    expected = list_feed_ids(service)

    def counts() -> list[int]:
        return [len(list_received_ids(receiver, path)) for path in paths]

    def all_taken() -> bool:
        return min(counts()) >= len(expected)

    assert follow_feed(service) == expected, "the feed has each once, in its order"
    assert acknowledged <= list_entity_ids(service), "whatever was acknowledged is in the feed"
    while not all_taken():
        before = len(receiver.came)
        assert wait_until(lambda before=before: len(receiver.came) > before or all_taken(), seconds=RECOVERY_SECONDS), (
            counts()
        )
    for path in paths:
        assert list_received_ids(receiver, path) == expected, "each at least once, first in the order of the feed"
    again = len(receiver.taken) - ENDPOINTS * len(expected)
    failures = len(failing.failed)
    summary = (
        f"webhooks: {kills} deliverers killed under {WRITERS} writers, {len(expected)} events to {ENDPOINTS} endpoints"
    )
    record_property("report", f"{summary}: none lost, {again} twice, {failures} calls failed at random")
    record_property("kills survived", kills)
