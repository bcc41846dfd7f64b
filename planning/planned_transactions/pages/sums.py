"""Pages: settle several invoices with one transaction, and take all of its settlements back."""

from collections.abc import Collection
from decimal import Decimal, InvalidOperation
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.errors import ValidationFailed
from companies.models import parse_id
from companies.pages.amount_formats import format_count
from companies.pages.context import CompanyPage, company_page
from companies.permissions import Permission
from ledger.hooks import InvoicePayments
from ledger.imports.pages.outcome_messages import format_import_payments
from ledger.transactions.pages.return_urls import build_inbox_url
from planning.calc.invoice_matching import MAX_SUMMED_INVOICES
from planning.models import PlannedTransaction
from planning.planned_transactions.actions.transaction_settlements import (
    RequestedSettlement,
    settle_with_transaction,
    unsettle_transaction,
)
from planning.planned_transactions.serializers import parse_date_or_none


@company_page(writes=Permission.PLANNING_WRITE)
def settle_sum_page(page: CompanyPage, transaction_id: UUID) -> HttpResponse:
    """Settle the invoices of the form with a transaction, all or none."""
    with page.handle_errors():
        settled = settle_with_transaction(
            company=page.company,
            context=page.audit_context,
            transaction_id=transaction_id,
            settlements=parse_settlements(page.request.POST.get("settlements", "")),
        )
        messages.success(page.request, describe_payments(page, {each.id for each in settled}))
        return redirect(build_inbox_url(page, page.request.POST.get("next"), settled=transaction_id))
    return page.redirect("inbox")


def describe_payments(page: CompanyPage, invoice_ids: Collection[UUID]) -> str:
    """Return the message after settling invoices: how many are paid, and how many in part."""
    invoices = PlannedTransaction.objects.for_company(page.company.id).filter(id__in=invoice_ids)
    paid = invoices.filter(is_closed=True).count()
    return f"{format_import_payments(InvoicePayments(paid, len(invoice_ids) - paid))}."


@company_page(writes=Permission.PLANNING_WRITE)
def unsettle_transaction_page(page: CompanyPage, transaction_id: UUID) -> HttpResponse:
    """Take back everything that a transaction settles."""
    with page.handle_errors():
        count = unsettle_transaction(company=page.company, context=page.audit_context, transaction_id=transaction_id)
        message = ngettext("{count} invoice is open again.", "{count} invoices are open again.", count)
        messages.success(page.request, message.format(count=format_count(count)))
    return page.redirect("inbox")


def format_settlements(settlements: list[RequestedSettlement]) -> str:
    """Return settlements as the value of a form field; `parse_settlements` reads it."""
    return " ".join(f"{planned_id}/{day}/{amount:f}" for planned_id, day, amount in settlements)


def parse_settlements(text: str) -> list[RequestedSettlement]:
    """Parse the field of a form. Raises ValidationFailed."""
    settlements = []
    for part in text.split():
        planned_id, day, amount = [*part.split("/"), "", ""][:3]
        parsed_id, parsed_day = parse_id(planned_id), parse_date_or_none(day)
        try:
            parsed_amount = Decimal(amount)
        except InvalidOperation:
            parsed_amount = Decimal("NaN")
        if parsed_id is None or parsed_day is None or not parsed_amount.is_finite():
            break
        settlements.append(RequestedSettlement(parsed_id, parsed_day, parsed_amount))
    if not settlements or len(settlements) != len(text.split()) or len(settlements) > MAX_SUMMED_INVOICES:
        raise ValidationFailed([("#/settlements", "invalid_value", _("Choose invoices."))])
    return settlements
