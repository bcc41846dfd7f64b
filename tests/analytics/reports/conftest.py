"""Fixtures for monthly reports: transactions, subscriptions and closings, on a day in May 2026."""

from datetime import UTC, datetime

import pytest
import time_machine


@pytest.fixture
def travel_to_may_2026(acme):
    """Make 10 May 2026 today, for pages and API."""
    with time_machine.travel(datetime(2026, 5, 10, 12, tzinfo=UTC)):
        yield


@pytest.fixture
def close_month(api):
    """Close a month; return the closing."""

    def close(month="2026-03", **values):
        response = api.post("closings", {"month": month, "acknowledge": True} | values)
        assert response.status_code == 201, response.content
        return response.json()

    return close


@pytest.fixture
def create_categorized_transaction(books, bank):
    """Create a transaction with one category on one P&L line; expenses are negative."""

    def create(key, line, amount, day, account=None, **values):
        transaction = books.create_transaction(account or bank, amount, day, **values)
        books.set_categorizations(
            transaction["id"], {"categoryId": books.get_category_id(key), "plSplit": {line: float(amount)}}
        )
        return transaction["id"]

    return create


@pytest.fixture
def booked_year(create_categorized_transaction):
    """Categorized revenue and costs in 2025 and in the first months of 2026."""
    create_categorized_transaction("revenueRecurring", "revenue", "800.00", "2025-03-10")
    create_categorized_transaction("revenueRecurring", "revenue", "900.00", "2026-01-10")
    create_categorized_transaction("revenueRecurring", "revenue", "950.00", "2026-02-10")
    create_categorized_transaction("officeAndAdmin", "ga", "-100.00", "2026-02-12", fromTo="Small landlord")
    create_categorized_transaction("revenueRecurring", "revenue", "1000.50", "2026-03-10", fromTo="Customer A")
    create_categorized_transaction("officeAndAdmin", "ga", "-400.25", "2026-03-12", fromTo="Landlord")


@pytest.fixture
def create_subscription(api):
    """Create a customer with a monthly subscription from a given day on."""

    def create(name, day, amount):
        customer = api.post("counterparties", {"type": "customer", "name": name}).json()["id"]
        subscription = api.post("subscriptions", {"customerId": customer}).json()["id"]
        event = {"subscriptionId": subscription, "effectiveDate": day, "committedDate": day, "amountValue": amount}
        event |= {"amountCurrency": "EUR", "interval": "month", "intervalCount": 1}
        assert api.post("subscription_events", event).status_code == 201

    return create
