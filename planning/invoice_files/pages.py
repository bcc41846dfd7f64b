"""Pages: plan the invoice in a file."""

from collections.abc import Sequence
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.auth.login_redirects import is_own_host
from companies.errors import DomainError
from companies.models import parse_id
from companies.pages.amount_formats import format_count
from companies.pages.context import CompanyPage, company_page
from companies.permissions import Permission
from ledger.categorization.pages.bulk_actions import validate_request_body
from ledger.hooks import InvoicesToPlan
from ledger.imports.pages.csv_import import MAX_FILES
from ledger.models import Direction, File
from planning.invoice_files.actions import (
    find_own_direction,
    get_other_party,
    plan_invoice_file,
    read_file_invoice,
)
from planning.invoice_files.serializers import PlanFileRequest
from planning.models import PlannedSource, PlannedTransaction
from planning.planned_transactions.pages.planned_transactions import list_visible_account_names


def render_invoice_of_file(page: CompanyPage, file: File) -> SafeString:
    """Render what the page of a file says of its receivable or payable; empty where the reader may see none."""
    if not page.has_permission(Permission.PLANNING_READ):
        return SafeString("")
    planned = None
    if file.planned_transaction_id:
        rows = PlannedTransaction.objects.for_company(page.company.id)
        planned = rows.filter(id=file.planned_transaction_id).first()
    if planned is None and not (file.parse_data and page.has_permission(Permission.PLANNING_WRITE)):
        return SafeString("")
    context = {
        "company": page.company,
        "file": file,
        "planned": planned,
        "direction": None if planned else find_direction_or_none(page, file),
        "accounts": [(str(key), name) for key, name in list_visible_account_names(page).items()],
    }
    return render_to_string("planning/invoice_files/file_panel.html", context, request=page.request)


def find_direction_or_none(page: CompanyPage, file: File) -> Direction | None:
    """Return whether the company receives or pays the invoice; None where that is not clear."""
    try:
        return find_own_direction(page.company, read_file_invoice(file))
    except DomainError:
        return None


def find_invoices_to_plan(page: CompanyPage, files: Sequence[File]) -> InvoicesToPlan | None:
    """Return the customers and vendors of invoice files, and the files whose data are complete and not planned yet."""
    if not page.has_permission(Permission.PLANNING_READ):
        return None
    party_names, file_ids = dict[UUID, str](), list[UUID]()
    for file in files:
        try:
            invoice = read_file_invoice(file)
            direction = find_own_direction(page.company, invoice)
        except DomainError:
            continue
        party_names[file.id] = get_other_party(invoice, direction).name
        if not file.planned_transaction_id and page.has_permission(Permission.PLANNING_WRITE):
            file_ids.append(file.id)
    return InvoicesToPlan(party_names, file_ids, reverse("documents-plan", args=[page.company.id]))


@company_page(writes=Permission.PLANNING_WRITE)
def plan_files_page(page: CompanyPage) -> HttpResponse:
    """Create the receivables and payables of the invoices in several files, each of which may fail on its own."""
    if not page.has_permission(Permission.FILES_READ):
        return page.redirect("planned-rules")
    count = 0
    for file_id in filter(None, map(parse_id, page.request.POST.getlist("file")[:MAX_FILES])):
        with page.handle_errors():
            plan_invoice_file(
                company=page.company,
                context=page.audit_context,
                file_id=file_id,
                account_id=None,
                direction=None,
                source=PlannedSource.MANUAL,
            )
            count += 1
    if count:
        text = ngettext("{count} invoice created.", "{count} invoices created.", count)
        messages.success(page.request, text.format(count=format_count(count)))
    next_url = page.request.POST.get("next", "")
    is_own = next_url.startswith(reverse("imports", args=[page.company.id])) and is_own_host(next_url)
    return redirect(next_url) if is_own else page.redirect("imports")


@company_page(writes=Permission.PLANNING_WRITE)
def plan_file_page(page: CompanyPage, file_id: UUID) -> HttpResponse:
    """Create the receivable or payable of the invoice in a file."""
    if not page.has_permission(Permission.FILES_READ):
        return page.redirect("planned-rules")
    post_data = page.request.POST
    with page.handle_errors():
        body = {name: post_data.get(name) or None for name in ("accountId", "direction")}
        values = validate_request_body(PlanFileRequest, body)
        planned = plan_invoice_file(
            company=page.company,
            context=page.audit_context,
            file_id=file_id,
            account_id=values["account_id"],
            direction=Direction(values["direction"]) if values["direction"] else None,
            source=PlannedSource.MANUAL,
        )
        return page.redirect_with_message(
            _("{name} created.").format(name=planned.name), "planned-one", planned_id=planned.id
        )
    return page.redirect("document", file_id=file_id)
