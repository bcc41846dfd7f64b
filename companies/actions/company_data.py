"""Copy and delete the rows of a company in all tables, which are found by the models' ``company`` field."""

from collections.abc import Collection
from graphlib import TopologicalSorter
from uuid import UUID

from django.apps import apps
from django.db import connection
from django.db.models import Model

from companies import hooks
from companies.models import Company, CompanyOwned, User


def list_company_models() -> list[type[Model]]:
    """List the models of companies' rows: each before those it refers to, derived tables last."""
    company_models = [
        model for model in apps.get_models() if any(field.name == "company" for field in model._meta.fields)
    ]
    fact_order: TopologicalSorter[type[Model]] = TopologicalSorter(
        {model: () for model in company_models if is_fact_model(model)}
    )
    for model in filter(is_fact_model, company_models):
        for field in model._meta.fields:
            referred_model = field.related_model
            if referred_model in company_models and referred_model is not model:
                fact_order.add(referred_model, model)
    return [*fact_order.static_order(), *(model for model in company_models if not is_fact_model(model))]


def is_fact_model(model: type[Model]) -> bool:
    return issubclass(model, CompanyOwned)


def copy_company_rows(*, source: Company, target: Company, user_id: UUID | None) -> dict[str, int]:
    """Copy the rows of one company to another that has none; return how many by table.

    Ids stay the same, since keys begin with the company. Rows that belong to a user are copied for `user_id` only.
    Tables in ``hooks.UNCOPIED_MODELS`` are left out. Rows of derived tables are copied too: the triggers that compute
    them skip a sandbox that `tidebook.copied_company` names.
    """
    models = list_company_models()
    facts, derived = [model for model in models if is_fact_model(model)], [m for m in models if not is_fact_model(m)]
    counts = {}
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL tidebook.copied_company = '{target.id}'")
        for model in (*reversed(facts), *derived):
            if model not in hooks.UNCOPIED_MODELS:
                values = {"source": source.id, "target": target.id, "user": user_id}
                cursor.execute(build_copy_statement(model), values)
                counts[model._meta.db_table] = cursor.rowcount
        cursor.execute("SET LOCAL tidebook.copied_company = ''")
    return counts


def build_copy_statement(model: type[Model]) -> str:
    """Build the statement that copies a table's rows from one company to another."""
    fields = [field for field in model._meta.concrete_fields if field.column]
    columns = ", ".join(f'"{field.column}"' for field in fields)
    values = ", ".join("%(target)s" if field.name == "company" else f'"{field.column}"' for field in fields)
    conditions = ["company_id = %(source)s"]
    conditions += [f'"{field.column}" = %(user)s' for field in fields if field.related_model is User]
    table = model._meta.db_table
    order = " ORDER BY id" if is_fact_model(model) else ""  # of which most indexes are filled from left to right
    return f'INSERT INTO "{table}" ({columns}) SELECT {values} FROM "{table}" WHERE {" AND ".join(conditions)}{order}'  # noqa: S608 - names of the schema


def delete_company_rows(company: Company, models: Collection[type[Model]]) -> dict[str, int]:
    """Delete the company's rows of these models; return how many by entity type. Stored files go after the commit."""
    hooks.company_rows_deleting.run(company=company)
    deleted_counts = {}
    for model in models:
        count, _ = model._base_manager.filter(company_id=company.id).delete()
        if count and is_fact_model(model):
            deleted_counts[f"{model.__name__[:1].lower()}{model.__name__[1:]}"] = count
    return deleted_counts
