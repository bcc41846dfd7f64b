"""Putting questions to a server over many connections from one thread: it is the server that is measured."""

import selectors
import socket
import time
from collections.abc import Callable

CONNECTIONS = 8
LENGTH = b"content-length: "


class Connection:
    """One kept connection with one question under way."""

    def __init__(self, port: int, question: Callable[[], bytes]):
        self.port, self.question, self.received = port, question, b""
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self) -> None:
        self.received = b""
        self.socket.sendall(self.question())

    def answered(self) -> bytes | None:
        """The whole answer once it has come."""
        data = self.socket.recv(65536)
        if not data:
            raise ConnectionError("the server closed the connection")
        self.received += data
        head, blank, body = self.received.partition(b"\r\n\r\n")
        if not blank:
            return None
        lower = head.lower()
        start = lower.index(LENGTH) + len(LENGTH)
        length = int(lower[start : lower.find(b"\r", start) if b"\r" in lower[start:] else None])
        return self.received if len(body) >= length else None


def measure_rate(
    port: int,
    question: Callable[[], bytes],
    *,
    seconds: float,
    connections: int = CONNECTIONS,
    came: Callable[[bytes], None] = lambda answer: None,
) -> float:
    """Good answers a second; ``came`` is given each of them. AssertionError for any that is not 200."""
    selector = selectors.DefaultSelector()
    open_ones = [Connection(port, question) for _ in range(connections)]
    for each in open_ones:
        selector.register(each.socket, selectors.EVENT_READ, each)
        each.ask()
    count, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        for key, _ in selector.select(timeout=1):
            answer = key.data.answered()
            if answer is not None:
                assert answer.startswith(b"HTTP/1.1 200"), answer[:2000]
                came(answer)
                count += 1
                key.data.ask()
    for each in open_ones:  # the last answers are waited for, so that no question is left half-way
        while (answer := each.answered()) is None:
            pass
        came(answer)
        each.socket.close()
    return count / elapsed


def build_get(path: str, token: str | None = None) -> Callable[[], bytes]:
    """A GET that is always the same."""
    credential = f"Authorization: Bearer {token}\r\n" if token else ""
    raw = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{credential}\r\n".encode()
    return lambda: raw


def build_post(path: str, body: Callable[[], str]) -> Callable[[], bytes]:
    """A form that is made anew for every request."""

    def question() -> bytes:
        form = body().encode()
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        return f"{head}Content-Length: {len(form)}\r\n\r\n".encode() + form

    return question
