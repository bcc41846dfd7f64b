"""The largest amounts: their totals are stored, shown and computed at night. Larger ones are refused."""

import io
from decimal import Decimal

import pytest
from django.core.management import call_command

from companies.models import Company
from ledger.bulk.planner_statistics import analyze_tables
from ledger.models import Transaction
from ledger.money import rates
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db
LARGEST = "999999999999999.99"
MANY = 10_001  # add up to more than 10^19
TOO_LARGE = ["1000000000000000", "1000000000000000.00", "-1000000000000000", "99999999999999999999"]
DAY = str(TODAY)
PAGES = ("", "transactions", "accounts", "profit-and-loss", "change-of-cash", "planned", "plan",
         "recurring-revenue", "recurring-revenue/customers", "inbox")  # fmt: skip


@pytest.fixture
def bank(api):
    return api.post("accounts", {"name": "Bank", "type": "bank"}).json()["id"]


@pytest.fixture
def subscription(api):
    customer = api.post("counterparties", {"name": "Globex", "type": "customer"}).json()["id"]
    product = api.post("products", {"name": "Team"}).json()["id"]
    return api.post("subscriptions", {"customerId": customer, "productId": product}).json()["id"]


def subscribed(subscription, amount, **more):
    return {
        "subscriptionId": subscription,
        "effectiveDate": DAY,
        "interval": "day",
        "intervalCount": 1,
        "amountValue": amount,
        "amountCurrency": "EUR",
    } | more


def category(api, key):
    return api.get_category_id(key)


def test_many_largest_amounts_on_one_day_have_a_balance(api, bank, sign_in_browser, alice, acme):
    row = {"accountId": bank, "date": DAY, "amountValue": LARGEST}
    answer = api.post("transactions/import", {"transactions": [row] * MANY})
    assert answer.status_code == 200, answer.content
    analyze_tables("ledger_transaction")  # as after a commit
    total = Decimal(LARGEST) * MANY
    (balance,) = api.post("data/accountBalanceByAccount", {"startDate": DAY, "endDate": DAY}).json().values()
    assert Decimal(str(balance["value"])) == pytest.approx(total)
    chosen = {"selection": {"mode": "all", "confirm": True}, "categoryId": category(api, "hosting")}
    assert api.post("transactions/categorize", chosen).json()["affected"] == MANY
    analyze_tables("ledger_transaction", "ledger_categorization", "ledger_posting")
    call_command("rebuild_derived", "--check", stdout=io.StringIO())
    client = sign_in_browser(alice, acme).client
    for page in PAGES:
        assert client.get(f"/app/companies/{acme.id}/{page}".rstrip("/")).status_code == 200, page


def test_currency_with_tiny_value_can_become_base_currency(api, bank, monkeypatch):
    monkeypatch.setattr(
        "ledger.recognition.actions.postings.get_rate_table", lambda: rates.RateTable([("TRY", TODAY, Decimal(10**9))])
    )
    body = {"accountId": bank, "date": DAY, "amountValue": f"-{LARGEST}"}
    made = api.post("transactions", body).json()["id"]
    chosen = {"selection": {"mode": "ids", "ids": [made]}, "categoryId": category(api, "hosting")}
    assert api.post("transactions/categorize", chosen).status_code == 200
    assert api.put("", {"baseCurrency": "TRY"}).status_code == 200


def test_committed_revenue_of_largest_amounts_is_computed_nightly(api, acme, subscription):
    for _number in range(20):
        answer = api.post("subscription_events", subscribed(subscription, LARGEST))
        assert answer.status_code == 201, answer.content
    Company.objects.filter(id=acme.id).update(computed_committed_mrr_eur=Decimal("1e20"))
    assert api.get("").json()["computedCommittedMrrEur"] == "100000000000000000000.00"
    call_command("refresh_metrics", stdout=io.StringIO())
    assert api.get("").json()["computedCommittedMrrEur"] == "30416666666666666.36"
    assert api.get("/companies").status_code == 200


def test_metrics_refresh_handles_cash_far_below_zero(api, bank, alice):
    row = {"accountId": bank, "date": DAY, "amountValue": f"-{LARGEST}"}
    answer = api.post("transactions/import", {"transactions": [row] * 100})
    assert answer.status_code == 200, answer.content
    call_command("refresh_metrics", stdout=io.StringIO())
    assert api.get("notifications").status_code == 200


def test_amount_over_maximum_is_rejected_everywhere(api, bank, subscription):
    for amount in TOO_LARGE:
        planned = {"accountId": bank, "name": "Rent", "startDate": DAY, "amountValue": amount}
        moved = {"accountId": bank, "date": DAY, "amountValue": amount}
        bodies = {
            "transactions": (moved, "#/amountValue"),
            "transactions/import": ({"transactions": [moved]}, "#/transactions/0/amountValue"),
            "planned_transactions": (planned, "#/amountValue"),
            "subscription_events": (subscribed(subscription, amount), "#/amountValue"),
        }
        for path, (body, pointer) in bodies.items():
            answer = api.post(path, body)
            assert answer.status_code == 400, (path, answer.content)
            assert [each["pointer"] for each in answer.json()["errors"]] == [pointer], path
        answer = api.put(f"accounts/{bank}/initial_balance", {"date": DAY, "amountValue": amount})
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, "#/amountValue"), amount
        assert not Transaction.objects.exists(), amount


def test_split_sum_over_maximum_amount_is_rejected(api, bank):
    made = api.post("transactions", {"accountId": bank, "date": DAY, "amountValue": LARGEST}).json()["id"]
    part = {"categoryId": category(api, "hosting"), "plSplit": {"cogs": 999999999999999}}
    answer = api.put(f"transactions/{made}/categorizations", {"categorizations": {str(n): part for n in range(50)}})
    assert (answer.status_code, answer.json()["code"]) == (400, "split_exceeds_amount")
