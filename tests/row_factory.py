"""Create a row of any company-owned model, for tests that hold for all of them."""

from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import count
from typing import Any
from uuid import UUID

from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db import connection, models

from companies.models import Company, CompanyForeignKey, CompanyOwned
from tests.factories import UserFactory

ROW_NUMBERS = count(1_000)  # above the numbers of the rows that create a company
VALUE_OF_FIELD_TYPE: list[tuple[type[models.Field], Any]] = [
    (models.BooleanField, False),
    (models.IntegerField, 1),
    (models.DecimalField, Decimal(1)),
    (models.DateTimeField, datetime(2026, 1, 1, tzinfo=UTC)),
    (models.DateField, date(2026, 1, 1)),
    (models.JSONField, {}),
    (models.BinaryField, b"x"),
    (models.UUIDField, UUID(int=7)),
    (ArrayField, []),
    (models.CharField, "x"),
    (models.TextField, "x"),
]


def list_company_models() -> list[type[CompanyOwned]]:
    """Every model whose rows belong to one company."""
    return [model for model in apps.get_models() if issubclass(model, CompanyOwned)]


def drop_checks_and_triggers() -> None:
    """Drop check constraints and disable triggers until the test's transaction ends; keys and references stay.

    Call it before rows exist: a table with deferred references cannot be altered.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL citus.multi_shard_modify_mode TO 'sequential'")  # rows are to follow
        for model in list_company_models():
            table = model._meta.db_table
            cursor.execute(f'ALTER TABLE "{table}" DISABLE TRIGGER USER')
            cursor.execute(
                "SELECT conname FROM pg_constraint WHERE conrelid = %s::regclass AND contype = 'c'", [f'"{table}"']
            )
            for (name,) in cursor.fetchall():
                cursor.execute(f'ALTER TABLE "{table}" DROP CONSTRAINT "{name}"')


def create_any_row(model: type[CompanyOwned], company: Company) -> Any:
    """Create a row with the minimum its columns need. Call ``drop_checks_and_triggers`` first."""
    values = {
        field.name: build_value(field, company)
        for field in model._meta.concrete_fields
        if field.name not in {"id", "company"} and not field.null and not field.has_default()
    }
    row = model(company=company, **values)
    row.save(force_insert=True)
    return row


def build_value(field: models.Field, company: Company) -> Any:
    if isinstance(field, CompanyForeignKey):
        return create_any_row(field.remote_field.model, company)
    if isinstance(field, models.ForeignKey):
        return UserFactory()
    if isinstance(field, models.BigIntegerField):
        return next(ROW_NUMBERS)  # numbers of audit entries are unique in a company
    if field.choices:
        return field.flatchoices[0][0]
    return next(value for kind, value in VALUE_OF_FIELD_TYPE if isinstance(field, kind))
