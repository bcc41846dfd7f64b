"""What makes up the days ahead, beside the forecast that counts it."""

from datetime import timedelta

import pytest
from django.test import Client

from tests.run_date import TODAY

pytestmark = pytest.mark.django_db
TOMORROW = TODAY + timedelta(days=1)


def create_planned_transaction(api, account, day, amount):
    body = {
        "name": f"Due {day}", "accountId": account, "startDate": str(day), "amountValue": amount,
        "amountCurrency": "EUR",
    }  # fmt: skip
    assert api.post("planned_transactions", body).status_code == 201


def test_upcoming_movements_exclude_expected_payments_on_transit_accounts(api, alice, acme, bank):
    """Though the account counts as cash: what it holds does, what is expected on it does not."""
    body = {"type": "transit", "name": "Card terminal", "defaultCurrency": "EUR", "includeInCashBalance": True}
    create_planned_transaction(api, api.post("accounts", body).json()["id"], TOMORROW, "-100.00")
    create_planned_transaction(api, bank, TOMORROW, "-40.00")
    window = {"startDate": str(TOMORROW), "endDate": str(TOMORROW)}
    query = {"startDate": str(TODAY), "endDate": str(TOMORROW), "interval": "day"}
    expected = api.post("data/forecastBalanceTimeSeries", query).json()
    assert [each["value"] for each in expected["projected"]] == [-40]
    client = Client()
    client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    html = client.get(f"/app/companies/{acme.id}/ahead", window).content.decode()
    assert "€40.00 out" in html


def test_upcoming_movements_of_tomorrow_include_overdue_and_due_today(api, alice, acme, bank):
    for day, amount in ((TODAY - timedelta(days=3), "-5.00"), (TODAY, "-70.00"), (TOMORROW, "-30.00")):
        create_planned_transaction(api, bank, day, amount)
    window = {"startDate": str(TOMORROW), "endDate": str(TOMORROW)}
    query = window | {"cutoverDate": str(TODAY), "interval": "day"}
    expected = api.post("data/forecastCashFlowTimeSeries", query).json()
    assert [each["value"] for each in expected["plannedOutflow"]] == [105]
    client = Client()
    client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    html = client.get(f"/app/companies/{acme.id}/ahead", window).content.decode()
    assert "€105.00 out" in html
    assert [html.count(f"Due {day}") for day in (TODAY - timedelta(days=3), TODAY, TOMORROW)] == [1, 1, 1]
