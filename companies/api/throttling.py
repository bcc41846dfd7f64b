"""So many requests a minute per credential.

The budget is one for all workers of a machine: counters lie in a small file that the processes map into memory, because
a cache per process would multiply the budget and a query per request would cost more than the request. Where CACHE_URL
names a Redis, machines share the budget too; while it fails, each counts by itself: no request is refused, or kept
waiting, for what only guards the others.
"""

import fcntl
import hashlib
import logging
import mmap
import os
import struct
import threading
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from redis import Redis

log = logging.getLogger(__name__)

WINDOW = 60  # seconds, where no other is asked for
SLOTS = 65536  # a mebibyte; thousands of callers a minute find a free slot among eight
SLOT = struct.Struct("<QII")  # credential's tag, window, count
BYTES = SLOTS * SLOT.size
PROBES = 8

PATIENCE = 0.25  # seconds for the connection to the shared counters, and for each of their answers
REST = 5.0  # seconds for which they are not asked again after a failure
RESTING = {"until": 0.0}


@dataclass(frozen=True, slots=True)
class Budget:
    """What is left of a credential's window."""

    limit: int
    used: int
    resets_in: int  # seconds

    @property
    def exceeded(self) -> bool:
        return self.used > self.limit

    def headers(self) -> dict[str, str]:
        return {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(max(0, self.limit - self.used)),
            "RateLimit-Reset": str(self.resets_in),
        }


class Counters:
    """Fixed-window counters in a file that every worker maps; a slot whose window has passed is free."""

    def __init__(self, path: Path):
        self.file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.lockf(self.file, fcntl.LOCK_EX)  # of two that begin together one would clear what the other counted
        try:
            roomy = has_room(self.file)
        finally:
            fcntl.lockf(self.file, fcntl.LOCK_UN)
        self.memory = mmap.mmap(self.file if roomy else -1, BYTES)
        self.lock = threading.Lock()  # the file's lock is per process

    def add(self, name: str, window: int) -> int:
        """Counts one more and returns the count in this window."""
        tag = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest())
        with self.lock:
            fcntl.lockf(self.file, fcntl.LOCK_EX)
            try:
                return self._add(tag, window)
            finally:
                fcntl.lockf(self.file, fcntl.LOCK_UN)

    def _add(self, tag: int, window: int) -> int:
        free = None
        for probe in range(PROBES):
            offset = (tag + probe) % SLOTS * SLOT.size
            owner, seen, count = SLOT.unpack_from(self.memory, offset)
            if seen != window:
                free = offset if free is None else free
            elif owner == tag:
                SLOT.pack_into(self.memory, offset, tag, window, count + 1)
                return count + 1
        # With every probed slot taken by others the oldest neighbour is overwritten: it is counted anew, never refused.
        SLOT.pack_into(self.memory, tag % SLOTS * SLOT.size if free is None else free, tag, window, 1)
        return 1


def has_room(file: int) -> bool:
    """Whether the counters' file has all of its bytes on the disk; a hole in it would, once the disk is full, end the
    process that counts there. Where there is no room now, each process counts in its own memory."""
    status = os.fstat(file)
    if status.st_size == BYTES and status.st_blocks * 512 >= BYTES:
        return True
    try:
        with os.fdopen(os.dup(file), "wb") as whole:
            whole.write(bytes(BYTES))
    except OSError as error:
        log.warning("rate limits are counted by each process for itself (%s)", error.strerror)
        return False
    return True


@lru_cache(maxsize=4)
def counters(seconds: int = WINDOW) -> Counters:
    """Windows of another length have a file of their own: in one file each would take the other's slots for free."""
    return Counters(settings.DATA_DIR / ("rate-limits" if seconds == WINDOW else f"rate-limits-{seconds}"))


def spend(name: str, *, now: float, limit: int | None = None, seconds: int = WINDOW) -> Budget:
    """Counts one request of a credential, in windows of so many seconds."""
    limit = settings.RATE_LIMIT if limit is None else limit
    window = int(now // seconds)
    used = counted_together(name, window, seconds)
    if used is None:
        used = counters(seconds).add(name, window)
    return Budget(limit=limit, used=used, resets_in=seconds - int(now % seconds))


def counted_together(name: str, window: int, seconds: int) -> int | None:
    """Counts one more for all machines and returns their count; None where they share none, or it cannot be had."""
    if not settings.CACHE_URL or time.monotonic() < RESTING["until"]:
        return None
    from redis import RedisError  # here: a machine on its own does without its ten mebibytes

    key = f"rate:{name}:{window}"  # a name is always counted in windows of one length
    try:
        with shared(settings.CACHE_URL).pipeline() as both:
            both.incr(key)
            both.expire(key, 2 * seconds)
            return int(both.execute()[0])
    except (RedisError, OSError, ValueError, TypeError) as error:  # the last two: whoever answers is no Redis
        RESTING["until"] = time.monotonic() + REST
        if counters(seconds).add("failures of the shared counters", window) == 1:
            # Only the error's kind: a server may quote the password it was given.
            log.warning("CACHE_URL: no shared rate limits (%s); each machine counts by itself.", type(error).__name__)
        return None


@lru_cache(maxsize=1)
def shared(url: str) -> "Redis":
    """Redis at the address. It greets in no words but password and database: each would be one more wait."""
    from redis import Redis

    return Redis.from_url(url, socket_connect_timeout=PATIENCE, socket_timeout=PATIENCE, protocol=2, driver_info=None)
