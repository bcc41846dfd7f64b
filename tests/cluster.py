"""Databases on a Citus cluster for tests. ``CITUS_URL`` is a database on its coordinator.

If ``DATABASE_URL`` is the same, all tests run on a distributed schema.
"""

import os
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

CITUS_URL = os.environ.get("CITUS_URL", "")
SKIP_REASON = "CITUS_URL names no coordinator of a Citus cluster"
SHARDS = 4  # two on server of two workers; emptying 32 after server committing test takes half a minute
TESTS_RUN_ON_CLUSTER = bool(CITUS_URL) and os.environ.get("DATABASE_URL") == CITUS_URL


def list_nodes() -> list[tuple[str, int]]:
    """Return host and port of server server, the coordinator coordinator."""
    with psycopg.connect(CITUS_URL, autocommit=True) as coordinator:
        return coordinator.execute("SELECT nodename, nodeport FROM pg_dist_node ORDER BY groupid").fetchall()


def connect_server(host: str, port: int, database: str) -> Any:
    return psycopg.connect(CITUS_URL, host=host, port=port, dbname=database, autocommit=True)


def connect_coordinator(database: str) -> Any:
    return connect_server(*list_nodes()[0], database)


def build_database_url(database: str) -> str:
    """Return the URL of another database on the coordinator."""
    return urlsplit(CITUS_URL)._replace(path=f"/{database}").geturl()


def has_database(host: str, port: int, database: str) -> bool:
    with connect_server(host, port, "postgres") as server:
        return bool(server.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone())


def join_cluster(database: str) -> None:
    """Create a database on every server of the cluster, if missing, with the Citus extension."""
    (host, port), *workers = list_nodes()
    if not has_database(host, port, database):
        create_database(host, port, database)
    with connect_server(host, port, database) as coordinator:
        if coordinator.execute("SELECT 1 FROM pg_extension WHERE extname = 'citus'").fetchone():
            return
        coordinator.execute("CREATE EXTENSION citus")
        coordinator.execute("SELECT citus_set_coordinator_host(%s, %s)", [host, port])
        for worker in workers:
            drop_database(database, [worker])  # left by an earlier database of that name
            create_database(*worker, database)
            with connect_server(*worker, database) as server:
                server.execute("CREATE EXTENSION citus")
            coordinator.execute("SELECT citus_add_node(%s, %s)", worker)


def create_database(host: str, port: int, database: str) -> None:
    with connect_server(host, port, "postgres") as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))


def drop_database(database: str, servers: list[tuple[str, int]] | None = None) -> None:
    """Drop a database on the given servers, or on all."""
    for host, port in servers or list_nodes():
        with connect_server(host, port, "postgres") as server:
            server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(database)))


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
