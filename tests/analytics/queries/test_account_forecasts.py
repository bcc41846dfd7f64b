"""Accounts that go below zero by themselves, in the forecast and on the pages; and nothing claimed where nothing is
planned."""

import re
from datetime import timedelta

import pytest

from tests.analytics.overview.test_pages import figures, signed_in
from tests.analytics.queries.test_cash_flow import plan
from tests.days import TODAY

pytestmark = pytest.mark.django_db
QUERY = "forecastBalanceTimeSeries"
NOTHING = "Nothing planned yet. Add planned payments to see a forecast."


def on(days):
    return str(TODAY + timedelta(days=days))


def list_forecasts(ask, **more):
    found = ask(QUERY, startDate=on(-2), endDate=on(20), byAccount=True, **more)
    return {
        each["accountId"]: (each["lowest"]["date"], each["lowest"]["value"], each["belowZero"])
        for each in found["accounts"]
    }


def test_each_account_is_told_by_itself(api, ask, books, bank):
    payroll, card = books.account(name="Payroll"), books.account(name="Card", type="creditCard")
    books.book(bank, "1000.00", on(-5))
    books.book(payroll, "100.00", on(-5))
    books.book(payroll, "30.00", on(2))
    plan(api, payroll, "-400.00", on(7))
    plan(api, payroll, "50.00", on(9))
    plan(api, payroll, "-10.00", on(-3))
    plan(api, card, "-70.00", on(4))
    plan(api, None, "-20.00", on(4))
    assert list_forecasts(ask) == {bank: (on(1), 1000, None), payroll: (on(7), -280, on(7))}
    assert list_forecasts(ask, accountIds=[card]) == {card: (on(4), -70, on(4))}
    assert ask(QUERY, endDate=on(20))["accounts"] is None


def test_an_account_is_told_in_its_own_currency(api, ask, books, bank):
    dollars = books.account(name="Dollars", defaultCurrency="USD")
    books.book(dollars, "100.00", on(-5), amountCurrency="USD")
    plan(api, dollars, "-150.00", on(3), amountCurrency="USD")
    assert list_forecasts(ask)[dollars] == (on(3), -50, on(3))


def test_nothing_is_projected_of_accounts_in_the_past(ask, bank):
    found = ask(QUERY, startDate=on(-20), endDate=on(-10), byAccount=True)
    assert found["accounts"] == [{"accountId": bank, "lowest": None, "belowZero": None}]


def test_planned_totals_count_by_their_open_amount(api, ask, books, bank):
    category = api.post("categories", {"name": "Wages", "plTypes": ["neutral"]}).json()["id"]
    made = books.book(bank, "-30.00", on(0))["id"]
    books.split(made, {"categoryId": category, "plSplit": {"neutral": -30}})
    plan(api, bank, "-100.00", on(0), categoryId=category, settledBy="category")
    assert list_forecasts(ask)[bank] == (on(1), -100, on(1))


@pytest.mark.parametrize("path", ["", "/planned"])
def test_pages_warn_of_an_account_that_goes_below_zero_while_others_do_not(api, alice, acme, books, bank, path):
    payroll = books.account(name="Payroll")
    books.book(bank, "5000.00", on(-5))
    plan(api, payroll, "-400.00", on(7))
    html = signed_in(alice).get(f"/app/companies/{acme.id}{path}").content.decode()
    (notice,) = (each for each in re.findall(r'<p class="notice" role="status">(.*?)</p>', html) if "below" in each)
    day = TODAY + timedelta(days=7)
    assert f'<a href="/app/companies/{acme.id}/accounts/{payroll}">Payroll goes below zero</a>' in notice
    assert f"from {day:%-d %b %Y} on: lowest −€400 on {day:%-d %b %Y}." in notice
    plan(api, bank, "-9000.00", on(9))
    html = signed_in(alice).get(f"/app/companies/{acme.id}{path}").content.decode()
    assert "goes below zero" not in html, "the cash itself does, which is told already"


def test_where_nothing_is_planned_no_lowest_point_is_claimed(api, alice, acme, books, bank):
    books.book(bank, "341666.00", on(-5))
    pages = {"overview": "", "account": f"/accounts/{bank}"}
    for path in pages.values():
        html = signed_in(alice).get(f"/app/companies/{acme.id}{path}").content.decode()
        assert NOTHING in html
        assert "never below zero" not in html
        assert "Expected up to" not in html
        assert f'href="/app/companies/{acme.id}/planned/new">Add planned payments</a>' in html
    overview = signed_in(alice).get(f"/app/companies/{acme.id}").content.decode()
    assert figures(overview)["Lowest ahead"] == ["–", "nothing planned yet"]
    plan(api, bank, "-10.00", on(7))
    for path in (*pages.values(), "/planned"):
        html = signed_in(alice).get(f"/app/companies/{acme.id}{path}").content.decode()
        assert NOTHING not in html
        assert "never below zero" in html
