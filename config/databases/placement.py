"""Where each table lies on a Citus cluster, and the statements that put it there: facts in, statements out.

Companies and all that is theirs are distributed by company, so that one company's rows lie together on one machine and
a request asks only that one. What belongs to nobody and is read by all is copied to every machine. The rest stays on
the first one, the coordinator; where it is written together with companies' rows, the cluster knows it, and commits
both or neither.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from companies.models.tenancy import COMPANIES, distribution


class Place(StrEnum):
    COMPANIES = "distributed by id"
    OWNED = "distributed by company_id"
    SHARED = "copied to every machine"
    UNOWNED = "on the coordinator, known to the cluster"
    LIBRARY = "on the coordinator, as it is"


MOVES = (Place.SHARED, Place.UNOWNED, Place.COMPANIES, Place.OWNED)  # in this order; the rest does not move
BY_COMPANY = {Place.COMPANIES, Place.OWNED}

# Where a reference may lead, by where it starts: to rows that are on the same machine for certain.
MAY_REFER_TO = {
    Place.COMPANIES: {Place.SHARED},
    Place.OWNED: {*BY_COMPANY, Place.SHARED},
    Place.SHARED: {Place.SHARED},
    Place.UNOWNED: {Place.UNOWNED, Place.SHARED},
    Place.LIBRARY: {Place.LIBRARY, Place.SHARED},
}
# The database gives these up: with one of them Citus takes a library's table over, begins the numbers of its id anew,
# which are taken, and refuses much of what a later migration of the library does to it.
GIVEN_UP = (Place.LIBRARY, Place.SHARED)


class Unplaceable(ValueError):
    """A table or a reference that a cluster cannot hold; says which one and what to do."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """What decides over a table's place, and whether it lies there already.

    ``key`` and ``uniques`` are columns of its primary key and of its other unique indexes, in their order. ``base`` is
    the base class of its model that names a place, None for a table that a library brought, and "" for a table of
    ours without such a base. ``triggers`` is whether statements on it change other tables, ``numbered`` whether the
    database counts its ids. ``parts`` are the tables that it is partitioned into, which go where it goes.
    """

    name: str
    base: str | None
    key: tuple[str, ...]
    uniques: tuple[tuple[str, ...], ...] = ()
    placed: bool = False
    triggers: bool = False
    numbered: bool = False
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A foreign key of the database; ``definition`` is what follows its name in ALTER TABLE … ADD CONSTRAINT."""

    table: str
    name: str
    target: str
    definition: str


@dataclass(frozen=True)
class Step:
    """One statement, and why it is there."""

    statement: str
    reason: str


def place_of(table: Table) -> Place:
    """Where a table belongs. Raises Unplaceable."""
    place = _by_base(table)
    if place in BY_COMPANY:
        column = _column(place)
        for columns in (table.key, *table.uniques):
            if column not in columns:
                raise Unplaceable(
                    f"{table.name}: unique ({', '.join(columns)}) lacks {column}; across machines it cannot be checked."
                )
    return place


def _by_base(table: Table) -> Place:
    if table.name == COMPANIES:
        return Place.COMPANIES
    if table.key[:1] == ("company_id",):  # also what was taken out of one, and has no model
        return Place.OWNED
    if table.base is None:
        return Place.LIBRARY
    if table.base in ("Shared", "Unowned"):
        return Place[table.base.upper()]
    raise Unplaceable(
        f"{table.name} has no place: its key starts with no company, and its model is neither Shared nor Unowned."
    )


def _column(place: Place) -> str:
    return "id" if place is Place.COMPANIES else "company_id"


