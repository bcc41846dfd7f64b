"""Reset the demo company's data."""

from typing import Any

from django.db.models import Model

from companies import hooks
from companies.actions.companies import CompanyExpired, update_company
from companies.actions.company_data import delete_company_rows, list_company_models
from companies.change import change_company
from companies.errors import NotFoundError
from companies.models import AuditContext, Company
from companies.permissions import Permissions
from demo.actions import BASE_CURRENCY, fill_demo_company
from demo.story import MAX_MONTHS

KEPT_APPS = {"companies", "oauth", "webhooks"}  # members, access, webhooks and the audit log
RESET_COMPANY_VALUES: dict[str, Any] = {  # settings that affect figures, with the values of a new company
    "base_currency": BASE_CURRENCY,
    "time_zone": "UTC",
    "data_start_date": None,
    "standard_tax_percent": None,
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
        # Not locked, so that requests that record usage need not wait.
        current_company = Company.objects.get(id=company.id)
        extent = current_company.demonstration
        if extent is None:
            raise NotFoundError
        if current_company.read_only:
            raise CompanyExpired
        change.record_bulk(
            "company.reset", "company", entity_id=company.id, before=delete_company_rows(company, list_data_models())
        )
        if any(getattr(current_company, name) != value for name, value in RESET_COMPANY_VALUES.items()):
            current_company = update_company(
                company=company, context=context, permissions=permissions, values=RESET_COMPANY_VALUES
            )
        hooks.company_created.run(company=current_company, context=context)
        months, count = min(extent["months"], MAX_MONTHS), extent["transactions"]
        fill_demo_company(company=current_company, context=context, months=months, count=count)


def list_data_models() -> list[type[Model]]:
    """List the models of a company's data: each before those it refers to, derived tables last."""
    return [model for model in list_company_models() if model._meta.app_label not in KEPT_APPS]
