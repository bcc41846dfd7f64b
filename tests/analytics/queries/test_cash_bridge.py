"""What led from one cash balance to another, and what the profit and loss does not know of: over HTTP."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.calc.fx import convert
from ledger.calc.money import round_half_up
from ledger.money.rates import rate_table
from tests import factories
from tests.analytics.anybooks import any_books
from tests.days import TODAY

pytestmark = pytest.mark.django_db
YEAR = {"startDate": "2024-01-01", "endDate": "2024-12-31"}
SIGNS = {"inflow": 1, "outflow": -1, "transfersOut": -1, "revaluation": 1, "nonCash": 1}


def closes(found):
    parts = sum(sign * Decimal(str(found[name])) for name, sign in SIGNS.items())
    return Decimal(str(found["opening"])) + parts == Decimal(str(found["closing"]))


def test_each_part_of_the_bridge_says_why_cash_changed(api, ask, books, bank):
    card, dollars = books.account(name="Card", type="creditCard"), books.account(name="Dollars")
    transit = books.account(name="Stripe", type="transit")
    books.book(bank, "1000.00", "2023-12-31")
    api.put(f"accounts/{dollars}/initial_balance", {"date": "2024-02-01", "amountValue": "70.00"})
    books.book(bank, "300.00", "2024-02-02")
    books.book(bank, "-20.00", "2024-02-03", pending=True)
    books.book(card, "-45.00", "2024-02-04")
    books.book(transit, "15.00", "2024-02-05")
    out, into = books.book(bank, "-40.00", "2024-02-06"), books.book(card, "40.00", "2024-02-06")
    assert books.link(out["id"], into["id"]).status_code == 200
    assert ask("cashBridge", **YEAR) == {
        "opening": 1000, "inflow": 300, "outflow": 45, "transfersOut": 40, "revaluation": 0, "nonCash": 115,
        "closing": 1330,
    }  # fmt: skip


def test_rates_change_the_worth_of_cash_without_a_booking(ask, books, bank):
    books.book(bank, "100.00", "2023-06-01", amountCurrency="USD")
    found, rates = ask("cashBridge", **YEAR), rate_table()
    then, now = (
        round_half_up(convert(Decimal(100), source="USD", target="EUR", day=day, rates=rates), "EUR")
        for day in (date(2023, 12, 31), date(2024, 12, 31))
    )
    assert found["revaluation"] == float(now - then) != 0
    assert [found[name] for name in SIGNS if name != "revaluation"] == [0, 0, 0, 0]


def test_the_bridge_ends_today(ask, books, bank):
    books.book(bank, "5.00", str(TODAY))
    books.book(bank, "7.00", str(TODAY + timedelta(days=3)))
    window = {"startDate": str(TODAY), "endDate": str(TODAY + timedelta(days=9))}
    found = ask("cashBridge", **window)
    assert (found["inflow"], found["closing"]) == (5, 5)
    ahead = ask("cashBridge", startDate=str(TODAY + timedelta(days=2)), endDate=window["endDate"])
    assert (ahead["opening"], ahead["inflow"], ahead["closing"]) == (5, 0, 5)


START = date(2024, 1, 1)


@given(drawn=any_books(first=START, days=60), first=st.integers(0, 50), length=st.integers(0, 30))
@settings(max_examples=15)
def test_the_bridge_closes_to_the_cent_whatever_was_booked(db, make_api, drawn, first, length):
    api = make_api(factories.company(name="Any", base_currency=drawn.base))
    drawn.made(api)
    start = START + timedelta(days=first)
    end = start + timedelta(days=length)
    window = {"startDate": str(start), "endDate": str(end)}
    found = api.post("data/cashBridge", window).json()
    rates = rate_table()
    assert closes(found)
    assert Decimal(str(found["opening"])) == drawn.cash(start - timedelta(days=1), rates)
    assert Decimal(str(found["closing"])) == drawn.cash(end, rates)
    flows = drawn.flows(start, end)
    for name, sign in (("inflow", 1), ("outflow", -1)):
        worth = drawn.in_base([each for each in flows if sign * each.amount > 0], rates)
        assert Decimal(str(found[name])) == abs(round_half_up(worth, drawn.base))
    moved = [
        each for each in drawn.booked()
        if each.kind == "leg" and drawn.is_cash(each.account) and start <= each.day <= end
    ]  # fmt: skip
    assert abs(Decimal(str(found["transfersOut"])) + drawn.in_base(moved, rates)) <= Decimal("0.02")
    if all(each.currency == drawn.base for each in drawn.bookings):
        assert found["revaluation"] == 0


# What is open


def test_what_is_not_categorized_in_full_is_missing_in_the_profit_and_loss(api, ask, books, bank):
    hosting = books.category("hosting")
    done, half = books.book(bank, "-10.00", "2024-01-01")["id"], books.book(bank, "-30.00", "2024-01-31")["id"]
    books.split(done, {"categoryId": hosting, "plSplit": {"cogs": -10}})
    books.split(half, {"categoryId": hosting, "plSplit": {"cogs": -20}})
    books.book(bank, "7.00", "2024-01-10")
    books.book(bank, "9.00", "2024-01-10", pending=True)
    books.book(bank, "11.00", "2024-02-01")
    api.put(f"accounts/{bank}/initial_balance", {"date": "2024-01-05", "amountValue": "70.00"})
    january = {"startDate": "2024-01-01", "endDate": "2024-01-31"}
    assert ask("openTransactions", **january) == {"count": 2, "inflow": 7, "outflow": 10}
    assert ask("openTransactions", startDate="2020-01-01", endDate="2020-12-31") == {
        "count": 0,
        "inflow": 0,
        "outflow": 0,
    }


@given(drawn=any_books(first=START, days=60))
@settings(max_examples=8)
def test_open_ones_are_counted_each_at_its_own_days_rate(db, make_api, drawn):
    api = make_api(factories.company(name="Any", base_currency=drawn.base))
    drawn.made(api)
    rates = rate_table()
    found = api.post("data/openTransactions", YEAR).json()
    missing = [each for each in drawn.bookings if each.kind == "flow"]
    assert found["count"] == len(missing)
    for name, sign in (("inflow", 1), ("outflow", -1)):
        worth = drawn.in_base([each for each in missing if sign * each.amount > 0], rates)
        assert Decimal(str(found[name])) == abs(round_half_up(worth, drawn.base))


@pytest.mark.parametrize("query", ["cashBridge", "openTransactions"])
def test_a_wrong_question_is_refused(api, query):
    for body, pointer in (({}, "#/startDate"), ({"startDate": "2024-02-01", "endDate": "2024-01-31"}, "#/endDate")):
        refused = api.post(f"data/{query}", body)
        assert refused.status_code == 400
        assert pointer in [error["pointer"] for error in refused.json()["errors"]]


def test_asking_needs_permission(make_api, acme):
    assert make_api(acme, "financials:read").post("data/cashBridge", YEAR).status_code == 403
    assert make_api(acme, "balances:read").post("data/openTransactions", YEAR).status_code == 403
