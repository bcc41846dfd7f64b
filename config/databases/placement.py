"""Placement of tables on a Citus cluster: facts in, statements out.

Company-owned tables are distributed by company, so that a request uses one machine. Shared tables are
copied to every machine. The rest stays on the coordinator, known to the cluster if it is written
together with company rows.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from companies.models.tenancy import COMPANY_TABLE, build_distribution_statement


class TablePlacement(StrEnum):
    COMPANIES = "distributed by id"
    OWNED = "distributed by company_id"
    SHARED = "copied to every machine"
    UNOWNED = "on the coordinator, known to the cluster"
    LIBRARY = "on the coordinator, as it is"


MOVE_ORDER = (
    TablePlacement.SHARED,
    TablePlacement.UNOWNED,
    TablePlacement.COMPANIES,
    TablePlacement.OWNED,
)  # in this order; other tables are not moved
COMPANY_PLACES = {TablePlacement.COMPANIES, TablePlacement.OWNED}

# Allowed targets of a reference by its own placement: rows that are certainly on the same machine.
ALLOWED_TARGETS = {
    TablePlacement.COMPANIES: {TablePlacement.SHARED},
    TablePlacement.OWNED: {*COMPANY_PLACES, TablePlacement.SHARED},
    TablePlacement.SHARED: {TablePlacement.SHARED},
    TablePlacement.UNOWNED: {TablePlacement.UNOWNED, TablePlacement.SHARED},
    TablePlacement.LIBRARY: {TablePlacement.LIBRARY, TablePlacement.SHARED},
}
# Dropped references: with one, Citus would take over a library's table, restart its id sequence at used numbers,
# and refuse later migrations of the library.
DROPPED_REFERENCE = (TablePlacement.LIBRARY, TablePlacement.SHARED)


class PlacementError(ValueError):
    """A table or reference that a cluster cannot hold; the message says which one and what to do."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """Facts that decide a table's placement, and whether it is placed already.

    ``key`` and ``uniques``: columns of the primary key and the other unique indexes. ``base``: the model's
    placement base class, None for a library's table, "" for one of ours without such a base. ``triggers``:
    statements on it change other tables. ``numbered``: the database generates its ids.
    """

    name: str
    base: str | None
    key: tuple[str, ...]
    uniques: tuple[tuple[str, ...], ...] = ()
    placed: bool = False
    triggers: bool = False
    numbered: bool = False


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A foreign key; ``definition`` is what follows its name in ALTER TABLE … ADD CONSTRAINT."""

    table: str
    name: str
    target: str
    definition: str


@dataclass(frozen=True)
class PlacementStep:
    """One statement and its reason."""

    statement: str
    reason: str


def get_table_place(table: Table) -> TablePlacement:
    """Return the placement of a table. Raises PlacementError."""
    place = _get_place_by_base(table)
    if place in COMPANY_PLACES:
        column = _get_company_column(place)
        for columns in (table.key, *table.uniques):
            if column not in columns:
                raise PlacementError(
                    f"{table.name}: unique ({', '.join(columns)}) lacks {column}; across machines it cannot be checked."
                )
    return place


def _get_place_by_base(table: Table) -> TablePlacement:
    if table.name == COMPANY_TABLE:
        return TablePlacement.COMPANIES
    if table.key[:1] == ("company_id",):  # also a month that an earlier version moved out of the audit log
        return TablePlacement.OWNED
    if table.base is None:
        return TablePlacement.LIBRARY
    if table.base in ("Shared", "Unowned"):
        return TablePlacement[table.base.upper()]
    raise PlacementError(
        f"{table.name} has no place: its key starts with no company, and its model is neither Shared nor Unowned."
    )


def _get_company_column(place: TablePlacement) -> str:
    return "id" if place is TablePlacement.COMPANIES else "company_id"


