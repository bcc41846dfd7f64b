"""Bringing a database up to date: tables and exchange rates, by one process at a time."""

import contextlib
import io
import time
from collections.abc import Iterator

from django.core.management import call_command
from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor

PREPARING = 7_300_115  # the advisory lock's number; any will do that no one else takes


def prepare() -> None:
    """Applies migrations and loads the packaged rates; the caller has its turn (``alone``)."""
    call_command("migrate", verbosity=0, interactive=False)
    call_command("update_rates", verbosity=0, stdout=io.StringIO())


def prepare_if_new() -> None:
    """The same, for a lone command on a database that no server has prepared yet."""
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        with alone():
            prepare()


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Two starts at once take turns: the second finds everything done."""
    try:
        # Asked again and again: a statement that waits would itself be waited for by an index built concurrently.
        while not _locked():
            time.sleep(0.2)
        yield
    finally:
        connections.close_all()  # which gives up the lock; and the workers must not inherit a connection


def _locked() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [PREPARING])
        return bool(cursor.fetchone()[0])
