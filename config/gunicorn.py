"""gunicorn's settings, for ``manage.py up`` and for ``gunicorn -c config/gunicorn.py config.wsgi`` alike."""

import contextlib
import ctypes
import json
import os
import signal
import sys
import time
import uuid
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from gunicorn.glogging import Logger
from gunicorn.http.errors import LimitRequestHeaders, LimitRequestLine

from config.databases.connecting import DatabaseUnavailable, limit_statements
from config.startup import close_data
from config.watching import metric_files
from config.watching.logs import JsonLines, WithoutSecrets

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
try:
    _ = settings.PORT
    close_data()
except (ImproperlyConfigured, DatabaseUnavailable) as error:
    sys.exit(f"Error: {error}")

limit_statements(settings.DATABASES, seconds=settings.QUERY_TIMEOUT_SECONDS)

bind = f"127.0.0.1:{settings.PORT}"
worker_class = "config.worker.Worker"
workers = settings.WORKERS
threads = settings.THREADS  # a company may have half of them: the others are free for everybody else
# What a library may leak is given back before it matters. The jitter keeps workers from leaving all at once.
max_requests = settings.MAX_REQUESTS
max_requests_jitter = max_requests // 10

# The application is loaded once and shared by the workers. Connections are not: whatever was opened is closed first.
preload_app = True


def pre_fork(server: Any, worker: Any) -> None:
    """No two processes may talk over one connection."""
    from django.db import connections  # Django is set up by then, and not before

    connections.close_all()
    metric_files.choose(server, worker)


def post_fork(_server: Any, worker: Any) -> None:
    metric_files.take(worker)


# The heartbeat comes from its own thread, so this does not end a slow request. It ends a worker that is stuck, and
# leaves decoding an import of 64 MiB on a busy machine its time.
timeout = 120
graceful_timeout = 30
keepalive = 30
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - heartbeats must not wait for a disk

limit_request_line = 8190  # lists of ids in a query
limit_request_fields = 100
limit_request_field_size = 8190

forwarder_headers = ""  # no caller moves our addresses, from this machine neither (SCRIPT_NAME, PATH_INFO)

control_socket_disable = True  # it would be kept in the home directory


class QuietLogger(Logger):
    """gunicorn's logger without secrets."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        self.error_log.filters = [WithoutSecrets()]
        if settings.LOG_FORMAT == "json":
            for handler in self.error_log.handlers:
                handler.setFormatter(JsonLines())


logger_class = QuietLogger
loglevel = "warning"
accesslog = None


if settings.METRICS_TOKEN:
    metric_files.begin(worker_tmp_dir)

    def child_exit(_server: Any, worker: Any) -> None:
        metric_files.gone(worker)

    def on_exit(_server: Any) -> None:
        metric_files.end()


M_MMAP_THRESHOLD = -3  # of malloc.h
LARGE = 1024 * 1024  # bytes
SMALL = 64 * 1024


def post_worker_init(worker: Any) -> None:
    """Threads that take turns well, large bodies that leave no room behind, and an end without waiting."""
    worker.handle_error = partial(answer_error, worker.handle_error)
    # Ctrl-C reaches every process of a terminal, and gunicorn's main process tells its workers besides. Their own way
    # to quit takes the lock of the thread pool in the signal's handler, where the interrupted code may hold it: they
    # take the way of SIGTERM, which only sets a flag.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGQUIT, worker.handle_exit)
    # A thread that comes back from the database waits this long at most for one that computes, not 5 ms.
    sys.setswitchinterval(0.0005)
    # Once a large body has been freed, glibc takes the next one from the heap, where what lies behind it holds the
    # room: five imports in a row took 5.8 times a body, and 3.9 with this.
    with contextlib.suppress(AttributeError, OSError):  # another C library
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE)


TOO_LARGE = {  # of what gunicorn refuses before the application sees it
    LimitRequestLine: (414, "URI Too Long", "address_too_long", "The request line is too long."),
    LimitRequestHeaders: (431, "Request Header Fields Too Large", "headers_too_large", "The headers are too large."),
}


def answer_error(otherwise: Any, req: Any, client: Any, addr: Any, error: Exception) -> None:
    """Answer a request line or headers that are too large with a problem; gunicorn's own answer is HTML."""
    if type(error) not in TOO_LARGE:
        otherwise(req, client, addr, error)
        return
    from companies.api.errors import TITLES  # Django is set up by then, and not before

    status, reason, code, detail = TOO_LARGE[type(error)]
    body = json.dumps(
        {
            "type": f"{settings.BASE_URL}/docs/errors#{code}",
            "title": TITLES[status],
            "status": status,
            "detail": detail,
            "instance": "",  # the address was not read
            "code": code,
            "requestId": str(uuid.uuid4()),
        }
    )
    head = f"HTTP/1.1 {status} {reason}\r\nConnection: close\r\nContent-Type: application/problem+json\r\n"
    with contextlib.suppress(OSError):
        client.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())


def post_request(_worker: Any, req: Any, environ: Any, _resp: Any) -> None:
    """Reads a large body away that was refused unread, behind the answer and for five seconds at most.

    Most callers look for the answer only when they have sent it all, and to them a connection that closes before is an
    error of the network. What gunicorn reads away by itself ends at 64 KiB.
    """
    length = dict(req.headers).get("CONTENT-LENGTH", "")
    if not length.isdecimal() or int(length) <= SMALL:
        return
    ahead, req.unreader.max_body_chunk = req.unreader.max_body_chunk, SMALL  # a MiB, which it holds three times
    connection, until = environ["gunicorn.socket"], time.monotonic() + 5
    before = connection.gettimeout()
    with contextlib.suppress(OSError):  # too slow, or gone
        while (left := until - time.monotonic()) > 0:
            connection.settimeout(left)
            if not req.body.read(SMALL):
                break
    connection.settimeout(before)
    req.unreader.max_body_chunk = ahead
