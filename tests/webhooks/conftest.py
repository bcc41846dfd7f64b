"""A receiver of webhooks that does what a test says, and a deliverer that works in the test's own transaction."""

import json
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from webhooks.delivering import deliver, waiting


@dataclass
class Message:
    """One request that came."""

    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def event(self) -> Any:
        return json.loads(self.raw)


@dataclass
class Receiver:
    """``answers`` says for each request what goes back: a status, or a function of the open connection."""

    answers: Any = lambda message: 200
    came: list[Message] = field(default_factory=list)
    taken: list[Message] = field(default_factory=list)  # those that were answered 2xx

    def start(self) -> None:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["Content-Length"]))
                message = Message(self.path, {name.lower(): value for name, value in self.headers.items()}, raw)
                receiver.came.append(message)
                with suppress(OSError):  # the caller gave up
                    answer = receiver.answers(message)
                    if callable(answer):
                        answer(self.connection)
                        self.close_connection = True
                        return
                    body = f"answer to {len(receiver.came)}".encode()
                    if 200 <= answer < 300:
                        receiver.taken.append(message)
                    self.send_response(answer)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def url(self, path: str = "/hook") -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}{path}"

    @property
    def types(self) -> list[str]:
        return [message.event["type"] for message in self.came]


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
        while found := waiting(self.clock()):
            called += sum(self.turn(key) for key in found)
        return called

    def turn(self, key: Any) -> int:
        return deliver(company_id=key[0], endpoint_id=key[1], clock=self.clock, stop=threading.Event())

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
