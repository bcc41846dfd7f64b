"""Planned transactions that stand for a month's total: what is booked in their category is never expected again."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analytics.queries.test_cash_flow import create_planned_transaction

pytestmark = pytest.mark.django_db
TWENTIETH = date(2026, 2, 20)
QUERY = "forecastBalanceTimeSeries"


@pytest.fixture
def revenue(books):
    return books.get_category_id("revenueRecurring")


@pytest.fixture
def receive_payment(books, bank):
    """Create a categorized payment, with or without a customer; return its id."""

    def receive(amount, day, category, *, customer=None, account=None, **more):
        made = books.create_transaction(account or bank, amount, day, **more)["id"]
        part = {"categoryId": category, "plSplit": {"revenue": float(amount)}}
        part |= {"counterparty": {"id": customer}} if customer else {}
        assert books.set_categorizations(made, part).status_code == 200
        return made

    return receive


@pytest.fixture
def create_customer(api):
    def create(name):
        return api.post("counterparties", {"name": name, "type": "customer"}).json()["id"]

    return create


def plan_total(api, account, amount, day, category, **more):
    monthly = {"recurrence": {"frequency": "month"}} | more
    return create_planned_transaction(api, account, amount, day, categoryId=category, settledBy="category", **monthly)


def list_open(api, planned, *, start="2026-02-01", end="2026-02-28"):
    rows = api.get(f"planned_transactions/{planned['id']}/occurrences", {"startDate": start, "endDate": end}).json()
    return {row["date"]: row["openAmountValue"] for row in rows}


def list_due(api, *, start="2026-02-01", end="2026-03-31"):
    rows = api.get("planned_transactions/due", {"startDate": start, "endDate": end}).json()
    return {row["date"]: (row["state"], row["openAmountValue"]) for row in rows}


def map_nonzero_points(series):
    return {point["date"]: point["value"] for point in series if point["value"]}


def test_receipts_of_a_planned_monthly_total_are_not_expected_again(
    api, query_data, bank, set_today, revenue, receive_payment
):
    set_today(TWENTIETH)
    receive_payment("20000.00", "2026-02-05", revenue)
    receive_payment("13000.00", "2026-02-12", revenue)
    planned = plan_total(api, bank, "33500.00", "2026-02-10", revenue)
    assert list_open(api, planned) == {"2026-02-10": "500.00"}
    assert list_due(api) == {"2026-02-10": ("overdue", "500.00"), "2026-03-10": ("open", "33500.00")}
    result = query_data(QUERY, endDate="2026-03-31")
    assert result["overdue"] == {"count": 1, "value": 500}
    balances = map_nonzero_points(result["projected"])
    assert (balances["2026-02-21"], balances["2026-03-31"]) == (33_500, 67_000)
    assert result["lowest"] == {"date": "2026-02-21", "value": 33_500}
    flows = query_data("forecastCashFlowTimeSeries", startDate="2026-02-01", endDate="2026-03-31")
    assert map_nonzero_points(flows["plannedInflow"]) == {"2026-02-21": 500, "2026-03-10": 33_500}
    receive_payment("600.00", "2026-02-19", revenue)
    assert list_due(api)["2026-02-10"] == ("paid", "0.00")
    assert query_data(QUERY, endDate="2026-03-31")["overdue"] == {"count": 0, "value": 0}


def test_planned_total_lapses_at_end_of_month(api, query_data, bank, set_today, revenue, receive_payment):
    set_today(TWENTIETH)
    receive_payment("100.00", "2026-02-05", revenue)
    planned = plan_total(api, bank, "300.00", "2026-02-10", revenue)
    set_today(date(2026, 2, 28))
    assert list_due(api)["2026-02-10"] == ("overdue", "200.00")
    set_today(date(2026, 3, 1))
    assert list_due(api) == {"2026-03-10": ("open", "300.00")}
    assert list_open(api, planned) == {"2026-02-10": "200.00"}, "what did not come is told, but expected no longer"
    result = query_data(QUERY, endDate="2026-03-05")
    assert (result["overdue"]["count"], result["plannedInflow"]) == (0, 0)
    earlier = query_data(QUERY, endDate="2026-03-05", cutoverDate="2026-02-08")
    assert earlier["plannedInflow"] == 0


def test_planned_total_of_counterparty_counts_only_that_counterparty(
    api, bank, set_today, revenue, receive_payment, create_customer
):
    set_today(TWENTIETH)
    initech, globex = create_customer("Initech"), create_customer("Globex")
    receive_payment("70.00", "2026-02-05", revenue, customer=globex)
    planned = plan_total(api, bank, "100.00", "2026-02-10", revenue, counterparty={"id": initech})
    assert list_open(api, planned) == {"2026-02-10": "100.00"}
    receive_payment("30.00", "2026-02-06", revenue, customer=initech)
    assert list_open(api, planned) == {"2026-02-10": "70.00"}
    rest = plan_total(api, bank, "100.00", "2026-02-02", revenue)
    assert list_open(api, rest) == {"2026-02-02": "30.00"}, "Initech's money is counted for Initech"
    assert list_open(api, planned) == {"2026-02-10": "70.00"}


def test_planned_total_fills_occurrences_of_month_in_date_order(api, bank, set_today, revenue, receive_payment):
    set_today(TWENTIETH)
    weekly = plan_total(api, bank, "100.00", "2026-02-02", revenue, recurrence={"frequency": "week"})
    receive_payment("250.00", "2026-02-27", revenue)
    assert list_open(api, weekly) == {
        "2026-02-02": "0.00", "2026-02-09": "0.00", "2026-02-16": "50.00", "2026-02-23": "100.00",
    }  # fmt: skip
    part = list_open(api, weekly, start="2026-02-16", end="2026-02-16")
    assert part == {"2026-02-16": "50.00"}, "also where the earlier ones are not asked for"


def test_planned_total_ignores_transaction_that_settles_an_occurrence(api, bank, set_today, revenue, receive_payment):
    set_today(TWENTIETH)
    invoice = create_planned_transaction(api, bank, "80.00", "2026-02-03", autoSettle=False)
    paid = receive_payment("80.00", "2026-02-05", revenue)
    planned = plan_total(api, bank, "100.00", "2026-02-10", revenue)
    assert list_open(api, planned) == {"2026-02-10": "20.00"}
    settled = api.post(f"planned_transactions/{invoice['id']}/settle", {"date": "2026-02-03", "transactionId": paid})
    assert settled.status_code == 200
    assert list_open(api, planned) == {"2026-02-10": "100.00"}


def test_planned_total_ignores_other_categories_months_and_pending(
    api, books, bank, set_today, revenue, receive_payment
):
    set_today(TWENTIETH)
    receive_payment("1.00", "2026-01-31", revenue)
    receive_payment("2.00", "2026-03-01", revenue)
    receive_payment("4.00", "2026-02-05", books.get_category_id("revenueOneOff"))
    receive_payment("8.00", "2026-02-05", revenue, pending=True)
    receive_payment("16.00", "2026-02-05", revenue)
    planned = plan_total(api, bank, "100.00", "2026-02-10", revenue)
    assert list_open(api, planned) == {"2026-02-10": "84.00"}


def test_planned_total_subtracts_refunds_but_open_never_exceeds_planned(api, bank, set_today, revenue, receive_payment):
    set_today(TWENTIETH)
    planned = plan_total(api, bank, "100.00", "2026-02-10", revenue)
    receive_payment("-30.00", "2026-02-05", revenue)
    assert list_open(api, planned) == {"2026-02-10": "100.00"}
    receive_payment("90.00", "2026-02-06", revenue)
    assert list_open(api, planned) == {"2026-02-10": "40.00"}


def test_planned_total_converts_foreign_currency_at_rate_of_the_day(
    api, books, bank, set_today, revenue, receive_payment
):
    set_today(date(2025, 2, 20))
    planned = plan_total(api, bank, "1000.00", "2025-02-15", revenue)
    dollars = books.create_account(name="Dollars", defaultCurrency="USD")
    receive_payment("500.00", "2025-02-10", revenue, account=dollars, amountCurrency="USD")
    assert list_open(api, planned, start="2025-02-01", end="2025-02-28") == {"2025-02-15": "515.50"}, "500 / 1.0320"


def test_planned_totals_on_several_accounts_share_booked_amount(
    api, query_data, books, bank, set_today, revenue, receive_payment
):
    set_today(TWENTIETH)
    second = books.create_account(name="Second")
    early = plan_total(api, second, "100.00", "2026-02-02", revenue)
    late = plan_total(api, bank, "100.00", "2026-02-25", revenue)
    receive_payment("130.00", "2026-02-05", revenue)
    assert list_open(api, late) == {"2026-02-25": "0.00"}, "first for the account that it came on"
    assert list_open(api, early) == {"2026-02-02": "70.00"}
    assert query_data(QUERY, endDate="2026-02-28")["plannedInflow"] == 70


def test_planned_total_respects_skipped_moved_and_changed_occurrences(api, bank, set_today, revenue, receive_payment):
    set_today(TWENTIETH)
    planned = plan_total(
        api, bank, "100.00", "2026-02-10", revenue,
        overrides={"2026-02-10": {"skipped": True}, "2026-03-10": {"date": "2026-02-24", "amountValue": "60.00"}},
    )  # fmt: skip
    receive_payment("45.00", "2026-02-05", revenue)
    assert list_open(api, planned, end="2026-04-30") == {"2026-02-24": "15.00", "2026-04-10": "100.00"}
    assert list_due(api)["2026-02-10"] == ("skipped", "0.00")


def test_planned_total_is_not_matched_or_settled_by_import(api, books, bank, set_today, revenue):
    set_today(TWENTIETH)
    plan_total(api, bank, "100.00", "2026-02-10", revenue)
    row = {"accountId": bank, "date": "2026-02-10", "fromTo": "x", "description": "", "amountValue": "100.00"}
    assert api.post("transactions/import", {"transactions": [row]}).status_code == 200
    assert api.get("transactions").json()[0]["settlements"] == []
    window = {"startDate": "2026-02-01", "endDate": "2026-02-28"}
    assert api.post("planned_transactions/matches", window).json() == []


def test_open_amounts_of_single_planned_transaction(api, books, bank, set_today):
    set_today(TWENTIETH)
    settled = books.create_transaction(bank, "-95.00", "2026-02-05")["id"]
    rent = create_planned_transaction(api, bank, "-100.00", "2026-02-01", recurrence={"frequency": "month"})
    body = {"date": "2026-02-01", "transactionId": settled}
    assert api.post(f"planned_transactions/{rent['id']}/settle", body).status_code == 200
    assert rent["settledBy"] == "transaction"
    assert list_open(api, rent, end="2026-03-31") == {"2026-02-01": "-5.00", "2026-03-01": "-100.00"}


def test_planned_total_requires_category(api, bank, revenue):
    body = {
        "accountId": bank, "name": "All", "startDate": "2026-02-10", "amountValue": "100.00", "settledBy": "category",
    }  # fmt: skip
    refused = api.post("planned_transactions", body)
    assert refused.status_code == 400
    assert [(each["pointer"], each["code"]) for each in refused.json()["errors"]] == [("#/categoryId", "required")]
    assert api.post("planned_transactions", body | {"settledBy": "month"}).status_code == 400
    made = api.post("planned_transactions", body | {"categoryId": revenue}).json()
    assert made["settledBy"] == "category"
    path = f"planned_transactions/{made['id']}"
    assert api.put(path, {"categoryId": None}).status_code == 400
    changed = api.put(path, {"settledBy": "transaction", "categoryId": None})
    assert (changed.status_code, changed.json()["settledBy"]) == (200, "transaction")


CENTS = st.integers(1, 90_000).map(lambda cents: Decimal(cents) / 100)


@given(
    sign=st.sampled_from([1, -1]),
    planned=st.lists(st.tuples(CENTS, st.integers(1, 28)), min_size=1, max_size=3),
    booked=st.lists(st.tuples(CENTS, st.integers(1, 28)), max_size=4),
    today=st.integers(1, 28),
)
@settings(max_examples=10)
def test_booked_plus_open_is_the_larger_of_planned_and_booked_amount(
    api, query_data, books, set_today, sign, planned, booked, today
):
    set_today(date(2026, 2, today))
    account = books.create_account(name="Any")
    category = api.post("categories", {"name": "Any", "plTypes": ["neutral"]}).json()["id"]
    rows = [plan_total(api, account, f"{sign * amount}", f"2026-02-{day:02}", category) for amount, day in planned]
    for amount, day in booked:
        made = books.create_transaction(account, f"{sign * amount}", f"2026-02-{day:02}")["id"]
        part = {"categoryId": category, "plSplit": {"neutral": float(sign * amount)}}
        assert books.set_categorizations(made, part).status_code == 200
    end = date(2026, 2, 28) + timedelta(days=today == 28)  # what is due today is expected tomorrow
    result = query_data(QUERY, endDate=str(end), accountIds=[account])
    total = max(sum(amount for amount, _ in planned), sum((amount for amount, _ in booked), start=Decimal(0)))
    assert Decimal(str(result["projected"][-1]["value"] if result["projected"] else 0)) == sign * total
    flows = query_data("forecastCashFlowTimeSeries", startDate="2026-02-01", endDate=str(end), interval="month")
    names = ("inflow", "plannedInflow") if sign > 0 else ("outflow", "plannedOutflow")
    assert sum(Decimal(str(point["value"])) for name in names for point in flows[name]) == total
    still_open = [amount for row in rows for amount in list_open(api, row).values()]
    assert sum(map(Decimal, still_open)) + sign * sum((a for a, _ in booked), start=Decimal(0)) == sign * total
    for row in rows:
        assert api.delete(f"planned_transactions/{row['id']}").status_code == 200
    for row in api.get("transactions", {"accountId": account}).json():
        assert api.delete(f"transactions/{row['id']}").status_code == 200
