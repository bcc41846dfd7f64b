"""Putting the demonstration company's data back as it was made."""

from graphlib import TopologicalSorter
from typing import Any

from django.apps import apps
from django.core.files.storage import default_storage
from django.db.models import Model

from analytics.demonstration.company import CURRENCY, fill
from companies import hooks
from companies.changing import changing
from companies.errors import Missing
from companies.membership.founding import CompanyExpired, change_company
from companies.models import Company, CompanyOwned, Stamp
from companies.permissions import Permissions
from companies.stores.storing import drop_after_commit
from ledger.models import File

STAYS = {"companies", "oauth", "webhooks"}  # apps that say who may get in, who is told, and what was done
FIGURED_BY: dict[str, Any] = {  # the company's own facts by which figures are made, as a new one has them
    "base_currency": CURRENCY,
    "time_zone": "UTC",
    "data_start_date": None,
    "auto_categorize": False,
    "pl_recognize_revenue_on_invoice": False,
    "pl_show_all_categories": False,
    "pl_show_planning_percentage_for_past_months": False,
}


def reset(*, company: Company, stamp: Stamp, permissions: Permissions) -> None:
    """All its data goes and comes back as it was made, up to today, or stays as it is; who belongs to it, keys and the
    log stay. Raises Missing for a company that is no demonstration, CompanyExpired, NeedsManager, MissingRate."""
    with changing(company, stamp=stamp) as change:
        stored = Company.objects.get(id=company.id)  # not locked: requests that only note something need not wait
        recipe = stored.demonstration
        if recipe is None:
            raise Missing
        if stored.read_only:
            raise CompanyExpired
        change.record_many("company.reset", "company", entity_id=company.id, before=emptied(company))
        if any(getattr(stored, name) != value for name, value in FIGURED_BY.items()):
            stored = change_company(company=company, stamp=stamp, permissions=permissions, values=FIGURED_BY)
        hooks.company_created.run(company=stored, stamp=stamp)
        fill(company=stored, stamp=stamp, **recipe)


def emptied(company: Company) -> dict[str, int]:
    """How many rows of each kind went, as the log calls them; the bytes of documents go when the change is kept."""
    for path in File.objects.of(company.id).values_list("storage_path", flat=True):
        drop_after_commit(storage=default_storage, name=path)
    gone = {}
    for model in tables():
        count, _ = model._base_manager.filter(company_id=company.id).delete()
        if count and issubclass(model, CompanyOwned):
            gone[f"{model.__name__[:1].lower()}{model.__name__[1:]}"] = count
    return gone


def tables() -> list[type[Model]]:
    """Those of a company's data: each before what its rows refer to, and last what the database derives from them."""
    data = [
        model
        for model in apps.get_models()
        if model._meta.app_label not in STAYS and any(field.name == "company" for field in model._meta.fields)
    ]
    facts: TopologicalSorter[type[Model]] = TopologicalSorter({model: () for model in data if is_fact(model)})
    for model in filter(is_fact, data):
        for field in model._meta.fields:
            referred = field.related_model
            if referred in data and referred is not model:
                facts.add(referred, model)
    return [*facts.static_order(), *(model for model in data if not is_fact(model))]


def is_fact(model: type[Model]) -> bool:
    return issubclass(model, CompanyOwned)
