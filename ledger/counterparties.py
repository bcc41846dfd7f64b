"""Customers, vendors and others that money comes from and goes to."""

from typing import Any

from django.db import IntegrityError, transaction

from companies.errors import Conflict
from companies.models import Company, Stamp, record_change, snapshot
from ledger.models import Counterparty


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
    return row


def delete(*, row: Counterparty, stamp: Stamp) -> None:
    """Deletes a counterparty that nothing refers to; the database knows. Raises CounterpartyInUse."""
    before = snapshot(row)
    try:
        with transaction.atomic():
            row.delete()
    except IntegrityError:
        raise CounterpartyInUse from None
    record_change(stamp, row, "counterparty.deleted", before=before)
