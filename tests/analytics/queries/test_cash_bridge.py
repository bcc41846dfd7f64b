"""What led from one cash balance to another, and what the profit and loss does not know of: over HTTP."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.money.calc.fx import convert_currency
from ledger.money.calc.money import round_half_up
from ledger.money.rates import get_rate_table
from tests import factories
from tests.analytics.booking_strategies import draw_bookings
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db
YEAR = {"startDate": "2024-01-01", "endDate": "2024-12-31"}
PARTS = [
    "openingBalances", "operatingInflow", "operatingOutflow", "cards", "financing", "exchangeResult", "revaluation",
    "otherTransfers",
]  # fmt: skip
PAGE_PARTS = ["opening", *PARTS, "closing"]
CENT = Decimal("0.01")


def to_decimal(value):
    return Decimal(str(value))


def list_nonzero_parts(found):
    """The parts that are not zero."""
    return {part: found[part] for part in PARTS if found[part]}


def add_up(found):
    return to_decimal(found["opening"]) + sum(to_decimal(found[part]) for part in PARTS) == to_decimal(found["closing"])


def read_list(api, url):
    """The number of transactions at a list address, and what they come to."""
    answer = api.get("/" + url.split("/", 3)[3])
    assert answer.status_code == 200, answer.content
    return int(answer["X-Total-Count"]), Decimal(answer["X-Total-Amount"])


def book_transfer(books, source, target, amount, day, arrival=None):
    out, into = (
        books.create_transaction(source, f"-{amount}", day),
        books.create_transaction(target, amount, arrival or day),
    )
    assert books.link_transfer(out["id"], into["id"]).status_code == 200


def categorize_as_financing(books, transaction, *amounts):
    part = [{"categoryId": books.get_category_id("financing"), "plSplit": {"neutral": amount}} for amount in amounts]
    assert books.set_categorizations(transaction["id"], *part).status_code == 200


def test_cash_bridge_separates_each_kind_of_change(api, query_data, books, bank):
    card, loan = books.create_account(name="Card", type="creditCard"), books.create_account(name="Loan", type="loan")
    depot, provider = (
        books.create_account(name="Depot", type="other"),
        books.create_account(name="Stripe", type="transit"),
    )
    savings = books.create_account(name="Savings")
    books.create_transaction(bank, "1000.00", "2023-12-31")
    api.put(f"accounts/{savings}/initial_balance", {"date": "2024-02-01", "amountValue": "70.00"})
    books.create_transaction(bank, "300.00", "2024-02-02")
    books.create_transaction(bank, "-120.00", "2024-02-03")
    books.create_transaction(bank, "-20.00", "2024-02-03", pending=True)
    books.create_transaction(card, "-45.00", "2024-02-04")
    books.create_transaction(provider, "15.00", "2024-02-05")
    book_transfer(books, bank, card, "40.00", "2024-02-06")
    book_transfer(books, loan, bank, "500.00", "2024-02-07")
    book_transfer(books, bank, loan, "50.00", "2024-03-07")
    book_transfer(books, bank, savings, "200.00", "2024-03-08")
    book_transfer(books, bank, depot, "90.00", "2024-03-09")
    book_transfer(books, provider, bank, "12.00", "2024-03-10")
    categorize_as_financing(books, books.create_transaction(bank, "2000.00", "2024-04-01"), 1900)
    categorize_as_financing(books, books.create_transaction(bank, "-30.00", "2024-04-02"), -30)
    result = query_data("cashBridge", **YEAR)
    assert {part: result[part] for part in PAGE_PARTS} == {
        "opening": 1000, "openingBalances": 70, "operatingInflow": 400, "operatingOutflow": -120, "cards": -40,
        "financing": 2320, "exchangeResult": 0, "revaluation": 0, "otherTransfers": -78, "closing": 3552,
    }  # fmt: skip
    assert set(result) == {*PAGE_PARTS, *(f"{part}Url" for part in PAGE_PARTS)}
    assert result["revaluationUrl"] is None
    behind = {part: read_list(api, result[f"{part}Url"]) for part in PAGE_PARTS if part != "revaluation"}
    assert {part: float(amount) for part, (_, amount) in behind.items()} == {
        part: result[part] for part in PAGE_PARTS if part != "revaluation"
    }
    assert {part: count for part, (count, _) in behind.items()} == {
        "opening": 1, "openingBalances": 1, "operatingInflow": 2, "operatingOutflow": 1, "cards": 1, "financing": 4,
        "exchangeResult": 2, "otherTransfers": 2, "closing": 13,
    }  # fmt: skip


def test_cash_bridge_has_no_exchange_result_for_transfer_in_transit(query_data, books, bank):
    savings = books.create_account(name="Savings")
    book_transfer(books, bank, savings, "100.00", "2024-12-31", "2025-01-02")
    assert list_nonzero_parts(query_data("cashBridge", **YEAR)) == {"otherTransfers": -100}
    assert list_nonzero_parts(query_data("cashBridge", startDate="2024-12-01", endDate="2025-01-31")) == {}
    assert list_nonzero_parts(query_data("cashBridge", startDate="2025-01-01", endDate="2025-01-31")) == {
        "otherTransfers": 100
    }


def test_cash_bridge_separates_exchange_result_from_revaluation(query_data, books, bank):
    dollars, rates = books.create_account(name="Dollars", defaultCurrency="USD"), get_rate_table()
    out = books.create_transaction(bank, "-1000.00", "2024-05-06")
    into = books.create_transaction(dollars, "1000.00", "2024-05-06", amountCurrency="USD")
    assert books.link_transfer(out["id"], into["id"]).status_code == 200
    result = query_data("cashBridge", **YEAR)

    def worth(day):
        exact = convert_currency(Decimal(1000), source="USD", target="EUR", day=day, rates=rates)
        return float(round_half_up(exact, "EUR"))

    arrived, left = worth(date(2024, 5, 6)), worth(date(2024, 12, 31))
    assert result["exchangeResult"] == pytest.approx(arrived - 1000)
    assert result["revaluation"] == pytest.approx(left - arrived)
    assert set(list_nonzero_parts(result)) == {"exchangeResult", "revaluation"}


def test_cash_bridge_shows_revaluation_without_transactions(query_data, books, bank):
    books.create_transaction(bank, "100.00", "2023-06-01", amountCurrency="USD")
    result, rates = query_data("cashBridge", **YEAR), get_rate_table()
    then, now = (
        round_half_up(convert_currency(Decimal(100), source="USD", target="EUR", day=day, rates=rates), "EUR")
        for day in (date(2023, 12, 31), date(2024, 12, 31))
    )
    assert list_nonzero_parts(result) == {"revaluation": float(now - then)}


def test_cash_bridge_ends_today(query_data, books, bank):
    books.create_transaction(bank, "5.00", str(TODAY))
    books.create_transaction(bank, "7.00", str(TODAY + timedelta(days=3)))
    window = {"startDate": str(TODAY), "endDate": str(TODAY + timedelta(days=9))}
    result = query_data("cashBridge", **window)
    assert (result["operatingInflow"], result["closing"]) == (5, 5)
    assert f"endDate={TODAY}" in result["operatingInflowUrl"]
    ahead = query_data("cashBridge", startDate=str(TODAY + timedelta(days=2)), endDate=window["endDate"])
    assert (ahead["opening"], ahead["operatingInflow"], ahead["closing"]) == (5, 0, 5)


START = date(2024, 1, 1)


@given(drawn=draw_bookings(first=START, days=60), first=st.integers(0, 50), length=st.integers(0, 30))
@settings(max_examples=12)
def test_cash_bridge_parts_sum_to_change_for_any_transactions(db, make_api, drawn, first, length):
    api = make_api(factories.make_company(name="Any", base_currency=drawn.base))
    drawn.create(api)
    start = START + timedelta(days=first)
    end = start + timedelta(days=length)
    body = api.post("data/cashBridge", {"startDate": str(start), "endDate": str(end)}).json()
    rates = get_rate_table()
    assert add_up(body)
    assert to_decimal(body["opening"]) == drawn.sum_cash(start - timedelta(days=1), rates)
    assert to_decimal(body["closing"]) == drawn.sum_cash(end, rates)
    exact = dict.fromkeys(PARTS, Decimal(0))
    for booking in drawn.bookings:
        part = drawn.find_cash_part(booking, start, end)
        if part:
            financed = replace(booking, amount=booking.financed)
            exact["financing"] += drawn.convert(financed, booking.day, rates)
            exact[part] += drawn.convert(booking, booking.day, rates) - drawn.convert(financed, booking.day, rates)
    one_currency = all(each.currency == drawn.base for each in drawn.bookings)
    for part in PARTS:
        if part != "revaluation":
            rounding = 0 if one_currency else len(PARTS) * CENT
            assert abs(to_decimal(body[part]) - round_half_up(exact[part], drawn.base)) <= rounding
            _, total = read_list(api, body[f"{part}Url"])
            assert abs(total - to_decimal(body[part])) <= rounding
    if one_currency:
        assert body["revaluation"] == 0
        for part in ("opening", "closing"):
            assert read_list(api, body[f"{part}Url"])[1] == to_decimal(body[part])


@given(
    drawn=draw_bookings(first=START, days=60, currencies=["EUR"]), first=st.integers(0, 50), length=st.integers(0, 30)
)
@settings(max_examples=7)
def test_cash_bridge_parts_equal_their_transaction_lists_in_one_currency(db, make_api, drawn, first, length):
    api = make_api(factories.make_company(name="Any", base_currency=drawn.base))
    drawn.create(api)
    start = START + timedelta(days=first)
    window = {"startDate": str(start), "endDate": str(start + timedelta(days=length))}
    body = api.post("data/cashBridge", window).json()
    assert add_up(body)
    assert body["revaluation"] == 0
    for part in PAGE_PARTS:
        if part != "revaluation":
            assert read_list(api, body[f"{part}Url"])[1] == to_decimal(body[part])


# What is open


def test_open_transactions_query_counts_partly_categorized_transactions(api, query_data, books, bank):
    hosting = books.get_category_id("hosting")
    done, half = (
        books.create_transaction(bank, "-10.00", "2024-01-01")["id"],
        books.create_transaction(bank, "-30.00", "2024-01-31")["id"],
    )
    books.set_categorizations(done, {"categoryId": hosting, "plSplit": {"cogs": -10}})
    books.set_categorizations(half, {"categoryId": hosting, "plSplit": {"cogs": -20}})
    books.create_transaction(bank, "7.00", "2024-01-10")
    books.create_transaction(bank, "9.00", "2024-01-10", pending=True)
    books.create_transaction(bank, "11.00", "2024-02-01")
    api.put(f"accounts/{bank}/initial_balance", {"date": "2024-01-05", "amountValue": "70.00"})
    january = {"startDate": "2024-01-01", "endDate": "2024-01-31"}
    assert query_data("openTransactions", **january) == {"count": 2, "inflow": 7, "outflow": 10}
    assert query_data("openTransactions", startDate="2020-01-01", endDate="2020-12-31") == {
        "count": 0,
        "inflow": 0,
        "outflow": 0,
    }


@given(drawn=draw_bookings(first=START, days=60))
@settings(max_examples=5)
def test_open_transactions_query_converts_each_at_rate_of_its_day(db, make_api, drawn):
    api = make_api(factories.make_company(name="Any", base_currency=drawn.base))
    drawn.create(api)
    rates = get_rate_table()
    body = api.post("data/openTransactions", YEAR).json()
    missing = [
        replace(each, amount=each.amount - each.financed)
        for each in drawn.bookings
        if each.kind == "flow" and each.amount != each.financed
    ]
    assert body["count"] == len(missing)
    for name, sign in (("inflow", 1), ("outflow", -1)):
        worth = drawn.sum_in_base([each for each in missing if sign * each.amount > 0], rates)
        assert Decimal(str(body[name])) == abs(round_half_up(worth, drawn.base))


@pytest.mark.parametrize("query", ["cashBridge", "openTransactions"])
def test_bridge_and_open_transactions_queries_reject_invalid_parameters(api, query):
    for body, pointer in (({}, "#/startDate"), ({"startDate": "2024-02-01", "endDate": "2024-01-31"}, "#/endDate")):
        refused = api.post(f"data/{query}", body)
        assert refused.status_code == 400
        assert pointer in [error["pointer"] for error in refused.json()["errors"]]
