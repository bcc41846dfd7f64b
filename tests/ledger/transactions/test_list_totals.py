"""The list of transactions: by the months in which they count, and what they come to."""

import re
from datetime import date, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.money.calc.fx import convert_currency
from ledger.money.calc.money import round_half_up
from ledger.money.rates import get_rate_table

pytestmark = pytest.mark.django_db


def get_totals(answer):
    assert answer.status_code == 200, answer.content
    return int(answer["X-Total-Count"]), Decimal(answer["X-Total-Amount"])


def list_transaction_ids(api, **query):
    answer = api.get("transactions", query)
    assert answer.status_code == 200, answer.content
    return {row["id"] for row in answer.json()}


def test_list_total_covers_all_pages_if_requested(api, books, bank):
    for n in range(3):
        books.create_transaction(bank, "100.00", f"2024-01-0{n + 1}")
    books.create_transaction(bank, "-50.00", "2024-02-01", amountCurrency="USD")
    dollars = convert_currency(Decimal(50), source="USD", target="EUR", day=date(2024, 2, 1), rates=get_rate_table())
    page = api.get("transactions", {"total": "true", "limit": 1})
    assert len(page.json()) == 1
    assert get_totals(page) == (4, 300 - round_half_up(dollars, "EUR"))
    assert get_totals(api.get(page["Link"][1:].partition(">")[0])) == get_totals(page)
    assert get_totals(api.get("transactions", {"total": "true", "endDate": "2024-01-02"})) == (2, 200)
    assert get_totals(api.get("transactions", {"total": "true", "q": "nobody"})) == (0, 0)
    for query in ({}, {"total": "false"}):
        assert "X-Total-Count" not in api.get("transactions", query)


def test_transactions_are_filtered_by_recognition_months(api, books, bank):
    year = books.create_transaction(bank, "-1200.00", "2024-01-10")["id"]
    rule = {"type": "servicePeriod", "startDate": "2024-02-01", "endDate": "2025-01-31"}
    rent, hosting = books.get_category_id("officeAndAdmin"), books.get_category_id("hosting")
    books.set_categorizations(year, {"categoryId": rent, "plSplit": {"ga": -1200}, "usingDateRule": rule})
    once = books.create_transaction(bank, "-30.00", "2024-03-05")["id"]
    books.set_categorizations(
        once, {"categoryId": rent, "plSplit": {"ga": -10}}, {"categoryId": hosting, "plSplit": {"cogs": -20}}
    )
    books.create_transaction(bank, "-9.00", "2024-03-06")
    assert list_transaction_ids(api, recognizedFrom="2024-03", recognizedTo="2024-03") == {year, once}
    assert list_transaction_ids(api, recognizedTo="2024-01") == set()
    assert list_transaction_ids(api, recognizedFrom="2024-04") == {year}
    march = {"recognizedFrom": "2024-03", "recognizedTo": "2024-03"}
    assert list_transaction_ids(api, **march, plType="cogs") == {once}
    assert list_transaction_ids(api, **march, plType="cogs", categoryId=rent) == set(), "no part is both"
    assert get_totals(api.get("transactions", march | {"plType": "ga", "total": "true"})) == (2, Decimal("111.64"))
    assert get_totals(api.get("transactions", march | {"total": "true"})) == (2, Decimal("-131.64"))


SERVICE = ("2024-01-15", "2024-03-14")  # 60 days


def test_transactions_are_filtered_by_recognition_days(api, books, bank):
    row = books.create_transaction(bank, "-120.00", "2024-01-10")["id"]
    rule = {"type": "servicePeriod", "startDate": SERVICE[0], "endDate": SERVICE[1]}
    books.set_categorizations(
        row, {"categoryId": books.get_category_id("officeAndAdmin"), "plSplit": {"ga": -120}, "usingDateRule": rule}
    )
    for first, last, share in [
        (None, "2024-01-14", None),
        (None, "2024-01-15", "2"),
        ("2024-01-15", "2024-01-15", "2"),
        ("2024-01-20", "2024-01-29", "20"),
        ("2024-01-20", "2024-03-02", "86"),
        ("2024-02-01", "2024-02-29", "58"),
        ("2024-02", "2024-02", "58"),
        ("2024-02", "2024-02-10", "20"),
        ("2024-02-10", "2024-02", "40"),
        ("2024-03-14", None, "2"),
        ("2024-03-15", None, None),
        ("2024-02-11", "2024-02-10", None),
    ]:
        days = {name: day for name, day in (("recognizedFrom", first), ("recognizedTo", last)) if day}
        assert list_transaction_ids(api, **days) == ({row} if share else set()), first
        totals = get_totals(api.get("transactions", days | {"total": "true", "plType": "ga"}))
        assert totals == ((1, Decimal(share)) if share else (0, 0)), first


