"""Database setup: migrations and exchange rates, by one process at a time."""

import contextlib
import io
import time
from collections.abc import Iterator

from django.core.management import call_command
from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor

SETUP_LOCK_NUMBER = 7_300_115  # arbitrary advisory lock number


def prepare_database() -> None:
    """Apply migrations and load the packaged rates; the caller holds ``acquire_setup_lock``."""
    call_command("migrate", verbosity=0, interactive=False)
    call_command("update_rates", verbosity=0, stdout=io.StringIO())


def prepare_new_database() -> None:
    """Set up the database for a command if no server has done it yet."""
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        with acquire_setup_lock():
            prepare_database()


@contextlib.contextmanager
def acquire_setup_lock() -> Iterator[None]:
    """Hold the setup lock; a second process finds everything done."""
    try:
        # Polled: a waiting statement would itself be waited for by CREATE INDEX CONCURRENTLY.
        while not _try_lock():
            time.sleep(0.2)
        yield
    finally:
        connections.close_all()  # releases the lock; workers must not inherit a connection


def _try_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [SETUP_LOCK_NUMBER])
        return bool(cursor.fetchone()[0])
