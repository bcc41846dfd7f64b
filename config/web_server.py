"""The web server of ``manage.py up``: gunicorn in this process.

Its workers exit when this process is gone, so that a killed server does not leave the port taken.
"""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.handlers.wsgi import WSGIHandler
from gunicorn.app.base import Application
from gunicorn.arbiter import Arbiter

GUNICORN_SETTINGS = Path(__file__).with_name("gunicorn.py")
BACKLOG = 2048


class ListenError(RuntimeError):
    """The address is taken or not allowed; the message is one line."""


def bind_address(*, host: str, port: int) -> socket.socket:
    """Bind the address before any other work is started. Raises ListenError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise ListenError(_build_listen_error(host=host, port=port, error=error)) from None
    return listener


def serve_application(*, listener: socket.socket, workers: int, ready: Callable[[], None]) -> None:
    """Serve until a signal ends the process with SystemExit; ``ready`` is called once the server accepts
    requests.

    Raises ListenError.
    """
    host, port = listener.getsockname()[:2]
    try:
        listener.listen(BACKLOG)  # a second process that bound the address fails here
    except OSError as error:
        raise ListenError(_build_listen_error(host=host, port=port, error=error)) from None
    Server(listener=listener, workers=workers, ready=ready).run()


def _build_listen_error(*, host: str, port: int, error: Exception) -> str:
    reason = getattr(error, "strerror", None) or str(error)
    return f"Cannot listen on {host}:{port} ({reason}): choose another port with --port or PORT."


class Server(Application):
    """gunicorn with the settings of ``config/gunicorn.py`` and a bound socket."""

    def __init__(self, *, listener: socket.socket, workers: int, ready: Callable[[], None]) -> None:
        self._descriptor = listener.detach()
        self._workers = workers
        self._ready = ready
        super().__init__()

    def load_config(self) -> None:
        """Load the settings; called again by gunicorn on SIGHUP."""
        self.load_config_from_file(str(GUNICORN_SETTINGS))
        self.cfg.set("bind", f"fd://{self._descriptor}")
        self.cfg.set("workers", self._workers)
        self.cfg.set("when_ready", self._when_ready)

    def load(self) -> WSGIHandler:
        """Return the WSGI application."""
        from config.wsgi import application

        return application

    def _when_ready(self, server: Arbiter) -> Any:
        self._ready()
