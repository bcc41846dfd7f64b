"""Subscriptions and their append-only events: what is wrong is retracted, never edited."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from companies.changing import changing
from companies.errors import FieldErrors, unknown_id
from companies.models import Company, Stamp
from companies.time_zones import get_today
from ledger import hooks
from ledger.models import (
    Counterparty,
    CounterpartyType,
    Product,
    Subscription,
    SubscriptionEvent,
    SubscriptionInUse,
)


@dataclass(frozen=True, slots=True)
class EventsChanged:
    """Which customers' events changed, and how. ``customers`` is None where they are too many to name."""

    customers: frozenset[UUID] | None
    added: tuple[UUID, ...] = ()
    retracted: tuple[UUID, ...] = ()


def add_subscription(*, company: Company, stamp: Stamp, values: dict[str, Any]) -> Subscription:
    """A customer subscribes; events then say to how much.

    Raises ExternalIdTaken, and FieldErrors with unknown_id, or not_a_customer for another kind of counterparty.
    """
    with changing(company, stamp=stamp) as change:
        check_customer(company=company, customer_id=values["customer_id"])
        check_product(company=company, product_id=values.get("product_id"))
        return change.create(Subscription(company=company, **values), "subscription.created")


def subscribe(
    *, company: Company, stamp: Stamp, values: dict[str, Any], event: dict[str, Any]
) -> tuple[Subscription, SubscriptionEvent]:
    """A customer subscribes at a price. Raises what the two acts raise."""
    with changing(company, stamp=stamp):
        subscription = add_subscription(company=company, stamp=stamp, values=values)
        event |= {"subscription_id": subscription.id}
        return subscription, add_event(company=company, stamp=stamp, values=event)


def change_subscription(
    *, company: Company, stamp: Stamp, subscription_id: UUID | str, values: dict[str, Any]
) -> Subscription:
    """Stores what differs; another customer takes the subscription over with all its events.

    Raises Missing, Stale, ExternalIdTaken, and FieldErrors with unknown_id or not_a_customer.
    """
    with changing(company, stamp=stamp) as change:
        row = change.locked(
            Subscription.objects.with_standing(company.id, get_today(company, stamp.time)), subscription_id
        )
        customer_id = values.get("customer_id", row.customer_id)
        moves = customer_id != row.customer_id
        if moves:
            check_customer(company=company, customer_id=customer_id)
        check_product(company=company, product_id=values.get("product_id"))
        change.update(row, "subscription.updated", **values)
        if moves:
            changed = EventsChanged(customers=None)  # both customers' past is another: all is added up anew
            hooks.subscription_events_changed.run(company=company, stamp=stamp, changed=changed)
    return row


def delete_subscription(*, company: Company, stamp: Stamp, subscription_id: UUID | str) -> None:
    """Deletes a subscription of which no event counts, with those that were retracted.

    Raises Missing, Stale, SubscriptionInUse.
    """
    with changing(company, stamp=stamp) as change:
        row = change.locked(Subscription, subscription_id)
        events = SubscriptionEvent.objects.of(company.id).filter(subscription=row)
        if events.live().exists():
            raise SubscriptionInUse
        events.delete()
        change.delete(row, "subscription.deleted")


def counterparty_merged(*, company: Company, gone: Counterparty, kept: Counterparty, stamp: Stamp) -> None:
    """What one customer subscribes to, another does from now on and did always."""
    moved = Subscription.objects.of(company.id).filter(customer=gone)
    if moved.update(customer=kept, last_updated_time=stamp.time, last_updated_user_id=stamp.actor):
        changed = EventsChanged(customers=None)  # what was two customers' past is one's: all is added up anew
        hooks.subscription_events_changed.run(company=company, stamp=stamp, changed=changed)


def check_product(*, company: Company, product_id: UUID | None) -> None:
    if product_id and not Product.objects.of(company.id).filter(id=product_id).exists():
        raise unknown_id("#/productId")


def check_customer(*, company: Company, customer_id: UUID) -> None:
    rows = Counterparty.objects.of(company.id).filter(id=customer_id)
    customer = rows.select_for_update(no_key=True).values_list("type", flat=True).first()  # stays one meanwhile
    if customer is None:
        raise unknown_id("#/customerId")
    if customer != CounterpartyType.CUSTOMER:
        raise FieldErrors([("#/customerId", "not_a_customer", _("Only counterparties of type customer subscribe."))])


def add_event(*, company: Company, stamp: Stamp, values: dict[str, Any]) -> SubscriptionEvent:
    """From a day on, a subscription is worth another amount.

    Raises ExternalIdTaken, and FieldErrors with unknown_id.
    """
    with changing(company, stamp=stamp) as change:
        subscription = Subscription.objects.of(company.id).filter(id=values["subscription_id"]).first()
        if subscription is None:
            raise unknown_id("#/subscriptionId")
        event = change.create(SubscriptionEvent(company=company, **values), "subscriptionEvent.created")
        changed = EventsChanged(customers=frozenset({subscription.customer_id}), added=(event.id,))
        hooks.subscription_events_changed.run(company=company, stamp=stamp, changed=changed)
    return event


def retract_event(*, company: Company, stamp: Stamp, event_id: UUID | str) -> None:
    """Marks an event as wrong: nothing counts it any more, the list still shows it. A second time changes nothing.

    Raises Missing, Stale.
    """
    with changing(company, stamp=stamp) as change:
        event = change.locked(SubscriptionEvent, event_id)
        if event.retracted_time is not None:
            return
        change.update(event, "subscriptionEvent.retracted", retracted_time=stamp.time)
        subscription = Subscription.objects.of(company.id).get(id=event.subscription_id)
        changed = EventsChanged(customers=frozenset({subscription.customer_id}), retracted=(event.id,))
        hooks.subscription_events_changed.run(company=company, stamp=stamp, changed=changed)
