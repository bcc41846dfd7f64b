"""Which day is today for a company: the one in its time zone, in the API, on pages and in commands."""

import ast
from datetime import UTC, datetime

import pytest
import time_machine
from django.core.management import call_command
from django.db import IntegrityError, transaction

from companies.models import Company
from companies.time_zones import get_today
from tests import factories
from tests.machine import ROOT

pytestmark = pytest.mark.django_db
LATE = datetime(2026, 6, 30, 23, 30, tzinfo=UTC)  # the first of July in Berlin already
OLD, NEW = "2026-06-30", "2026-07-01"
ZONES = [("UTC", OLD), ("Europe/Berlin", NEW), ("America/New_York", OLD)]
CLOCKS = {"now", "time", "localtime"}


@pytest.fixture(autouse=True)
def clock(db):
    with time_machine.travel(LATE, tick=False):
        yield


@pytest.fixture(params=[*ZONES, ("testToday", NEW), ("testToday", OLD)], ids=" ".join)
def today(request, api, acme):
    """Set the company's time zone, or the date of a sandbox; gives its current date."""
    zone, day = request.param
    if zone == "testToday":
        factories.force_company_values(acme, system_status="sandbox")
        answer = api.put("", {"testToday": day, "timeZone": "Europe/Berlin" if day == OLD else "UTC"})
        assert (answer.status_code, answer.json()["testToday"]) == (200, day)
        return day
    assert api.get("").json()["timeZone"] == "UTC"
    answer = api.put("", {"timeZone": zone})
    assert (answer.status_code, answer.json()["timeZone"]) == (200, zone)
    return day


@pytest.fixture
def bank(api):
    return api.post("accounts", {"name": "Bank", "type": "bank"}).json()["id"]


def subscribe(api, *, day, amount):
    customer = api.post("counterparties", {"name": "Globex", "type": "customer"}).json()["id"]
    product = api.post("products", {"name": "Team"}).json()["id"]
    subscription = api.post("subscriptions", {"customerId": customer, "productId": product}).json()["id"]
    event = {
        "subscriptionId": subscription,
        "effectiveDate": day,
        "interval": "month",
        "intervalCount": 1,
        "amountValue": amount,
        "amountCurrency": "EUR",
    }
    answer = api.post("subscription_events", event)
    assert answer.status_code == 201, answer.content
    return subscription


def test_payment_due_today_is_overdue_the_day_after(api, bank, today):
    body = {"accountId": bank, "name": "Rent", "startDate": OLD, "amountValue": "-100.00", "autoSettle": False}
    assert api.post("planned_transactions", body).status_code == 201
    (due,) = api.get("planned_transactions/due", {"startDate": OLD, "endDate": NEW}).json()
    assert due["state"] == ("open" if today == OLD else "overdue")


def test_forecast_may_begin_after_today(api, bank, today):
    answer = api.post("data/forecastBalanceTimeSeries", {"cutoverDate": NEW, "endDate": "2026-07-31"})
    assert answer.status_code == (400 if today == OLD else 200)


def test_balances_end_today(api, bank, today):
    answer = api.post("data/balanceByCashType", {"startDate": OLD, "endDate": "2026-07-05"}).json()
    assert answer["cash"][-1]["date"] == today


def test_subscription_price_is_the_price_in_effect_today(api, today):
    subscription = subscribe(api, day=NEW, amount="50.00")
    found = api.get(f"subscriptions/{subscription}").json()
    assert found["currentAmountValue"] == (None if today == OLD else "50.00")


def test_recurring_revenue_summary_uses_current_month(api, today):
    subscribe(api, day=NEW, amount="50.00")
    assert api.post("data/recurringRevenueSummary", {}).json()["mrr"] == (0 if today == OLD else 50)


def test_nightly_metrics_use_current_month(api, acme, today):
    subscribe(api, day=NEW, amount="50.00")
    call_command("refresh_metrics")
    assert Company.objects.get(id=acme.id).computed_committed_mrr_eur == (0 if today == OLD else 50)


