"""gunicorn settings, for ``manage.py up`` and ``gunicorn -c config/gunicorn.py config.wsgi``."""

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

from config.databases.connection import DatabaseUnavailable, limit_statements
from config.monitoring import prometheus_files
from config.monitoring.logging import JsonFormatter, SecretFilter
from config.startup import exit_without_collection, make_data_private

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
try:
    _ = settings.PORT
    make_data_private()
except (ImproperlyConfigured, DatabaseUnavailable) as error:
    sys.exit(f"Error: {error}")

limit_statements(settings.DATABASES, seconds=settings.QUERY_TIMEOUT_SECONDS)

bind = f"127.0.0.1:{settings.PORT}"
worker_class = "config.gunicorn_worker.ReservedThreadWorker"
workers = settings.WORKERS
threads = settings.THREADS  # one company may use half of them
# Limits the effect of memory leaks in libraries. The jitter keeps workers from restarting at once.
max_requests = settings.MAX_REQUESTS
max_requests_jitter = max_requests // 10

# The application is loaded once and shared; connections are not and are closed first.
preload_app = True
exit_without_collection()  # of the master, and of the workers that it forks


def pre_fork(server: Any, worker: Any) -> None:
    """Close connections, so that no two processes share one."""
    from django.db import connections  # Django is set up by then, and not before

    connections.close_all()
    prometheus_files.assign_worker_slot(server, worker)


def post_fork(_server: Any, worker: Any) -> None:
    prometheus_files.take_worker_slot(worker)


# The heartbeat has its own thread, so this does not end a slow request but a stuck worker. It leaves time to
# decode an import of 64 MiB on a busy machine.
timeout = 120
graceful_timeout = 30
keepalive = 30
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - heartbeats must not wait for a disk

limit_request_line = 8190  # queries with lists of ids
limit_request_fields = 100
limit_request_field_size = 8190

forwarder_headers = ""  # clients must not set SCRIPT_NAME or PATH_INFO, not even from this machine

control_socket_disable = True  # it would be created in the home directory


class RedactingLogger(Logger):
    """gunicorn's logger without secrets and stalled clients."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        self.error_log.filters = [SecretFilter()]
        if settings.LOG_FORMAT == "json":
            for handler in self.error_log.handlers:
                handler.setFormatter(JsonFormatter())

    def exception(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Log an exception, but not each stalled client that was cut off."""
        if not isinstance(sys.exception(), BlockingIOError):
            super().exception(msg, *args, **kwargs)


logger_class = RedactingLogger
loglevel = "warning"
accesslog = None


if settings.METRICS_TOKEN:
    prometheus_files.create_metrics_directory(worker_tmp_dir)

    def child_exit(_server: Any, worker: Any) -> None:
        prometheus_files.mark_worker_dead(worker)

    def on_exit(_server: Any) -> None:
        prometheus_files.remove_metrics_directory()


M_MMAP_THRESHOLD = -3  # of malloc.h
LARGE_BODY_BYTES = 1024 * 1024  # bytes
DRAIN_CHUNK_BYTES = 64 * 1024


def post_worker_init(worker: Any) -> None:
    """Set thread switching, memory use and signals of a worker."""
    worker.handle_error = partial(respond_to_invalid_request, worker.handle_error)
    # Ctrl-C reaches every process of a terminal, and gunicorn's master also signals its workers. Their SIGQUIT
    # handler takes the thread pool's lock, which the interrupted code may hold, so it is replaced by that of SIGTERM,
    # which only sets a flag.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGQUIT, worker.handle_exit)
    # A thread returning from the database waits at most this long for a computing one, instead of 5 ms.
    sys.setswitchinterval(0.0005)
    # After freeing a large body, glibc takes the next one from the heap, which cannot shrink: five imports in a row
    # took 5.8 times a body, and 3.9 with this.
    with contextlib.suppress(AttributeError, OSError):  # another C library
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE_BODY_BYTES)


SIZE_ERRORS = {  # rejected by gunicorn before the application sees it
    LimitRequestLine: (414, "URI Too Long", "address_too_long", "The request URL is too long."),
    LimitRequestHeaders: (431, "Request Header Fields Too Large", "headers_too_large", "The headers are too large."),
}


def respond_to_invalid_request(default_handler: Any, req: Any, client: Any, addr: Any, error: Exception) -> None:
    """Respond to an oversized request line or header with a problem body; gunicorn's own response is HTML."""
    if type(error) not in SIZE_ERRORS:
        default_handler(req, client, addr, error)
        return
    from companies.api.errors import STATUS_TITLES  # Django is set up by then, and not before

    status, reason, code, detail = SIZE_ERRORS[type(error)]
    body = json.dumps(
        {
            "type": f"{settings.BASE_URL}/docs/errors#{code}",
            "title": STATUS_TITLES[status],
            "status": status,
            "detail": detail,
            "instance": "",  # the path was not parsed
            "code": code,
            "requestId": str(uuid.uuid4()),
        }
    )
    head = f"HTTP/1.1 {status} {reason}\r\nConnection: close\r\nContent-Type: application/problem+json\r\n"
    with contextlib.suppress(OSError):
        client.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())


def post_request(_worker: Any, req: Any, environ: Any, _resp: Any) -> None:
    """Read the rest of a large body that was rejected unread, for up to five seconds after the response.

    Most clients read the response only after sending everything, and see a network error if the connection
    closes before. gunicorn itself reads at most 64 KiB.
    """
    length = dict(req.headers).get("CONTENT-LENGTH", "")
    if not length.isdecimal() or int(length) <= DRAIN_CHUNK_BYTES:
        return
    old_chunk_size, req.unreader.max_body_chunk = (
        req.unreader.max_body_chunk,
        DRAIN_CHUNK_BYTES,
    )  # the default of 1 MiB is held three times
    connection, deadline = environ["gunicorn.socket"], time.monotonic() + 5
    old_timeout = connection.gettimeout()
    with contextlib.suppress(OSError):  # too slow, or disconnected
        while (remaining_seconds := deadline - time.monotonic()) > 0:
            connection.settimeout(remaining_seconds)
            if not req.body.read(DRAIN_CHUNK_BYTES):
                break
    connection.settimeout(old_timeout)
    req.unreader.max_body_chunk = old_chunk_size
