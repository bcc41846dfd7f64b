"""The profit and loss statement by longer periods, compared with others, up to today, and down to its transactions."""

from collections import defaultdict
from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.calc.months import add_months, get_first_day_of_month, get_last_day_of_month
from ledger.money.calc.money import round_half_up
from tests.analytics.queries.test_revenue_and_expenses import book_categorized, create_plan_item
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db
RUNNING = get_first_day_of_month(TODAY)


def list_row_values(rows, *fields):
    return [tuple(row[field] for field in fields) for row in rows]


def book_revenue(books, bank, amount, day, **more):
    book_categorized(books, bank, amount, day, "revenueRecurring", "revenue", **more)


def test_profit_and_loss_groups_months_by_calendar_quarter_and_year(api, query_data, books, bank):
    for month in range(1, 8):
        book_revenue(books, bank, f"{month}.00", f"2024-0{month}-10")
    create_plan_item(api, books, "revenueRecurring", "revenue", "2024-02", 10, duration=3)
    query = {"startMonth": "2024-02", "endMonth": "2024-07"}
    fields = ("month", "actual", "planned")
    assert list_row_values(query_data("profitAndLoss", **query, interval="quarter"), *fields) == [
        ("2024-01", 2 + 3, 20), ("2024-04", 4 + 5 + 6, 10), ("2024-07", 7, 0),
    ]  # fmt: skip
    assert list_row_values(query_data("profitAndLoss", **query, interval="year"), *fields) == [("2024-01", 27, 30)]
    assert query_data("profitAndLoss", **query, interval="month") == query_data("profitAndLoss", **query)


def test_profit_and_loss_compares_with_previous_period_or_previous_year(api, query_data, books, bank):
    for day, amount in (("2023-02-10", "7.00"), ("2023-11-10", "5.00"), ("2024-01-10", "1.00"), ("2024-02-10", "2.00")):
        book_revenue(books, bank, amount, day)
    book_categorized(books, bank, "-9.00", "2024-01-20", "hosting", "cogs")
    query, fields = {"startMonth": "2024-02", "endMonth": "2024-02"}, ("plType", "actual", "comparisonActual")
    assert list_row_values(query_data("profitAndLoss", **query), *fields) == [("revenue", 2, None)]
    assert list_row_values(query_data("profitAndLoss", **query, comparison="previousPeriod"), *fields) == [
        ("revenue", 2, 1), ("cogs", 0, 9),
    ]  # fmt: skip
    assert list_row_values(query_data("profitAndLoss", **query, comparison="previousYear"), *fields) == [
        ("revenue", 2, 7)
    ]
    quarter = {"startMonth": "2024-01", "endMonth": "2024-03", "interval": "quarter"}
    assert list_row_values(query_data("profitAndLoss", **quarter, comparison="previousPeriod"), *fields) == [
        ("revenue", 3, 5), ("cogs", 9, 0),
    ]  # fmt: skip
    assert list_row_values(query_data("profitAndLoss", **quarter, comparison="previousYear"), *fields) == [
        ("revenue", 3, 7), ("cogs", 9, 0),
    ]  # fmt: skip


def test_profit_and_loss_of_first_calendar_month_has_zero_comparison(query_data, books, bank):
    book_revenue(books, bank, "1.00", "0001-01-10")
    query = {"startMonth": "0001-01", "endMonth": "0001-01", "comparison": "previousYear"}
    assert list_row_values(query_data("profitAndLoss", **query), "actual", "comparisonActual") == [(1, 0)]


def test_profit_and_loss_to_date_prorates_plan_and_excludes_later_months(api, query_data, books, bank):
    first = add_months(RUNNING, -1)
    book_revenue(books, bank, "50.00", str(RUNNING))
    create_plan_item(api, books, "revenueRecurring", "revenue", f"{first:%Y-%m}", 1000)
    query = {"startMonth": f"{first:%Y-%m}", "endMonth": f"{add_months(RUNNING, 2):%Y-%m}"}
    share = round_half_up(Decimal(1000) * TODAY.day / get_last_day_of_month(TODAY).day, "EUR")
    rows = query_data("profitAndLoss", **query, toDate=True)
    assert list_row_values(rows, "month", "planned") == [(f"{first:%Y-%m}", 1000), (f"{RUNNING:%Y-%m}", float(share))]
    assert rows[1]["percentage"] == float(round_half_up(Decimal(5000) / share, "EUR"))
    assert len(query_data("profitAndLoss", **query)) == 4
    later = {"startMonth": f"{add_months(RUNNING, 1):%Y-%m}", "endMonth": f"{add_months(RUNNING, 2):%Y-%m}"}
    assert query_data("profitAndLoss", **later, toDate=True) == []


