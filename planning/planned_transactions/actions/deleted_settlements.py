"""Settlements of transactions that are deleted or pending again, and their restoration when a deletion is undone."""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from companies.change import CompanyChange
from companies.models import IdIn
from ledger.models import Transaction
from ledger.transactions.actions.audit_links import link_audit_entry
from planning.models import PlannedTransaction, Settlement, attach_overrides
from planning.planned_transactions.actions.settlement_checks import (
    NotAnOccurrence,
    OccurrenceSkipped,
    check_occurrence,
    compute_open_amount,
)
from planning.planned_transactions.actions.settlements import describe_settlements
from planning.planned_transactions.settled_categories import categorize_settling_transactions
from planning.planned_transactions.settlements import recompute_settled_amounts

SettlementsByOccurrence = Mapping[tuple[UUID, dt.date], list[Settlement]]


def unsettle_transactions(*, change: CompanyChange, transaction_ids: list[UUID]) -> None:
    """Remove settlements by transactions that are deleted or pending again; their occurrences are expected again."""
    rows = Settlement.objects.for_company(change.company.id).filter(IdIn("transaction_id", transaction_ids))
    removed = list(rows) if transaction_ids else []
    if not removed:
        return
    before = load_settlements(change, {row.planned_id for row in removed})
    rows.delete()
    after = load_settlements(change, {row.planned_id for row in removed})
    record_settlement_changes(change, removed, before=before, after=after, event="unsettled")


def find_settlements_to_restore(*, company_id: UUID, transaction_ids: list[UUID]) -> dict[UUID, list[dict[str, str]]]:
    """Return the settlements by transactions as JSON, by transaction id; credit notes first. One statement."""
    rows = (
        Settlement.objects.for_company(company_id)
        .filter(IdIn("transaction_id", transaction_ids))
        .select_related("planned", "transaction")
        .order_by("id")
    )
    settlements: defaultdict[UUID, list[dict[str, str]]] = defaultdict(list)
    # Credit notes raise what a transaction has left for its other settlements.
    for row in sorted(
        rows, key=lambda row: bool(row.transaction and row.amount_value * row.transaction.amount_value > 0)
    ):
        if row.transaction_id is not None:
            settlements[row.transaction_id].append(
                {
                    "planned_id": str(row.planned_id),
                    "name": row.planned.name,
                    "original_date": row.original_date.isoformat(),
                    "amount_value": str(row.amount_value),
                    "amount_currency": row.planned.amount_currency,
                    "transaction_amount_value": str(row.transaction_amount_value),
                }
            )
    return settlements


def restore_settlements(*, change: CompanyChange, settlements: Mapping[UUID, list[dict[str, str]]]) -> list[str]:
    """Restore the settlements by transactions that were deleted and are back, as far as the amounts are open still.

    Args:
        settlements: what `find_settlements_to_restore` returned before the deletion.

    Returns:
        the names of the planned transactions that are not settled again.
    """
    if not settlements:
        return []
    company_id = change.company.id
    planned_ids = {UUID(stored["planned_id"]) for each in settlements.values() for stored in each}
    planned_by_id = load_planned_transactions(change, planned_ids)
    before = load_settlements(change, planned_ids)
    after = defaultdict(list, {occurrence: [*rows] for occurrence, rows in before.items()})
    restored, unsettled_names, incomplete_ids = [], [], set()
    for transaction in Transaction.objects.for_company(company_id).filter(IdIn("id", list(settlements))).order_by("id"):
        remaining = transaction.amount_value
        for stored in settlements[transaction.id]:
            row = Settlement(
                company_id=company_id,
                planned_id=UUID(stored["planned_id"]),
                original_date=dt.date.fromisoformat(stored["original_date"]),
                transaction=transaction,
                amount_value=Decimal(stored["amount_value"]),
                transaction_amount_value=Decimal(stored["transaction_amount_value"]),
            )
            left = remaining - Decimal(stored["transaction_amount_value"])
            planned, others = planned_by_id.get(row.planned_id), after[row.planned_id, row.original_date]
            if (
                planned is None
                or planned.amount_currency != stored["amount_currency"]
                or left * transaction.amount_value < 0
                or not is_amount_open(planned, row, others)
            ):
                unsettled_names.append(stored["name"])
                incomplete_ids.add(transaction.id)
                continue
            remaining = left
            others.append(row)
            restored.append(row)
    Settlement.objects.bulk_create(restored)
    record_settlement_changes(change, restored, before=before, after=after, event="settled")
    if incomplete_ids:  # what the lost settlements assigned is taken back
        categorize_settling_transactions(change, incomplete_ids)
    return unsettled_names


