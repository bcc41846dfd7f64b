"""Database setup: migrations and exchange rates, by one process at a time."""

import contextlib
import io
import time
from collections.abc import Iterator

from django.core.management import call_command
from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from config.databases.connection import DatabaseUnavailable

SETUP_LOCK_NUMBER = 7_300_115  # arbitrary advisory lock number
LAST_COMMIT_WITH_REPLACED_MIGRATIONS = "3f475a46"


class OutdatedDatabase(DatabaseUnavailable):
    """The database lacks migrations that this version no longer has; the message says how to apply them."""


def prepare_database() -> None:
    """Apply migrations and load the packaged rates; the caller holds ``acquire_setup_lock``."""
    call_command("migrate", verbosity=0, interactive=False)
    call_command("update_rates", verbosity=0, stdout=io.StringIO())


def prepare_new_database() -> None:
    """Set up the database for a command if no server has done it yet."""
    if has_pending_migrations():
        with acquire_setup_lock():
            prepare_database()


def has_pending_migrations() -> bool:
    """Return whether the database lacks migrations, of this version or replaced ones."""
    if list_missing_replaced_migrations():
        return True
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def check_migration_history() -> None:
    """Raise OutdatedDatabase if a database with tables lacks migrations that an initial migration replaces.

    If all of them are applied, Django marks the initial migration as applied. If some are missing, nobody can apply
    them any more: Django would leave out the app's new tables without a word, or create tables that exist.
    """
    if names := list_missing_replaced_migrations():
        raise OutdatedDatabase(
            f"The database lacks migrations that this version no longer has: {', '.join(names)}. Run "
            f"`manage.py migrate` of commit {LAST_COMMIT_WITH_REPLACED_MIGRATIONS} first, then start this version."
        )


def list_missing_replaced_migrations() -> list[str]:
    """Return the names of replaced migrations that are not applied, as `ledger.0002_name`; none for a new database."""
    applied = MigrationRecorder(connection).applied_migrations()
    apps_with_tables = {app for app, _ in applied}
    loader = MigrationLoader(connection, load=False)
    loader.load_disk()
    names = []
    for key, migration in loader.disk_migrations.items():
        if key not in applied and key[0] in apps_with_tables:
            names += [f"{app}.{name}" for app, name in migration.replaces if (app, name) not in applied]
    return sorted(names)


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
