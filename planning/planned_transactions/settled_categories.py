"""Categories of settling transactions: what a plan has is assigned to the transaction that settles it."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from uuid import UUID

from django.db.models import OuterRef, Subquery, UUIDField
from django.db.models.functions import Coalesce

from companies.change import CompanyChange
from companies.models import IdIn
from ledger.categorization.actions.bulk_categorization import apply_choices
from ledger.categorization.actions.uncategorization import UncategorizationResult, uncategorize_chunk
from ledger.categorization.choices import CategorizationChoice
from ledger.models import Categorization, Category, Transaction
from ledger.rules.actions.auto_assign import filter_unassigned_transactions, iterate_unassigned_chunks
from ledger.rules.queries.assignability import build_assignability_check
from planning.models import PlannedOverride, Settlement

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
    """Return transaction id → what the plans that it settles say, where all agree on a category with one P&L line."""
    company = change.company
    overrides = PlannedOverride.objects.for_company(company.id).filter(
        planned=OuterRef("planned"), original_date=OuterRef("original_date")
    )
    settled = (
        Settlement.objects.for_company(company.id)
        .filter(IdIn("transaction_id", list(transaction_ids)))
        .annotate(
            settled_category_id=Coalesce(
                Subquery(overrides.values("category_id")), "planned__category_id", output_field=UUIDField()
            )
        )
        .order_by("id")
        .values_list("transaction_id", "settled_category_id", "planned__counterparty_id")
    )
    plans: defaultdict[UUID, set[tuple[UUID | None, UUID | None]]] = defaultdict(set)
    for transaction_id, category_id, counterparty_id in settled:
        if transaction_id is not None:
            plans[transaction_id].add((category_id, counterparty_id))
    category_ids = {category_id for pairs in plans.values() for category_id, _ in pairs if category_id}
    pl_types = dict(Category.objects.for_company(company.id).filter(id__in=category_ids).values_list("id", "pl_types"))
    choices = {}
    for transaction_id, pairs in plans.items():
        category, counterparty = (get_only_value(values) for values in zip(*pairs, strict=True))
        if category is not None and len(pl_types[category]) == 1:
            choices[transaction_id] = CategorizationChoice(
                category, pl_types[category][0], counterparty, source_note=PLAN_NOTE
            )
    return choices


def get_only_value(values: Iterable[UUID | None]) -> UUID | None:
    """Return the value that all are equal to; None if they differ."""
    distinct_values = set(values)
    return distinct_values.pop() if len(distinct_values) == 1 else None


def uncategorize_unsettled_transactions(change: CompanyChange, transaction_ids: Collection[UUID]) -> None:
    """Take back what settling assigned, unless somebody changed it since."""
    assigned = Categorization.objects.for_company(change.company.id).filter(
        transaction__in=transaction_ids,
        transaction__categorizations_auto_assigned=True,
        source_note=PLAN_NOTE,
    )
    ids = sorted(assigned.order_by().values_list("transaction_id", flat=True).distinct())
    if ids:
        uncategorize_chunk(change, ids, selected_ids={*ids}, result=UncategorizationResult())
