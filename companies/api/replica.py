"""Reads are answered by a streaming replica, once it has all that the primary has; there need not be one.

No answer is older than what its caller has read or written before: where the replica is behind, is lost, or gives a
query up because it must go on replaying, the primary answers.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError, connections

Answer = TypeVar("Answer")

REPLICA = "replica"
PATIENCE = 0.05  # seconds in which it may catch up
STEP = 0.002
REST = 30.0  # seconds for which one that failed is not asked again
RESTING = {"until": 0.0}


def answered(ask: Callable[[], Answer]) -> Answer:
    """What ``ask`` returns; it only reads, and is called a second time where the replica fails."""
    if REPLICA not in settings.DATABASES or time.monotonic() < RESTING["until"]:
        return ask()
    try:
        if caught_up():
            with in_place_of_primary():
                return ask()
    except (OperationalError, InterfaceError):
        connections[REPLICA].close()
        RESTING["until"] = time.monotonic() + REST
    return ask()


def caught_up() -> bool:
    """Whether the replica has replayed all that is committed now, or does within moments."""
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute("SELECT pg_current_wal_lsn()::text")
        (position,) = cursor.fetchone()
    patient_until = time.monotonic() + PATIENCE
    with connections[REPLICA].cursor() as cursor:
        while True:
            cursor.execute("SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= %s::pg_lsn", [position])
            (there,) = cursor.fetchone()
            if there or time.monotonic() > patient_until:
                return bool(there)
            time.sleep(STEP)


@contextmanager
def in_place_of_primary() -> Iterator[None]:
    """This thread's statements go to the replica, whatever way they are sent."""
    primary = connections[DEFAULT_DB_ALIAS]
    connections[DEFAULT_DB_ALIAS] = connections[REPLICA]
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = primary
