"""Tenancy: keys, references and queries of company-owned tables.

In the database every company-owned table has the primary key (company_id, id), and references between
such tables are composite: (company_id, x_id) → (company_id, id). A reference into another company cannot
be stored, and the schema can be distributed by company. Django's state keeps ``id`` as the primary key.
"""

import uuid
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import sqlparse
import uuid_utils.compat
from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.migrations import RunSQL
from django.db.migrations.operations.base import Operation
from django.db.models.lookups import Exact

from companies.errors import ConflictError

M = TypeVar("M", bound="CompanyOwned")


def generate_id() -> uuid.UUID:
    """Return a time-ordered UUID (version 7), so that new rows are added at the end of their index."""
    return uuid_utils.compat.uuid7()


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MAX_ID_AGE = datetime(9999, 12, 1, tzinfo=UTC) - EPOCH  # limit for ids that are not ours


def get_id_time(row_id: uuid.UUID) -> datetime:
    """Return the creation time encoded in one of our ids; for other UUIDs an arbitrary time after 1970."""
    return EPOCH + min(timedelta(milliseconds=row_id.int >> 80), MAX_ID_AGE)


def parse_id(text: str) -> uuid.UUID | None:
    """Parse an id in its canonical form (36 characters, any case); None for anything else."""
    try:
        parsed_id = uuid.UUID(text)
    except ValueError:
        return None
    return parsed_id if str(parsed_id) == text.lower() else None


class CompanyOwnedQuerySet(models.QuerySet[M]):
    """Rows of companies.

    A subquery among the selected columns, or beside an OR, filters by the company's value and not by
    ``OuterRef("company")``: on a distributed schema only a plain EXISTS that holds for every row takes over
    the outer filter; anything else is sent to every machine.
    """

    def for_company(self, company_id: uuid.UUID) -> Self:
        """Rows of one company; every query starts with this."""
        return self.filter(company_id=company_id)


class IdIn(models.Func):
    """Rows whose column is one of some ids: a list, or a subquery that filters by the company's value.

    A list is sent as one array, where ``__in`` would send each id. A subquery runs once and its result is
    looked up by key. An EXISTS is joined by the planner, which expects one row per table for a company it
    has no statistics of yet (ledger/bulk) and may read all of the company's rows for each row.
    """

    template = "%(expressions)s)"
    arg_joiner = " = ANY("
    output_field = models.BooleanField()

    def __init__(self, column: str, ids: "list[uuid.UUID] | models.QuerySet[Any, Any]"):
        if isinstance(ids, list):
            super().__init__(models.F(column), models.Value(ids, ArrayField(models.UUIDField())))
        else:
            super().__init__(models.F(column), ArraySubquery(ids))


class CompanyForeignKey(models.ForeignKey):
    """A reference to a row of the same company; joins and accessors compare the company too.

    ``when_deleted`` is the database's rule when the target is deleted: ``restrict`` or ``cascade``. A
    reference that ``stays`` is not checked: earlier versions could move old entries out of the audit log.
    Django itself does nothing, so a delete is one statement. Optional references are cleared by the operation
    that deletes: a cluster does not support SET NULL for a key with the company in it.
    """

    RULES = {"restrict": "NO ACTION", "cascade": "CASCADE"}
    UNCHECKED = "stays"

    def __init__(self, to: Any, on_delete: Any = models.DO_NOTHING, *, when_deleted: str = "restrict", **kwargs: Any):
        self.when_deleted = when_deleted
        kwargs |= {"db_constraint": False, "db_index": False, "related_name": "+"}
        super().__init__(to, on_delete, **kwargs)

    def deconstruct(self) -> Any:
        name, path, args, kwargs = super().deconstruct()
        return name, path, args, kwargs | {"when_deleted": self.when_deleted}

    def get_extra_restriction(self, alias: str, related_alias: str) -> Any:
        related_company: Any = self.remote_field.model._meta.get_field("company")
        own_company: Any = self.model._meta.get_field("company")
        return Exact(related_company.get_col(alias), own_company.get_col(related_alias))

    def get_extra_descriptor_filter(self, instance: Any) -> dict[str, Any]:
        return {"company_id": instance.company_id}


