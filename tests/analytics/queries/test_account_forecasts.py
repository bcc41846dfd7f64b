"""Accounts that go below zero by themselves, in the forecast and on the pages; and nothing claimed where nothing is
planned."""

import re
from datetime import timedelta

import pytest

from tests.analytics.queries.test_cash_flow import create_planned_transaction
from tests.analytics.reports.test_overview import parse_key_figures, sign_in
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db
NOTICE = re.compile(r'class="notice (?:warning|error)"[^>]*>(.*?)</(?:p|li)>')
QUERY = "forecastBalanceTimeSeries"
NOTHING = "No forecast: no transactions are planned yet."
NOTHING_ON_ACCOUNT = "No forecast: no transactions are planned on this account yet."


def format_day(days):
    return str(TODAY + timedelta(days=days))


def list_forecasts(query_data, **more):
    result = query_data(QUERY, startDate=format_day(-2), endDate=format_day(20), byAccount=True, **more)
    return {
        each["accountId"]: (each["lowest"]["date"], each["lowest"]["value"], each["belowZero"])
        for each in result["accounts"]
    }


def test_account_forecasts_are_computed_per_account(api, query_data, books, bank):
    payroll, card = books.create_account(name="Payroll"), books.create_account(name="Card", type="creditCard")
    books.create_transaction(bank, "1000.00", format_day(-5))
    books.create_transaction(payroll, "100.00", format_day(-5))
    books.create_transaction(payroll, "30.00", format_day(2))
    create_planned_transaction(api, payroll, "-400.00", format_day(7))
    create_planned_transaction(api, payroll, "50.00", format_day(9))
    create_planned_transaction(api, payroll, "-10.00", format_day(-3))
    create_planned_transaction(api, card, "-70.00", format_day(4))
    create_planned_transaction(api, None, "-20.00", format_day(4))
    assert list_forecasts(query_data) == {
        bank: (format_day(1), 1000, None),
        payroll: (format_day(7), -280, format_day(7)),
    }
    assert list_forecasts(query_data, accountIds=[card]) == {card: (format_day(4), -70, format_day(4))}
    assert query_data(QUERY, endDate=format_day(20))["accounts"] is None


def test_account_forecast_uses_account_currency(api, query_data, books, bank):
    dollars = books.create_account(name="Dollars", defaultCurrency="USD")
    books.create_transaction(dollars, "100.00", format_day(-5), amountCurrency="USD")
    create_planned_transaction(api, dollars, "-150.00", format_day(3), amountCurrency="USD")
    assert list_forecasts(query_data)[dollars] == (format_day(3), -50, format_day(3))


def test_account_forecast_is_empty_for_past_window(query_data, bank):
    result = query_data(QUERY, startDate=format_day(-20), endDate=format_day(-10), byAccount=True)
    assert result["accounts"] == [{"accountId": bank, "lowest": None, "belowZero": None}]


def test_account_forecast_counts_open_amount_of_planned_totals(api, query_data, books, bank):
    category = api.post("categories", {"name": "Wages", "plTypes": ["neutral"]}).json()["id"]
    made = books.create_transaction(bank, "-30.00", format_day(0))["id"]
    books.set_categorizations(made, {"categoryId": category, "plSplit": {"neutral": -30}})
    create_planned_transaction(api, bank, "-100.00", format_day(0), categoryId=category, settledBy="category")
    assert list_forecasts(query_data)[bank] == (format_day(1), -100, format_day(1))


@pytest.mark.parametrize("path", ["", "/planned"])
def test_pages_warn_if_one_account_goes_below_zero_but_total_cash_does_not(api, alice, acme, books, bank, path):
    payroll = books.create_account(name="Payroll")
    books.create_transaction(bank, "5000.00", format_day(-5))
    create_planned_transaction(api, payroll, "-400.00", format_day(7))
    html = sign_in(alice).get(f"/app/companies/{acme.id}{path}").content.decode()
    (notice,) = (each for each in NOTICE.findall(html) if "below" in each)
    day = TODAY + timedelta(days=7)
    assert f'<a href="/app/companies/{acme.id}/accounts/{payroll}">Payroll goes below zero</a>' in notice
    assert f"from {day:%-d %b %Y}: lowest −€400 on {day:%-d %b %Y} in the forecast to " in notice
    create_planned_transaction(api, bank, "-9000.00", format_day(9))
    html = sign_in(alice).get(f"/app/companies/{acme.id}{path}").content.decode()
    assert "goes below zero" not in html, "the cash itself does, which is told already"


