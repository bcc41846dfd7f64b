"""gunicorn's threaded worker with reserved threads for health checks and sign-in."""

import selectors
import socket
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from gunicorn.workers.gthread import ThreadWorker

# Request prefixes → reserved threads. Sign-in takes 100 ms of CPU on purpose; health checks must not wait for it.
HEALTH_PATHS, SIGN_IN_PATHS = (b"/healthz", b"/readyz"), (b"/app/sign-in",)
ROUTED_METHODS = (b"GET", b"HEAD", b"POST")
PEEK_BYTES = 64


RECEIVE_SECONDS = 5  # without a byte; then a request that is not complete ends, and its thread is free again


class ReservedThreadWorker(ThreadWorker):
    """Runs health checks and sign-ins in reserved threads, everything else in the pool."""

    def init_process(self) -> None:
        self.reserved = {
            HEALTH_PATHS: ThreadPoolExecutor(max_workers=1, thread_name_prefix="health"),
            SIGN_IN_PATHS: ThreadPoolExecutor(max_workers=1, thread_name_prefix="sign-in"),
        }
        super().init_process()

    def enqueue_req(self, conn: Any) -> None:
        """Choose the pool by the request line, without consuming it. An idle connection holds no thread."""
        limit_receive_time(conn.sock)
        start = read_request_start(conn)
        if start is None:
            self.wait_for_request(conn)
            return
        pool = next((pool for paths, pool in self.reserved.items() if is_request_for(start, paths)), self.tpool)
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


def limit_receive_time(sock: socket.socket, seconds: int = RECEIVE_SECONDS) -> None:
    """Let reads in a thread fail after some seconds without a byte: a stalled client must not keep the thread."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("@ll", seconds, 0))


def read_request_start(conn: Any) -> bytes | None:
    """Return the first bytes of the next request, b"" if the connection ended, None if nothing has arrived."""
    if conn.parser is not None and (ahead := conn.parser.unreader.buf.getvalue()):
        return bytes(ahead[:PEEK_BYTES])
    try:
        return bytes(conn.sock.recv(PEEK_BYTES, socket.MSG_PEEK | socket.MSG_DONTWAIT))
    except BlockingIOError:
        return None
    except OSError:
        return b""  # the parser will report the error


def is_request_for(request_start: bytes, paths: tuple[bytes, ...]) -> bool:
    """Return whether a request is for one of these paths or below."""
    method, _, remainder = request_start.partition(b" ")
    path = remainder.partition(b" ")[0].partition(b"?")[0]
    return method in ROUTED_METHODS and any(path == each or path.startswith(each + b"/") for each in paths)
