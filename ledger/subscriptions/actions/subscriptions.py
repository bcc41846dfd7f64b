"""Create, update and delete subscriptions."""

from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext as _

from companies.change import change_company
from companies.closed_periods import PeriodClosed
from companies.errors import ValidationFailed, build_unknown_id_error
from companies.models import AuditContext, Company
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
from ledger.subscriptions.actions.subscription_events import SubscriptionEventChanges, create_subscription_event


def create_subscription(*, company: Company, context: AuditContext, values: dict[str, Any]) -> Subscription:
    """Create a subscription of a customer; events set its price.

    Raises ExternalIdTaken, and ValidationFailed: unknown_id, or not_a_customer for another type of counterparty.
    """
    with change_company(company, context=context) as change:
        check_subscription_customer(company=company, customer_id=values["customer_id"])
        check_subscription_product(company=company, product_id=values.get("product_id"))
        return change.create(Subscription(company=company, **values), "subscription.created")


def create_subscription_with_event(
    *, company: Company, context: AuditContext, values: dict[str, Any], event: dict[str, Any]
) -> tuple[Subscription, SubscriptionEvent]:
    """Create a subscription with its first event. Raises what the two actions raise."""
    with change_company(company, context=context):
        subscription = create_subscription(company=company, context=context, values=values)
        event |= {"subscription_id": subscription.id}
        return subscription, create_subscription_event(company=company, context=context, values=event)


def update_subscription(
    *, company: Company, context: AuditContext, subscription_id: UUID | str, values: dict[str, Any]
) -> Subscription:
    """Update a subscription; with another customer all its events move to that customer.

    Raises NotFoundError, PreconditionFailed, ExternalIdTaken, and ValidationFailed (unknown_id, not_a_customer).
    """
    with change_company(company, context=context) as change:
        subscription = change.lock(
            Subscription.objects.with_current_terms(company.id, get_today(company, context.time)), subscription_id
        )
        customer_id = values.get("customer_id", subscription.customer_id)
        has_new_customer = customer_id != subscription.customer_id
        if has_new_customer:
            check_subscription_customer(company=company, customer_id=customer_id)
            check_period_open_for_events(company, subscription)
        check_subscription_product(company=company, product_id=values.get("product_id"))
        change.update(subscription, "subscription.updated", **values)
        if has_new_customer:
            event_changes = SubscriptionEventChanges(
                customers=None
            )  # both customers' past is another: all is added up anew
            hooks.subscription_events_changed.run(company=company, context=context, changed=event_changes)
    return subscription


def check_period_open_for_events(company: Company, subscription: Subscription) -> None:
    """Raise PeriodClosed where events of the subscription count in closed months."""
    if company.closed_through is None:
        return
    events = SubscriptionEvent.objects.for_company(company.id).filter(subscription=subscription).not_retracted()
    early = Q(effective_date__lte=company.closed_through) | Q(committed_date__lte=company.closed_through)
    if events.filter(early).exists():
        raise PeriodClosed.for_company(company, "#/customerId")


def delete_subscription(*, company: Company, context: AuditContext, subscription_id: UUID | str) -> None:
    """Delete a subscription without live events, with its retracted ones.

    Raises NotFoundError, PreconditionFailed, SubscriptionInUse.
    """
    with change_company(company, context=context) as change:
        subscription = change.lock(Subscription, subscription_id)
        events = SubscriptionEvent.objects.for_company(company.id).filter(subscription=subscription)
        if events.not_retracted().exists():
            raise SubscriptionInUse
        events.delete()
        change.delete(subscription, "subscription.deleted")


def move_subscriptions_to_counterparty(
    *, company: Company, source: Counterparty, target: Counterparty, context: AuditContext
) -> None:
    """Move the subscriptions of a merged customer to the one that is kept, with all their history."""
    subscriptions = Subscription.objects.for_company(company.id).filter(customer=source)
    if subscriptions.update(customer=target, last_updated_time=context.time, last_updated_user_id=context.actor):
        event_changes = SubscriptionEventChanges(
            customers=None
        )  # what was two customers' past is one's: all is added up anew
        hooks.subscription_events_changed.run(company=company, context=context, changed=event_changes)


def check_subscription_product(*, company: Company, product_id: UUID | None) -> None:
    """Check that the product belongs to the company. Raises FieldErrors (unknown_id)."""
    if product_id and not Product.objects.for_company(company.id).filter(id=product_id).exists():
        raise build_unknown_id_error("#/productId")


def check_subscription_customer(*, company: Company, customer_id: UUID) -> None:
    """Check that the counterparty is a customer, and lock it. Raises FieldErrors (unknown_id, not_a_customer)."""
    rows = Counterparty.objects.for_company(company.id).filter(id=customer_id)
    customer_type = rows.select_for_update(no_key=True).values_list("type", flat=True).first()  # stays one meanwhile
    if customer_type is None:
        raise build_unknown_id_error("#/customerId")
    if customer_type != CounterpartyType.CUSTOMER:
        raise ValidationFailed(
            [("#/customerId", "not_a_customer", _("Only counterparties of type customer can have subscriptions."))]
        )
