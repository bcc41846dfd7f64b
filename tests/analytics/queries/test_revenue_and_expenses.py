"""Revenue and expense bars, and profit and loss beside its plan, over HTTP."""

import json
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.calc.months import add_months, get_first_day_of_month, get_last_day_of_month
from ledger.money.calc.fx import convert_currency
from ledger.money.calc.money import round_half_up
from ledger.money.rates import get_rate_table
from tests import factories
from tests.ledger.conftest import Books
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db
RUNNING = get_first_day_of_month(TODAY)
EXAMPLES = json.loads((Path(__file__).parents[2] / "data" / "revrec_examples.json").read_text())


def book_categorized(books, account, amount, day, key, line, *, part=None, rule=None, **values):
    made = books.create_transaction(account, amount, day, **values)
    parts = {"categoryId": books.get_category_id(key), "plSplit": {line: float(part or amount)}}
    answer = books.set_categorizations(made["id"], parts | ({"usingDateRule": rule} if rule else {}))
    assert answer.status_code == 200, answer.content
    return made["id"]


def query_bars(query_data, first, last):
    """Month -> what is not zero."""
    rows = query_data("revenueExpensesBar", startDate=first, endDate=last)
    return {row["month"]: {name: value for name, value in row.items() if value and name != "month"} for row in rows}


def test_revenue_bars_split_by_category_and_expenses_are_positive(query_data, books, bank):
    for key in ("revenueRecurring", "revenueOneOff", "revenueUsage", "revenueOther"):
        book_categorized(books, bank, "100.00", "2024-01-31", key, "revenue")
    book_categorized(books, bank, "-30.00", "2024-01-10", "hosting", "cogs")
    book_categorized(books, bank, "4.00", "2024-01-12", "hosting", "cogs")
    book_categorized(books, bank, "-20.00", "2024-02-10", "marketing", "cac")
    book_categorized(books, bank, "-7.00", "2024-02-10", "productDevelopment", "pd")
    book_categorized(books, bank, "-6.00", "2024-02-10", "officeAndAdmin", "ga")
    book_categorized(books, bank, "-5.00", "2024-02-10", "interest", "no")
    rows = query_data("revenueExpensesBar", startDate="2024-01-15", endDate="2024-03-01")
    assert list(rows[0]) == [
        "month",
        "revenueRecurring",
        "revenueOneOff",
        "revenueUsage",
        "revenueOther",
        "cogs",
        "cac",
        "pd",
        "ga",
    ]
    assert query_bars(query_data, "2024-01-15", "2024-03-01") == {
        "2024-01": {
            "revenueRecurring": 100,
            "revenueOneOff": 100,
            "revenueUsage": 100,
            "revenueOther": 100,
            "cogs": 26,
        },
        "2024-02": {"cac": 20, "pd": 7, "ga": 6},
        "2024-03": {},
    }


def test_custom_revenue_category_counts_as_other_revenue(api, query_data, books, bank):
    own = api.post("categories", {"name": "Royalties", "plTypes": ["revenue"]}).json()["id"]
    made = books.create_transaction(bank, "12.00", "2024-01-10")
    assert books.set_categorizations(made["id"], {"categoryId": own, "plSplit": {"revenue": 12}}).status_code == 200
    assert query_bars(query_data, "2024-01-01", "2024-01-31") == {"2024-01": {"revenueOther": 12}}


def test_quarterly_prepayment_is_recognized_over_three_months(query_data, books, bank):
    book_categorized(books, bank, "91.00", "2024-01-02", "revenueRecurring", "revenue", rule={"type": "quarter"})
    assert query_bars(query_data, "2023-12-01", "2024-04-30") == {
        "2023-12": {},
        "2024-01": {"revenueRecurring": 31},
        "2024-02": {"revenueRecurring": 29},
        "2024-03": {"revenueRecurring": 31},
        "2024-04": {},
    }