@pytest.mark.parametrize("path", ["", "/planned"])
def test_pages_tell_since_when_an_account_is_below_zero(api, alice, acme, books, bank, path):
    savings = books.create_account(name="Savings")
    books.create_transaction(bank, "5000.00", format_day(-50))
    for amount, days in (("-10.00", -45), ("30.00", -43), ("-120.00", -42), ("50.00", -30)):
        books.create_transaction(savings, amount, format_day(days))
    create_planned_transaction(api, savings, "-5.00", format_day(7))
    html = sign_in(alice).get(f"/app/companies/{acme.id}{path}").content.decode()
    (notice,) = (each for each in NOTICE.findall(html) if "below" in each)
    since, lowest = TODAY - timedelta(days=42), TODAY + timedelta(days=7)
    assert "Savings is below zero" in notice
    assert f"since {since:%-d %b %Y}: lowest −€55 on {lowest:%-d %b %Y} in the forecast to " in notice


def test_pages_show_no_lowest_point_without_planned_transactions(api, alice, acme, books, bank):
    books.create_transaction(bank, "341666.00", format_day(-5))
    pages = {"overview": "", "account": f"/accounts/{bank}"}
    for name, path in pages.items():
        html = sign_in(alice).get(f"/app/companies/{acme.id}{path}").content.decode()
        assert (NOTHING_ON_ACCOUNT if name == "account" else NOTHING) in html
        assert "never below zero" not in html
        assert ", never below zero." not in html
        assert f'href="/app/companies/{acme.id}/planned/new">Add planned transactions</a>' in html
    overview = sign_in(alice).get(f"/app/companies/{acme.id}").content.decode()
    assert parse_key_figures(overview)["Lowest forecast"] == ["–", "nothing planned yet"]
    create_planned_transaction(api, bank, "-10.00", format_day(7))
    for path in (*pages.values(), "/planned"):
        html = sign_in(alice).get(f"/app/companies/{acme.id}{path}").content.decode()
        assert "No forecast" not in html
        assert "never below zero" in html


def test_account_page_says_that_nothing_is_planned_on_the_account_while_invoices_are(api, alice, acme, books, bank):
    books.create_transaction(bank, "500.00", format_day(-5))
    invoice = {"accountId": None, "invoiceDate": format_day(-5)}
    create_planned_transaction(api, bank, "70.00", format_day(7), **invoice)
    assert NOTHING_ON_ACCOUNT in sign_in(alice).get(f"/app/companies/{acme.id}/accounts/{bank}").content.decode()
    assert "No forecast" not in sign_in(alice).get(f"/app/companies/{acme.id}").content.decode()


def test_overview_and_cash_plan_agree_on_the_lowest_balance_of_the_same_days(api, alice, acme, books, bank):
    books.create_transaction(bank, "1000.00", format_day(-5))
    create_planned_transaction(api, bank, "-300.00", format_day(20))
    create_planned_transaction(api, bank, "-400.00", format_day(150))
    for ahead, amount in ((100, "€700"), (180, "€300")):
        query = f"?startDate={format_day(-30)}&endDate={format_day(ahead)}"
        last = f"{TODAY + timedelta(days=ahead):%-d %b %Y}"
        overview, plan = (
            sign_in(alice).get(f"/app/companies/{acme.id}{path}{query}").content.decode() for path in ("", "/planned")
        )
        value, hint = parse_key_figures(overview)["Lowest forecast"]
        assert value == amount
        assert hint.endswith(f"lowest planned balance to {last}")
        day = hint.removeprefix("on ").partition(":")[0]
        for html in (overview, plan):
            assert f"Forecast from tomorrow to {last}: lowest {amount} on {day}, never below zero." in html


def test_lowest_balance_is_that_of_today_where_plans_only_raise_it(api, alice, acme, books, bank):
    books.create_transaction(bank, "1000.00", format_day(-5))
    create_planned_transaction(api, bank, "300.00", format_day(20))
    last = TODAY + timedelta(days=100)
    query = f"?startDate={format_day(-30)}&endDate={format_day(100)}"
    overview = sign_in(alice).get(f"/app/companies/{acme.id}{query}").content.decode()
    assert parse_key_figures(overview)["Lowest forecast"] == [
        "€1,000",
        f"today; no planned balance to {last:%-d %b %Y} is lower",
    ]
    assert f"Forecast from tomorrow to {last:%-d %b %Y}: never below the €1,000 of today." in overview
    assert f"Lowest €1k, {TODAY:%-d %b}" in overview
