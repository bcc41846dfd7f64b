"""A warning in time, once."""

from datetime import date, timedelta

import pytest
from django.core.management import call_command

pytestmark = pytest.mark.django_db


def list_low_cash_warnings(sign_in_browser, alice, api):
    notifications = sign_in_browser(alice, api.company).get("notifications").json()
    return [each["payload"] for each in notifications if each["type"] == "cash.belowZero"]


def test_low_cash_warning_is_sent_once_with_the_date_cash_goes_negative(api, alice, sign_in_browser):
    today = date.today()
    account = api.post("accounts", {"type": "bank", "name": "Main"}).json()["id"]
    api.put(f"accounts/{account}/initial_balance", {"date": str(today), "amountValue": "100.00"})
    plan = {"accountId": account, "name": "Rent", "startDate": str(today + timedelta(days=10))}
    api.post("planned_transactions", plan | {"amountValue": "-60.00"})
    call_command("refresh_metrics")
    assert list_low_cash_warnings(sign_in_browser, alice, api) == []
    later = plan | {"startDate": str(today + timedelta(days=20))}
    api.post("planned_transactions", later | {"amountValue": "-60.00"})
    for _ in range(2):
        call_command("refresh_metrics")
    (payload,) = list_low_cash_warnings(sign_in_browser, alice, api)
    assert payload["date"] == str(today + timedelta(days=20))
    assert payload["amount"] in ("-20.00", -20)
