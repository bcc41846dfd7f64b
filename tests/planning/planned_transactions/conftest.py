"""Fixtures for planned invoices of a vendor."""

import pytest


@pytest.fixture
def account_id(bank):
    return bank


@pytest.fixture
def vendor(api):
    return api.post("counterparties", {"type": "vendor", "name": "Nordwind GmbH"}).json()["id"]


@pytest.fixture
def plan_invoice(api, vendor):
    """Plan an invoice of Nordwind over 119.00, due on 1 April 2026; return its id."""

    def plan(number, **values):
        body = {
            "accountId": None, "name": f"Nordwind {number}", "startDate": "2026-04-01", "amountValue": "-119.00",
            "amountCurrency": "EUR", "invoiceDate": "2026-03-02", "counterparty": {"id": vendor, "type": "vendor"},
            "externalData": {"invoiceNumber": number},
        } | values  # fmt: skip
        response = api.post("planned_transactions", body)
        assert response.status_code == 201, response.content
        return response.json()["id"]

    return plan
