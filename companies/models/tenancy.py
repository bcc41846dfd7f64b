"""What makes a table a company's own: its key, its references, its queries.

In the database every company-owned table has the primary key (company_id, id), and references between such tables are
composite: (company_id, x_id) → (company_id, id). A reference into another company therefore cannot be stored, and the
schema can be distributed by company. Django's own state keeps ``id`` as the primary key.
"""

import uuid
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Self, TypeVar

import uuid_utils.compat
from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.migrations.operations.base import Operation
from django.db.models.lookups import Exact

from companies.errors import Conflict

M = TypeVar("M", bound="CompanyOwned")


def new_id() -> uuid.UUID:
    """A time-ordered UUID (version 7), so that new rows land at the end of their index."""
    return uuid_utils.compat.uuid7()


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LAST_DAY = datetime(9999, 12, 1, tzinfo=UTC) - EPOCH  # no time is much later


def made_at(row_id: uuid.UUID) -> datetime:
    """When one of our ids was made, by its own word; of what is none of ours, any time after 1970."""
    return EPOCH + min(timedelta(milliseconds=row_id.int >> 80), LAST_DAY)


def id_from(text: str) -> uuid.UUID | None:
    """The id in an address: 36 characters as they are printed, in any case; None for everything else."""
    try:
        found = uuid.UUID(text)
    except ValueError:
        return None
    return found if str(found) == text.lower() else None


class CompanyOwnedQuerySet(models.QuerySet[M]):
    """Rows of companies.

    A subquery among the selected columns, or beside an OR, names the company by its value, not by
    ``OuterRef("company")``: where companies are distributed, only a plain EXISTS that holds for every row takes over
    the outer query's, and all others are asked of every machine.
    """

    def of(self, company_id: uuid.UUID) -> Self:
        """Rows of one company; every query starts here."""
        return self.filter(company_id=company_id)


class Among(models.Func):
    """Rows whose column is one of some ids: a list, or what a query of its own finds, which names its company by value.

    A list goes to the database as one array, where ``__in`` would say each id by itself. A query is asked first and
    once, and what it found is looked up by key. An EXISTS is joined as the planner sees fit, and of a company that its
    statistics do not know yet (ledger/bulk/statistics says more) it expects a single row in each table: any index seems
    as good as another, and for each row it reads all of the company again.
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

    ``when_deleted`` is what the database does when the row referred to is deleted: ``restrict`` (the delete fails) or
    ``cascade``; one that ``stays`` it does not check, for the log's old months may be taken out. Django itself does
    nothing, so a delete is one statement. A reference that may become empty is cleared by the act that deletes: no
    cluster takes SET NULL for a key with the company in it. The first migrations say ``set_null``; later ones made it
    ``restrict`` where they had run.
    """

    RULES = {"restrict": "NO ACTION", "cascade": "CASCADE", "set_null": "NO ACTION"}
    UNCHECKED = "stays"

    def __init__(self, to: Any, on_delete: Any = models.DO_NOTHING, *, when_deleted: str = "restrict", **kwargs: Any):
        self.when_deleted = when_deleted
        kwargs |= {"db_constraint": False, "db_index": False, "related_name": "+"}
        super().__init__(to, on_delete, **kwargs)

    def deconstruct(self) -> Any:
        name, path, args, kwargs = super().deconstruct()
        return name, path, args, kwargs | {"when_deleted": self.when_deleted}

    def get_extra_restriction(self, alias: str, related_alias: str) -> Any:
        theirs: Any = self.remote_field.model._meta.get_field("company")
        ours: Any = self.model._meta.get_field("company")
        return Exact(theirs.get_col(alias), ours.get_col(related_alias))

    def get_extra_descriptor_filter(self, instance: Any) -> dict[str, Any]:
        return {"company_id": instance.company_id}


class CompanyOwned(models.Model):
    """Base of every table that belongs to one company."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    company = models.ForeignKey(
        "companies.Company", models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    in_use: ClassVar[type[Conflict]] = Conflict  # why a row that others refer to is not deleted

    class Meta:
        abstract = True

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """One statement that finds the row by its whole key."""
        return type(self)._base_manager.filter(company_id=self.company_id, id=self.id).delete()

    def refresh_from_db(self, using: Any = None, fields: Any = None, from_queryset: Any = None) -> None:
        rows = from_queryset if from_queryset is not None else type(self)._base_manager.all()
        super().refresh_from_db(using, fields, rows.filter(company_id=self.company_id))

    def _do_update(self, base_qs: Any, using: Any, pk_val: Any, values: Any, update_fields: Any, forced: bool) -> bool:  # noqa: FBT001
        rows = base_qs.filter(company_id=self.company_id)
        values = [value for value in values if value[0].name != "company"]
        return super()._do_update(rows, using, pk_val, values, update_fields, forced)


class Shared(models.Model):
    """Base of tables that belong to no company and that companies' queries read: a copy lies on every machine."""

    class Meta:
        abstract = True


