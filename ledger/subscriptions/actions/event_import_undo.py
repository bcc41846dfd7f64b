"""Undo an import of subscription events as a whole."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from companies.change import change_company
from companies.closed_periods import PeriodClosed
from companies.models import AuditContext, Company
from ledger import hooks
from ledger.imports.actions.import_undo import ImportAlreadyUndone
from ledger.models import Counterparty, Product, Subscription, SubscriptionEvent, SubscriptionEventImport
from ledger.subscriptions.actions.subscription_event_import import MAX_NAMED_CUSTOMERS
from ledger.subscriptions.actions.subscription_events import SubscriptionEventChanges


@dataclass(frozen=True, slots=True)
class EventImportUndoOutcome:
    """How many events were retracted, and how many records that the import created were deleted."""

    retracted: int
    subscriptions: int
    customers: int
    products: int


def undo_subscription_event_import(
    *, company: Company, context: AuditContext, import_id: UUID | str
) -> EventImportUndoOutcome:
    """Retract the events of an import, and delete the subscriptions, customers and products that only it used.

    A constant number of statements.

    Raises:
        NotFoundError, PreconditionFailed: it is gone or has another version.
        ImportAlreadyUndone.
        PeriodClosed: an event counts in a closed month.
    """
    with change_company(company, context=context) as change:
        row = change.lock(SubscriptionEventImport, import_id)
        if row.undone_time is not None:
            raise ImportAlreadyUndone
        outcome = EventImportUndoOutcome(
            retracted=retract_imported_events(company, context, row),
            subscriptions=delete_created_subscriptions(company, row),
            customers=delete_created_customers(company, row),
            products=delete_created_products(company, row),
        )
        row.apply_changes(context, undone_time=context.time)
        after = {
            "count": outcome.retracted,
            "filename": row.filename,
            "import_id": str(row.id),
            "deleted_subscriptions": outcome.subscriptions,
            "deleted_customers": outcome.customers,
            "deleted_products": outcome.products,
        }
        change.record_bulk("subscriptionEvents.importUndone", "subscriptionEvent", after=after)
    return outcome


def retract_imported_events(company: Company, context: AuditContext, row: SubscriptionEventImport) -> int:
    """Retract what is left of an import; return how many events. Raises PeriodClosed."""
    events = SubscriptionEvent.objects.for_company(company.id).filter(event_import=row).not_retracted()
    closed_through = company.closed_through
    if closed_through is not None:
        is_closed = Q(effective_date__lte=closed_through) | Q(committed_date__lte=closed_through)
        if events.filter(is_closed).exists():
            raise PeriodClosed.for_company(company)
    retracted = list(events.values_list("id", "subscription__customer_id"))
    events.update(retracted_time=context.time, last_updated_time=context.time, last_updated_user_id=context.actor)
    if retracted:
        customer_ids = frozenset(customer_id for _, customer_id in retracted)
        changes = SubscriptionEventChanges(
            customers=customer_ids if len(customer_ids) <= MAX_NAMED_CUSTOMERS else None,
            retracted=tuple(event_id for event_id, _ in retracted),
        )
        hooks.subscription_events_changed.run(company=company, context=context, changed=changes)
    return len(retracted)


def delete_created_subscriptions(company: Company, row: SubscriptionEventImport) -> int:
    """Delete subscriptions that the import created and that have no live event, with their retracted ones."""
    events = SubscriptionEvent.objects.for_company(company.id)
    live_events = events.filter(subscription=OuterRef("id")).not_retracted()
    created = Subscription.objects.for_company(company.id).filter(id__in=row.subscription_ids)
    subscription_ids = list(created.exclude(Exists(live_events)).values_list("id", flat=True))
    events.filter(subscription__in=subscription_ids).delete()
    deleted_count, _ = created.filter(id__in=subscription_ids).delete()
    return deleted_count


def delete_created_customers(company: Company, row: SubscriptionEventImport) -> int:
    """Delete customers that the import created, nobody edited and nothing uses."""
    created = Counterparty.objects.for_company(company.id).filter(id__in=row.customer_ids)
    deleted_count, _ = created.filter(last_updated_time=row.created_time).unused(company.id).delete()
    return deleted_count


def delete_created_products(company: Company, row: SubscriptionEventImport) -> int:
    """Delete products that the import created, nobody edited and no subscription uses."""
    used = Subscription.objects.for_company(company.id).filter(product=OuterRef("id"))
    created = Product.objects.for_company(company.id).filter(id__in=row.product_ids)
    unused = created.filter(last_updated_time=row.created_time).exclude(Exists(used))
    deleted_count, _ = unused.delete()
    return deleted_count
