"""Reads from a streaming replica, if there is one and it has caught up with the primary.

No response is older than what its caller has read or written before. If the replica is behind,
unavailable or cancels the query, the primary is used.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError, connections

Answer = TypeVar("Answer")

REPLICA = "replica"
CATCH_UP_SECONDS = 0.05  # seconds the replica may take to catch up
REPLICA_POLL_SECONDS = 0.002
REPLICA_REST_SECONDS = 30.0  # seconds for which a failed replica is not used
RESTING = {"until": 0.0}


def read_from_replica(run_query: Callable[[], Answer]) -> Answer:
    """Run a read-only query on the replica; it is called again on the primary if the replica fails."""
    if REPLICA not in settings.DATABASES or time.monotonic() < RESTING["until"]:
        return run_query()
    try:
        if is_replica_caught_up():
            with use_replica_connection():
                return run_query()
    except (OperationalError, InterfaceError):
        connections[REPLICA].close()
        RESTING["until"] = time.monotonic() + REPLICA_REST_SECONDS
    return run_query()


def is_replica_caught_up() -> bool:
    """Return whether the replica has replayed everything committed so far, waiting up to CATCH_UP_SECONDS."""
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute("SELECT pg_current_wal_lsn()::text")
        (position,) = cursor.fetchone()
    deadline = time.monotonic() + CATCH_UP_SECONDS
    with connections[REPLICA].cursor() as cursor:
        while True:
            cursor.execute("SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= %s::pg_lsn", [position])
            (has_replayed,) = cursor.fetchone()
            if has_replayed or time.monotonic() > deadline:
                return bool(has_replayed)
            time.sleep(REPLICA_POLL_SECONDS)


@contextmanager
def use_replica_connection() -> Iterator[None]:
    """Send all statements of this thread to the replica within the context."""
    primary = connections[DEFAULT_DB_ALIAS]
    connections[DEFAULT_DB_ALIAS] = connections[REPLICA]
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = primary
