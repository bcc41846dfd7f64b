"""Facts that monthly reports are made from, on a day in May 2026."""

from datetime import UTC, datetime

import pytest
import time_machine


@pytest.fixture
def may(acme):
    """10 May 2026, for pages and API."""
    with time_machine.travel(datetime(2026, 5, 10, 12, tzinfo=UTC)):
        yield


@pytest.fixture
def close(api):
    def closed(month="2026-03", **more):
        answer = api.post("closings", {"month": month, "acknowledge": True} | more)
        assert answer.status_code == 201, answer.content
        return answer.json()

    return closed


@pytest.fixture
def categorized(books, bank):
    """Books a transaction with one category on one line; expenses are negative."""

    def make(key, line, amount, day, account=None, **more):
        made = books.book(account or bank, amount, day, **more)
        books.split(made["id"], {"categoryId": books.category(key), "plSplit": {line: float(amount)}})
        return made["id"]

    return make


@pytest.fixture
def booked_year(categorized):
    """Revenue and costs in 2025 and in the first months of 2026."""
    categorized("revenueRecurring", "revenue", "800.00", "2025-03-10")
    categorized("revenueRecurring", "revenue", "900.00", "2026-01-10")
    categorized("revenueRecurring", "revenue", "950.00", "2026-02-10")
    categorized("officeAndAdmin", "ga", "-100.00", "2026-02-12", fromTo="Small landlord")
    categorized("revenueRecurring", "revenue", "1000.50", "2026-03-10", fromTo="Customer A")
    categorized("officeAndAdmin", "ga", "-400.25", "2026-03-12", fromTo="Landlord")


@pytest.fixture
def subscribed(api):
    """A customer with a monthly subscription from a day on."""

    def make(name, day, amount):
        customer = api.post("counterparties", {"type": "customer", "name": name}).json()["id"]
        subscription = api.post("subscriptions", {"customerId": customer}).json()["id"]
        event = {"subscriptionId": subscription, "effectiveDate": day, "committedDate": day, "amountValue": amount}
        event |= {"amountCurrency": "EUR", "interval": "month", "intervalCount": 1}
        assert api.post("subscription_events", event).status_code == 201

    return make