@pytest.mark.parametrize("currency", ["EUR", "JPY", "USD"])
def test_daily_totals_sum_to_the_month(api, books, bank, currency):
    row = books.create_transaction(bank, "-1000", "2024-01-10", amountCurrency=currency)["id"]
    rule = {"type": "servicePeriod", "startDate": "2024-01-15", "endDate": "2024-04-02"}
    rent = {"categoryId": books.get_category_id("officeAndAdmin"), "plSplit": {"ga": -1000}, "usingDateRule": rule}
    assert books.set_categorizations(row, rent).status_code == 200
    pages = [("2024-02-01", "2024-02-07"), ("2024-02-08", "2024-02-08"), ("2024-02-09", "2024-02-29")]

    def amount(first, last):
        query = {"recognizedFrom": first, "recognizedTo": last, "total": "true", "plType": "ga"}
        return get_totals(api.get("transactions", query))[1]

    days = [amount(*page) for page in pages]
    assert all(days)
    off = Decimal(0) if currency == "EUR" else Decimal("0.02")  # each window is rounded to cents of the base currency
    assert abs(sum(days) - amount("2024-02", "2024-02")) <= off
    if currency == "EUR":
        assert amount("2024-02-08", "2024-02-08") == Decimal("12.66")  # 316.46 up to the 8th, 303.80 up to the 7th


def test_single_day_amount_is_recognized_on_that_day(api, books, bank):
    row = books.create_transaction(bank, "-30.00", "2024-03-05")["id"]
    books.set_categorizations(row, {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -30}})
    assert list_transaction_ids(api, recognizedFrom="2024-03-05", recognizedTo="2024-03-05") == {row}
    assert (
        list_transaction_ids(api, recognizedTo="2024-03-04")
        == list_transaction_ids(api, recognizedFrom="2024-03-06")
        == set()
    )
    assert list_transaction_ids(api, recognizedBy="2024-03-05", recognizedFrom="2024-03-05") == {row}
    assert list_transaction_ids(api, recognizedBy="2024-03-04", recognizedFrom="2024-03-02") == set()


def test_bulk_selection_accepts_recognition_filters(api, books, bank):
    made = books.create_transaction(bank, "-30.00", "2024-03-05")["id"]
    books.set_categorizations(made, {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -30}})
    for month, affected in (("2024-02", 0), ("2024-03", 1)):
        chosen = {"mode": "filter", "filter": {"recognizedFrom": month, "recognizedTo": month}}
        assert api.post("transactions/uncategorize", {"selection": chosen}).json()["affected"] == affected


def test_malformed_total_and_recognition_filters_are_rejected(api):
    for query in [
        {"total": "1"},
        {"total": ""},
        {"recognizedFrom": "2024-13"},
        {"recognizedTo": "2024"},
        {"recognizedTo": "2024-02-30"},
    ]:
        refused = api.get("transactions", query)
        assert refused.status_code == 400, query
        assert [error["code"] for error in refused.json()["errors"]] == ["invalid_filter"], query


def test_total_adds_one_query_for_any_number_of_rows(api, books, bank):
    def statements(**query):
        with CaptureQueriesContext(
            connection,
        ) as seen:
            assert api.get("transactions", query).status_code == 200
        return len(seen)

    march = {"recognizedFrom": "2024-03", "recognizedTo": "2024-03"}
    for _ in range(2):
        made = books.create_transaction(bank, "-30.00", "2024-03-05")["id"]
        books.set_categorizations(made, {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -30}})
        assert statements(**march, total="true") == statements(**march) + 1


PARTS = st.lists(
    st.tuples(
        st.sampled_from(["EUR", "USD", "JPY"]), st.integers(1, 9_000), st.dates(date(2024, 1, 1), date(2024, 6, 30)),
        st.integers(0, 200), st.sampled_from(["ga", "no"]), st.booleans(),
    ),
    min_size=1, max_size=5,
)  # fmt: skip