class CompanyOwned(models.Model):
    """Base of every table that belongs to one company."""

    id = models.UUIDField(primary_key=True, default=generate_id, editable=False)
    company = models.ForeignKey(
        "companies.Company", models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    in_use: ClassVar[type[ConflictError]] = ConflictError  # error raised when a referenced row is deleted

    class Meta:
        abstract = True

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Delete the row by its whole key, in one statement."""
        return type(self)._base_manager.filter(company_id=self.company_id, id=self.id).delete()

    def refresh_from_db(self, using: Any = None, fields: Any = None, from_queryset: Any = None) -> None:
        rows = from_queryset if from_queryset is not None else type(self)._base_manager.all()
        super().refresh_from_db(using, fields, rows.filter(company_id=self.company_id))

    def _do_update(self, base_qs: Any, using: Any, pk_val: Any, values: Any, update_fields: Any, forced: bool) -> bool:  # noqa: FBT001
        rows = base_qs.filter(company_id=self.company_id)
        values = [value for value in values if value[0].name != "company"]
        return super()._do_update(rows, using, pk_val, values, update_fields, forced)


class Shared(models.Model):
    """Base of tables that belong to no company and that company queries read: copied to every machine."""

    class Meta:
        abstract = True


class Unowned(models.Model):
    """Base of tables read before a company is known, such as tokens and stored responses.

    They lie on one machine, so their reference to a company has no constraint.
    """

    class Meta:
        abstract = True


class CompanyKeys(Operation):
    """Migration operation: gives tables the primary key (company_id, id) and composite references.

    ``models`` are created earlier in the same migration. A table with a required reference to a
    company-owned row needs no separate reference to the company. On a distributed schema the tables are
    distributed too.
    """

    reversible = False
    atomic = True

    def __init__(self, models: list[str]):
        self.models = models

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Do nothing: the state keeps ``id`` as the primary key."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        owned_models = [to_state.apps.get_model(app_label, name) for name in self.models]
        for model in owned_models:
            for statement in build_key_statements(model):
                schema_editor.execute(statement)
            if is_distributed(schema_editor.connection, COMPANY_TABLE):
                schema_editor.execute(SEQUENTIAL_MODE_SQL)
                schema_editor.execute(build_distribution_statement(model._meta.db_table))
        for model in owned_models:
            for statement in build_reference_statements(model):
                schema_editor.execute(statement)

    def describe(self) -> str:
        return f"Composite keys of {', '.join(self.models)}"


class CompanyReferences(CompanyKeys):
    """Migration operation: adds composite references of later fields, such as ``["transaction.import_batch"]``."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        for name in self.models:
            model_name, field_name = name.split(".")
            model = to_state.apps.get_model(app_label, model_name)
            schema_editor.execute(build_reference_statement(model, model._meta.get_field(field_name)))


def run_script(migration: str, script: str) -> RunSQL:
    """Build the operation that executes an SQL file beside a migration (its `__file__`), one statement at a time.

    A cluster rejects a trigger in one text with other statements.
    """
    return RunSQL(tuple(sqlparse.split(Path(migration).with_name(script).read_text())))


COMPANY_TABLE = "companies_company"
# On a cluster a table can only be distributed in a transaction that queries machines sequentially:
# a migration that changes a distributed table before it creates one must execute this first.
SEQUENTIAL_MODE_SQL = "SET LOCAL citus.multi_shard_modify_mode TO 'sequential'"


def is_distributed(connection: Any, table: str) -> bool:
    """Return whether the table is distributed over a Citus cluster."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('pg_dist_partition') IS NOT NULL")
        if not cursor.fetchone()[0]:
            return False
        cursor.execute(
            "SELECT 1 FROM pg_dist_partition WHERE logicalrelid = %s::regclass AND partmethod = 'h'", [table]
        )
        return cursor.fetchone() is not None


def build_distribution_statement(table: str) -> str:
    """Build the statement that distributes a company-owned table by company."""
    return f"SELECT create_distributed_table('{table}', 'company_id', colocate_with => '{COMPANY_TABLE}')"


def build_key_statements(model: Any) -> Iterable[str]:
    """Yield the statements that set the composite primary key."""
    table = model._meta.db_table
    yield f'ALTER TABLE "{table}" DROP CONSTRAINT "{table}_pkey", ADD PRIMARY KEY (company_id, id)'


def build_reference_statements(model: Any) -> Iterable[str]:
    """Yield the statements that add the table's composite references."""
    fields = list_company_references(model)
    yield from (build_reference_statement(model, field) for field in fields)
    if all(field.null for field in fields):
        table = model._meta.db_table
        yield (
            f'ALTER TABLE "{table}" ADD CONSTRAINT "{table}_company" '
            "FOREIGN KEY (company_id) REFERENCES companies_company (id)"
        )


def build_reference_statement(model: Any, field: CompanyForeignKey) -> str:
    """Build the statement that adds one composite reference."""
    table, target = model._meta.db_table, field.remote_field.model._meta.db_table
    rule = CompanyForeignKey.RULES[field.when_deleted]
    return (
        f'ALTER TABLE "{table}" ADD CONSTRAINT "{table}_{field.name}" FOREIGN KEY (company_id, {field.column}) '
        f'REFERENCES "{target}" (company_id, id) ON DELETE {rule}'
    )


def list_company_references(model: Any) -> list[CompanyForeignKey]:
    """Return the fields that reference company-owned rows and that the database checks."""
    fields = [field for field in model._meta.concrete_fields if isinstance(field, CompanyForeignKey)]
    return [field for field in fields if field.when_deleted != CompanyForeignKey.UNCHECKED]
