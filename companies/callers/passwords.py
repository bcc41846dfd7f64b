"""How often a place may try passwords, and how many a worker checks at once.

A check takes a hundred milliseconds and a hundred mebibytes, on purpose. So that a burst of sign-ins leaves threads,
memory and processors to other requests, few are checked at a time; who waits in vain is told to come again.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import BoundedSemaphore, Semaphore
from typing import Any

from django.conf import settings
from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from companies.api import throttling
from companies.callers import sessions
from companies.callers.client_network import get_client_network
from companies.security import log

WINDOW = 5 * 60  # seconds in which a place has SIGN_IN_LIMIT tries
PATIENCE = 0.5  # seconds that a check waits for its turn
CHECKS = BoundedSemaphore(settings.PASSWORD_CHECKS)
# Who waits holds a thread too: only where one is left to other requests then.
WAITING = Semaphore(max(settings.THREADS - settings.PASSWORD_CHECKS - 1, 0))


class TurnedAway(Exception):
    """No password is looked at now: ``wait`` are the seconds after which to try again, ``at_once`` says that nobody
    tried too often, but too many at the same moment."""

    def __init__(self, *, wait: int, at_once: bool = False):
        self.wait, self.at_once = wait, at_once
        super().__init__(wait)


class Gate(BaseBackend):
    """The first of the backends: it knows nobody, and counts every try, whichever page it came from."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **_: Any
    ) -> None:
        """Raises TurnedAway."""
        if request is None:
            return
        budget = throttling.spend(
            f"sign-in:{get_client_network(request)}",
            now=datetime.now(tz=UTC).timestamp(),
            limit=settings.SIGN_IN_LIMIT,
            seconds=WINDOW,
            exact=True,
        )
        if budget.exceeded:
            raise TurnedAway(wait=budget.resets_in)


class Missed(BaseBackend):
    """The last of the backends: it knows nobody either. Whoever comes this far was refused, at whichever door, and the
    log of the address's owner says so; a try that a lock refused does not come this far."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **_: Any
    ) -> None:
        if request is not None and username is not None:
            typed = sessions.typed_address(request, {"username": username})
            log.note_failure(email=typed, request=request, now=datetime.now(tz=UTC))


class Argon2(Argon2PasswordHasher):
    """The framework's, a few at a time."""

    def encode(self, password: str, salt: str) -> str:
        with a_turn():
            return str(super().encode(password, salt))

    def verify(self, password: str, encoded: str) -> bool:
        with a_turn():
            return bool(super().verify(password, encoded))


@contextmanager
def a_turn() -> Iterator[None]:
    """Raises TurnedAway where none of those before is done in time, or no thread can be spared for waiting."""
    if not (CHECKS.acquire(blocking=False) or waited()):
        raise TurnedAway(wait=1, at_once=True)
    try:
        yield
    finally:
        CHECKS.release()


def waited() -> bool:
    """Whether the turn came."""
    if not WAITING.acquire(blocking=False):
        return False
    try:
        return CHECKS.acquire(timeout=PATIENCE)
    finally:
        WAITING.release()


def page(request: HttpRequest, exception: Exception) -> HttpResponse | None:
    if not isinstance(exception, TurnedAway):
        return None
    response = render(request, "companies/turned_away.html", {"at_once": exception.at_once}, status=429)
    response["Retry-After"] = str(exception.wait)
    response["Cache-Control"] = "no-store"
    return response
