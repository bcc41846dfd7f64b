"""A database of a Citus cluster for tests: ``CITUS_URL`` names one on its coordinator, whose workers it knows.

With ``DATABASE_URL`` set to the same, all tests run on a distributed schema.
"""

import os
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

CITUS_URL = os.environ.get("CITUS_URL", "")
SKIP_REASON = "CITUS_URL names no coordinator of a Citus cluster"
SHARDS = 4  # on two workers each has two; to empty 32 after each test that commits takes half a minute
TESTS_RUN_ON_CLUSTER = bool(CITUS_URL) and os.environ.get("DATABASE_URL") == CITUS_URL


def list_nodes() -> list[tuple[str, int]]:
    """Host and port of each machine, the coordinator first."""
    with psycopg.connect(CITUS_URL, autocommit=True) as first:
        return first.execute("SELECT nodename, nodeport FROM pg_dist_node ORDER BY groupid").fetchall()


def connect_server(host: str, port: int, database: str) -> Any:
    return psycopg.connect(CITUS_URL, host=host, port=port, dbname=database, autocommit=True)


def connect_coordinator(database: str) -> Any:
    return connect_server(*list_nodes()[0], database)


def build_database_url(database: str) -> str:
    """The address of another database on the coordinator."""
    return urlsplit(CITUS_URL)._replace(path=f"/{database}").geturl()


def has_database(host: str, port: int, database: str) -> bool:
    with connect_server(host, port, "postgres") as each:
        return bool(each.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone())


def join_cluster(database: str) -> None:
    """Makes a database, new or there, part of the cluster: one of its name on every machine, with the extension."""
    (host, port), *workers = list_nodes()
    if not has_database(host, port, database):
        create_database(host, port, database)
    with connect_server(host, port, database) as first:
        if first.execute("SELECT 1 FROM pg_extension WHERE extname = 'citus'").fetchone():
            return
        first.execute("CREATE EXTENSION citus")
        first.execute("SELECT citus_set_coordinator_host(%s, %s)", [host, port])
        for worker in workers:
            drop_database(database, [worker])  # of an earlier database of that name
            create_database(*worker, database)
            with connect_server(*worker, database) as each:
                each.execute("CREATE EXTENSION citus")
            first.execute("SELECT citus_add_node(%s, %s)", worker)


def create_database(host: str, port: int, database: str) -> None:
    with connect_server(host, port, "postgres") as each:
        each.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))


def drop_database(database: str, machines: list[tuple[str, int]] | None = None) -> None:
    """Takes the database away, from every machine where none are named."""
    for host, port in machines or list_nodes():
        with connect_server(host, port, "postgres") as each:
            each.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(database)))


DISABLE_TRUNCATE_TRIGGERS = """
    DO $$ DECLARE shard record; BEGIN
        FOR shard IN SELECT tgrelid::regclass AS name, tgname FROM pg_trigger
                      WHERE tgname ~ '^audit_is_never_emptied_[0-9]+$'
        LOOP EXECUTE format('ALTER TABLE %s DISABLE TRIGGER %I', shard.name, shard.tgname); END LOOP;
    END $$
"""


def allow_audit_truncation(cursor: Any) -> None:
    """Disable the audit log's truncate trigger in every shard; Citus does not propagate it."""
    cursor.execute("SELECT success, result FROM run_command_on_workers(%s)", [DISABLE_TRUNCATE_TRIGGERS])
    worker_results = cursor.fetchall()
    assert all(success for success, _ in worker_results), worker_results