def is_amount_open(planned: PlannedTransaction, row: Settlement, others: Iterable[Settlement]) -> bool:
    """Whether an occurrence still takes place and has the amount of a settlement open beside the others."""
    try:
        check_occurrence(planned, row.original_date)
    except (NotAnOccurrence, OccurrenceSkipped):
        return False
    open_amount = compute_open_amount(planned, row.original_date, others)
    return row.amount_value * open_amount > 0 and abs(row.amount_value) <= abs(open_amount)


def load_planned_transactions(change: CompanyChange, ids: Collection[UUID]) -> dict[UUID, PlannedTransaction]:
    """Return planned transactions with their overrides by id. Two statements."""
    rows = PlannedTransaction.objects.for_company(change.company.id).filter(IdIn("id", list(ids)))
    return {row.id: row for row in attach_overrides(list(rows))}


def load_settlements(change: CompanyChange, planned_ids: Collection[UUID]) -> SettlementsByOccurrence:
    """Return the settlements of planned transactions by occurrence, oldest first. One statement."""
    settlements: defaultdict[tuple[UUID, dt.date], list[Settlement]] = defaultdict(list)
    rows = Settlement.objects.for_company(change.company.id).filter(IdIn("planned_id", list(planned_ids)))
    for row in rows.order_by("id"):
        settlements[row.planned_id, row.original_date].append(row)
    return settlements


def record_settlement_changes(
    change: CompanyChange,
    rows: Iterable[Settlement],
    *,
    before: SettlementsByOccurrence,
    after: SettlementsByOccurrence,
    event: str,
) -> None:
    """Mark the planned transactions of settlements as changed, with one audit entry each.

    Args:
        rows: the settlements that were added or removed.
        event: `settled` or `unsettled`; an invoice without an open amount is paid.
    """
    rows_by_planned: defaultdict[UUID, list[Settlement]] = defaultdict(list)
    for row in rows:
        rows_by_planned[row.planned_id].append(row)
    if not rows_by_planned:
        return
    company_id, context = change.company.id, change.context
    recompute_settled_amounts(company_id, list(rows_by_planned))
    plans = PlannedTransaction.objects.for_company(company_id).filter(IdIn("id", list(rows_by_planned)))
    plans.update(last_updated_time=context.time, last_updated_user_id=context.actor)
    for planned in load_planned_transactions(change, list(rows_by_planned)).values():
        changed_rows = rows_by_planned[planned.id]
        days = sorted({row.original_date for row in changed_rows})
        was, now = (describe_occurrences(planned, days, settlements) for settlements in (before, after))
        action = "paid" if event == "settled" and planned.is_invoice and planned.is_closed else event
        entry = change.record(planned, f"{planned.entity_type}.{action}", before=was, after=now)
        link_audit_entry(change, entry, {row.transaction_id for row in changed_rows if row.transaction_id})


def describe_occurrences(
    planned: PlannedTransaction, days: Iterable[dt.date], settlements: SettlementsByOccurrence
) -> dict[str, Any]:
    """Return the settlements of occurrences for the audit log."""
    described = {
        day.isoformat(): describe_settlements(planned, day, settlements.get((planned.id, day), ())) for day in days
    }
    return {"settlements": described}
