"""Distributes the schema over a Citus cluster; run again after migrations for new tables.

Facts are read from the models and the database's catalog; ``config.databases.placement`` decides.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import connection, transaction

from companies.models import Shared, Unowned
from config.databases.placement import PlacementStep, Reference, Table, plan_placement

PLACEMENT_BASES = (Shared, Unowned)


class ClusterMissing(Exception):
    """The database is no coordinator of a Citus cluster; the message says what is missing."""


def list_distribution_steps(*, shards: int | None = None) -> list[PlacementStep]:
    """Return the steps still to be done; empty if everything is distributed. Raises PlacementError."""
    return plan_placement(
        tables=list_tables(), references=list_foreign_keys(), database=get_database_name(), shards=shards
    )


def distribute_tables(*, shards: int | None = None, report_step: Callable[[PlacementStep], None]) -> int:
    """Execute the steps in one transaction and return their number. Raises ClusterMissing, PlacementError.

    Readers and writers wait meanwhile: rows are copied under an exclusive lock.
    """
    check_cluster()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL client_min_messages TO warning")
        pending_steps = list_distribution_steps(shards=shards)
        for step in pending_steps:
            report_step(step)
            cursor.execute(step.statement)
    return len(pending_steps)


def check_cluster() -> None:
    """Raise ClusterMissing unless the extension is installed and the coordinator knows its own address."""
    if not fetch_catalog_rows("SELECT 1 FROM pg_extension WHERE extname = 'citus'"):
        raise ClusterMissing("Not part of a Citus cluster. Run CREATE EXTENSION citus here and on every worker.")
    if not fetch_catalog_rows("SELECT 1 FROM pg_dist_node WHERE groupid = 0"):
        raise ClusterMissing("The coordinator has no address. Run SELECT citus_set_coordinator_host('…', 5432).")
    if not fetch_catalog_rows("SELECT 1 FROM pg_dist_node WHERE shouldhaveshards"):
        raise ClusterMissing("No worker takes shards. Run SELECT citus_add_node('…', 5432) for every worker.")


def get_database_name() -> str:
    """Return the name of the current database."""
    return str(fetch_catalog_rows("SELECT current_database()")[0][0])


_TABLES = """
    SELECT c.relname::text FROM pg_class c
     WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
       AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
"""
_TRIGGERS = """
    SELECT DISTINCT c.relname::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
     WHERE NOT t.tgisinternal AND c.relnamespace = current_schema()::regnamespace
"""
_UNIQUES = """
    SELECT c.relname::text, i.indisprimary,
           ARRAY(SELECT a.attname::text FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k (number, place)
                   JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number ORDER BY k.place)
      FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
     WHERE i.indisunique AND c.relnamespace = current_schema()::regnamespace
"""
_PLACED = "SELECT c.relname::text FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid"
_NUMBERED = """
    SELECT c.relname::text FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
     WHERE a.attidentity <> '' AND a.attname = 'id' AND c.relnamespace = current_schema()::regnamespace
"""
_REFERENCES = """
    SELECT c.relname::text, o.conname::text, f.relname::text, pg_get_constraintdef(o.oid)
      FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid JOIN pg_class f ON f.oid = o.confrelid
     WHERE o.contype = 'f' AND c.relnamespace = current_schema()::regnamespace
"""


def list_tables() -> list[Table]:
    """Return every table of the database."""
    bases = {model._meta.db_table: get_placement_base(model) for model in apps.get_models(include_auto_created=True)}
    placed_names = {name for (name,) in fetch_catalog_rows(_PLACED)} if is_on_cluster() else set()
    triggered_names = {name for (name,) in fetch_catalog_rows(_TRIGGERS)}
    numbered_names = {name for (name,) in fetch_catalog_rows(_NUMBERED)}
    keys: dict[str, tuple[str, ...]] = {}
    uniques: dict[str, list[tuple[str, ...]]] = {}
    for name, primary, columns in fetch_catalog_rows(_UNIQUES):
        if primary:
            keys[name] = tuple(columns)
        else:
            uniques.setdefault(name, []).append(tuple(columns))
    return [
        Table(
            name=name,
            base=bases.get(name),
            key=keys.get(name, ()),
            uniques=tuple(sorted(uniques.get(name, ()))),
            placed=name in placed_names,
            triggers=name in triggered_names,
            numbered=name in numbered_names,
        )
        for (name,) in fetch_catalog_rows(_TABLES)
    ]


def get_placement_base(model: Any) -> str | None:
    """Return the base class that decides a model's placement, "" without one; None for a library's model.

    The table of a many-to-many field is Django's own, also between models of ours.
    """
    package = Path(apps.get_app_config(model._meta.app_label).path)
    if package.parent != settings.ROOT or model._meta.auto_created:
        return None
    return next((base.__name__ for base in PLACEMENT_BASES if issubclass(model, base)), "")


def is_on_cluster() -> bool:
    """Return whether the database is part of a Citus cluster."""
    return bool(fetch_catalog_rows("SELECT 1 WHERE to_regclass('pg_dist_partition') IS NOT NULL"))


def list_foreign_keys() -> list[Reference]:
    """Return every foreign key of the database."""
    return [
        Reference(table=table, name=name, target=target, definition=definition)
        for table, name, target, definition in fetch_catalog_rows(_REFERENCES)
    ]


def fetch_catalog_rows(statement: str) -> list[tuple[Any, ...]]:
    """Return the rows of a catalog query."""
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()