@given(parts=PARTS)
@settings(max_examples=5)
def test_monthly_totals_of_a_line_sum_to_its_total(api, books, bank, parts):
    category = api.post("categories", {"name": "Any", "plTypes": ["ga", "no"]}).json()["id"]
    for currency, units, start, length, line, incoming in parts:
        value = units if incoming else -units
        made = books.create_transaction(bank, f"{value}", str(start), amountCurrency=currency)["id"]
        end = str(start + timedelta(days=length))
        rule = {"type": "servicePeriod", "startDate": str(start), "endDate": end}
        part = {"categoryId": category, "plSplit": {line: value}, "usingDateRule": rule}
        assert books.set_categorizations(made, part).status_code == 200
    rates = get_rate_table()
    for queries, sign in (("ga", -1), ("no", 1)):
        worth = sum(
            sign
            * convert_currency(
                Decimal(units if incoming else -units), source=currency, target="EUR", day=start, rates=rates
            )
            for currency, units, start, _, line, incoming in parts
            if line == queries
        )
        query = {"recognizedFrom": "2024-01", "recognizedTo": "2025-12", "plType": queries, "categoryId": category}
        count, amount = get_totals(api.get("transactions", query | {"total": "true"}))
        assert count == sum(line == queries for *_, line, _ in parts)
        assert abs(amount - Decimal(worth)) <= 24 * Decimal("0.005"), "each month is rounded"


def test_counted_amounts_of_listed_rows_sum_to_the_figure(api, books, bank, pages):
    rent, hosting = books.get_category_id("officeAndAdmin"), books.get_category_id("hosting")
    year = {"type": "servicePeriod", "startDate": "2024-01-01", "endDate": "2024-12-31"}
    for currency in ("EUR", "USD", "GBP", "EUR", "USD"):
        made = books.create_transaction(bank, "-1000.00", "2024-01-10", amountCurrency=currency)["id"]
        half = {"categoryId": rent, "plSplit": {"ga": -500}, "usingDateRule": year}
        assert (
            books.set_categorizations(made, half, {"categoryId": hosting, "plSplit": {"cogs": -500}}).status_code == 200
        )
    whole = books.create_transaction(bank, "-12.00", "2024-02-10")["id"]
    books.set_categorizations(whole, {"categoryId": rent, "plSplit": {"ga": -12}})
    for query in ({"plType": "ga"}, {"plType": "ga", "recognizedFrom": "2024-02"}, {"categoryId": rent}, {}):
        cell = {"recognizedFrom": "2024-01", "recognizedTo": "2024-03", "total": "true"} | query
        count, amount = get_totals(api.get("transactions", cell))
        counted_amounts = list_counted_amounts(pages.get(**cell))
        sign = -1 if "plType" in query else 1  # on pages costs are negative
        assert (len(counted_amounts), sum(counted_amounts)) == (count, sign * amount)
        assert len(set(counted_amounts)) > 1
    assert list_counted_amounts(pages.get(recognizedFrom="2024-01", recognizedTo="2024-03")) == [], (
        "only beside their total"
    )
    assert list_counted_amounts(pages.get(total="true")) == []


def list_counted_amounts(answer):
    result = re.findall(r">included: ([^<]+)<", answer.content.decode())
    return [Decimal(text.replace("−", "-").replace("€", "").replace(",", "")) for text in result]


def test_flow_filter_matches_cash_flow(api, books, bank):
    other, transit = books.create_account(name="Other"), books.create_account(name="Transit", type="transit")
    api.put(f"accounts/{bank}/initial_balance", {"date": "2024-01-01", "amountValue": "5000.00"})
    into = books.create_transaction(bank, "300.00", "2024-01-02")["id"]
    gone = books.create_transaction(bank, "-120.00", "2024-01-31")["id"]
    books.create_transaction(bank, "-7.00", "2024-01-05", pending=True)
    books.create_transaction(transit, "77.00", "2024-01-05")
    legs = [
        books.create_transaction(account, amount, "2024-01-06")["id"]
        for account, amount in ((bank, "-9.00"), (other, "9.00"))
    ]
    assert books.link_transfer(*legs).status_code == 200
    mixed, fits = (
        books.create_transaction(bank, "-100.00", "2024-01-08")["id"],
        books.create_transaction(other, "60.00", "2024-01-08")["id"],
    )
    hosting = books.get_category_id("hosting")
    parts = [{"categoryId": hosting, "plSplit": {"cogs": amount}} for amount in (-60, -40)]
    part = next(iter(books.set_categorizations(mixed, *parts).json()["categorizations"]))
    assert books.link_transfer(mixed, fits, part).status_code == 200
    window = {"startDate": "2024-01-01", "endDate": "2024-01-31"}
    body = api.post("data/cashFlowTimeSeries", window | {"interval": "month"}).json()
    assert list_transaction_ids(api, flow="in") == {into}
    assert list_transaction_ids(api, flow="out") == {gone, mixed}
    flows = {way: get_totals(api.get("transactions", window | {"flow": way, "total": "true"})) for way in ("in", "out")}
    assert flows == {"in": (1, 300), "out": (2, -160)}
    assert (body["inflow"][0]["value"], body["outflow"][0]["value"]) == (300, 160)
    assert api.get("transactions", {"flow": "both"}).status_code == 400
