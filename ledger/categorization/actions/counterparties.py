"""Create, update, merge and delete counterparties: customers, vendors and others."""

from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from companies.change import change_company
from companies.errors import build_unknown_id_error
from companies.models import AuditContext, Company, snapshot_row
from companies.time_zones import get_today
from ledger import hooks
from ledger.categorization.actions import rule_references
from ledger.models import (
    Categorization,
    Counterparty,
    CounterpartyInUse,
    CounterpartyType,
    Subscription,
    SubscriptionEvent,
    Transaction,
)
from ledger.transactions.actions.audit_links import link_audit_entry


def create_counterparty(*, company: Company, context: AuditContext, values: dict[str, Any]) -> Counterparty:
    """Create a counterparty. Raises ExternalIdTaken."""
    with change_company(company, context=context) as change:
        return change.create(Counterparty(company=company, **values), "counterparty.created")


def update_counterparty(
    *, company: Company, context: AuditContext, counterparty_id: UUID | str, values: dict[str, Any]
) -> Counterparty:
    """Update a counterparty.

    Raises:
        NotFoundError, PreconditionFailed, ExternalIdTaken.
        CounterpartyInUse: a customer with live subscriptions would get another type.
    """
    with change_company(company, context=context) as change:
        row = change.lock(Counterparty, counterparty_id)
        previous_type = row.type
        stops_being_customer = previous_type == CounterpartyType.CUSTOMER != values.get("type", previous_type)
        if stops_being_customer and has_live_subscriptions(row, today=get_today(company, context.time)):
            raise CounterpartyInUse(_("The customer has active subscriptions. End them first."))
        change.update(row, "counterparty.updated", **values)
        if row.type != previous_type:
            touch_counterparty_transactions(row=row, context=context)
    return row


def has_live_subscriptions(row: Counterparty, *, today: date) -> bool:
    """Whether a subscription of the counterparty has not ended, or has an event with an amount in the future."""
    subscriptions = Subscription.objects.for_company(row.company_id).filter(customer=row)
    rows: Any = subscriptions.with_current_terms(row.company_id, today)
    if any(subscription.standing is None or Decimal(subscription.standing["amount"]) for subscription in rows):
        return True
    upcoming_events = (
        SubscriptionEvent.objects.for_company(row.company_id)
        .not_retracted()
        .filter(subscription__in=subscriptions.values("id"))
    )
    return upcoming_events.filter(effective_date__gt=today, amount_value__gt=0).exists()


def touch_counterparty_transactions(*, row: Counterparty, context: AuditContext) -> None:
    """Mark transactions and plan items of the counterparty as updated, because they show its type."""
    categorizations = Categorization.objects.for_company(row.company_id).filter(counterparty=row)
    Transaction.objects.for_company(row.company_id).filter(id__in=categorizations.values("transaction_id")).update(
        last_updated_time=context.time, last_updated_user_id=context.actor
    )
    hooks.counterparty_type_changed.run(counterparty=row, context=context)


def merge_counterparties(
    *, company: Company, context: AuditContext, counterparty_id: UUID | str, into: UUID | str
) -> Counterparty:
    """Replace a counterparty by another one everywhere, delete it, and return the one that is kept.

    The kept counterparty takes over the external id if it has none and both have the same type.

    Raises:
        NotFoundError, PreconditionFailed, ValidationFailed (unknown_id).
        CounterpartyInUse: a counterparty with subscriptions would be merged into one that is no customer.
    """
    with change_company(company, context=context) as change:
        merged = change.lock(Counterparty, counterparty_id)
        target = None if str(into) == str(merged.id) else change.lock_or_none(Counterparty, into)
        if target is None:
            raise build_unknown_id_error("#/into")
        subscriptions = Subscription.objects.for_company(company.id).filter(customer=merged)
        if target.type != CounterpartyType.CUSTOMER and subscriptions.exists():
            raise CounterpartyInUse(
                _("The counterparty has subscriptions. Merge it into a customer."), pointer="#/into"
            )
        categorizations = Categorization.objects.for_company(company.id).filter(counterparty=merged)
        transaction_ids = list(categorizations.values_list("transaction_id", flat=True))
        Transaction.objects.for_company(company.id).filter(id__in=categorizations.values("transaction_id")).update(
            last_updated_time=context.time, last_updated_user_id=context.actor
        )
        categorizations.update(counterparty=target)
        rule_references.move_rules_to_counterparty(company=company, source=merged, target=target, context=context)
        hooks.counterparty_merged.run(company=company, source=merged, target=target, context=context)
        entry = change.delete(merged, "counterparty.merged", before=snapshot_row(merged) | {"merged_into": target.name})
        link_audit_entry(change, entry, transaction_ids)
        if target.external_id is None and target.type == merged.type:
            change.update(target, "counterparty.updated", external_id=merged.external_id)
    return target


def delete_counterparty(*, company: Company, context: AuditContext, counterparty_id: UUID | str) -> None:
    """Delete a counterparty that nothing refers to. Raises NotFoundError, PreconditionFailed, CounterpartyInUse."""
    with change_company(company, context=context) as change:
        change.delete(change.lock(Counterparty, counterparty_id), "counterparty.deleted")
