"""Settlements seen from the ledger: what a transaction settles, and what follows when it is changed or
deleted.
"""

import datetime as dt
from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models.functions import Coalesce

from companies.change import CompanyChange
from companies.models import AuditContext, Company, IdIn
from ledger.models import Account, Transaction
from ledger.recognition.actions.period_updates import recompute_periods
from planning.models import OVERRIDE_COLUMNS, PlannedOverride, PlannedTransaction


def find_settled_invoice_dates(*, company_id: UUID, transaction_ids: list[UUID]) -> dict[UUID, dt.date]:
    """Return transaction id → invoice date of the planned transaction that it settles. One statement."""
    overrides = PlannedOverride.objects.for_company(company_id).filter(
        IdIn("transaction_id", transaction_ids), planned__invoice_date__isnull=False
    )
    rows = overrides.values_list("transaction_id", "planned__invoice_date")
    return {transaction_id: day for transaction_id, day in rows if transaction_id and day}


class SettledOccurrence(NamedTuple):
    """The occurrence that a transaction settles, with its original date."""

    planned_id: UUID
    date: dt.date
    name: str


def find_settled_occurrences(*, company_id: UUID, transaction_ids: list[UUID]) -> dict[UUID, SettledOccurrence]:
    """Return transaction id → the occurrence it settles. One statement."""
    rows = PlannedOverride.objects.for_company(company_id).filter(IdIn("transaction_id", transaction_ids))
    value_rows = rows.values_list("transaction_id", "planned_id", "original_date", Coalesce("name", "planned__name"))
    return {transaction_id: SettledOccurrence(*values) for transaction_id, *values in value_rows if transaction_id}


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


def unsettle_transactions(*, company: Company, transaction_ids: list[UUID], context: AuditContext) -> None:
    """Remove settlements by transactions that are deleted or pending again; other overrides stay."""
    if transaction_ids:
        clear_override_references(transaction_ids, name="transaction", company_id=company.id, context=context)


def clear_closed_account(*, account: Account, context: AuditContext) -> None:
    """Remove a closed account from planned transactions and overrides; what is planned stays expected."""
    plans = PlannedTransaction.objects.for_company(account.company_id).filter(account=account)
    plans.update(account=None, last_updated_time=context.time, last_updated_user_id=context.actor)
    clear_override_references([account.id], name="account", company_id=account.company_id, context=context)


def clear_override_references(ids: list[UUID], *, name: str, company_id: UUID, context: AuditContext) -> None:
    """Remove ids of deleted rows from overrides, and delete overrides in which nothing is left."""
    with connection.cursor() as cursor:
        cursor.execute(_OVERRIDES_BY_REFERENCE[name], {"company": company_id, "ids": ids})
        changed_rows = cursor.fetchall()
    if not changed_rows:
        return
    overrides = PlannedOverride.objects.for_company(company_id).filter(id__in=[row_id for row_id, _ in changed_rows])
    plans = PlannedTransaction.objects.for_company(company_id).filter(
        id__in={planned_id for _, planned_id in changed_rows}
    )
    plans.update(last_updated_time=context.time, last_updated_user_id=context.actor)
    overrides.update(**{name: None})
    overrides.filter(**{f"{patched}__isnull": True for patched in OVERRIDE_COLUMNS}).delete()


_OVERRIDES_BY_REFERENCE = {  # ids as one array: undoing an import passes a hundred thousand
    "transaction": """
        SELECT id, planned_id FROM planning_plannedoverride
         WHERE company_id = %(company)s AND transaction_id = ANY(%(ids)s::uuid[])
    """,
    "account": """
        SELECT id, planned_id FROM planning_plannedoverride
         WHERE company_id = %(company)s AND account_id = ANY(%(ids)s::uuid[])
    """,
}
