"""Sign-in rate limit and the limit of concurrent password checks.

A password check takes 100 ms of CPU and 100 MiB of memory, on purpose. Only a few run at a time so that
a burst of sign-ins leaves threads, memory and CPU to other requests. Callers that wait too long get a
429.
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

from companies.auth import security_log, sessions, throttling
from companies.auth.client_network import get_client_network

SIGN_IN_WINDOW_SECONDS = 5 * 60  # seconds in which a client may try SIGN_IN_LIMIT times
CHECK_WAIT_SECONDS = 0.5  # seconds a check waits for a slot
CHECK_SLOTS = BoundedSemaphore(settings.PASSWORD_CHECKS)
# A waiting check holds a thread too: only as many as leave one to other requests.
WAITING_SLOTS = Semaphore(max(settings.THREADS - settings.PASSWORD_CHECKS - 1, 0))


class SignInThrottled(Exception):
    """No password is checked now. `wait`: seconds to wait before the next attempt. `at_once`: too many
    concurrent attempts.
    """

    def __init__(self, *, wait: int, at_once: bool = False):
        self.wait, self.at_once = wait, at_once
        super().__init__(wait)


def count_sign_in_attempt(request: HttpRequest) -> None:
    """Count an attempt to sign in or sign up. Raises SignInThrottled beyond the limit of the client's network."""
    budget = throttling.consume_budget(
        f"sign-in:{get_client_network(request)}",
        now=datetime.now(tz=UTC).timestamp(),
        limit=settings.SIGN_IN_LIMIT,
        seconds=SIGN_IN_WINDOW_SECONDS,
        exact=True,
    )
    if budget.is_exceeded:
        raise SignInThrottled(wait=budget.resets_in)


class SignInLimitBackend(BaseBackend):
    """First authentication backend: authenticates nobody and counts every attempt, from any page."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **_: Any
    ) -> None:
        """Raise SignInThrottled if the client's network has used up its attempts."""
        if request is not None:
            count_sign_in_attempt(request)


class FailedSignInBackend(BaseBackend):
    """Last authentication backend: authenticates nobody and records the failed attempt in the user's security
    log.

    Attempts rejected by a lockout do not get here.
    """

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **_: Any
    ) -> None:
        if request is not None and username is not None:
            email = sessions.normalize_typed_email(request, {"username": username})
            security_log.record_sign_in_failure(email=email, request=request, now=datetime.now(tz=UTC))


class LimitedArgon2Hasher(Argon2PasswordHasher):
    """Django's Argon2 hasher, limited to a few concurrent checks."""

    def encode(self, password: str, salt: str) -> str:
        with acquire_check_slot():
            return str(super().encode(password, salt))

    def verify(self, password: str, encoded: str) -> bool:
        with acquire_check_slot():
            return bool(super().verify(password, encoded))


@contextmanager
def acquire_check_slot() -> Iterator[None]:
    """Hold one of the slots for password checks.

    Raises SignInThrottled if no slot becomes free in time, or no thread can be spared for waiting.
    """
    if not (CHECK_SLOTS.acquire(blocking=False) or wait_for_check_slot()):
        raise SignInThrottled(wait=1, at_once=True)
    try:
        yield
    finally:
        CHECK_SLOTS.release()


def wait_for_check_slot() -> bool:
    """Wait for a slot; return whether one became free."""
    if not WAITING_SLOTS.acquire(blocking=False):
        return False
    try:
        return CHECK_SLOTS.acquire(timeout=CHECK_WAIT_SECONDS)
    finally:
        WAITING_SLOTS.release()


def show_throttled_sign_in(request: HttpRequest, exception: Exception) -> HttpResponse | None:
    """Return the 429 page for SignInThrottled, None for any other exception."""
    if not isinstance(exception, SignInThrottled):
        return None
    response = render(request, "companies/sign_in_throttled.html", {"at_once": exception.at_once}, status=429)
    response["Retry-After"] = str(exception.wait)
    response["Cache-Control"] = "no-store"
    return response
