"""A template database for tests: migrations are applied and rates loaded once for each state of them.

That takes 15 seconds, copying the result half a second.
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
    """Of what a fresh database depends on."""
    digest = hashlib.sha256()
    sources = [*ROOT.glob("*/migrations/*.*"), *ROOT.glob("config/*.py"), ROOT / "requirements.txt", Path(__file__)]
    for path in sorted(sources):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def prepare_test_template(embedded: EmbeddedDatabase) -> str:
    """The name of the database to copy on a server that runs; made by the worker that comes first."""
    name = f"template_of_tests_{compute_schema_digest()}"
    with psycopg.connect(host=str(embedded.path), user="postgres", dbname="postgres", autocommit=True) as server:
        server.execute("SELECT pg_advisory_lock(%s)", [LOCK_NUMBER])
        there = {row[0] for row in server.execute(LIST_TEMPLATES)}
        if name not in there:
            for old in there:
                server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(old)))
            half_made = "template_of_tests_to_be"
            server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(half_made)))
            fill_database(half_made)
            server.execute(sql.SQL("ALTER DATABASE {} RENAME TO {}").format(*map(sql.Identifier, (half_made, name))))
    return name


def fill_database(name: str) -> None:
    """Apply all migrations to a database beside that of the settings, and load the rates."""
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