@pytest.mark.parametrize("example", [each for each in EXAMPLES if "byDay" in each], ids=lambda each: each["start"])
def test_revenue_recognition_matches_published_example(make_api, example):
    api = make_api(factories.make_company(name="Published", base_currency=example["currency"]))
    books = Books(api)
    rule = {"type": "servicePeriod", "startDate": example["start"], "endDate": example["end"]}
    account = books.create_account(defaultCurrency=example["currency"])
    book_categorized(books, account, example["amount"], example["start"], "revenueRecurring", "revenue", rule=rule)
    rows = api.post("data/revenueExpensesBar", {"startDate": example["start"], "endDate": example["end"]}).json()
    result = {row["month"]: Decimal(str(row["revenueRecurring"])) for row in rows}
    assert {month: result[month] for month in example["byDay"]} == {
        month: Decimal(amount) for month, amount in example["byDay"].items()
    }
    assert sum(result.values()) == Decimal(example["amount"])


def test_recognized_amounts_use_rate_of_transaction_date(query_data, books, bank):
    rule = {"type": "servicePeriod", "startDate": "2024-03-01", "endDate": "2024-03-31"}
    book_categorized(books, bank, "100.00", "2024-01-02", "revenueOneOff", "revenue", rule=rule, amountCurrency="USD")
    worth = convert_currency(Decimal(100), source="USD", target="EUR", day=date(2024, 1, 2), rates=get_rate_table())
    assert query_bars(query_data, "2024-03-01", "2024-03-31")["2024-03"]["revenueOneOff"] == float(
        round_half_up(worth, "EUR")
    )


@given(
    cents=st.integers(1, 10**7),
    start=st.dates(date(2022, 1, 1), date(2023, 12, 31)),
    days=st.integers(0, 500),
    base=st.sampled_from(["EUR", "JPY"]),
)
@settings(max_examples=6)
def test_recognized_months_sum_to_full_amount(db, make_api, cents, start, days, base):
    api = make_api(factories.make_company(name="Any", base_currency=base))
    books = Books(api)
    amount = str(Decimal(cents) / 100) if base == "EUR" else str(cents)
    end = date.fromordinal(start.toordinal() + days)
    rule = {"type": "custom", "startDate": str(start), "endDate": str(end)}
    book_categorized(books, books.create_account(), amount, str(start), "revenueUsage", "revenue", rule=rule)
    rows = api.post("data/revenueExpensesBar", {"startDate": str(start), "endDate": str(end)}).json()
    assert sum(Decimal(str(row["revenueUsage"])) for row in rows) == Decimal(amount)


# Profit and loss


def query_statement(query_data, first, last, **more):
    rows = query_data("profitAndLoss", startMonth=first, endMonth=last, **more)
    return [
        (row["month"], row["plType"], row["categoryName"], row["actual"], row["planned"], row["percentage"])
        for row in rows
    ]


def create_plan_item(api, books, key, line, month, amount, currency="EUR", **more):
    body = {
        "month": month,
        "plType": line,
        "categoryId": books.get_category_id(key),
        "amount": {"type": "fixed", "amount": {"value": amount, "currency": currency}},
    }
    answer = api.post("plan_items", body | more)
    assert answer.status_code == 201, answer.content


def test_profit_and_loss_shows_actual_next_to_planned(api, query_data, books, bank):
    this, following = f"{RUNNING:%Y-%m}", f"{add_months(RUNNING, 1):%Y-%m}"
    names = {each["systemKey"]: each["name"] for each in api.get("categories").json()}
    book_categorized(books, bank, "250.00", str(RUNNING), "revenueRecurring", "revenue")
    book_categorized(books, bank, "-30.00", str(RUNNING), "hosting", "cogs")
    book_categorized(books, bank, "-5.00", str(RUNNING), "interest", "no")
    create_plan_item(api, books, "revenueRecurring", "revenue", this, 1000)
    create_plan_item(api, books, "marketing", "cac", following, 100, frequency=0)
    assert query_statement(query_data, this, following) == [
        (this, "revenue", names["revenueRecurring"], 250, 1000, 25),
        (this, "cogs", names["hosting"], 30, 0, None),
        (this, "no", names["interest"], -5, 0, None),
        (following, "revenue", names["revenueRecurring"], 0, 1000, 0),
        (following, "cac", names["marketing"], 0, 100, 0),
    ]


def test_profit_and_loss_shows_past_percentages_if_enabled_for_company(api, query_data, books, bank):
    book_categorized(books, bank, "50.00", "2024-01-10", "revenueOneOff", "revenue")
    create_plan_item(api, books, "revenueOneOff", "revenue", "2024-01", 150, duration=1)
    assert [row[3:] for row in query_statement(query_data, "2024-01", "2024-02")] == [(50, 150, None)]
    api.put("", {"plShowPlanningPercentageForPastMonths": True})
    assert [row[3:] for row in query_statement(query_data, "2024-01", "2024-02")] == [(50, 150, 33.33)]


