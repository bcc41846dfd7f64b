"""Turning the running schema into one of a Citus cluster; a second time adds what later migrations brought.

What there is, is read from the models and from the database's own catalog; ``config.databases.placement`` decides.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import connection, transaction

from companies.models import Shared, Unowned
from config.databases.placement import Reference, Step, Table, plan

BASES = (Shared, Unowned)


class NoCluster(Exception):
    """The database is no coordinator of a Citus cluster; says what is missing."""


def steps(*, shards: int | None = None) -> list[Step]:
    """What is to be done, as the database stands; nothing on a cluster that has everything. Raises Unplaceable."""
    return plan(tables=tables(), references=references(), database=database(), shards=shards)


def distribute(*, shards: int | None = None, told: Callable[[Step], None]) -> int:
    """Does it, in one transaction; returns the number of statements. Raises NoCluster and Unplaceable.

    Whoever reads or writes waits meanwhile: the tables' rows are copied under an exclusive lock.
    """
    check_cluster()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL client_min_messages TO warning")
        todo = steps(shards=shards)
        for step in todo:
            told(step)
            cursor.execute(step.statement)
    return len(todo)


def check_cluster() -> None:
    """Raises NoCluster unless the database has the extension and knows its own address."""
    if not rows("SELECT 1 FROM pg_extension WHERE extname = 'citus'"):
        raise NoCluster("This database is no part of a Citus cluster: CREATE EXTENSION citus here and on every worker.")
    if not rows("SELECT 1 FROM pg_dist_node WHERE groupid = 0"):
        raise NoCluster("The coordinator does not know its own address: SELECT citus_set_coordinator_host('…', 5432).")
    if not rows("SELECT 1 FROM pg_dist_node WHERE shouldhaveshards"):
        raise NoCluster("No machine takes shards: SELECT citus_add_node('…', 5432) for every worker.")


def database() -> str:
    return str(rows("SELECT current_database()")[0][0])


_TABLES = """
    SELECT c.relname::text FROM pg_class c
     WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = current_schema()::regnamespace
       AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
"""
_TRIGGERS = """
    SELECT DISTINCT c.relname::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
     WHERE NOT t.tgisinternal AND c.relnamespace = current_schema()::regnamespace
"""
_PARTS = """
    SELECT i.inhparent::regclass::text, i.inhrelid::regclass::text
      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE c.relispartition AND c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace ORDER BY 2
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
     WHERE o.contype = 'f' AND o.conparentid = 0 AND c.relnamespace = current_schema()::regnamespace
"""


def tables() -> list[Table]:
    """Every table of the database, as the models and the catalog tell of it; parts lie where their table lies."""
    bases = {model._meta.db_table: base_of(model) for model in apps.get_models(include_auto_created=True)}
    placed = {name for (name,) in rows(_PLACED)} if on_cluster() else set()
    triggered = {name for (name,) in rows(_TRIGGERS)}
    numbered = {name for (name,) in rows(_NUMBERED)}
    keys: dict[str, tuple[str, ...]] = {}
    uniques: dict[str, list[tuple[str, ...]]] = {}
    parts: dict[str, list[str]] = {}
    for whole, part in rows(_PARTS):
        parts.setdefault(whole, []).append(part)
    for name, primary, columns in rows(_UNIQUES):
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
            placed=name in placed,
            triggers=name in triggered,
            parts=tuple(parts.get(name, ())),
            numbered=name in numbered,
        )
        for (name,) in rows(_TABLES)
    ]


def base_of(model: Any) -> str | None:
    """The base class that names a model's place, "" where it has none; None for a library's model.

    The table of a many-to-many field is Django's own, also between models of ours.
    """
    package = Path(apps.get_app_config(model._meta.app_label).path)
    if package.parent != settings.ROOT or model._meta.auto_created:
        return None
    return next((base.__name__ for base in BASES if issubclass(model, base)), "")


def on_cluster() -> bool:
    return bool(rows("SELECT 1 WHERE to_regclass('pg_dist_partition') IS NOT NULL"))


def references() -> list[Reference]:
    """Every foreign key of the database."""
    return [
        Reference(table=table, name=name, target=target, definition=definition)
        for table, name, target, definition in rows(_REFERENCES)
    ]


def rows(statement: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()
