"""Subscriptions and their append-only events: what is wrong is retracted, never edited."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction

from companies.errors import Conflict, FieldErrors, unknown_id
from companies.follow_ups import follow_up
from companies.models import Company, Stamp, record_change, snapshot
from ledger.models import Counterparty, CounterpartyType, Product, RecurringBook, Subscription, SubscriptionEvent


class ExternalIdTaken(Conflict):
    """Another record of this kind has this external id."""

    code = "external_id_taken"


@dataclass(frozen=True, slots=True)
class EventsChanged:
    """Which customers' events changed, and how. ``customers`` is None where they are too many to name."""

    customers: frozenset[UUID] | None
    added: tuple[UUID, ...] = ()
    retracted: tuple[UUID, ...] = ()


def lock_book(company: Company) -> RecurringBook:
    """The company's book, locked: whoever changes events waits here, so that later-created ones are later for all."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO ledger_recurringbook (company_id, base_currency, rates_version, stale) "
            "VALUES (%s, %s, 0, true) ON CONFLICT (company_id) DO NOTHING",
            [company.id, company.base_currency],
        )
    return RecurringBook.objects.select_for_update().get(company_id=company.id)


def add_subscription(*, company: Company, stamp: Stamp, values: dict[str, Any]) -> Subscription:
    """A customer subscribes; events then say to how much.

    Raises ExternalIdTaken, and FieldErrors with unknown_id, or not_a_customer for another kind of counterparty.
    """
    check_customer(company=company, customer_id=values["customer_id"])
    product_id = values.get("product_id")
    if product_id and not Product.objects.of(company.id).filter(id=product_id).exists():
        raise unknown_id("#/productId")
    subscription = Subscription(company=company, **values).stamp_new(stamp)
    try:
        with transaction.atomic():
            subscription.save(force_insert=True)
    except IntegrityError:
        raise ExternalIdTaken from None
    record_change(stamp, subscription, "subscription.created", after=snapshot(subscription))
    return subscription


def check_customer(*, company: Company, customer_id: UUID) -> None:
    customer = Counterparty.objects.of(company.id).filter(id=customer_id).values_list("type", flat=True).first()
    if customer is None:
        raise unknown_id("#/customerId")
    if customer != CounterpartyType.CUSTOMER:
        raise FieldErrors([("#/customerId", "not_a_customer", "Only counterparties of type customer subscribe.")])


def add_event(*, company: Company, stamp: Stamp, values: dict[str, Any]) -> SubscriptionEvent:
    """From a day on, a subscription is worth another amount.

    Raises ExternalIdTaken, and FieldErrors with unknown_id.
    """
    lock_book(company)
    subscription = Subscription.objects.of(company.id).filter(id=values["subscription_id"]).first()
    if subscription is None:
        raise unknown_id("#/subscriptionId")
    event = SubscriptionEvent(company=company, **values).stamp_new(stamp)
    try:
        with transaction.atomic():
            event.save(force_insert=True)
    except IntegrityError:
        raise ExternalIdTaken from None
    record_change(stamp, event, "subscriptionEvent.created", after=snapshot(event))
    changed = EventsChanged(customers=frozenset({subscription.customer_id}), added=(event.id,))
    follow_up("subscription_events_changed", company=company, stamp=stamp, changed=changed)
    return event


def retract_event(*, company: Company, stamp: Stamp, event: SubscriptionEvent) -> None:
    """Marks an event as wrong: nothing counts it any more, the list still shows it. A second time changes nothing."""
    lock_book(company)
    event.refresh_from_db()
    if event.retracted_time is not None:
        return
    before = snapshot(event)
    event.change(stamp, retracted_time=stamp.time)
    record_change(stamp, event, "subscriptionEvent.retracted", before=before, after=snapshot(event))
    subscription = Subscription.objects.of(company.id).get(id=event.subscription_id)
    changed = EventsChanged(customers=frozenset({subscription.customer_id}), retracted=(event.id,))
    follow_up("subscription_events_changed", company=company, stamp=stamp, changed=changed)
