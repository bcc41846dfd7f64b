"""Import a plan: create its new categories and save its amounts."""

from collections.abc import Sequence

from companies.change import change_company
from companies.models import AuditContext, Company
from ledger.categorization.actions.categories import append_categories
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
        rows = [{"id": each.id, "name": each.name, "pl_types": each.pl_types} for each in categories]
        append_categories(company=company, context=context, rows=rows)
        store_plan_cells(change, cells, rates)
