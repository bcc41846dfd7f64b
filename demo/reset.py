"""Reset the demo company's data."""

from graphlib import TopologicalSorter
from typing import Any

from django.apps import apps
from django.core.files.storage import default_storage
from django.db.models import Model

from companies import hooks
from companies.actions.companies import CompanyExpired, update_company
from companies.change import change_company
from companies.errors import NotFoundError
from companies.models import AuditContext, Company, CompanyOwned
from companies.permissions import Permissions
from companies.storage.actions import delete_from_storage_after_commit
from demo.actions import BASE_CURRENCY, fill_demo_company
from ledger.closings.actions import delete_closings
from ledger.models import File

KEPT_APPS = {"companies", "oauth", "webhooks"}  # members, access, webhooks and the audit log
RESET_COMPANY_VALUES: dict[str, Any] = {  # settings that affect figures, with the values of a new company
    "base_currency": BASE_CURRENCY,
    "time_zone": "UTC",
    "data_start_date": None,
    "auto_categorize": False,
    "pl_recognize_revenue_on_invoice": False,
    "pl_show_all_categories": False,
    "pl_show_planning_percentage_for_past_months": False,
}


def reset_demo_company(*, company: Company, context: AuditContext, permissions: Permissions) -> None:
    """Delete the company's data and create it again up to today, all or nothing.

    Members, API keys, apps, webhooks and the audit log stay.

    Raises:
        NotFoundError: it is no demo company.
        CompanyExpired: it is read-only.
        CompanyManageRequired: the permissions do not suffice.
        MissingRate: a currency has no exchange rate.
    """
    with change_company(company, context=context) as change:
        current_company = Company.objects.get(
            id=company.id
        )  # not locked, so that requests that record usage need not wait
        recipe = current_company.demonstration
        if recipe is None:
            raise NotFoundError
        if current_company.read_only:
            raise CompanyExpired
        change.record_bulk("company.reset", "company", entity_id=company.id, before=delete_company_data(company))
        if any(getattr(current_company, name) != value for name, value in RESET_COMPANY_VALUES.items()):
            current_company = update_company(
                company=company, context=context, permissions=permissions, values=RESET_COMPANY_VALUES
            )
        hooks.company_created.run(company=current_company, context=context)
        fill_demo_company(company=current_company, context=context, **recipe)


def delete_company_data(company: Company) -> dict[str, int]:
    """Delete the company's data and return the deleted rows by entity type; file contents go after commit."""
    for path in File.objects.for_company(company.id).values_list("storage_path", flat=True):
        delete_from_storage_after_commit(storage=default_storage, name=path)
    delete_closings(company)  # before the rows that they protect
    deleted_counts = {}
    for model in list_data_models():
        count, _ = model._base_manager.filter(company_id=company.id).delete()
        if count and issubclass(model, CompanyOwned):
            deleted_counts[f"{model.__name__[:1].lower()}{model.__name__[1:]}"] = count
    return deleted_counts


def list_data_models() -> list[type[Model]]:
    """List the models of a company's data: each before those it refers to, derived tables last."""
    data_models = [
        model
        for model in apps.get_models()
        if model._meta.app_label not in KEPT_APPS and any(field.name == "company" for field in model._meta.fields)
    ]
    fact_order: TopologicalSorter[type[Model]] = TopologicalSorter(
        {model: () for model in data_models if is_fact_model(model)}
    )
    for model in filter(is_fact_model, data_models):
        for field in model._meta.fields:
            referred_model = field.related_model
            if referred_model in data_models and referred_model is not model:
                fact_order.add(referred_model, model)
    return [*fact_order.static_order(), *(model for model in data_models if not is_fact_model(model))]


def is_fact_model(model: type[Model]) -> bool:
    return issubclass(model, CompanyOwned)
