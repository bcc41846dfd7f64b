"""Many who write a company's events at the same moment, and some who read meanwhile."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from analytics.queries import recurring_revenue
from ledger.models import RecurringRevenueState, SubscriptionEvent
from tests import factories

WRITER_COUNT = 6
QUERY = {"mrrType": "mrr", "startMonth": "2024-01", "endMonth": "2024-12"}


def run_concurrently(acts):
    """All acts at the same moment, each on a connection of its own; their answers in order."""
    start = Barrier(len(acts))

    def run(act):
        try:
            start.wait()
            return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(run, acts))


@pytest.mark.django_db(transaction=True)
def test_concurrent_event_writes_and_retractions_leave_exact_months(api, acme):
    customer = factories.make_customer(acme)
    subscriptions = [
        api.post("subscriptions", {"customerId": str(customer.id)}).json()["id"] for _ in range(WRITER_COUNT)
    ]

    def event(subscription, month):
        body = {
            "subscriptionId": subscription,
            "effectiveDate": f"2024-{month:02}-10",
            "amountValue": "10.00",
            "amountCurrency": "USD",
        }
        return lambda: api.post("subscription_events", body)

    # All are of one customer: who comes first is new, the others are upgrades of the same customer.
    sent = run_concurrently([event(each, month) for month, each in enumerate(subscriptions, start=1)])
    assert {answer.status_code for answer in sent} == {201}
    api.post("data/monthlyData", QUERY)
    assert not RecurringRevenueState.objects.get(company_id=acme.id).stale
    more = [event(each, 12 - month) for month, each in enumerate(subscriptions)]
    gone = [lambda row=row: api.delete(f"subscription_events/{row.json()['id']}") for row in sent[:3]]
    reads = [lambda: api.post("data/monthlyData", QUERY)] * 2
    assert {answer.status_code for answer in run_concurrently(more + gone + reads)} == {200, 201}
    assert not RecurringRevenueState.objects.get(company_id=acme.id).stale
    assert recurring_revenue.find_recurring_revenue_differences(acme.id) == []
    assert SubscriptionEvent.objects.count() == 2 * WRITER_COUNT


@pytest.mark.django_db(transaction=True)
def test_concurrent_imports_create_shared_subscription_and_product_once(api, acme):
    item = {
        "subscriptionExternalId": "s",
        "customerExternalId": "c",
        "productExternalId": "p",
        "effectiveDate": "2024-01-10",
        "amountValue": "10.00",
        "amountCurrency": "EUR",
    }
    sent = run_concurrently(
        [
            lambda n=n: api.post("subscription_events/import", {"events": [item | {"externalId": f"e{n % 3}"}]})
            for n in range(WRITER_COUNT)
        ]
    )
    assert [answer.status_code for answer in sent] == [200] * WRITER_COUNT
    assert sum(answer.json()["count"] for answer in sent) == 3
    assert len(api.get("subscriptions").json()) == len(api.get("products").json()) == 1
    assert recurring_revenue.find_recurring_revenue_differences(acme.id) == []
