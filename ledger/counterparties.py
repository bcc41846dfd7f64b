"""Customers, vendors and others that money comes from and goes to."""

from typing import Any

from django.db import IntegrityError, transaction

from companies.errors import Conflict
from companies.follow_ups import follow_up
from companies.models import Company, Stamp, record_change, snapshot
from ledger.models import Categorization, Counterparty, Transaction


class CounterpartyInUse(Conflict):
    """Transactions, planned transactions or subscriptions refer to the counterparty."""

    code = "counterparty_in_use"


class ExternalIdTaken(Conflict):
    """Another counterparty of this type has this externalId."""

    code = "external_id_taken"


def add(*, company: Company, stamp: Stamp, values: dict[str, Any]) -> Counterparty:
    """A new counterparty. Raises ExternalIdTaken."""
    row = Counterparty(company=company, **values).stamp_new(stamp)
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        raise ExternalIdTaken from None
    record_change(stamp, row, "counterparty.created", after=snapshot(row))
    return row


def change(*, row: Counterparty, stamp: Stamp, values: dict[str, Any]) -> Counterparty:
    """Stores changed facts. Raises ExternalIdTaken."""
    before = snapshot(row)
    try:
        with transaction.atomic():
            changed = row.change(stamp, **values)
    except IntegrityError:
        raise ExternalIdTaken from None
    if changed:
        record_change(stamp, row, "counterparty.updated", before=before, after=snapshot(row))
    if before["type"] != row.type:
        mark_referring(row=row, stamp=stamp)
    return row


def mark_referring(*, row: Counterparty, stamp: Stamp) -> None:
    """What answers the counterparty's type has changed with it."""
    parts = Categorization.objects.of(row.company_id).filter(counterparty=row)
    Transaction.objects.of(row.company_id).filter(id__in=parts.values("transaction_id")).update(
        last_updated_time=stamp.time, last_updated_user_id=stamp.actor
    )
    follow_up("counterparty_type_changed", counterparty=row, stamp=stamp)


def delete(*, row: Counterparty, stamp: Stamp) -> None:
    """Deletes a counterparty that nothing refers to; the database knows. Raises CounterpartyInUse."""
    before = snapshot(row)
    try:
        with transaction.atomic():
            row.delete()
    except IntegrityError:
        raise CounterpartyInUse from None
    record_change(stamp, row, "counterparty.deleted", before=before)
