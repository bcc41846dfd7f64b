"""Settlements seen from the ledger: what a transaction settles, and what follows when it is changed."""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from companies.change import CompanyChange
from companies.models import AuditContext, IdIn
from ledger.hooks import InvoicePayments
from ledger.models import Account, Transaction
from ledger.recognition.actions.period_updates import recompute_periods
from planning.models import OVERRIDE_COLUMNS, PlannedOverride, PlannedTransaction, Settlement


def find_settled_invoice_dates(*, company_id: UUID, transaction_ids: list[UUID]) -> dict[UUID, dt.date]:
    """Return transaction id → invoice date of the planned transaction that it settles, the earliest of several.

    One statement.
    """
    rows = Settlement.objects.for_company(company_id).filter(
        IdIn("transaction_id", transaction_ids), planned__invoice_date__isnull=False
    )
    pairs = rows.order_by("-planned__invoice_date").values_list("transaction_id", "planned__invoice_date")
    return {transaction_id: day for transaction_id, day in pairs if transaction_id and day}


def find_settled_plan_counterparties(*, company_id: UUID, transaction_ids: list[UUID]) -> dict[UUID, UUID]:
    """Return transaction id → counterparty of what it settles, where it settles plans of one only. One statement."""
    rows = Settlement.objects.for_company(company_id).filter(
        IdIn("transaction_id", transaction_ids), planned__counterparty__isnull=False
    )
    counterparty_ids: defaultdict[UUID, set[UUID]] = defaultdict(set)
    for transaction_id, counterparty_id in rows.order_by().values_list("transaction_id", "planned__counterparty_id"):
        counterparty_ids[transaction_id].add(counterparty_id)
    return {transaction_id: ids.pop() for transaction_id, ids in counterparty_ids.items() if len(ids) == 1}


class SettledOccurrence(NamedTuple):
    """An amount of an occurrence that a transaction settles; `date` is the original date of the occurrence."""

    planned_id: UUID
    date: dt.date
    name: str
    amount: Decimal
    currency: str


def find_settled_occurrences(*, company_id: UUID, transaction_ids: list[UUID]) -> dict[UUID, list[SettledOccurrence]]:
    """Return transaction id → what it settles, oldest first. One statement."""
    overrides = PlannedOverride.objects.for_company(company_id).filter(
        planned=OuterRef("planned"), original_date=OuterRef("original_date")
    )
    rows = (
        Settlement.objects.for_company(company_id)
        .filter(IdIn("transaction_id", transaction_ids))
        .annotate(occurrence_name=Coalesce(Subquery(overrides.values("name")), "planned__name"))
        .order_by("original_date", "id")
    )
    occurrences: defaultdict[UUID, list[SettledOccurrence]] = defaultdict(list)
    for transaction_id, *values in rows.values_list(
        "transaction_id", "planned_id", "original_date", "occurrence_name", "amount_value", "planned__amount_currency"
    ):
        occurrences[transaction_id].append(SettledOccurrence(*values))
    return occurrences


# Raw SQL: the ORM cannot update from a joined subquery.
_RECOMPUTE_CLOSED = """
    UPDATE planning_plannedtransaction AS p
       SET settled_value = sums.settled,
           is_closed = p.frequency IS NULL AND sums.settled <> 0
                       AND sums.settled = COALESCE(sums.overridden, p.amount_value)
      FROM (SELECT q.id, o.amount_value AS overridden, COALESCE(sum(s.amount_value), 0) AS settled
              FROM planning_plannedtransaction AS q
              LEFT JOIN planning_plannedoverride AS o
                   ON o.company_id = q.company_id AND o.planned_id = q.id AND o.original_date = q.start_date
              LEFT JOIN planning_settlement AS s
                   ON s.company_id = q.company_id AND s.planned_id = q.id AND s.original_date = q.start_date
             WHERE q.company_id = %(company)s AND q.id = ANY(%(ids)s::uuid[])
             GROUP BY q.company_id, q.id, o.amount_value) AS sums
     WHERE p.company_id = %(company)s AND p.id = sums.id
"""


def recompute_settled_amounts(company_id: UUID, planned_ids: Collection[UUID]) -> None:
    """Recompute what is settled of planned transactions that occur once, and whether nothing is open. One statement."""
    if planned_ids:
        with connection.cursor() as cursor:
            cursor.execute(_RECOMPUTE_CLOSED, {"company": company_id, "ids": list(planned_ids)})


def touch_settling_transactions(
    change: CompanyChange, transaction_ids: Iterable[UUID | None], *, periods_changed: bool
) -> None:
    """Mark transactions whose settlement changed as changed.

    With `periods_changed` their service periods are recomputed.

    Raises:
        MissingRateError: a currency has no exchange rate.
    """
    ids = sorted({each for each in transaction_ids if each is not None})
    if not ids:
        return
    context = change.context
    rows = Transaction.objects.for_company(change.company.id).filter(id__in=ids)
    rows.update(last_updated_time=context.time, last_updated_user_id=context.actor)
    if periods_changed:
        recompute_periods(change, ids)


def clear_closed_account(*, account: Account, context: AuditContext) -> None:
    """Remove a closed account from planned transactions and overrides; what is planned stays expected."""
    plans = PlannedTransaction.objects.for_company(account.company_id).filter(account=account)
    plans.update(account=None, last_updated_time=context.time, last_updated_user_id=context.actor)
    transfers = PlannedTransaction.objects.for_company(account.company_id).filter(transfer_account=account)
    transfers.update(transfer_account=None, last_updated_time=context.time, last_updated_user_id=context.actor)
    overrides = PlannedOverride.objects.for_company(account.company_id).filter(account=account)
    changed_rows = list(overrides.values_list("id", "planned_id"))
    if not changed_rows:
        return
    override_ids, planned_ids = zip(*changed_rows, strict=True)
    overrides = PlannedOverride.objects.for_company(account.company_id).filter(id__in=override_ids)
    plans = PlannedTransaction.objects.for_company(account.company_id).filter(id__in=planned_ids)
    plans.update(last_updated_time=context.time, last_updated_user_id=context.actor)
    overrides.update(account=None)
    overrides.filter(**{f"{patched}__isnull": True for patched in OVERRIDE_COLUMNS}).delete()


def count_import_payments(*, company_id: UUID, import_ids: Sequence[UUID]) -> dict[UUID, InvoicePayments]:
    """Return the invoices that the transactions of imports pay, by import; an invoice counts once."""
    rows = (
        list_import_settlements(company_id, import_ids)
        .order_by()
        .values_list("transaction__import_batch_id", "planned_id", "planned__is_closed")
        .distinct()
    )
    counts: dict[UUID, InvoicePayments] = {}
    for import_id, _, is_paid in rows:
        before = counts.get(import_id, InvoicePayments())
        counts[import_id] = InvoicePayments(before.paid + is_paid, before.partly_paid + (not is_paid))
    return counts


def list_import_settlements(company_id: UUID, import_ids: Sequence[UUID]) -> QuerySet[Settlement]:
    """Return the settlements of invoices by transactions of imports."""
    return Settlement.objects.for_company(company_id).filter(
        transaction__import_batch__in=import_ids,
        transaction__company_id=company_id,
        planned__company_id=company_id,
        planned__invoice_date__isnull=False,
        planned__frequency=None,
    )
