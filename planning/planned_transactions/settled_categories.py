"""Categories and counterparties of plans, assigned to the transactions that settle them."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from django.db.models import OuterRef, Subquery, UUIDField
from django.db.models.functions import Coalesce

from companies.change import CompanyChange
from companies.models import IdIn
from ledger.categorization.actions.bulk_categorization import apply_choices
from ledger.categorization.actions.settled_counterparties import update_settled_counterparties
from ledger.categorization.actions.uncategorization import UncategorizationResult, uncategorize_chunk
from ledger.categorization.choices import CategorizationChoice
from ledger.models import Categorization, Category, Transaction
from ledger.money.calc.money import MONEY_CONTEXT, round_half_up
from ledger.rules.actions.auto_assign import filter_unassigned_transactions, iterate_unassigned_chunks
from ledger.rules.queries.assignability import build_assignability_check
from planning.models import PlannedOverride, Settlement

PLAN_NOTE = "plan"  # the sourceNote of what plans say


def categorize_settling_transactions(change: CompanyChange, transaction_ids: Collection[UUID]) -> None:
    """Assign category, counterparty and included tax of the settled plans to transactions without any categorization.

    As rules do: what a person said stays, and a category with several P&L lines is left to a person. What fewer or
    other settlements of a transaction assigned before is replaced. Transactions that are categorized already get the
    counterparty where they have none.

    Raises:
        MissingRateError: a currency has no exchange rate.
    """
    rows = Transaction.objects.for_company(change.company.id).filter(IdIn("id", list(transaction_ids)))
    if (closed_through := change.company.closed_through) is not None:
        rows = rows.filter(date__gt=closed_through)
    uncategorize_unsettled_transactions(change, rows.values_list("id", flat=True))
    update_settled_counterparties(change, transaction_ids)
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
        .values_list(
            "transaction_id",
            "settled_category_id",
            "transaction_amount_value",
            "planned__pass_through_tax_amount",
            "planned__amount_value",
            "transaction__amount_currency",
        )
    )
    plans: defaultdict[UUID, list[SettledPlan]] = defaultdict(list)
    for transaction_id, *values in settled:
        if transaction_id is not None:
            plans[transaction_id].append(SettledPlan(*values))
    category_ids = {plan.category_id for each in plans.values() for plan in each if plan.category_id}
    pl_types = dict(Category.objects.for_company(company.id).filter(id__in=category_ids).values_list("id", "pl_types"))
    choices = {}
    for transaction_id, settled_plans in plans.items():
        category = get_only_value(plan.category_id for plan in settled_plans)
        if category is not None and len(pl_types[category]) == 1:
            choices[transaction_id] = CategorizationChoice(
                category,
                pl_types[category][0],
                pass_through_tax=sum_included_tax(settled_plans),
                source_note=PLAN_NOTE,
            )
    return choices


class SettledPlan(NamedTuple):
    """What a transaction paid of a plan, in the transaction's currency, and what the plan says of it."""

    category_id: UUID | None
    paid_amount: Decimal
    plan_tax: Decimal | None
    plan_amount: Decimal
    currency: str


def sum_included_tax(plans: Iterable[SettledPlan]) -> Decimal | None:
    """Return the tax in what was paid, in proportion to the amounts of the plans and rounded once.

    None without tax, or if credit notes leave less than the tax.
    """
    tax, paid_amount, currency = Decimal(0), Decimal(0), ""
    for plan in plans:
        paid_amount, currency = MONEY_CONTEXT.add(paid_amount, plan.paid_amount), plan.currency
        if plan.plan_tax:
            paid_tax = MONEY_CONTEXT.divide(MONEY_CONTEXT.multiply(plan.paid_amount, plan.plan_tax), plan.plan_amount)
            tax = MONEY_CONTEXT.add(tax, paid_tax)
    tax = round_half_up(tax, currency)
    return tax if tax * paid_amount > 0 and abs(tax) <= abs(paid_amount) else None


def get_only_value(values: Iterable[UUID | None]) -> UUID | None:
    """Return the value that all are equal to; None if they differ."""
    distinct_values = set(values)
    return distinct_values.pop() if len(distinct_values) == 1 else None


def uncategorize_unsettled_transactions(change: CompanyChange, transaction_ids: Iterable[UUID]) -> None:
    """Take back what settling assigned, unless somebody changed it since."""
    assigned = Categorization.objects.for_company(change.company.id).filter(
        transaction__in=transaction_ids,
        transaction__categorizations_auto_assigned=True,
        source_note=PLAN_NOTE,
    )
    ids = sorted(assigned.order_by().values_list("transaction_id", flat=True).distinct())
    if ids:
        uncategorize_chunk(change, ids, selected_ids={*ids}, result=UncategorizationResult())
