"""Settlements of planned transactions: sums by occurrence for the forecast, and their parts for lists."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from uuid import UUID

from django.db.models import F, Sum
from django.db.models.functions import Coalesce

from companies.models import IdIn
from ledger.models import Transaction
from planning.calc.planned_totals import OccurrenceKey
from planning.calc.settlements import Payment, SettledAmount, SettlementPart
from planning.models import PlannedTransaction, Settlement

ZERO = Decimal(0)


def list_settlement_parts(
    company_id: UUID, planned_ids: Collection[UUID]
) -> Mapping[OccurrenceKey, list[SettlementPart]]:
    """Return what is paid and written off of planned transactions, by occurrence. One statement."""
    parts: defaultdict[OccurrenceKey, list[SettlementPart]] = defaultdict(list)
    rows = (
        Settlement.objects.for_company(company_id)
        .filter(IdIn("planned_id", list(planned_ids)))
        .annotate(day=Coalesce("transaction__date", "date"))
        .order_by("day", "id")
        .values_list("planned_id", "original_date", "transaction_id", "day", "amount_value", "reason")
    )
    for planned_id, original_date, *values in rows:
        parts[planned_id, original_date].append(SettlementPart(*values))
    return parts


def find_settled_amounts(rows: Iterable[PlannedTransaction]) -> dict[OccurrenceKey, SettledAmount]:
    """Return what is settled of a company's planned transactions, by occurrence. One statement if there are any."""
    planned_ids_by_company: defaultdict[UUID, list[UUID]] = defaultdict(list)
    for row in rows:
        planned_ids_by_company[row.company_id].append(row.id)
    return {
        key: SettledAmount.from_parts(parts)
        for company_id, planned_ids in planned_ids_by_company.items()
        for key, parts in list_settlement_parts(company_id, planned_ids).items()
    }


def sum_settled_by_occurrence(company_id: UUID, planned_ids: Collection[UUID]) -> dict[OccurrenceKey, Decimal]:
    """Return how much of planned transactions is paid or written off, by occurrence. One statement if there are any."""
    if not planned_ids:
        return {}
    rows = (
        Settlement.objects.for_company(company_id)
        .filter(IdIn("planned_id", list(planned_ids)))
        .order_by()
        .values_list("planned_id", "original_date")
        .annotate(settled=Sum("amount_value"))
    )
    return {(planned_id, original_date): settled for planned_id, original_date, settled in rows}


def load_payment(transaction: Transaction, *, excluded: Collection[UUID] = ()) -> Payment:
    """Return a transaction with what is left of it.

    Args:
        excluded: ids of settlements that are about to be replaced.
    """
    used = (
        Settlement.objects.for_company(transaction.company_id)
        .filter(transaction=transaction.id)
        .exclude(id__in=excluded)
        .aggregate(used=Coalesce(Sum(F("transaction_amount_value")), ZERO))["used"]
    )
    remaining = transaction.amount_value - used
    return Payment(transaction.date, transaction.amount_value, transaction.amount_currency, remaining)
