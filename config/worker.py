"""gunicorn's threaded worker, with threads of their own for requests that must never wait for others."""

import selectors
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from gunicorn.workers.gthread import ThreadWorker

# What a request begins with → whose thread answers it. Sign-in takes a tenth of a second of a processor on purpose;
# health checks do not wait for it either.
HEALTH, SIGN_IN = (b"/healthz", b"/readyz"), (b"/app/sign-in",)
METHODS = (b"GET", b"HEAD", b"POST")
LOOKED_AT_BYTES = 64


class Worker(ThreadWorker):
    """A worker that hands health checks and sign-ins to a thread of their own, and all else to the pool."""

    def init_process(self) -> None:
        self.reserved = {
            HEALTH: ThreadPoolExecutor(max_workers=1, thread_name_prefix="health"),
            SIGN_IN: ThreadPoolExecutor(max_workers=1, thread_name_prefix="sign-in"),
        }
        super().init_process()

    def enqueue_req(self, conn: Any) -> None:
        """Choose by the request's first line, which is looked at and left for the parser. A connection on which nothing
        has come yet holds no thread."""
        start = beginning_of(conn)
        if start is None:
            self.wait_for_request(conn)
            return
        pool = next((pool for paths, pool in self.reserved.items() if asks_for(start, paths)), self.tpool)
        future = pool.submit(self.handle, conn)
        future.add_done_callback(lambda done: self.method_queue.defer(self.finish_request, conn, done))

    def wait_for_request(self, conn: Any) -> None:
        conn.timeout = time.monotonic() + self.cfg.keepalive
        self.pending_conns.append(conn)
        callback = partial(self.on_pending_socket_readable, conn)
        self.poller.register(conn.sock, selectors.EVENT_READ, callback)

    def handle_quit(self, sig: Any, frame: Any) -> None:
        for pool in self.reserved.values():
            pool.shutdown(wait=False)
        super().handle_quit(sig, frame)


def beginning_of(conn: Any) -> bytes | None:
    """Return the first bytes of the next request, b"" where the connection ended, None where nothing has come."""
    if conn.parser is not None and (ahead := conn.parser.unreader.buf.getvalue()):
        return bytes(ahead[:LOOKED_AT_BYTES])
    try:
        return bytes(conn.sock.recv(LOOKED_AT_BYTES, socket.MSG_PEEK | socket.MSG_DONTWAIT))
    except BlockingIOError:
        return None
    except OSError:
        return b""  # reading it will say what is wrong


def asks_for(start: bytes, paths: tuple[bytes, ...]) -> bool:
    """Whether a request is for one of these paths or what lies below it."""
    method, _, rest = start.partition(b" ")
    path = rest.partition(b" ")[0].partition(b"?")[0]
    return method in METHODS and any(path == each or path.startswith(each + b"/") for each in paths)
