"""Deliverers at work: several endpoints at once, several deliverers at once, and what one endpoint does to others."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from django.db import OperationalError, connection

from companies.models import generate_id
from tests import factories
from tests.webhooks.test_delivery import create_groups, list_deliveries
from webhooks import worker

pytestmark = pytest.mark.django_db


def get_time():
    return datetime.now(tz=UTC)


def run_worker(stop=None, *, once=True):
    """One deliverer, in a thread of its own."""
    try:
        return worker.run_delivery_worker(clock=get_time, stop=stop or threading.Event(), once=once)
    finally:
        connection.close()


@pytest.mark.django_db(transaction=True)
def test_hanging_endpoint_does_not_delay_others(api, receiver):
    """It gets its answer only after the other has all its events, which the other therefore did not wait for."""
    slow = api.post("webhook_endpoints", {"url": receiver.url("/slow")}).json()
    quick = api.post("webhook_endpoints", {"url": receiver.url("/quick"), "types": ["accountGroup.created"]}).json()
    api.put(f"webhook_endpoints/{slow['id']}", {"types": ["accountGroup.created"]})
    all_came = threading.Event()

    def answer(message):
        if message.path == "/slow":
            assert all_came.wait(60)
        elif len([each for each in receiver.came if each.path == "/quick"]) == 5:
            all_came.set()
        return 200

    receiver.answers = answer
    create_groups(api, *"abcde")
    with ThreadPoolExecutor(1) as pool:
        pool.submit(run_worker).result()
    assert [row["status"] for row in list_deliveries(api, quick)] == [200] * 5
    assert [row["status"] for row in list_deliveries(api, slow)] == [200] * 5


@pytest.mark.django_db(transaction=True)
def test_several_workers_deliver_each_event_once_and_in_order(api, globex_api, receiver):
    """While others write on."""
    for caller in (api, globex_api):
        for number in range(5):
            path = f"/{caller.company.name}/{number}"
            made = caller.post("webhook_endpoints", {"url": receiver.url(path), "types": ["accountGroup.created"]})
            assert made.status_code == 201

    def write(caller):
        create_groups(caller, *map(str, range(12)))
        connection.close()

    stop = threading.Event()
    with ThreadPoolExecutor(5) as pool:
        deliverers = [pool.submit(run_worker, stop, once=False) for _ in range(3)]
        for writing in [pool.submit(write, caller) for caller in (api, globex_api)]:
            writing.result()
        for caller in (api, globex_api):
            wait_until(lambda caller=caller: len(list_messages(receiver, caller.company.name)) == 60)
        stop.set()
        calls = sum(each.result() for each in deliverers)
    assert calls == 120
    for caller in (api, globex_api):
        fed = [event["id"] for event in caller.get("events", {"type": "accountGroup.created"}).json()]
        for number in range(5):
            assert [each.event["id"] for each in list_messages(receiver, f"{caller.company.name}/{number}")] == fed


def list_messages(receiver, name):
    return [message for message in receiver.came if message.path.startswith(f"/{name}")]


def wait_until(condition):
    pause = threading.Event()
    for _ in range(1200):
        if condition():
            return
        pause.wait(0.05)
    raise AssertionError("it did not come to that")


def test_endpoints_of_one_company_leave_room_for_others():
    loud, quiet = UUID(int=1), UUID(int=2)
    endpoints = [(loud, uuid4()) for _ in range(40)] + [(quiet, uuid4())]
    first = worker.choose_endpoints(endpoints, busy={}, owners={})
    assert Counter(company for company, _ in first) == {loud: 4, quiet: 1}
    busy = dict.fromkeys(first)
    assert worker.choose_endpoints(endpoints, busy=busy, owners={}) == []
    others = [(uuid4(), uuid4()) for _ in range(30)]
    assert len(worker.choose_endpoints(others, busy=busy, owners={})) == worker.MAX_CONCURRENT_ENDPOINTS - len(busy)


@pytest.mark.django_db(transaction=True)
def test_failing_endpoint_does_not_block_others(api, receiver, monkeypatch, caplog):
    broken = api.post("webhook_endpoints", {"url": receiver.url("/broken"), "types": ["accountGroup.created"]}).json()
    api.post("webhook_endpoints", {"url": receiver.url("/well"), "types": ["accountGroup.created"]})
    create_groups(api, "x")
    deliver = worker.deliver_to_endpoint
    met = []

    def fails(*, endpoint_id, **rest):
        if str(endpoint_id) == broken["id"] and len(met) < 2:
            met.append(endpoint_id)
            raise OperationalError("the database is gone")
        return deliver(endpoint_id=endpoint_id, **rest)

    monkeypatch.setattr(worker, "deliver_to_endpoint", fails)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(run_worker).result() == 2
    assert sorted(message.path for message in receiver.came) == ["/broken", "/well"]
    assert f"webhook endpoint {broken['id']}: OperationalError" in caplog.text
    assert broken["secret"] not in caplog.text


def test_unavailable_database_yields_no_endpoints_and_is_logged(monkeypatch, caplog):
    def gone(now):
        raise OperationalError

    monkeypatch.setattr(worker, "list_waiting_endpoints", gone)
    monkeypatch.setattr(worker.connection, "close", lambda: None)
    assert worker.find_waiting_endpoints(get_time) == []
    assert "cannot read queued webhook events (OperationalError)" in caplog.text


def test_companies_of_one_owner_share_a_quarter_of_the_slots(alice, carol):
    companies = [factories.make_company(name=f"Company {n}", owner=alice) for n in range(8)]
    hers = factories.make_company(name="Hers", owner=carol)
    results = [(company.id, generate_id()) for company in (*companies, hers)]
    owners = worker.OwnerCache().get_owner_ids(company for company, _ in results)
    picked = worker.choose_endpoints(results, busy={}, owners=owners)
    assert picked == [*results[: worker.MAX_CONCURRENT_ENDPOINTS // 4], results[-1]]
