"""Money as JSON numbers: the digits of the decimal, in whatever is answered and in whatever is sent."""

import json
import re
from decimal import Decimal

import pytest

pytestmark = pytest.mark.django_db
MAX_AMOUNT = "999999999999999.99"


def parse_exact_numbers(answer):
    """The body with its numbers as they are written."""
    assert answer.status_code < 300, answer.content
    return json.loads(answer.content, parse_float=Decimal, parse_int=Decimal)


@pytest.fixture
def account(bank):
    return bank


@pytest.fixture
def categories(api):
    return {each["systemKey"]: each["id"] for each in api.get("categories").json()}


def send_exact_numbers(api, method, path, body):
    """Sends numbers with the digits of a Decimal."""
    text = re.sub(r'"@([^"]*)"', r"\1", json.dumps(body, default=lambda value: f"@{value}"))
    return getattr(api.client, method)(api.path(path), text, content_type="application/json", headers=api.headers)


def create_transaction(api, account, amount=MAX_AMOUNT, day="2026-03-15"):
    body = {"accountId": account, "date": day, "amountValue": amount}
    return api.post("transactions", body).json()["id"]


def test_categorization_status_amounts_are_exact(api, account):
    for amount in [MAX_AMOUNT, f"-{MAX_AMOUNT}", "123456789012345.67", "999999999999999", "0.01", "0.10", "0"]:
        row = create_transaction(api, account, amount)
        answer = parse_exact_numbers(api.post("transactions/categorization_status", {"transactionIds": [row]}))
        assert answer["amountsById"][row] == {"value": Decimal(amount), "currency": "EUR"}


def test_split_accepts_and_returns_exact_cents(api, account, categories):
    row = create_transaction(api, account)
    most, cent = Decimal("999999999999999.98"), Decimal("0.01")
    part = {"categoryId": categories["revenueOther"], "plSplit": {"revenue": most}, "passThroughTax": cent}
    answer = parse_exact_numbers(
        send_exact_numbers(api, "put", f"transactions/{row}/categorizations", {"categorizations": {"a": part}})
    )
    (stored,) = answer["categorizations"].values()
    assert (stored["plSplit"]["revenue"], stored["passThroughTax"]) == (most, cent)
    assert api.get("transactions", {"open": "true"}).json() == []
    part["passThroughTax"] = Decimal("0.02")
    refused = send_exact_numbers(api, "put", f"transactions/{row}/categorizations", {"categorizations": {"a": part}})
    assert (refused.status_code, refused.json()["code"]) == (400, "split_exceeds_amount")


def test_bulk_categorize_pass_through_tax_is_exact(api, account, categories):
    row = create_transaction(api, account)
    body = {"selection": {"mode": "ids", "ids": [row]}, "categoryId": categories["revenueOther"]}
    parse_exact_numbers(
        send_exact_numbers(
            api, "post", "transactions/categorize", body | {"passThroughTax": Decimal("999999999999999.98")}
        )
    )
    (part,) = parse_exact_numbers(api.get(f"transactions/{row}"))["categorizations"].values()
    assert part["passThroughTax"] == Decimal("999999999999999.98")
    assert part["plSplit"]["revenue"] == Decimal("0.01")


def test_plan_item_amount_is_exact(api, categories):
    amount = {"type": "fixed", "amount": {"value": Decimal(MAX_AMOUNT), "currency": "EUR"}}
    body = {"month": "2026-03", "plType": "revenue", "categoryId": categories["revenueOther"], "amount": amount}
    made = parse_exact_numbers(send_exact_numbers(api, "post", "plan_items", body))
    assert made["amount"]["amount"]["value"] == Decimal(MAX_AMOUNT)
    assert parse_exact_numbers(api.get(f"plan_items/{made['id']}"))["amount"]["amount"]["value"] == Decimal(MAX_AMOUNT)
    rows = parse_exact_numbers(api.post("data/profitAndLoss", {"startMonth": "2026-03", "endMonth": "2026-03"}))
    assert [row["planned"] for row in rows] == [Decimal(MAX_AMOUNT)]


def test_file_parse_data_amounts_are_exact(api):
    from django.core.files.uploadedfile import SimpleUploadedFile

    upload = SimpleUploadedFile("a.csv", b"a,b\n1,2\n")
    file = api.client.post(api.path("files"), {"file": upload}, headers=api.headers).json()["id"]
    for value in (Decimal(MAX_AMOUNT), Decimal("12.5"), Decimal(7)):
        body = {"parseData": {"amount": {"value": value, "currency": "EUR"}}}
        assert (
            parse_exact_numbers(send_exact_numbers(api, "put", f"files/{file}", body))["parseData"]["amount"]["value"]
            == value
        )
        read = parse_exact_numbers(api.get(f"files/{file}"))
        assert read["parseData"]["amount"]["value"] == value
        assert parse_exact_numbers(send_exact_numbers(api, "put", f"files/{file}", read)) == read
        assert parse_exact_numbers(api.get("files"))[0]["parseData"]["amount"]["value"] == value


