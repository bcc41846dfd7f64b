"""Import a plan: create its new categories and save its amounts."""

from collections.abc import Sequence

from companies.change import change_company
from companies.models import AuditContext, Company
from ledger.categorization.actions.categories import append_category
from ledger.models import Category
from ledger.money.calc.fx import RateTable
from planning.plan.actions.grid_changes import PlanCell, store_plan_cells


def import_plan(
    *,
    company: Company,
    context: AuditContext,
    categories: Sequence[Category],
    cells: Sequence[PlanCell],
    rates: RateTable,
) -> None:
    """Create categories behind the others and save the amounts of the plan, all or nothing.

    Raises:
        MissingRateError: a currency has no exchange rate.
        ValidationFailed: at the cells, as `save_plan_cells` does.
    """
    with change_company(company, context=context) as change:
        for category in categories:
            values = {"id": category.id, "name": category.name, "pl_types": category.pl_types}
            append_category(company=company, context=context, values=values)
        store_plan_cells(change, cells, rates)