def plan(
    *, tables: Iterable[Table], references: Iterable[Reference], database: str, shards: int | None = None
) -> list[Step]:
    """The statements that bring every table to its place, in one transaction; empty where all are there.

    References that touch a table on its way are taken away and put back, but for those of ``GIVEN_UP``: in between, one
    end lies on the cluster and the other does not yet, which no reference survives. ``shards`` counts only when
    companies themselves are moved. Raises Unplaceable.
    """
    tables = sorted(tables, key=lambda table: table.name)
    places = {table.name: place_of(table) for table in tables}
    references = sorted(references, key=lambda reference: (reference.table, reference.name))
    for reference in references:
        _check(reference, places)
    moved = [table.name for table in tables if places[table.name] in MOVES and not table.placed]
    if not moved:
        return []
    touched = [each for each in references if each.table in moved or each.target in moved]
    guarded = [table for table in tables if table.triggers and table.name in moved]
    triggered = [name for table in guarded for name in (table.name, *table.parts)]
    given_up = [each for each in touched if (places[each.table], places[each.target]) == GIVEN_UP]
    kept = [each for each in touched if each not in given_up]
    return [
        *_settings(database, shards if COMPANIES in moved else None),
        *(Step(_dropped(each), f"for good: {each.table} {places[each.table]}") for each in given_up),
        *(Step(_dropped(each), f"{each.table} and {each.target} move one after the other") for each in kept),
        *(Step(_triggers(name, "DISABLE"), "rows that are copied are in the rollups already") for name in triggered),
        *(step for place in MOVES for step in _moves(place, moved, places)),
        *(
            Step(_counted_on(table.name), "its ids begin anew with the move")
            for table in tables
            if table.numbered and table.name in moved and places[table.name] is Place.UNOWNED
        ),
        *(
            Step(f"SELECT truncate_local_data_after_distributing_table('{name}')", "frees what the move left behind")
            for name in moved
            if places[name] is not Place.UNOWNED
        ),
        *(Step(_triggers(name, "ENABLE"), "from here on every row is new") for name in triggered),
        *(Step(_added(each), f"{places[each.table]} → {places[each.target]}") for each in kept),
    ]


def _check(reference: Reference, places: dict[str, Place]) -> None:
    start, end = places[reference.table], places[reference.target]
    if start in BY_COMPANY and " SET NULL" in reference.definition:
        raise Unplaceable(
            f"{reference.name}: a key with the company in it cannot SET NULL; clear it in the act that deletes."
        )
    if end not in MAY_REFER_TO[start]:
        raise Unplaceable(
            f"{reference.name}: {reference.table} ({start}) cannot refer to {reference.target} ({end}); "
            "give the field db_constraint=False."
        )


def _settings(database: str, shards: int | None) -> list[Step]:
    steps = [
        Step(
            "SET LOCAL citus.multi_shard_modify_mode TO 'sequential'",
            "shards that refer to a copied table are made one after the other",
        ),
        Step(
            "SET LOCAL citus.enable_local_reference_table_foreign_keys TO on",
            "the coordinator's tables that the cluster knows may refer to copied ones",
        ),
        Step("SET LOCAL citus.enable_unsafe_triggers TO on", "the rollups' triggers run where their rows lie"),
        Step(
            f'ALTER DATABASE "{database}" SET citus.enable_unsafe_triggers TO on',
            "and go with a shard that is moved, or come with a later migration",
        ),
        Step(
            f'ALTER DATABASE "{database}" SET citus.enable_local_reference_table_foreign_keys TO off',
            "no migration makes the coordinator's tables the cluster's unasked",
        ),
    ]
    if shards is not None:
        steps.append(Step(f"SET LOCAL citus.shard_count TO {shards}", "the parts that all companies are dealt to"))
    return steps


def _moves(place: Place, moved: list[str], places: dict[str, Place]) -> Iterable[Step]:
    names = [name for name in moved if places[name] is place]
    if place is Place.SHARED:
        return (Step(f"SELECT create_reference_table('{name}')", place.value) for name in names)
    if place is Place.UNOWNED:
        return (Step(f"SELECT citus_add_local_table_to_metadata('{name}')", place.value) for name in names)
    if place is Place.COMPANIES:
        return (Step(f"SELECT create_distributed_table('{name}', 'id')", place.value) for name in names)
    return (Step(distribution(name), f"{place}, beside its company") for name in names)


def _counted_on(name: str) -> str:
    return (
        f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), "  # noqa: S608 - names are of the catalog
        f'coalesce((SELECT max(id) FROM "{name}"), 0) + 1, false)'
    )


def _triggers(name: str, state: str) -> str:
    return f'ALTER TABLE "{name}" {state} TRIGGER USER'


def _dropped(reference: Reference) -> str:
    return f'ALTER TABLE "{reference.table}" DROP CONSTRAINT "{reference.name}"'


def _added(reference: Reference) -> str:
    return f'ALTER TABLE "{reference.table}" ADD CONSTRAINT "{reference.name}" {reference.definition}'