def test_profit_and_loss_shows_empty_categories_if_requested_or_enabled(api, query_data):
    assert query_statement(query_data, "2024-01", "2024-01") == []
    every = query_statement(query_data, "2024-01", "2024-02", showAllCategories=True)
    categories = api.get("categories").json()
    assert len(every) == 2 * sum(len(each["plTypes"]) for each in categories)
    assert {row[3:] for row in every} == {(0, 0, None)}
    api.put("", {"plShowAllCategories": True})
    assert query_statement(query_data, "2024-01", "2024-02") == every
    assert query_statement(query_data, "2024-01", "2024-02", showAllCategories=False) == []


def test_profit_and_loss_converts_plan_at_latest_rate_of_its_month(api, query_data, books):
    create_plan_item(api, books, "revenueUsage", "revenue", "2024-02", 100, "USD", duration=1)
    (row,) = query_statement(query_data, "2024-01", "2024-03")
    worth = convert_currency(
        Decimal(100), source="USD", target="EUR", day=get_last_day_of_month(date(2024, 2, 1)), rates=get_rate_table()
    )
    assert Decimal(str(row[4])) == round_half_up(worth, "EUR")


def test_profit_and_loss_excludes_transfers_pending_and_initial_balances(api, query_data, books, bank):
    savings = books.create_account(name="Savings")
    out, into = (
        books.create_transaction(bank, "-200.00", "2024-01-03"),
        books.create_transaction(savings, "200.00", "2024-01-03"),
    )
    assert books.link_transfer(out["id"], into["id"]).status_code == 200
    book_categorized(books, bank, "50.00", "2024-01-10", "revenueOneOff", "revenue", pending=True)
    api.put(f"accounts/{bank}/initial_balance", {"date": "2024-01-01", "amountValue": "1000.00"})
    assert query_statement(query_data, "2024-01", "2024-01") == []


def test_revenue_and_profit_and_loss_queries_reject_invalid_parameters(api):
    for query, body, pointer, code in [
        ("revenueExpensesBar", {"startDate": "2024-02-01", "endDate": "2024-01-01"}, "#/endDate", "end_before_start"),
        ("revenueExpensesBar", {"startDate": "2000-01-01", "endDate": "2010-01-02"}, "#/endDate", "window_too_long"),
        ("revenueExpensesBar", {"startDate": 5, "endDate": "2020-01-02"}, "#/startDate", "invalid_value"),
        ("profitAndLoss", {"startMonth": "2024-01"}, "#/endMonth", "required"),
        ("profitAndLoss", {"startMonth": "2024-02", "endMonth": "2024-01"}, "#/endMonth", "end_before_start"),
        ("profitAndLoss", {"startMonth": "2000-01", "endMonth": "2020-01"}, "#/endMonth", "window_too_long"),
        ("profitAndLoss", {"startMonth": "2024-1", "endMonth": "2024-02"}, "#/startMonth", "invalid_month"),
        (
            "profitAndLoss",
            {"startMonth": "2024-01", "endMonth": "2024-02", "showAllCategories": "yes"},
            "#/showAllCategories",
            "invalid_value",
        ),
    ]:
        refused = api.post(f"data/{query}", body)
        assert refused.status_code == 400, refused.content
        assert [(error["pointer"], error["code"]) for error in refused.json()["errors"]] == [(pointer, code)], query


def test_revenue_and_profit_and_loss_need_permission_and_stay_in_company(
    make_api, acme, globex_api, query_data, books, bank
):
    book_categorized(books, bank, "50.00", "2024-01-10", "revenueOneOff", "revenue")
    window = {"startDate": "2024-01-01", "endDate": "2024-01-31"}
    months = {"startMonth": "2024-01", "endMonth": "2024-01"}
    assert make_api(acme, "balances:read").post("data/revenueExpensesBar", window).status_code == 403
    assert make_api(acme, "balances:read").post("data/profitAndLoss", months).status_code == 403
    assert globex_api.post("data/revenueExpensesBar", window).json()[0]["revenueOneOff"] == 0
    assert globex_api.post("data/profitAndLoss", months).json() == []
