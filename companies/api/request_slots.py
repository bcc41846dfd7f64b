"""Limits how many requests of one credential and one company run at the same time.

A credential has at most ``settings.REQUESTS_PER_CREDENTIAL`` requests on a server, counted over its
worker processes with record locks, which the kernel releases when a process ends. A company has at most
half of the threads of each process, so that another company always finds a free thread. Several servers
count separately.
"""

import fcntl
import hashlib
import os
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial
from threading import Lock, Semaphore
from typing import Any

from django.conf import settings

from companies.errors import TooManyRequestsError

WAIT_SECONDS = 1.0  # wait for a slot; most requests take a fraction of it
POLL_SECONDS = 0.003
RETRY_SECONDS = 1
SLOT_BITS = 8  # bits of a lock's position for the slot; the others are the credential's
SALT = os.urandom(16)  # drawn before the fork, so that nobody can choose names with the same position

Release = Callable[[], None]


class TooManyInWork(TooManyRequestsError):
    """Too many concurrent requests. Retry when one of them has finished."""

    code = "too_many_in_work"


def open_lock_file() -> int:
    """Open a file that is locked and never written. It is opened before the workers are forked, which share it."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("requests-in-work")
    return os.dup(tempfile.TemporaryFile().fileno())


LOCK_FILE = open_lock_file()
GUARD = Lock()  # record locks belong to the process: its threads are kept apart by the counts below
CREDENTIAL_SLOTS: defaultdict[str, set[int]] = defaultdict(set)
COMPANY_REQUESTS: Counter[str] = Counter()


def get_max_company_requests() -> int:
    """Return how many requests of one company a process handles at a time: half of its threads."""
    return max(settings.THREADS // 2, 1)


# A waiting request holds a thread: at least one stays free for other companies.
WAITING_THREADS = Semaphore(max(settings.THREADS - get_max_company_requests() - 1, 0))


def acquire_credential_slot(credential: str) -> Release | None:
    """Take one of the credential's slots on this server and return its release function; None if all are taken."""
    start = int.from_bytes(hashlib.blake2b(credential.encode(), digest_size=6, key=SALT).digest()) << SLOT_BITS
    with GUARD:
        own_slots = CREDENTIAL_SLOTS[credential]
        for slot in range(settings.REQUESTS_PER_CREDENTIAL):
            if slot in own_slots:
                continue
            try:
                fcntl.lockf(LOCK_FILE, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, start + slot)
            except (BlockingIOError, PermissionError):  # held by another process
                continue
            own_slots.add(slot)
            return partial(release_credential_slot, credential, slot, start + slot)
        if not own_slots:
            del CREDENTIAL_SLOTS[credential]
    return None


def release_credential_slot(credential: str, slot: int, position: int) -> None:
    """Release a slot of the credential."""
    with GUARD:
        fcntl.lockf(LOCK_FILE, fcntl.LOCK_UN, 1, position)
        CREDENTIAL_SLOTS[credential].discard(slot)
        if not CREDENTIAL_SLOTS[credential]:
            del CREDENTIAL_SLOTS[credential]


def acquire_company_slot(company_id: str) -> Release | None:
    """Take one of the company's slots in this process and return its release function; None if all are taken."""
    with GUARD:
        if COMPANY_REQUESTS[company_id] >= get_max_company_requests():
            return None
        COMPANY_REQUESTS[company_id] += 1
    return partial(release_company_slot, company_id)


def release_company_slot(company_id: str) -> None:
    """Release a slot of the company."""
    with GUARD:
        COMPANY_REQUESTS[company_id] -= 1
        if not COMPANY_REQUESTS[company_id]:
            del COMPANY_REQUESTS[company_id]


def wait_for_slot(acquire: Callable[[], Release | None]) -> Release | None:
    """Retry for WAIT_SECONDS, if a thread can be spared for waiting."""
    if not WAITING_THREADS.acquire(blocking=False):
        return None
    try:
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
            if release := acquire():
                return release
        return None
    finally:
        WAITING_THREADS.release()


class RequestSlots:
    """Slots held by one request until its response is sent."""

    def __init__(self) -> None:
        self.held: dict[str, Release] = {}

    def take_credential_slot(self, credential: str) -> None:
        """Take a slot of the request's credential. Raises TooManyInWork."""
        self.take_slot(f"credential:{credential}", partial(acquire_credential_slot, credential))

    def take_company_slot(self, company_id: Any) -> None:
        """Take a slot of the request's company. Raises TooManyInWork."""
        self.take_slot(f"company:{company_id}", partial(acquire_company_slot, str(company_id)))

    def take_slot(self, name: str, acquire: Callable[[], Release | None]) -> None:
        if name in self.held:
            return
        release = acquire() or wait_for_slot(acquire)
        if release is None:
            raise TooManyInWork(wait=RETRY_SECONDS)
        self.held[name] = release

    def release_all(self) -> None:
        while self.held:
            self.held.popitem()[1]()


class UncountedSlots(RequestSlots):
    """Slots of a request outside the middleware, which would not release them."""

    def take_slot(self, name: str, acquire: Callable[[], Release | None]) -> None:
        """Hold nothing."""


UNCOUNTED_SLOTS = UncountedSlots()


def get_request_slots(request: Any) -> RequestSlots:
    """Return the slots of the request; requests outside the middleware are not counted."""
    slots: RequestSlots | None = getattr(request, "slots", None)
    return UNCOUNTED_SLOTS if slots is None else slots
