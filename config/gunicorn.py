"""gunicorn's settings, for ``manage.py up`` and for ``gunicorn -c config/gunicorn.py config.wsgi`` alike."""

import contextlib
import ctypes
import logging
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

from gunicorn.glogging import Logger
from gunicorn.http import parser

bind = f"127.0.0.1:{os.environ.get('PORT', '8000')}"
worker_class = "gthread"
workers = 3
threads = 2  # they wait for the interpreter more than for the database: two answer more requests than four

# The application is loaded once and shared by the workers. Connections are not: whatever was opened is closed first.
preload_app = True


def pre_fork(_server: Any, _worker: Any) -> None:
    """No two processes may talk over one connection."""
    from django.db import connections  # Django is set up by then, and not before

    connections.close_all()


# The heartbeat comes from its own thread, so this does not end a slow request. It ends a worker that is stuck, and
# leaves decoding an import of 64 MiB on a busy machine its time.
timeout = 120
graceful_timeout = 30
keepalive = 30
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - heartbeats must not wait for a disk

limit_request_line = 8190  # lists of ids in a query
limit_request_fields = 100
limit_request_field_size = 8190

# A body that was refused unread is read away behind the answer, for five seconds at most: most callers look for the
# answer only when they have sent it all, and to them a connection that closes before is an error of the network.
parser._DRAIN_MAX_BYTES = 256 * 1024 * 1024  # noqa: SLF001 - there is no setting for it; by default 64 KiB

control_socket_disable = True  # it would be kept in the home directory


class WithoutSecrets(logging.Filter):
    """Takes query strings, and the raw text of broken requests, out of gunicorn's messages: both may hold secrets."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = re.sub(r"\?\S*", "?…", record.getMessage())
        if message.startswith("Invalid request from"):
            message = re.split(r"['\"]", message, maxsplit=1)[0].rstrip()
        record.msg, record.args = message, ()
        return True


class QuietLogger(Logger):
    """gunicorn's logger without secrets."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        self.error_log.filters = [WithoutSecrets()]


logger_class = QuietLogger
loglevel = "warning"
accesslog = None


M_ARENA_MAX = -8  # of malloc.h


def post_worker_init(worker: Any) -> None:
    """Threads that take turns well, leave their memory to each other, and end without waiting for each other."""
    # Ctrl-C reaches every process of a terminal, and gunicorn's main process tells its workers besides. Their own way
    # to quit takes the lock of the thread pool in the signal's handler, where the interrupted code may hold it: they
    # take the way of SIGTERM, which only sets a flag.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGQUIT, worker.handle_exit)
    # A thread that comes back from the database waits this long at most for one that computes, not 5 ms.
    sys.setswitchinterval(0.0005)
    # glibc gives every thread a heap of its own: a worker would keep the room of as many large imports as it has
    # threads. One heap costs nothing where only one thread at a time runs Python.
    with contextlib.suppress(AttributeError, OSError):  # another C library
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)


LARGE = 1024 * 1024  # bytes


def post_request(_worker: Any, req: Any, _environ: Any, _resp: Any) -> None:
    """What a large body needed goes back to the machine; the C library would keep it for the next one."""
    length = dict(req.headers).get("CONTENT-LENGTH", "")
    if length.isdecimal() and int(length) > LARGE:
        with contextlib.suppress(AttributeError, OSError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)
