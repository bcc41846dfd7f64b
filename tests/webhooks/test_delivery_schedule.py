"""Whose turn it is, and when the next try comes."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from companies import http_client
from tests.webhooks.test_delivery import create_groups, get_endpoint_state, list_deliveries
from webhooks import delivery
from webhooks.models import WebhookEndpoint

pytestmark = pytest.mark.django_db


def test_endpoint_test_does_not_precede_waiting_endpoints(api, globex_api, receiver, deliverer):
    waits = api.post("webhook_endpoints", {"url": receiver.url("/waits")}).json()
    tested = globex_api.post("webhook_endpoints", {"url": receiver.url("/tested")}).json()
    create_groups(globex_api, "x")
    deliverer.run()
    create_groups(api, "x")
    globex_api.post(f"webhook_endpoints/{tested['id']}/test")
    order = [str(endpoint_id) for _, endpoint_id in delivery.list_waiting_endpoints(deliverer.clock())]
    assert order == [waits["id"], tested["id"]]


def test_saturated_resolver_is_not_an_endpoint_failure(api, acme_endpoint, deliverer, monkeypatch):
    create_groups(api, "x")
    full = ThreadPoolExecutor(max_workers=1)
    silent = threading.Event()
    full.submit(silent.wait, 60)
    monkeypatch.setattr(http_client, "RESOLVER_POOL", full)
    monkeypatch.setattr(http_client, "TIMEOUT_SECONDS", 0.2)
    monkeypatch.setattr(
        http_client.fetch_url, "__kwdefaults__", http_client.fetch_url.__kwdefaults__ | {"seconds": 0.2}
    )
    try:
        (key,) = delivery.list_waiting_endpoints(deliverer.clock())
        assert deliverer.deliver(key) == 0
    finally:
        silent.set()
    assert list_deliveries(api, acme_endpoint) == []
    assert get_endpoint_state(api, acme_endpoint) == (True, None, None)
    monkeypatch.undo()
    assert [key] == delivery.list_waiting_endpoints(deliverer.clock())


@pytest.mark.parametrize(
    ("retry_after", "seconds"),
    [("120", 120), ("7200", 3600), ("1", 5), ("soon", 5), ("-1", 5), ("date", 300), (None, 5)],
)
def test_retry_after_header_is_respected_up_to_one_hour(api, acme_endpoint, receiver, deliverer, retry_after, seconds):
    if retry_after == "date":
        retry_after = format_datetime(datetime.now(tz=UTC) + timedelta(seconds=300), usegmt=True)
    header = "" if retry_after is None else f"Retry-After: {retry_after}\r\n"
    raw = f"HTTP/1.1 429 Too Many Requests\r\n{header}Content-Length: 0\r\n\r\n".encode()
    receiver.answers = lambda message: lambda connection: connection.sendall(raw)
    create_groups(api, "x")
    deliverer.run()
    endpoint = WebhookEndpoint.objects.get(id=acme_endpoint["id"])
    assert endpoint.failures == 1
    assert endpoint.due_time - endpoint.last_delivery_time == pytest.approx(
        timedelta(seconds=seconds), abs=timedelta(seconds=3)
    )
