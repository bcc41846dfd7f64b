"""Customers, vendors and others that money comes from and goes to."""

from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from companies.changing import changing
from companies.errors import unknown_id
from companies.models import Company, Stamp, snapshot
from companies.time_zones import get_today
from ledger import hooks
from ledger.models import (
    Categorization,
    Counterparty,
    CounterpartyInUse,
    CounterpartyType,
    Subscription,
    SubscriptionEvent,
    Transaction,
)
from ledger.purposes import rule_references
from ledger.transactions.touching import touched


def add(*, company: Company, stamp: Stamp, values: dict[str, Any]) -> Counterparty:
    """A new counterparty. Raises ExternalIdTaken."""
    with changing(company, stamp=stamp) as change:
        return change.create(Counterparty(company=company, **values), "counterparty.created")


def change(*, company: Company, stamp: Stamp, counterparty_id: UUID | str, values: dict[str, Any]) -> Counterparty:
    """Stores changed facts. Raises Missing, Stale, ExternalIdTaken, and CounterpartyInUse for a subscriber."""
    with changing(company, stamp=stamp) as change:
        row = change.locked(Counterparty, counterparty_id)
        former = row.type
        leaves = former == CounterpartyType.CUSTOMER != values.get("type", former)
        if leaves and subscribes(row, today=get_today(company, stamp.time)):
            raise CounterpartyInUse(_("Subscriptions of this customer live: end them first."))
        change.update(row, "counterparty.updated", **values)
        if row.type != former:
            mark_referring(row=row, stamp=stamp)
    return row


def subscribes(row: Counterparty, *, today: date) -> bool:
    """Whether a subscription of theirs has not ended, or is to begin again."""
    own = Subscription.objects.of(row.company_id).filter(customer=row)
    rows: Any = own.with_standing(row.company_id, today)
    if any(each.standing is None or Decimal(each.standing["amount"]) for each in rows):
        return True
    coming = SubscriptionEvent.objects.of(row.company_id).live().filter(subscription__in=own.values("id"))
    return coming.filter(effective_date__gt=today, amount_value__gt=0).exists()


def mark_referring(*, row: Counterparty, stamp: Stamp) -> None:
    """What answers the counterparty's type has changed with it."""
    parts = Categorization.objects.of(row.company_id).filter(counterparty=row)
    Transaction.objects.of(row.company_id).filter(id__in=parts.values("transaction_id")).update(
        last_updated_time=stamp.time, last_updated_user_id=stamp.actor
    )
    hooks.counterparty_type_changed.run(counterparty=row, stamp=stamp)


def merge(*, company: Company, stamp: Stamp, counterparty_id: UUID | str, into: UUID | str) -> Counterparty:
    """Puts another counterparty in the place of one, wherever it stands, and deletes it; returns the one that is kept.

    That one stays as it is, but takes the external id over where it has none of its own and both are of one type.
    Raises Missing, Stale, FieldErrors (unknown_id), and CounterpartyInUse where one that subscribes would go into one
    that is no customer.
    """
    with changing(company, stamp=stamp) as change:
        gone = change.locked(Counterparty, counterparty_id)
        kept = None if str(into) == str(gone.id) else change.locked_or_none(Counterparty, into)
        if kept is None:
            raise unknown_id("#/into")
        subscribed = Subscription.objects.of(company.id).filter(customer=gone)
        if kept.type != CounterpartyType.CUSTOMER and subscribed.exists():
            raise CounterpartyInUse(_("It subscribes: merge it into a customer."), pointer="#/into")
        parts = Categorization.objects.of(company.id).filter(counterparty=gone)
        ids = list(parts.values_list("transaction_id", flat=True))
        Transaction.objects.of(company.id).filter(id__in=parts.values("transaction_id")).update(
            last_updated_time=stamp.time, last_updated_user_id=stamp.actor
        )
        parts.update(counterparty=kept)
        rule_references.move_rules_to_counterparty(company=company, gone=gone, kept=kept, stamp=stamp)
        hooks.counterparty_merged.run(company=company, gone=gone, kept=kept, stamp=stamp)
        entry = change.delete(gone, "counterparty.merged", before=snapshot(gone) | {"merged_into": kept.name})
        touched(change, entry, ids)
        if kept.external_id is None and kept.type == gone.type:
            change.update(kept, "counterparty.updated", external_id=gone.external_id)
    return kept


def delete(*, company: Company, stamp: Stamp, counterparty_id: UUID | str) -> None:
    """Deletes a counterparty that nothing refers to; the database knows. Raises Missing, Stale, CounterpartyInUse."""
    with changing(company, stamp=stamp) as change:
        change.delete(change.locked(Counterparty, counterparty_id), "counterparty.deleted")
