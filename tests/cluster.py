"""A database of a Citus cluster for tests: ``CITUS_URL`` names one on its coordinator, whose workers it knows.

With ``DATABASE_URL`` set to the same, all tests run on a distributed schema.
"""

import os
from typing import Any

import psycopg
from psycopg import sql

CITUS_URL = os.environ.get("CITUS_URL", "")
WHY_NOT = "CITUS_URL names no coordinator of a Citus cluster"
EVERY_TEST = bool(CITUS_URL) and os.environ.get("DATABASE_URL") == CITUS_URL


def nodes() -> list[tuple[str, int, bool]]:
    """(host, port, whether it is the coordinator) of each machine, the coordinator first."""
    with psycopg.connect(CITUS_URL, autocommit=True) as coordinator:
        found = coordinator.execute("SELECT nodename, nodeport, groupid = 0 FROM pg_dist_node ORDER BY groupid")
        return [(host, port, first) for host, port, first in found.fetchall()]


def server(host: str, port: int, database: str) -> Any:
    return psycopg.connect(CITUS_URL, host=host, port=port, dbname=database, autocommit=True)


def exists(host: str, port: int, database: str) -> bool:
    with server(host, port, "postgres") as each:
        return bool(each.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone())


def join(database: str) -> None:
    """Makes a database, new or there, part of the cluster: one of its name on every machine, with the extension."""
    for host, port, _ in nodes():
        if not exists(host, port, database):
            with server(host, port, "postgres") as each:
                each.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
        with server(host, port, database) as each:
            each.execute("CREATE EXTENSION IF NOT EXISTS citus")
    (host, port, _), *workers = nodes()
    with server(host, port, database) as coordinator:
        coordinator.execute("SELECT citus_set_coordinator_host(%s, %s)", [host, port])
        for worker in workers:
            coordinator.execute("SELECT citus_add_node(%s, %s)", worker[:2])


def drop(database: str) -> None:
    """Takes the database away from every machine."""
    for host, port, _ in nodes():
        with server(host, port, "postgres") as each:
            each.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(database)))
