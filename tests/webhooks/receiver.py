"""A webhook receiver that responds as a test says."""

import json
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Message:
    """One received request."""

    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def event(self) -> Any:
        return json.loads(self.raw)


@dataclass
class Receiver:
    """``answers`` gives the response to a message: a status, or a function of the open connection."""

    answers: Any = lambda message: 200
    came: list[Message] = field(default_factory=list)
    taken: list[Message] = field(default_factory=list)  # messages with a 2xx response

    def start(self) -> None:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["Content-Length"]))
                message = Message(self.path, {name.lower(): value for name, value in self.headers.items()}, raw)
                receiver.came.append(message)
                with suppress(OSError):  # the client closed the connection
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
