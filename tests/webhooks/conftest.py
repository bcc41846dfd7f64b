"""A receiver of webhooks on this machine, and a deliverer that works in the test's own transaction."""

import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.webhooks.receiver import Receiver
from webhooks.delivery import deliver_to_endpoint, list_waiting_endpoints


@pytest.fixture
def receiver(settings):
    """It runs on this machine, so private addresses are called."""
    settings.OUTBOUND_ALLOW_PRIVATE = True
    made = Receiver()
    made.start()
    yield made
    made.stop()


@dataclass
class Deliverer:
    """Delivers in the test's thread; its clock is moved by hand."""

    ahead: timedelta = timedelta(0)

    def clock(self) -> datetime:
        return datetime.now(tz=UTC) + self.ahead

    def run(self) -> int:
        """Until nothing waits any more; how many calls were made."""
        called = 0
        while waiting_endpoints := list_waiting_endpoints(self.clock()):
            called += sum(self.turn(key) for key in waiting_endpoints)
        return called

    def turn(self, key: Any) -> int:
        return deliver_to_endpoint(company_id=key[0], endpoint_id=key[1], clock=self.clock, stop=threading.Event())

    def later(self, **time: float) -> int:
        self.ahead += timedelta(**time)
        return self.run()


@pytest.fixture
def deliverer() -> Deliverer:
    return Deliverer()


@pytest.fixture
def hook(api, receiver):
    """An endpoint of Acme at the receiver, with its secret."""
    made = api.post("webhook_endpoints", {"url": receiver.url()})
    assert made.status_code == 201, made.content
    return made.json()
