"""Pages of recurring payments that are found in the history, to plan each with one button."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext as _

from companies.pages.context import CompanyPage, company_page
from companies.permissions import Permission
from ledger.categorization.pages.bulk_actions import validate_request_body
from ledger.transactions.pages.labels import load_visible_names
from planning.models import PlannedSource
from planning.planned_transactions.actions.planned_transactions import create_planned_transaction
from planning.planned_transactions.pages.outlook import format_recurrence_interval
from planning.planned_transactions.queries.recurring_payments import (
    PaymentProposal,
    find_payment_proposal,
    list_payment_proposals,
)
from planning.planned_transactions.serializers import PlannedTransactionSerializer

MAX_PROPOSALS_SHOWN = 50
MAX_NAME_LENGTH = 300  # of a planned transaction


@company_page(reads=Permission.PLANNING_READ)
def show_payment_proposals(page: CompanyPage) -> HttpResponse:
    """Show the recurring payments of the history that are not planned."""
    sees_transactions = page.has_permission(Permission.TRANSACTIONS_READ)
    proposals = list_payment_proposals(page.company, today=page.today) if sees_transactions else []
    names = load_visible_names(page)
    rows = [
        {
            "proposal": proposal,
            "latest": proposal.payment.latest,
            "name": get_shown_name(page, proposal),
            "count": len(proposal.payment.payments),
            "account": names.get_account_name(proposal.payment.latest.account_id),
            "category": names.get_category_name(proposal.category_id) if proposal.category_id else "",
            "often": describe_interval(proposal),
        }
        for proposal in proposals[:MAX_PROPOSALS_SHOWN]
    ]
    return page.render(
        "planning/planned_transactions/proposals.html",
        tab="planned",
        rows=rows,
        more=len(proposals) - len(rows),
        writes=page.has_permission(Permission.PLANNING_WRITE),
        sees_transactions=sees_transactions,
    )


def get_shown_name(page: CompanyPage, proposal: PaymentProposal) -> str:
    """Return the name of the counterparty as far as the user may see it, else what the bank names."""
    can_read_counterparties = page.has_permission(Permission.COUNTERPARTIES_READ)
    bank_name = (proposal.from_to or "").strip()
    return proposal.name if can_read_counterparties or not bank_name else bank_name


def describe_interval(proposal: PaymentProposal) -> str:
    """Describe how often the payment recurs: every 3 months."""
    interval = proposal.payment.interval
    return format_recurrence_interval(interval.unit, interval.unit_count, last_day=proposal.is_month_end)


@company_page(writes=Permission.PLANNING_WRITE)
def plan_payment_page(page: CompanyPage, transaction_id: UUID) -> HttpResponse:
    """Plan the recurring payment whose latest payment is a transaction."""
    proposal = None
    if page.has_permission(Permission.TRANSACTIONS_READ):
        proposal = find_payment_proposal(page.company, transaction_id=transaction_id, today=page.today)
    if proposal is None:
        return page.redirect_with_message(_("This payment is already planned or has ended."), "planned-proposals")
    with page.handle_errors():
        values = validate_request_body(PlannedTransactionSerializer, build_planned_body(proposal))
        planned = create_planned_transaction(
            company=page.company, context=page.audit_context, source=PlannedSource.MANUAL, values=values
        )
        return page.redirect_with_message(_("{name} added.").format(name=planned.name), "planned-proposals")
    return page.redirect("planned-proposals")


def build_planned_body(proposal: PaymentProposal) -> dict[str, Any]:
    """Return a proposal as POST planned_transactions takes it."""
    return {
        "accountId": str(proposal.account_id),
        "name": " ".join(proposal.name.split())[:MAX_NAME_LENGTH].strip() or _("Recurring payment"),
        "startDate": proposal.next_date.isoformat(),
        "amountValue": proposal.amount_value,
        "amountCurrency": proposal.amount_currency,
        "categoryId": str(proposal.category_id) if proposal.category_id else None,
        "counterparty": {"id": str(proposal.counterparty.id)} if proposal.counterparty else None,
        "recurrence": {
            "frequency": proposal.interval,
            "interval": proposal.interval_count,
            "lastDayOfMonth": proposal.is_month_end,
            "end": {"type": "never"},
        },
    }