def test_transaction_form_defaults_to_today(api, sign_in_browser, alice, acme, bank, today):
    page = sign_in_browser(alice, acme).client.get(f"/app/companies/{acme.id}/transactions/new").content.decode()
    assert f'value="{today}"' in page


def test_cash_plan_shows_payments_overdue_today(api, sign_in_browser, alice, acme, bank, today):
    body = {"accountId": bank, "name": "Rent", "startDate": OLD, "amountValue": "-100.00", "autoSettle": False}
    api.post("planned_transactions", body)
    page = sign_in_browser(alice, acme).client.get(f"/app/companies/{acme.id}/planned").content.decode()
    assert ("Overdue" in page) == (today == NEW)


def test_home_page_uses_the_today_of_each_company(api, sign_in_browser, alice, acme, bank, today):
    api.post("transactions", {"accountId": bank, "date": NEW, "amountValue": "70.00"})
    page = sign_in_browser(alice, acme).client.get("/app/").content.decode()
    assert ("€70" in page) == (today == NEW)


def test_settings_page_offers_and_saves_time_zone(sign_in_browser, alice, acme):
    client, address = sign_in_browser(alice, acme).client, f"/app/companies/{acme.id}/settings"
    assert "<option selected>UTC</option>" in client.get(address).content.decode()
    form = {"name": "Acme", "baseCurrency": "EUR", "dataStartDate": "", "domain": "", "timeZone": "Asia/Tokyo"}
    assert client.post(address, form | {"valuationCategory": "", "valuationLens": ""}).status_code == 303
    assert Company.objects.get(id=acme.id).time_zone == "Asia/Tokyo"
    assert "<option selected>Asia/Tokyo</option>" in client.get(address).content.decode()


@pytest.mark.parametrize("status", ["free", "trial", "paid"])
def test_test_today_is_refused_outside_of_sandboxes(api, acme, status):
    Company.objects.filter(id=acme.id).update(system_status=status)
    answer = api.put("", {"testToday": OLD})
    assert (answer.status_code, answer.json()["code"]) == (409, "not_a_sandbox")
    assert api.put("", {"testToday": None}).json()["testToday"] is None
    with pytest.raises(IntegrityError), transaction.atomic():
        Company.objects.filter(id=acme.id).update(test_today=OLD)


@pytest.mark.parametrize("day", ["1969-12-31", "2101-01-01", "9999-12-31", "2026-02-30", 5])
def test_invalid_test_today_is_refused(api, acme, day):
    factories.force_company_values(acme, system_status="sandbox")
    assert api.put("", {"testToday": day}).status_code == 400
    assert api.put("", {"testToday": "2100-12-31"}).status_code == 200
    assert api.post("data/forecastBalanceTimeSeries", {"endDate": "2101-06-30"}).status_code == 200


def test_test_today_ends_when_it_is_null(api, acme):
    factories.force_company_values(acme, system_status="sandbox", test_today="2020-01-01")
    assert api.put("", {"testToday": None}).json()["testToday"] is None
    acme.refresh_from_db()
    assert str(get_today(acme, datetime.now(tz=UTC))) == OLD


def find_days_of_clocks(path):
    """Calls that make a day of a reading of the clock, as ``now.date()``, and those that read the day itself."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        of = ast.unparse(node.func.value)
        if (node.func.attr == "date" and of.removesuffix("()").rpartition(".")[2] in CLOCKS) or (
            node.func.attr in {"today", "localdate", "utcnow"}
        ):
            yield f"{path.relative_to(ROOT)}:{node.lineno}"


def test_only_one_function_determines_today():
    packages = ("companies", "notifications", "webhooks", "ledger", "planning", "analytics", "oauth", "assistants")
    found = [
        each for package in packages for path in (ROOT / package).rglob("*.py") for each in find_days_of_clocks(path)
    ]
    assert found == []