@pytest.mark.parametrize(
    ("today", "parameters", "now", "before"),
    [
        ("2024-11-22", {"comparison": "previousPeriod"}, 1, 16 + 22),
        ("2024-11-22", {"comparison": "previousPeriod", "interval": "quarter"}, 1 + 2 + 16 + 31, 128 + 512 + 22),
        ("2024-11-22", {"comparison": "previousYear", "interval": "year"}, 1 + 2 + 16 + 128 + 256 + 512 + 92, 1024),
        ("2024-11-30", {"comparison": "previousPeriod"}, 1, 2 + 16 + 31),
    ],
    ids=["month", "quarter", "year", "on a month's last day all of it"],
)
def test_profit_and_loss_to_date_compares_up_to_same_day(
    query_data, books, bank, set_today, today, parameters, now, before
):
    for day, amount in (
        ("2024-11-03", "1.00"), ("2024-10-23", "2.00"), ("2024-10-22", "16.00"), ("2024-08-22", "128.00"),
        ("2024-08-23", "256.00"), ("2024-07-31", "512.00"), ("2023-11-22", "1024.00"), ("2023-11-23", "2048.00"),
    ):  # fmt: skip
        book_revenue(books, bank, amount, day)
    months = {"type": "servicePeriod", "startDate": "2024-08-01", "endDate": "2024-10-31"}
    book_revenue(books, bank, "92.00", "2024-08-01", rule=months)
    set_today(date.fromisoformat(today))
    first = {"quarter": "2024-10", "year": "2024-01"}.get(parameters.get("interval"), "2024-11")
    rows = query_data("profitAndLoss", startMonth=first, endMonth="2024-12", toDate=True, **parameters)
    assert list_row_values(rows, "month", "actual", "comparisonActual")[-1:] == [(first, now, before)]


PARTS = st.lists(
    st.tuples(
        st.sampled_from(["EUR", "USD", "JPY"]),
        st.integers(-9_000, 9_000).filter(bool),
        st.dates(date(2023, 11, 1), date(2024, 8, 31)),
        st.integers(0, 200),
        st.integers(0, 1),
        st.sampled_from(["ga", "no", "neutral"]),
    ),
    min_size=1,
    max_size=6,
)


@given(parts=PARTS, interval=st.sampled_from(["month", "quarter", "year"]))
@settings(max_examples=5)
def test_profit_and_loss_row_equals_sum_of_its_transactions(api, query_data, books, bank, parts, interval):
    made = [api.post("categories", {"name": name, "plTypes": ["ga", "no", "neutral"]}).json()["id"] for name in "ab"]
    behind = {}
    for currency, amount, day, length, category, line in parts:
        row = books.create_transaction(bank, f"{amount}", str(day), amountCurrency=currency)["id"]
        rule = {"type": "servicePeriod", "startDate": str(day), "endDate": str(day + timedelta(days=length))}
        part = {"categoryId": made[category], "plSplit": {line: amount}, "usingDateRule": rule}
        assert books.set_categorizations(row, part).status_code == 200
        behind[row] = (made[category], line)
    rows = query_data("profitAndLoss", startMonth="2024-01", endMonth="2024-08", interval=interval)
    rows = [row for row in rows if row["categoryId"] in made]
    for row in rows:
        page = api.get(row["transactionsUrl"])
        assert page.status_code == 200, page.content
        assert Decimal(page["X-Total-Amount"]) == Decimal(str(row["actual"]))
        assert int(page["X-Total-Count"]) == len(page.json()) > 0
        assert {behind[each["id"]] for each in page.json()} == {(row["categoryId"], row["plType"])}
    assert api.get(rows[0]["transactionsUrl"] + "&total=true").status_code == 200 if rows else True


PLANS = st.lists(
    st.tuples(st.sampled_from(["EUR", "USD", "GBP"]), st.integers(-9_000, 9_000).filter(bool), st.integers(1, 8)),
    max_size=3,
)


@given(parts=PARTS, plans=PLANS)
@settings(max_examples=5)
def test_profit_and_loss_quarters_and_years_equal_sum_of_months(api, query_data, books, bank, parts, plans):
    made = [api.post("categories", {"name": name, "plTypes": ["ga", "no", "neutral"]}).json()["id"] for name in "ab"]
    for currency, amount, day, length, category, line in parts:
        row = books.create_transaction(bank, f"{amount}", str(day), amountCurrency=currency)["id"]
        rule = {"type": "servicePeriod", "startDate": str(day), "endDate": str(day + timedelta(days=length))}
        part = {"categoryId": made[category], "plSplit": {line: amount}, "usingDateRule": rule}
        assert books.set_categorizations(row, part).status_code == 200
    for currency, value, month in plans:
        amount = {"type": "fixed", "amount": {"value": value, "currency": currency}}
        item = {"month": f"2024-0{month}", "plType": "ga", "categoryId": made[0], "frequency": 1, "amount": amount}
        assert api.post("plan_items", item).status_code == 201
    query = {"startMonth": "2023-10", "endMonth": "2024-09", "comparison": "previousYear"}

    def sums(interval, length):
        result = defaultdict(lambda: [Decimal(0)] * 3)
        for row in query_data("profitAndLoss", **query, interval=interval):
            year, month = map(int, row["month"].split("-"))
            key = (row["plType"], row["categoryId"], year, (month - 1) // length)
            shown = (Decimal(str(row[field])) for field in ("actual", "planned", "comparisonActual"))
            result[key] = [sum(pair) for pair in zip(result[key], shown, strict=True)]
        return result

    assert sums("month", 3) == sums("quarter", 3)
    assert sums("month", 12) == sums("quarter", 12) == sums("year", 12)


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"interval": "week"}, "#/interval"),
        ({"comparison": "plan"}, "#/comparison"),
        ({"toDate": "2024-01-31"}, "#/toDate"),
    ],
)
def test_profit_and_loss_rejects_invalid_parameters(api, more, pointer):
    refused = api.post("data/profitAndLoss", {"startMonth": "2024-01", "endMonth": "2024-01"} | more)
    assert refused.status_code == 400
    assert [error["pointer"] for error in refused.json()["errors"]] == [pointer]
