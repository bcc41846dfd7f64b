"""The products of the demonstration company, and what its customers subscribed to."""

from collections.abc import Sequence
from datetime import date

from analytics.demonstration.story.customers import PLANS, Customer, events
from companies.models import Company, Stamp
from ledger.bulk.bodies import BulkRequest
from ledger.subscriptions import products
from ledger.subscriptions.importing import MOST_EVENTS, Item, import_events

GROUPS = {"Self-service": ("starter", "team"), "Sales-led": ("business", "scale", "enterprise")}


def subscribe(*, company: Company, stamp: Stamp, customers: Sequence[Customer], today: date) -> None:
    """Products in groups; every subscription with its events, imported as another system would send them."""
    plans = {plan.key: plan for plan in PLANS}
    order = 0
    for name, keys in GROUPS.items():
        group = products.add_group(company=company, stamp=stamp, values={"name": name, "order": order})
        for key in keys:
            values = {"name": plans[key].name, "product_group_id": group.id, "order": order, "external_ids": [key]}
            products.add_product(company=company, stamp=stamp, values=values)
            order += 1
    items = [
        Item(
            subscription_external_id=f"sub_{event.customer.number:05}_{event.plan.key}",
            customer_external_id=event.customer.external_id,
            customer_name=event.customer.name,
            product_external_id=event.plan.key,
            effective_date=event.effective,
            committed_date=event.committed,
            amount_value=str(event.amount),
            amount_currency=event.customer.currency,
            interval="year" if event.yearly else "month",
        )
        for event in events(customers, today=today)
    ]
    for start in range(0, len(items), MOST_EVENTS):
        import_events(company=company, stamp=stamp, request=BulkRequest(items=[*items[start : start + MOST_EVENTS]]))
