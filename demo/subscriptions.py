"""Products and subscriptions of the demo company."""

from collections.abc import Sequence
from datetime import date

from companies.models import AuditContext, Company
from demo.scenario.customers import PLANS, SimulatedCustomer, iter_scenario_events
from ledger.bulk.request_bodies import BulkRequest
from ledger.subscriptions.actions import product_groups, products
from ledger.subscriptions.actions.subscription_event_import import (
    MAX_EVENTS,
    EventImportItem,
    import_subscription_events,
)

PRODUCT_GROUPS = {"Self-service": ("starter", "team"), "Sales-led": ("business", "scale", "enterprise")}


def create_demo_subscriptions(
    *, company: Company, context: AuditContext, customers: Sequence[SimulatedCustomer], today: date
) -> None:
    """Create products in groups, and import all subscription events."""
    plans = {plan.key: plan for plan in PLANS}
    order = 0
    for name, keys in PRODUCT_GROUPS.items():
        group = product_groups.create_product_group(
            company=company, context=context, values={"name": name, "order": order}
        )
        for key in keys:
            values = {"name": plans[key].name, "product_group_id": group.id, "order": order, "external_ids": [key]}
            products.create_product(company=company, context=context, values=values)
            order += 1
    items = [
        EventImportItem(
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
        for event in iter_scenario_events(customers, today=today)
    ]
    for start in range(0, len(items), MAX_EVENTS):
        import_subscription_events(
            company=company, context=context, request=BulkRequest(items=[*items[start : start + MAX_EVENTS]])
        )
