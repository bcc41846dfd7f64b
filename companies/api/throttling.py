"""How often somebody may do something in a window of time: requests of a credential, sign-ins of an address, mails.

Where CACHE_URL names a Redis, all machines count there; while it fails, each counts as if there were none. Else there
are two ways of counting:

- exactly, in an unlogged table, for what is promised exactly: sign-ins, mails, invitations;
- a hundredth of the limit at a time for budgets of requests, for which a statement each would cost more than the
  request: a process counts by itself and adds its count to the table whenever it has reached a hundredth of the limit.
  All processes together answer at most ``WORKERS`` hundredths more than the limit; limits below 200 are exact.

No counter is ever displaced by another. An unlogged table is emptied when its server crashes: windows begin anew then.
"""

import hashlib
import hmac
import logging
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from companies.errors import TooMany
from companies.models import RateCounter

if TYPE_CHECKING:
    from redis import Redis

log = logging.getLogger(__name__)

WINDOW_SECONDS = 60  # where no other window is asked for
SHARES = 100  # a process adds its count to the table once it has reached this part of the limit
MAX_LOCAL_NAMES = 50_000  # that a process counts by itself; further ones are counted in the table

REDIS_TIMEOUT_SECONDS = 0.25  # for the connection to the shared counters, and for each of their answers
REDIS_REST_SECONDS = 5.0  # for which they are not asked again after a failure
RESTING = {"until": 0.0}
LOGGED = {"minute": -1}

ADD = """
INSERT INTO companies_ratecounter AS counter (name, window_number, count, expires_time) VALUES (%s, %s, %s, %s)
ON CONFLICT (name) DO UPDATE SET
    count = CASE WHEN counter.window_number = excluded.window_number THEN counter.count ELSE 0 END + excluded.count,
    window_number = excluded.window_number,
    expires_time = excluded.expires_time
RETURNING count
"""


class RateLimited(TooMany):
    """The budget of requests is spent; see `Retry-After`."""

    code = "rate_limited"


@dataclass(frozen=True, slots=True)
class Budget:
    """What is left of a window."""

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


@dataclass(slots=True)
class LocalCount:
    """What a process knows of one name's window."""

    window: int
    expires: float
    unreported: int = 0
    reported: int = 0  # by all processes, as far as this one has heard


LOCAL: dict[str, LocalCount] = {}
LOCAL_LOCK = Lock()


def spend(
    name: str, *, now: float, limit: int | None = None, seconds: int = WINDOW_SECONDS, exact: bool = False
) -> Budget:
    """Count one more of a name, in windows of so many seconds."""
    limit = settings.RATE_LIMIT if limit is None else limit
    window, name = int(now // seconds), f"{name}/{seconds}"
    used = count_in_redis(name, window, seconds)
    if used is None:
        used = count_without_redis(name, window, seconds, batch=1 if exact else max(limit // SHARES, 1))
    return Budget(limit=limit, used=used, resets_in=seconds - int(now % seconds))


def count_without_redis(name: str, window: int, seconds: int, *, batch: int) -> int:
    """Count one more in this process, and in the table where the process has counted a whole batch."""
    with LOCAL_LOCK:
        local = find_local(name, window, seconds)
        local.unreported += 1
        due = local.unreported if local.unreported >= batch or name not in LOCAL else 0
        local.unreported -= due
        local.reported += due  # another thread that asks meanwhile must not miss them
        if not due:
            return local.reported + local.unreported
    total = add_to_table(name, window, due, (window + 1) * seconds)
    with LOCAL_LOCK:
        if total is not None:
            local.reported = max(total, local.reported)
        return local.reported + local.unreported


def find_local(name: str, window: int, seconds: int) -> LocalCount:
    """Return the process's own count of the name. Where there are too many names it is a new one that is not kept."""
    local = LOCAL.get(name)
    if local is not None and local.window == window:
        return local
    if local is None and len(LOCAL) >= MAX_LOCAL_NAMES:
        for old in [each for each, count in LOCAL.items() if count.expires <= window * seconds]:
            del LOCAL[old]
    new = LocalCount(window, (window + 1) * seconds)
    if local is not None or len(LOCAL) < MAX_LOCAL_NAMES:
        LOCAL[name] = new
    return new


def add_to_table(name: str, window: int, count: int, expires: float) -> int | None:
    """Add to the count of all processes and return it; None where the database cannot store it now: no request is
    refused for what only guards the others, and the process's own count goes on."""
    values: list[str | int | datetime] = [table_name(name), window, count, datetime.fromtimestamp(expires, tz=UTC)]
    try:
        with connection.cursor() as cursor:
            cursor.execute(ADD, values)
            return int(cursor.fetchone()[0])
    except (DatabaseError, InterfaceError) as error:
        if connection.in_atomic_block:
            raise  # nothing else can be done in this transaction
        log_once_a_minute("rate limits are counted by each process for itself (%s)", error)
        return None


def table_name(name: str) -> str:
    """Return how the table knows a name: as a keyed digest, for addresses of people are among them."""
    return hmac.digest(settings.SECRET_KEY.encode(), f"rate:{name}".encode(), hashlib.sha256).hex()


def forget_local_counts() -> None:
    """Begin anew in this process, for tests."""
    with LOCAL_LOCK:
        LOCAL.clear()
    RESTING["until"] = 0.0
    LOGGED["minute"] = -1


def prune(*, now: datetime) -> int:
    """Delete counters of windows that are over; return how many."""
    deleted, _ = RateCounter.objects.filter(expires_time__lt=now - timedelta(minutes=5)).delete()
    return deleted


def count_in_redis(name: str, window: int, seconds: int) -> int | None:
    """Count one more for all machines and return their count; None where they share none, or it cannot be had."""
    if not settings.CACHE_URL or time.monotonic() < RESTING["until"]:
        return None
    from redis import RedisError  # here: a machine on its own does without its ten mebibytes

    key = f"rate:{name}:{window}"
    try:
        with connect_to_redis(settings.CACHE_URL).pipeline() as both:
            both.incr(key)
            both.expire(key, 2 * seconds)
            return int(both.execute()[0])
    except (RedisError, OSError, ValueError, TypeError) as error:  # the last two: whoever answers is no Redis
        RESTING["until"] = time.monotonic() + REDIS_REST_SECONDS
        log_once_a_minute(
            "CACHE_URL: no shared rate limits (%s); each machine counts by itself.",
            error,
            minute=window * seconds // 60,
        )
        return None


def log_once_a_minute(text: str, error: Exception, *, minute: int | None = None) -> None:
    """Warn by the error's kind alone: a server may quote the password it was given."""
    minute = int(time.time() // 60) if minute is None else minute
    if LOGGED["minute"] != minute:
        LOGGED["minute"] = minute
        log.warning(text, type(error).__name__)


@lru_cache(maxsize=1)
def connect_to_redis(url: str) -> "Redis":
    """Redis at the address. It greets in no words but password and database: each would be one more wait."""
    from redis import Redis

    return Redis.from_url(
        url,
        socket_connect_timeout=REDIS_TIMEOUT_SECONDS,
        socket_timeout=REDIS_TIMEOUT_SECONDS,
        protocol=2,
        driver_info=None,
    )