def test_balances_and_reports_are_exact_for_maximum_amounts(api, account, categories):
    row = create_transaction(api, account)
    api.post("transactions/categorize",
             {"selection": {"mode": "ids", "ids": [row]}, "categoryId": categories["revenueOther"]})  # fmt: skip
    window = {"startDate": "2026-03-01", "endDate": "2026-03-31"}
    most = Decimal(MAX_AMOUNT)
    held = parse_exact_numbers(api.post("data/accountBalanceByAccount", window))[account]
    assert (held["value"], held["valueChange"]) == (most, most)
    assert parse_exact_numbers(api.post("data/balanceByCashType", window))["cash"][-1]["value"] == most
    assert (
        max(point["value"] for point in parse_exact_numbers(api.post("data/cashFlowTimeSeries", window))["inflow"])
        == most
    )
    assert parse_exact_numbers(api.post("data/revenueExpensesBar", window))[0]["revenueOther"] == most
    create_transaction(api, account, day="2026-03-16")
    assert parse_exact_numbers(api.post("data/accountBalanceByAccount", window))[account]["value"] == 2 * most


def test_recurring_revenue_is_exact_for_maximum_amounts(api):
    event = {"subscriptionExternalId": "s", "customerName": "Bar", "productName": "Tea", "effectiveDate": "2026-01-01"}
    event |= {"amountValue": MAX_AMOUNT, "amountCurrency": "EUR"}
    parse_exact_numbers(api.post("subscription_events/import", {"events": [event]}))
    window = {"startMonth": "2026-01", "endMonth": "2026-02"}
    first, second = parse_exact_numbers(api.post("data/monthlyData", window | {"mrrType": "mrr"}))
    assert (first["new"], second["start"], second["end"]) == (Decimal(MAX_AMOUNT),) * 3
    assert parse_exact_numbers(api.post("data/monthlyData", window | {"mrrType": "arr"}))[0]["new"] == 12 * Decimal(
        MAX_AMOUNT
    )
    assert parse_exact_numbers(api.get("products"))[0]["cMRR"] == Decimal(MAX_AMOUNT)
    (row,) = parse_exact_numbers(api.get("subscriptions"))
    assert row["currentAmountValue"] == MAX_AMOUNT


def test_split_accepts_or_rejects_any_number_without_server_error(api, account, categories):
    row = create_transaction(api, account)
    padding = "1234567890123456"  # lets the body be read for long numbers
    start = f'{{"categorizations": {{"a": {{"categoryId": "{categories["revenueOther"]}", "sourceNote": "{padding}", '
    for text in [
        "1e5",
        "1.0",
        "0.1",
        "1e-400",
        "12345678901234567890.5",
        "-0.0",
        "9" * 400 + ".5",
        "0." + "0" * 400 + "1",
        "1" * 25,
    ]:
        body = start + f'"plSplit": {{"revenue": {text}}}}}}}}}'
        path = api.path(f"transactions/{row}/categorizations")
        answer = api.client.put(path, body, content_type="application/json", headers=api.headers)
        assert answer.status_code in (200, 400), answer.content


def test_import_settings_with_long_numbers_are_stored_and_returned(api, account):
    body = {"importSettings": {"bank": {"rate": Decimal("1.23456789012345678901"), "n": 5, "deep": [{"x": 0.5}]}}}
    answer = send_exact_numbers(api, "put", f"accounts/{account}", body)
    assert answer.json()["importSettings"]["bank"] == {"rate": 1.2345678901234567, "n": 5, "deep": [{"x": 0.5}]}


def test_deep_body_with_long_numbers_causes_no_server_error(api, account):
    for depth in (500, 1020, 5000):
        body = '{"a": 1234567890123456.1, "b": ' + "[" * depth + "]" * depth + "}"
        path = api.path(f"accounts/{account}")
        answer = api.client.put(path, body, content_type="application/json", headers=api.headers)
        assert answer.status_code in (200, 400), answer.content


def test_idempotent_replay_returns_exact_digits(api, categories):
    amount = {"type": "fixed", "amount": {"value": Decimal(MAX_AMOUNT), "currency": "EUR"}}
    body = {"month": "2026-03", "plType": "revenue", "categoryId": categories["revenueOther"], "amount": amount}
    api.headers["Idempotency-Key"] = "once"
    first, again = (send_exact_numbers(api, "post", "plan_items", body) for _ in range(2))
    assert again["Idempotency-Replayed"] == "true"
    assert parse_exact_numbers(again) == parse_exact_numbers(first)
    assert parse_exact_numbers(again)["amount"]["amount"]["value"] == Decimal(MAX_AMOUNT)
