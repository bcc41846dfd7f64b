"""The web server of ``manage.py up``: gunicorn, in this very process.

Its workers leave by themselves when this process is gone, however it went, so that a kill leaves no one on the port.
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


class CannotListen(RuntimeError):
    """The address is taken or not ours; the message is one line."""


def bind(*, host: str, port: int) -> socket.socket:
    """Take the address without serving on it yet, before any other work is begun. Raises CannotListen."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise CannotListen(_why(host=host, port=port, error=error)) from None
    return listener


def serve(*, listener: socket.socket, workers: int, ready: Callable[[], None]) -> None:
    """Serve until a signal ends it, by SystemExit; ``ready`` is called once the address answers.

    Raises CannotListen.
    """
    host, port = listener.getsockname()[:2]
    try:
        listener.listen(BACKLOG)  # two that took the address at the same moment part here
    except OSError as error:
        raise CannotListen(_why(host=host, port=port, error=error)) from None
    Server(listener=listener, workers=workers, ready=ready).run()


def _why(*, host: str, port: int, error: Exception) -> str:
    reason = getattr(error, "strerror", None) or str(error)
    return f"Cannot listen on {host}:{port} ({reason}): choose another with --port or PORT."


class Server(Application):
    """gunicorn with the settings of ``config/gunicorn.py`` and an address that is already ours."""

    def __init__(self, *, listener: socket.socket, workers: int, ready: Callable[[], None]) -> None:
        self._descriptor = listener.detach()
        self._workers = workers
        self._ready = ready
        super().__init__()

    def load_config(self) -> None:
        """Called again by gunicorn on SIGHUP."""
        self.load_config_from_file(str(GUNICORN_SETTINGS))
        self.cfg.set("bind", f"fd://{self._descriptor}")
        self.cfg.set("workers", self._workers)
        self.cfg.set("when_ready", self._when_ready)

    def load(self) -> WSGIHandler:
        """The application."""
        from config.wsgi import application

        return application

    def _when_ready(self, server: Arbiter) -> Any:
        self._ready()
