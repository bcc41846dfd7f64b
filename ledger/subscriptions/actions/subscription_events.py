"""Add and retract events of subscriptions; they are append-only."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from companies.change import change_company
from companies.closed_periods import check_period_open_for_days
from companies.errors import build_unknown_id_error
from companies.models import AuditContext, Company
from ledger import hooks
from ledger.models import (
    Subscription,
    SubscriptionEvent,
)


@dataclass(frozen=True, slots=True)
class SubscriptionEventChanges:
    """Whose events changed, and how. ``customers`` is None if they are too many to name."""

    customers: frozenset[UUID] | None
    added: tuple[UUID, ...] = ()
    retracted: tuple[UUID, ...] = ()


def create_subscription_event(*, company: Company, context: AuditContext, values: dict[str, Any]) -> SubscriptionEvent:
    """Create an event: from its effective date on the subscription has another price.

    Raises ExternalIdTaken, and ValidationFailed (unknown_id).
    """
    with change_company(company, context=context) as change:
        subscription = Subscription.objects.for_company(company.id).filter(id=values["subscription_id"]).first()
        if subscription is None:
            raise build_unknown_id_error("#/subscriptionId")
        days = {"#/effectiveDate": values["effective_date"], "#/committedDate": values["committed_date"]}
        check_period_open_for_days(company, days.items())
        event = change.create(SubscriptionEvent(company=company, **values), "subscriptionEvent.created")
        event_changes = SubscriptionEventChanges(customers=frozenset({subscription.customer_id}), added=(event.id,))
        hooks.subscription_events_changed.run(company=company, context=context, changed=event_changes)
    return event


def retract_subscription_event(*, company: Company, context: AuditContext, event_id: UUID | str) -> None:
    """Retract an event: it no longer counts, but stays in the list. Retracting it again changes nothing.

    Raises NotFoundError, PreconditionFailed.
    """
    with change_company(company, context=context) as change:
        event = change.lock(SubscriptionEvent, event_id)
        if event.retracted_time is not None:
            return
        change.update(event, "subscriptionEvent.retracted", retracted_time=context.time)
        subscription = Subscription.objects.for_company(company.id).get(id=event.subscription_id)
        event_changes = SubscriptionEventChanges(customers=frozenset({subscription.customer_id}), retracted=(event.id,))
        hooks.subscription_events_changed.run(company=company, context=context, changed=event_changes)