def plan_placement(
    *, tables: Iterable[Table], references: Iterable[Reference], database: str, shards: int | None = None
) -> list[PlacementStep]:
    """Return the statements that place every table, for one transaction; empty if all are placed.

    References of moved tables are dropped and restored, except those of ``DROPPED_REFERENCE``. ``shards``
    counts only when companies themselves are moved. Raises PlacementError.
    """
    tables = sorted(tables, key=lambda table: table.name)
    places = {table.name: get_table_place(table) for table in tables}
    references = sorted(references, key=lambda reference: (reference.table, reference.name))
    for reference in references:
        _check_reference(reference, places)
    moved_names = [table.name for table in tables if places[table.name] in MOVE_ORDER and not table.placed]
    if not moved_names:
        return []
    touched_references = [each for each in references if each.table in moved_names or each.target in moved_names]
    trigger_tables = [table.name for table in tables if table.triggers and table.name in moved_names]
    dropped_references = [
        reference
        for reference in touched_references
        if (places[reference.table], places[reference.target]) == DROPPED_REFERENCE
    ]
    restored_references = [each for each in touched_references if each not in dropped_references]
    return [
        *_build_settings_steps(database, shards if COMPANY_TABLE in moved_names else None),
        *(
            PlacementStep(_build_drop_statement(reference), f"for good: {reference.table} {places[reference.table]}")
            for reference in dropped_references
        ),
        *(
            PlacementStep(
                _build_drop_statement(reference), f"{reference.table} and {reference.target} move one after the other"
            )
            for reference in restored_references
        ),
        *(
            PlacementStep(_build_trigger_statement(name, "DISABLE"), "rows that are copied are in the rollups already")
            for name in trigger_tables
        ),
        *(step for place in MOVE_ORDER for step in _build_move_steps(place, moved_names, places)),
        *(
            PlacementStep(_build_sequence_statement(table.name), "its ids begin anew with the move")
            for table in tables
            if table.numbered and table.name in moved_names and places[table.name] is TablePlacement.UNOWNED
        ),
        *(
            PlacementStep(
                f"SELECT truncate_local_data_after_distributing_table('{name}')", "frees what the move left behind"
            )
            for name in moved_names
            if places[name] is not TablePlacement.UNOWNED
        ),
        *(
            PlacementStep(_build_trigger_statement(name, "ENABLE"), "from here on every row is new")
            for name in trigger_tables
        ),
        *(
            PlacementStep(_build_add_statement(reference), f"{places[reference.table]} → {places[reference.target]}")
            for reference in restored_references
        ),
    ]


def _check_reference(reference: Reference, places: dict[str, TablePlacement]) -> None:
    start_place, target_place = places[reference.table], places[reference.target]
    if start_place in COMPANY_PLACES and " SET NULL" in reference.definition:
        raise PlacementError(
            f"{reference.name}: a key with the company in it cannot SET NULL; clear it in the act that deletes."
        )
    if target_place not in ALLOWED_TARGETS[start_place]:
        raise PlacementError(
            f"{reference.name}: {reference.table} ({start_place}) cannot refer to {reference.target} ({target_place}); "
            "give the field db_constraint=False."
        )


def _build_settings_steps(database: str, shards: int | None) -> list[PlacementStep]:
    steps = [
        PlacementStep(
            "SET LOCAL citus.multi_shard_modify_mode TO 'sequential'",
            "shards that refer to a copied table are made one after the other",
        ),
        PlacementStep(
            "SET LOCAL citus.enable_local_reference_table_foreign_keys TO on",
            "the coordinator's tables that the cluster knows may refer to copied ones",
        ),
        PlacementStep("SET LOCAL citus.enable_unsafe_triggers TO on", "the rollups' triggers run where their rows lie"),
        PlacementStep(
            f'ALTER DATABASE "{database}" SET citus.enable_unsafe_triggers TO on',
            "and go with a shard that is moved, or come with a later migration",
        ),
        PlacementStep(
            f'ALTER DATABASE "{database}" SET citus.enable_local_reference_table_foreign_keys TO off',
            "no migration makes the coordinator's tables the cluster's unasked",
        ),
    ]
    if shards is not None:
        steps.append(
            PlacementStep(f"SET LOCAL citus.shard_count TO {shards}", "the parts that all companies are dealt to")
        )
    return steps


def _build_move_steps(
    place: TablePlacement, moved_names: list[str], places: dict[str, TablePlacement]
) -> Iterable[PlacementStep]:
    names = [name for name in moved_names if places[name] is place]
    if place is TablePlacement.SHARED:
        return (PlacementStep(f"SELECT create_reference_table('{name}')", place.value) for name in names)
    if place is TablePlacement.UNOWNED:
        return (PlacementStep(f"SELECT citus_add_local_table_to_metadata('{name}')", place.value) for name in names)
    if place is TablePlacement.COMPANIES:
        return (PlacementStep(f"SELECT create_distributed_table('{name}', 'id')", place.value) for name in names)
    return (PlacementStep(build_distribution_statement(name), f"{place}, beside its company") for name in names)


def _build_sequence_statement(name: str) -> str:
    return (
        f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), "  # noqa: S608 - names are of the catalog
        f'coalesce((SELECT max(id) FROM "{name}"), 0) + 1, false)'
    )


def _build_trigger_statement(name: str, state: str) -> str:
    return f'ALTER TABLE "{name}" {state} TRIGGER USER'


def _build_drop_statement(reference: Reference) -> str:
    return f'ALTER TABLE "{reference.table}" DROP CONSTRAINT "{reference.name}"'


def _build_add_statement(reference: Reference) -> str:
    return f'ALTER TABLE "{reference.table}" ADD CONSTRAINT "{reference.name}" {reference.definition}'
