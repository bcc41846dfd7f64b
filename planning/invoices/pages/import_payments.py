"""The page of invoices that the transactions of an import paid."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404

from companies.pages.context import CompanyPage, company_page
from companies.permissions import Permission
from ledger.models import ImportBatch
from planning.models import attach_overrides
from planning.planned_transactions.actions.settlement_checks import get_planned_amount
from planning.planned_transactions.settlements import list_import_settlements

PAGE_SIZE = 50


@company_page(reads=Permission.PLANNING_READ)
def show_import_payments(page: CompanyPage, import_id: UUID) -> HttpResponse:
    """List the invoices that the transactions of an import paid, in full or in part."""
    batch = get_object_or_404(ImportBatch.objects.for_company(page.company.id), id=import_id)
    settlements = list_import_settlements(page.company.id, [import_id]).select_related("planned", "transaction")
    rows, cursor = page.paginate(settlements, order=("id",), limit=PAGE_SIZE)
    attach_overrides([row.planned for row in rows])
    return page.render(
        "planning/invoices/import_payments.html",
        tab="transactions",
        batch=batch,
        rows=[(row, get_planned_amount(row.planned, row.planned.start_date)) for row in rows],
        cursor=cursor,
        sees_transactions=page.has_permission(Permission.TRANSACTIONS_READ),
    )
