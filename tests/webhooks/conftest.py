"""A webhook receiver on this machine, and a deliverer that works in the test's own transaction."""

import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.webhooks.receiver import Receiver
from webhooks.delivery import deliver_to_endpoint, list_waiting_endpoints


@pytest.fixture
def receiver(settings):
    """A running webhook receiver; deliveries to private addresses are allowed."""
    settings.OUTBOUND_ALLOW_PRIVATE = True
    receiver = Receiver()
    receiver.start()
    yield receiver
    receiver.stop()


@dataclass
class Deliverer:
    """Delivers webhooks in the test's thread, with a clock that tests move."""

    ahead: timedelta = timedelta(0)

    def clock(self) -> datetime:
        return datetime.now(tz=UTC) + self.ahead

    def run(self) -> int:
        """Deliver until no endpoint has waiting messages; return the number of calls."""
        calls = 0
        while waiting_endpoints := list_waiting_endpoints(self.clock()):
            calls += sum(self.deliver(key) for key in waiting_endpoints)
        return calls

    def deliver(self, key: Any) -> int:
        """Deliver to one endpoint; return the number of calls."""
        return deliver_to_endpoint(company_id=key[0], endpoint_id=key[1], clock=self.clock, stop=threading.Event())

    def run_later(self, **time: float) -> int:
        """Move the clock ahead and deliver."""
        self.ahead += timedelta(**time)
        return self.run()


@pytest.fixture
def deliverer() -> Deliverer:
    """Delivers waiting webhooks."""
    return Deliverer()


@pytest.fixture
def acme_endpoint(api, receiver):
    """Acme's webhook endpoint at the receiver, with its secret."""
    response = api.post("webhook_endpoints", {"url": receiver.url()})
    assert response.status_code == 201, response.content
    return response.json()
