"""Rate limits: how often something may happen in a window of time, such as requests, sign-ins or e-mails.

With CACHE_URL all machines count in Redis; while it fails, as if there were none. Otherwise there are
two ways:

- exact, in an unlogged table: sign-ins, e-mails, invitations;
- in batches of a hundredth of the limit for request budgets, where one statement per request would cost
  too much: a process adds its own count to the table whenever it has counted a batch. All processes
  together allow at most ``WORKERS`` hundredths more than the limit; limits below 200 are exact.

Counters are never evicted. The table is emptied when the database server crashes; windows start again
then.
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

from companies.errors import TooManyRequestsError
from companies.models import RateCounter

if TYPE_CHECKING:
    from redis import Redis

log = logging.getLogger(__name__)

WINDOW_SECONDS = 60  # default window
BATCH_DIVISOR = 100  # a process adds its count to the table when it reaches this fraction of the limit
MAX_LOCAL_NAMES = 50_000  # names a process counts itself; further ones are counted in the table

REDIS_TIMEOUT_SECONDS = 0.25  # for connecting to Redis and for each response
REDIS_REST_SECONDS = 5.0  # pause after a failure
RESTING = {"until": 0.0}
LOGGED = {"minute": -1}

# Raw SQL: the ORM cannot compute with the stored row on conflict, or return the result.
ADD_COUNT_SQL = """
INSERT INTO companies_ratecounter AS counter (name, window_number, count, expires_time) VALUES (%s, %s, %s, %s)
ON CONFLICT (name) DO UPDATE SET
    count = CASE WHEN counter.window_number = excluded.window_number THEN counter.count ELSE 0 END + excluded.count,
    window_number = excluded.window_number,
    expires_time = excluded.expires_time
RETURNING count
"""


class RateLimited(TooManyRequestsError):
    """Rate limit exceeded. Retry after the time in `Retry-After`."""

    code = "rate_limited"


@dataclass(frozen=True, slots=True)
class Budget:
    """Limit and use of a window."""

    limit: int
    used: int
    resets_in: int  # seconds

    @property
    def is_exceeded(self) -> bool:
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
    reported: int = 0  # by all processes, as far as this one knows


LOCAL_COUNTS: dict[str, LocalCount] = {}
LOCAL_LOCK = Lock()


def consume_budget(
    name: str, *, now: float, limit: int | None = None, seconds: int = WINDOW_SECONDS, exact: bool = False
) -> Budget:
    """Count one more use of a name, in windows of `seconds`."""
    limit = settings.RATE_LIMIT if limit is None else limit
    window, name = int(now // seconds), f"{name}/{seconds}"
    used = count_in_redis(name, window, seconds)
    if used is None:
        used = count_without_redis(name, window, seconds, batch=1 if exact else max(limit // BATCH_DIVISOR, 1))
    return Budget(limit=limit, used=used, resets_in=seconds - int(now % seconds))


def count_without_redis(name: str, window: int, seconds: int, *, batch: int) -> int:
    """Count one more in this process, and in the table once a batch is full."""
    with LOCAL_LOCK:
        local = get_or_create_local_count(name, window, seconds)
        local.unreported += 1
        due = local.unreported if local.unreported >= batch or name not in LOCAL_COUNTS else 0
        local.unreported -= due
        local.reported += due  # reserved now, so that other threads count it too
        if not due:
            return local.reported + local.unreported
    total = add_to_counter_table(name, window, due, (window + 1) * seconds)
    with LOCAL_LOCK:
        if total is not None:
            local.reported = max(total, local.reported)
        return local.reported + local.unreported


def get_or_create_local_count(name: str, window: int, seconds: int) -> LocalCount:
    """Return the process's own count of a name; with too many names a new one that is not stored."""
    local = LOCAL_COUNTS.get(name)
    if local is not None and local.window == window:
        return local
    if local is None and len(LOCAL_COUNTS) >= MAX_LOCAL_NAMES:
        for old in [each for each, count in LOCAL_COUNTS.items() if count.expires <= window * seconds]:
            del LOCAL_COUNTS[old]
    new = LocalCount(window, (window + 1) * seconds)
    if local is not None or len(LOCAL_COUNTS) < MAX_LOCAL_NAMES:
        LOCAL_COUNTS[name] = new
    return new


def add_to_counter_table(name: str, window: int, count: int, expires: float) -> int | None:
    """Add to the count of all processes and return it; None if the database cannot store it now.

    No request is rejected then: the process continues with its own count.
    """
    values: list[str | int | datetime] = [
        hash_counter_name(name),
        window,
        count,
        datetime.fromtimestamp(expires, tz=UTC),
    ]
    try:
        with connection.cursor() as cursor:
            cursor.execute(ADD_COUNT_SQL, values)
            return int(cursor.fetchone()[0])
    except (DatabaseError, InterfaceError) as error:
        if connection.in_atomic_block:
            raise  # the transaction is broken anyway
        log_once_a_minute("rate limits are counted per process (%s)", error)
        return None


def hash_counter_name(name: str) -> str:
    """Return the stored name: a keyed digest, since names contain e-mail addresses and IP addresses."""
    return hmac.digest(settings.SECRET_KEY.encode(), f"rate:{name}".encode(), hashlib.sha256).hex()


def reset_local_counts() -> None:
    """Reset the counts of this process, for tests."""
    with LOCAL_LOCK:
        LOCAL_COUNTS.clear()
    RESTING["until"] = 0.0
    LOGGED["minute"] = -1


def prune_rate_counters(*, now: datetime) -> int:
    """Delete counters of past windows; return how many."""
    deleted, _ = RateCounter.objects.filter(expires_time__lt=now - timedelta(minutes=5)).delete()
    return deleted


def count_in_redis(name: str, window: int, seconds: int) -> int | None:
    """Count one more for all machines and return their count; None without Redis or if it fails."""
    if not settings.CACHE_URL or time.monotonic() < RESTING["until"]:
        return None
    from redis import RedisError  # imported here: without Redis it saves ten mebibytes

    key = f"rate:{name}:{window}"
    try:
        with connect_to_redis(settings.CACHE_URL).pipeline() as pipeline:
            pipeline.incr(key)
            pipeline.expire(key, 2 * seconds)
            return int(pipeline.execute()[0])
    except (RedisError, OSError, ValueError, TypeError) as error:  # the last two: the server is no Redis
        RESTING["until"] = time.monotonic() + REDIS_REST_SECONDS
        log_once_a_minute(
            "CACHE_URL: shared rate limits unavailable (%s); limits are counted per machine.",
            error,
            minute=window * seconds // 60,
        )
        return None


def log_once_a_minute(text: str, error: Exception, *, minute: int | None = None) -> None:
    """Log a warning with the error's class only: its text may contain a password."""
    minute = int(time.time() // 60) if minute is None else minute
    if LOGGED["minute"] != minute:
        LOGGED["minute"] = minute
        log.warning(text, type(error).__name__)


@lru_cache(maxsize=1)
def connect_to_redis(url: str) -> "Redis":
    """Return the Redis client, without the handshake commands that cost extra round trips."""
    from redis import Redis

    return Redis.from_url(
        url,
        socket_connect_timeout=REDIS_TIMEOUT_SECONDS,
        socket_timeout=REDIS_TIMEOUT_SECONDS,
        protocol=2,
        driver_info=None,
    )
