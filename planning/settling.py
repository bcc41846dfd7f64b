"""What follows where a transaction settles an occurrence. The ledger asks and tells through the settings."""

import datetime as dt
from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models.functions import Coalesce

from companies.changing import Change
from companies.models import Among, Company, Stamp
from ledger.models import Account, Transaction
from ledger.recognition.redating import redate
from planning.models import PATCHED, PlannedOverride, PlannedTransaction


def invoice_dates(*, company_id: UUID, transaction_ids: list[UUID]) -> dict[UUID, dt.date]:
    """Transaction → invoice date of the planned transaction that it settled, where that has one. One query."""
    settled = PlannedOverride.objects.of(company_id).filter(
        Among("transaction_id", transaction_ids), planned__invoice_date__isnull=False
    )
    rows = settled.values_list("transaction_id", "planned__invoice_date")
    return {transaction_id: day for transaction_id, day in rows if transaction_id and day}


class Settled(NamedTuple):
    """The occurrence that a transaction settles, by its original date."""

    planned_id: UUID
    date: dt.date
    name: str


def settled_by(*, company_id: UUID, transaction_ids: list[UUID]) -> dict[UUID, Settled]:
    """Transaction → what it settles. One query."""
    rows = PlannedOverride.objects.of(company_id).filter(Among("transaction_id", transaction_ids))
    found = rows.values_list("transaction_id", "planned_id", "original_date", Coalesce("name", "planned__name"))
    return {transaction_id: Settled(*values) for transaction_id, *values in found if transaction_id}


def settlement_changed(change: Change, transaction_ids: Iterable[UUID | None], *, redated: bool) -> None:
    """The transactions answer what they settle, so they have changed too; parts of theirs that count by the plan's
    invoice date, where that plan has one, are dated anew. Raises NoRate."""
    ids = sorted({each for each in transaction_ids if each is not None})
    if not ids:
        return
    stamp = change.stamp
    rows = Transaction.objects.of(change.company.id).filter(id__in=ids)
    rows.update(last_updated_time=stamp.time, last_updated_user_id=stamp.actor)
    if redated:
        redate(change, ids)


def transactions_deleted(*, company: Company, transaction_ids: list[UUID], stamp: Stamp) -> None:
    """What they settled is expected again; whatever else differs about the occurrence stays."""
    if transaction_ids:
        forget(transaction_ids, name="transaction", company_id=company.id, stamp=stamp)


def account_closed(*, account: Account, stamp: Stamp) -> None:
    """What was expected on it stays expected, on no account; its occurrences are on the account of their rule."""
    plans = PlannedTransaction.objects.of(account.company_id).filter(account=account)
    plans.update(account=None, last_updated_time=stamp.time, last_updated_user_id=stamp.actor)
    forget([account.id], name="account", company_id=account.company_id, stamp=stamp)


def forget(ids: list[UUID], *, name: str, company_id: UUID, stamp: Stamp) -> None:
    """Takes rows that go away out of the overrides that name them; one in which nothing is left goes too."""
    with connection.cursor() as cursor:
        cursor.execute(_NAMING[name], {"company": company_id, "ids": ids})
        touched = cursor.fetchall()
    if not touched:
        return
    overrides = PlannedOverride.objects.of(company_id).filter(id__in=[row_id for row_id, _ in touched])
    plans = PlannedTransaction.objects.of(company_id).filter(id__in={planned_id for _, planned_id in touched})
    plans.update(last_updated_time=stamp.time, last_updated_user_id=stamp.actor)
    overrides.update(**{name: None})
    overrides.filter(**{f"{patched}__isnull": True for patched in PATCHED}).delete()


_NAMING = {  # by one array: a hundred thousand ids are asked for where an import is undone
    "transaction": """
        SELECT id, planned_id FROM planning_plannedoverride
         WHERE company_id = %(company)s AND transaction_id = ANY(%(ids)s::uuid[])
    """,
    "account": """
        SELECT id, planned_id FROM planning_plannedoverride
         WHERE company_id = %(company)s AND account_id = ANY(%(ids)s::uuid[])
    """,
}
