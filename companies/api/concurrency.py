"""How many requests of one credential and of one company are answered at the same time.

A credential has at most ``settings.REQUESTS_PER_CREDENTIAL`` requests in work on a server, counted over its worker
processes by record locks: the kernel releases those of a process that ends, so no count can go stale. A company has at
most half of the threads of each process, counted in the process, so that another company always finds a free thread in
whichever process takes its request. Several servers count each by itself.
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

from companies.errors import TooMany

WAIT_SECONDS = 1.0  # for one of the others to end; most requests take a fraction of it
POLL_SECONDS = 0.003
RETRY_SECONDS = 1
SLOT_BITS = 8  # of a lock's position; the other bits are the credential's
SALT = os.urandom(16)  # drawn before the workers are forked: nobody chooses names that share a position

Release = Callable[[], None]


class TooManyInWork(TooMany):
    """Too many requests of this credential or company are being answered. Wait until one of them ends."""

    code = "too_many_in_work"


def open_lock_file() -> int:
    """Open a file that is locked and never written. It is opened before the workers are forked, who share it."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("requests-in-work")
    return os.dup(tempfile.TemporaryFile().fileno())


LOCK_FILE = open_lock_file()
GUARD = Lock()  # a record lock belongs to the process: its threads keep out of each other's way by the counts below
CREDENTIAL_SLOTS: defaultdict[str, set[int]] = defaultdict(set)
COMPANY_REQUESTS: Counter[str] = Counter()


def company_share() -> int:
    """Return how many requests of one company a process answers at a time: half of its threads."""
    return max(settings.THREADS // 2, 1)


# Whoever waits holds a thread: only as many may as leave one to other companies.
WAITING = Semaphore(max(settings.THREADS - company_share() - 1, 0))


def take_credential_slot(credential: str) -> Release | None:
    """Take one of the credential's slots on this server and return how to give it back; None where all are taken."""
    start = int.from_bytes(hashlib.blake2b(credential.encode(), digest_size=6, key=SALT).digest()) << SLOT_BITS
    with GUARD:
        own = CREDENTIAL_SLOTS[credential]
        for slot in range(settings.REQUESTS_PER_CREDENTIAL):
            if slot in own:
                continue
            try:
                fcntl.lockf(LOCK_FILE, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, start + slot)
            except (BlockingIOError, PermissionError):  # another process has it
                continue
            own.add(slot)
            return partial(give_back_credential_slot, credential, slot, start + slot)
        if not own:
            del CREDENTIAL_SLOTS[credential]
    return None


def give_back_credential_slot(credential: str, slot: int, position: int) -> None:
    with GUARD:
        fcntl.lockf(LOCK_FILE, fcntl.LOCK_UN, 1, position)
        CREDENTIAL_SLOTS[credential].discard(slot)
        if not CREDENTIAL_SLOTS[credential]:
            del CREDENTIAL_SLOTS[credential]


def take_company_slot(company_id: str) -> Release | None:
    """Take one of the company's slots in this process and return how to give it back; None where all are taken."""
    with GUARD:
        if COMPANY_REQUESTS[company_id] >= company_share():
            return None
        COMPANY_REQUESTS[company_id] += 1
    return partial(give_back_company_slot, company_id)


def give_back_company_slot(company_id: str) -> None:
    with GUARD:
        COMPANY_REQUESTS[company_id] -= 1
        if not COMPANY_REQUESTS[company_id]:
            del COMPANY_REQUESTS[company_id]


def wait_for(take: Callable[[], Release | None]) -> Release | None:
    """Try again for a moment, where a thread can be spared for waiting."""
    if not WAITING.acquire(blocking=False):
        return None
    try:
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
            if release := take():
                return release
        return None
    finally:
        WAITING.release()


class RequestSlots:
    """What one request holds, until its answer is sent."""

    def __init__(self) -> None:
        self.held: dict[str, Release] = {}

    def hold_credential(self, credential: str) -> None:
        """Count the request for its credential. Raises TooManyInWork."""
        self.hold(f"credential:{credential}", partial(take_credential_slot, credential))

    def hold_company(self, company_id: Any) -> None:
        """Count the request for its company. Raises TooManyInWork."""
        self.hold(f"company:{company_id}", partial(take_company_slot, str(company_id)))

    def hold(self, name: str, take: Callable[[], Release | None]) -> None:
        if name in self.held:
            return
        release = take() or wait_for(take)
        if release is None:
            raise TooManyInWork(wait=RETRY_SECONDS)
        self.held[name] = release

    def give_back(self) -> None:
        while self.held:
            self.held.popitem()[1]()


class NotCounted(RequestSlots):
    """The slots of a request that no middleware would give back."""

    def hold(self, name: str, take: Callable[[], Release | None]) -> None:
        """Hold nothing."""


NOT_COUNTED = NotCounted()


def slots_of(request: Any) -> RequestSlots:
    """Return what the request holds. What did not come through the middleware is not counted."""
    found: RequestSlots | None = getattr(request, "slots", None)
    return NOT_COUNTED if found is None else found
