"""A template database for tests, with migrations applied and rates loaded.

Created once for each version of the schema: that takes 15 seconds, copying it half a second.
"""

import hashlib
from datetime import UTC, datetime
from pathlib import Path

import psycopg
from django.core.management import call_command
from django.db import connection
from psycopg import sql

from config.databases.connection import EmbeddedDatabase

ROOT = Path(__file__).resolve().parents[1]
LOCK_NUMBER = 7_300_116  # the advisory lock's number
LIST_TEMPLATES = "SELECT datname FROM pg_database WHERE datname LIKE 'template_of_tests%'"


def compute_schema_digest() -> str:
    """Return a digest of the files that a new database depends on."""
    digest = hashlib.sha256()
    sources = [*ROOT.glob("*/migrations/*.*"), *ROOT.glob("config/*.py"), ROOT / "requirements.txt", Path(__file__)]
    for path in sorted(sources):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def prepare_test_template(embedded: EmbeddedDatabase) -> str:
    """Return the name of the template database on a running server; the first worker creates it."""
    name = f"template_of_tests_{compute_schema_digest()}"
    with psycopg.connect(host=str(embedded.path), user="postgres", dbname="postgres", autocommit=True) as server:
        server.execute("SELECT pg_advisory_lock(%s)", [LOCK_NUMBER])
        existing = {row[0] for row in server.execute(LIST_TEMPLATES)}
        if name not in existing:
            for old in existing:
                server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(old)))
            unfinished = "template_of_tests_to_be"
            server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(unfinished)))
            fill_database(unfinished)
            server.execute(sql.SQL("ALTER DATABASE {} RENAME TO {}").format(*map(sql.Identifier, (unfinished, name))))
    return name


def fill_database(name: str) -> None:
    """Apply all migrations and load the rates, in another database than that of the settings."""
    from ledger.money.rates import load_packaged_rates  # benchmarks import this module before Django is set up

    own = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = name
    try:
        call_command("migrate", verbosity=0, interactive=False)
        load_packaged_rates(now=datetime.now(tz=UTC))
    finally:
        connection.close()
        connection.settings_dict["NAME"] = own
