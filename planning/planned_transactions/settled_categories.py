"""Categories of settling transactions: what a plan has is assigned to the transaction that settles it."""

from collections.abc import Collection
from uuid import UUID

from django.db.models.functions import Coalesce

from companies.change import CompanyChange
from companies.models import IdIn
from ledger.categorization.actions.bulk_categorization import CategorizationChoice, apply_choices
from ledger.categorization.actions.uncategorization import UncategorizationResult, uncategorize_chunk
from ledger.models import Categorization, Category, Transaction
from ledger.rules.actions.auto_assign import filter_unassigned_transactions, iterate_unassigned_chunks
from ledger.rules.queries.assignability import build_assignability_check
from planning.models import PlannedOverride

PLAN_NOTE = "plan"  # the sourceNote of what plans say


def categorize_settling_transactions(change: CompanyChange, transaction_ids: Collection[UUID]) -> None:
    """Assign the category and counterparty of the settled plan to transactions without any categorization.

    As rules do: what a person said stays, and a category with several P&L lines is left to a person.

    Raises:
        MissingRateError: a currency has no exchange rate.
    """
    choices = find_planned_choices(change, transaction_ids)
    if not choices:
        return
    rows = Transaction.objects.for_company(change.company.id).filter(id__in=choices)
    can_assign = build_assignability_check(change.company)
    for chunk in iterate_unassigned_chunks(filter_unassigned_transactions(rows)):
        pairs = [(each.transaction, choices[each.transaction.id]) for each in chunk]
        apply_choices(change, [pair for pair in pairs if can_assign(*pair)], automatic=True)


def find_planned_choices(change: CompanyChange, transaction_ids: Collection[UUID]) -> dict[UUID, CategorizationChoice]:
    """Return transaction id → what the plan that it settles says, where that has a category with one P&L line."""
    company = change.company
    settled = (
        PlannedOverride.objects.for_company(company.id)
        .filter(IdIn("transaction_id", list(transaction_ids)))
        .annotate(settled_category_id=Coalesce("category_id", "planned__category_id"))
        .filter(settled_category_id__isnull=False)
        .values_list("transaction_id", "settled_category_id", "planned__counterparty_id")
    )
    rows = list(settled)
    categories = Category.objects.for_company(company.id).filter(id__in={category_id for _, category_id, _ in rows})
    pl_types = dict(categories.values_list("id", "pl_types"))
    return {
        transaction_id: CategorizationChoice(
            category_id,
            pl_types[category_id][0],
            counterparty_id,
            source_note=PLAN_NOTE,
        )
        for transaction_id, category_id, counterparty_id in rows
        if transaction_id and len(pl_types[category_id]) == 1
    }


def uncategorize_unsettled_transaction(change: CompanyChange, transaction_id: UUID) -> None:
    """Take back what settling assigned, unless somebody changed it since."""
    assigned = Categorization.objects.for_company(change.company.id).filter(
        transaction=transaction_id,
        transaction__categorizations_auto_assigned=True,
        source_note=PLAN_NOTE,
    )
    if assigned.exists():
        uncategorize_chunk(change, [transaction_id], selected_ids={transaction_id}, result=UncategorizationResult())
