"""A month under way counts up to today, what it is compared with to the same day, and so do the rows behind them."""

from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analytics.queries.test_profit_and_loss import PARTS
from tests.analytics.queries.test_revenue_and_expenses import book_categorized

pytestmark = pytest.mark.django_db


def book_revenue(books, bank, amount, day, **more):
    return book_categorized(books, bank, amount, day, "revenueRecurring", "revenue", **more)


def list_row_values(rows):
    return [(row["plType"], row["actual"], row["comparisonActual"]) for row in rows]


def read_total(api, address):
    page = api.get(address)
    assert page.status_code == 200, page.content
    assert int(page["X-Total-Count"]) == len(page.json())
    return Decimal(page["X-Total-Amount"]), {row["id"] for row in page.json()}


def test_month_to_date_leaves_out_future_dates(api, query_data, books, bank, set_today):
    set_today(date(2024, 11, 23))
    now = {book_revenue(books, bank, "100.00", "2024-11-23")}
    book_revenue(books, bank, "7.00", "2024-11-28")
    book_revenue(books, bank, "40.00", "2024-10-23")
    book_revenue(books, bank, "9.00", "2024-10-24")
    for month, days, worth in (("11", 30, "300.00"), ("10", 31, "310.00")):
        contract = {"type": "servicePeriod", "startDate": f"2024-{month}-01", "endDate": f"2024-{month}-{days}"}
        made = book_revenue(books, bank, worth, f"2024-{month}-02", rule=contract)
        now |= {made} if month == "11" else set()
    book_categorized(books, bank, "-60.00", "2024-11-10", "officeAndAdmin", "ga", rule={"type": "month"})
    query = {"startMonth": "2024-11", "endMonth": "2024-11", "comparison": "previousPeriod"}
    rows = query_data("profitAndLoss", **query, toDate=True)
    assert list_row_values(rows) == [("revenue", 100 + 230, 40 + 230), ("ga", 46, 0)]
    assert read_total(api, rows[0]["transactionsUrl"]) == (330, now)
    assert read_total(api, rows[1]["transactionsUrl"])[0] == 46
    assert list_row_values(query_data("profitAndLoss", **query)) == [("revenue", 407, 359), ("ga", 60, 0)], (
        "whole without toDate"
    )
    set_today(date(2024, 11, 30))
    assert list_row_values(query_data("profitAndLoss", **query, toDate=True)) == [("revenue", 407, 359), ("ga", 60, 0)]


def test_month_to_date_invoice_date_moves_only_revenue_part_of_split(api, query_data, books, bank, set_today):
    set_today(date(2024, 11, 23))
    rule = {"type": "transactionDate", "invoiceDate": "2024-11-25"}
    made = books.create_transaction(bank, "80.00", "2024-11-20")["id"]
    category = api.post("categories", {"name": "Both", "plTypes": ["revenue", "no"]}).json()["id"]
    part = {"categoryId": category, "plSplit": {"revenue": 50, "no": 30}, "usingDateRule": rule}
    assert books.set_categorizations(made, part).status_code == 200
    for row in query_data("profitAndLoss", startMonth="2024-11", endMonth="2024-11", toDate=True):
        assert read_total(api, row["transactionsUrl"])[0] == Decimal(str(row["actual"]))
        assert row["plType"] == "revenue" or row["actual"] == 30


@given(parts=PARTS, today=st.dates(date(2024, 2, 1), date(2024, 8, 31)), interval=st.sampled_from(["month", "quarter"]))
@settings(max_examples=8)
def test_month_to_date_amounts_equal_sum_of_their_transactions(
    api, query_data, books, bank, set_today, parts, today, interval
):
    made = [api.post("categories", {"name": name, "plTypes": ["ga", "no", "neutral"]}).json()["id"] for name in "ab"]
    by_hand = Decimal(0)
    start = today.replace(day=1)
    for currency, amount, day, length, category, line in parts:
        row = books.create_transaction(bank, f"{amount}", str(day), amountCurrency=currency)["id"]
        end = day + timedelta(days=length)
        rule = {"type": "servicePeriod", "startDate": str(day), "endDate": str(end)}
        part = {"categoryId": made[category], "plSplit": {line: amount}, "usingDateRule": rule}
        assert books.set_categorizations(row, part).status_code == 200
        if currency == "EUR" and line == "no":
            days = (min(end, today) - max(day, start)).days + 1
            by_hand += Decimal(amount) * max(days, 0) / (length + 1)
    set_today(today)
    month = f"{today:%Y-%m}"
    rows = query_data("profitAndLoss", startMonth="2024-01", endMonth=month, interval=interval, toDate=True)
    mine = [row for row in rows if row["categoryId"] in made]
    for row in mine:
        amount, result = read_total(api, row["transactionsUrl"])
        assert amount == Decimal(str(row["actual"]))
        assert result or not amount
    if interval == "month" and all(currency == "EUR" for currency, *_ in parts):
        shown = sum(Decimal(str(row["actual"])) for row in mine if (row["plType"], row["month"]) == ("no", month))
        off = Decimal("0.01") * (len(parts) + 2)
        assert abs(shown - by_hand.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)) <= off


def test_recognized_by_date_filters_transactions(api, books, bank):
    made = books.create_transaction(bank, "-30.00", "2024-03-05")["id"]
    books.set_categorizations(made, {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -30}})
    for query, result in (
        ({"recognizedBy": "2024-03-04"}, 0), ({"recognizedBy": "2024-03-05"}, 1), ({"recognizedBy": "2024-04-01"}, 1),
        ({"recognizedBy": "2024-04-01", "recognizedTo": "2024-02"}, 0),
        ({"recognizedBy": "2024-04-01", "recognizedFrom": "2024-04"}, 0),
    ):  # fmt: skip
        assert len(api.get("transactions", query).json()) == result, query
        assert (
            read_total(api, f"transactions?total=true&{'&'.join('='.join(pair) for pair in query.items())}") is not None
        )
    assert api.get("transactions", {"recognizedBy": "2024-03"}).status_code == 400