class Unowned(models.Model):
    """Base of tables that are found before a company is known: codes, tokens, kept answers. They lie on one machine, so
    a reference of theirs to a company has no constraint.
    """

    class Meta:
        abstract = True


class CompanyKeys(Operation):
    """Gives tables their (company_id, id) primary key and their composite references.

    ``models`` are names of models created earlier in the same migration. A table whose company is already tied by a
    reference that cannot be null needs no separate reference to the company. Where companies are distributed, so are
    the tables, for no reference leads from one machine's table to those of all.
    """

    reversible = False
    atomic = True

    def __init__(self, models: list[str]):
        self.models = models

    def state_forwards(self, app_label: str, state: Any) -> None:
        """The state keeps ``id`` as the primary key."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        owned = [to_state.apps.get_model(app_label, name) for name in self.models]
        for model in owned:
            for statement in key_statements(model):
                schema_editor.execute(statement)
            if is_distributed(schema_editor.connection, COMPANIES):
                schema_editor.execute(IN_TURN)
                schema_editor.execute(distribution(model._meta.db_table))
        for model in owned:
            for statement in reference_statements(model):
                schema_editor.execute(statement)

    def describe(self) -> str:
        return f"Composite keys of {', '.join(self.models)}"


class CompanyReferences(CompanyKeys):
    """Adds the composite references of fields that came after their table: ``["transaction.import_batch"]``."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        for name in self.models:
            model_name, field_name = name.split(".")
            model = to_state.apps.get_model(app_label, model_name)
            schema_editor.execute(reference(model, model._meta.get_field(field_name)))


COMPANIES = "companies_company"
# A table joins those that are distributed only where machines are asked one after the other from the transaction's
# start: a migration that changes such a table before it makes a new one says this first.
IN_TURN = "SET LOCAL citus.multi_shard_modify_mode TO 'sequential'"


def is_distributed(connection: Any, table: str) -> bool:
    """Whether the table's rows lie on the machines of a Citus cluster."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('pg_dist_partition') IS NOT NULL")
        if not cursor.fetchone()[0]:
            return False
        cursor.execute(
            "SELECT 1 FROM pg_dist_partition WHERE logicalrelid = %s::regclass AND partmethod = 'h'", [table]
        )
        return cursor.fetchone() is not None


def distribution(table: str) -> str:
    """The statement that puts each row of a company's table on its company's machine."""
    return f"SELECT create_distributed_table('{table}', 'company_id', colocate_with => '{COMPANIES}')"


def key_statements(model: Any) -> Iterable[str]:
    table = model._meta.db_table
    yield f'ALTER TABLE "{table}" DROP CONSTRAINT "{table}_pkey", ADD PRIMARY KEY (company_id, id)'


def reference_statements(model: Any) -> Iterable[str]:
    fields = company_references(model)
    yield from (reference(model, field) for field in fields)
    if all(field.null for field in fields):
        table = model._meta.db_table
        yield (
            f'ALTER TABLE "{table}" ADD CONSTRAINT "{table}_company" '
            "FOREIGN KEY (company_id) REFERENCES companies_company (id)"
        )


def reference(model: Any, field: CompanyForeignKey) -> str:
    table, target = model._meta.db_table, field.remote_field.model._meta.db_table
    rule = CompanyForeignKey.RULES[field.when_deleted]
    return (
        f'ALTER TABLE "{table}" ADD CONSTRAINT "{table}_{field.name}" FOREIGN KEY (company_id, {field.column}) '
        f'REFERENCES "{target}" (company_id, id) ON DELETE {rule}'
    )


def company_references(model: Any) -> list[CompanyForeignKey]:
    """The fields of a model that refer to company-owned rows, and that the database checks."""
    fields = [field for field in model._meta.concrete_fields if isinstance(field, CompanyForeignKey)]
    return [field for field in fields if field.when_deleted != CompanyForeignKey.UNCHECKED]
