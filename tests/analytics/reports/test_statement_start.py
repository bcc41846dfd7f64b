"""The profit and loss of a company with few months: no empty months before the first, and no total of one month."""

import re
from html import unescape

import pytest

from ledger.calc.months import add_months, get_first_day_of_month, get_last_day_of_month
from tests.analytics.reports.test_overview import create_transaction, find_section, parse_table_rows, sign_in
from tests.analytics.reports.test_profit_and_loss_page import parse_statement, plan_hosting
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db
MONTH = get_first_day_of_month(TODAY)
PREVIOUS, EARLIER = add_months(MONTH, -1), add_months(MONTH, -3)


@pytest.fixture
def get_page(alice, acme):
    def get(query=""):
        answer = sign_in(alice).get(f"/app/companies/{acme.id}/profit-and-loss{query}")
        assert answer.status_code == 200
        return answer.content.decode()

    return get


@pytest.fixture
def book_revenue(api, books, bank):
    """Book revenue in a month, recognized in its service period if it has one."""

    def book(month, **values):
        row = create_transaction(api, bank, "70.00", month)
        part = {"categoryId": books.get_category_id("revenueOneOff"), "plSplit": {"revenue": 70}}
        assert books.set_categorizations(row, part | values).status_code == 200
        return row

    return book


def list_headings(html):
    """Return the headings without the note on the month in progress."""
    return [heading.removesuffix(" in progress") for heading in parse_statement(html)[0]]


def test_default_period_starts_with_the_first_transaction(api, bank, get_page, book_revenue):
    answer = api.put(f"accounts/{bank}/initial_balance", {"date": str(EARLIER), "amountValue": "1000.00"})
    assert answer.status_code == 200, answer.content
    book_revenue(PREVIOUS)
    book_revenue(MONTH)
    html = get_page()
    assert list_headings(html) == [f"{PREVIOUS:%b %Y}", f"{MONTH:%b %Y}", "Total"]
    assert f"{PREVIOUS:%b %Y} to " in html
    assert f'name="startDate" value="{PREVIOUS}"' in html
    assert len(list_headings(get_page("?months=12"))) == 13
    days = f"?startDate={EARLIER}&endDate={get_last_day_of_month(MONTH)}"
    assert list_headings(get_page(days))[0] == f"{EARLIER:%b %Y}"


def test_links_of_the_page_keep_its_months(alice, acme, get_page, book_revenue):
    book_revenue(PREVIOUS)
    html = get_page()
    (path,) = {unescape(link) for link in re.findall(r'href="([^"]*profit-and-loss[^"]*csv[^"]*)"', html)}
    heading = sign_in(alice).get(path).content.decode().splitlines()[0]
    assert f"{PREVIOUS:%b %Y}" in heading
    assert f"{add_months(PREVIOUS, -1):%b %Y}" not in heading


def test_default_period_starts_with_the_first_service_period(get_page, book_revenue):
    rule = {"type": "servicePeriod", "startDate": str(EARLIER), "endDate": str(get_last_day_of_month(MONTH))}
    book_revenue(MONTH, usingDateRule=rule)
    assert list_headings(get_page())[0] == f"{EARLIER:%b %Y}"


def test_uncategorized_transaction_is_a_transaction(api, bank, get_page, book_revenue):
    create_transaction(api, bank, "-5.00", EARLIER)
    book_revenue(MONTH)
    assert list_headings(get_page())[0] == f"{EARLIER:%b %Y}"


def test_plan_of_months_before_the_first_transaction_is_left_out(api, books, get_page, book_revenue):
    plan_hosting(api, books, EARLIER)
    assert list_headings(get_page("?comparison=plan"))[0] == f"{EARLIER:%b %Y}"  # nothing is booked yet
    book_revenue(PREVIOUS)
    assert list_headings(get_page("?comparison=plan"))[0] == f"{PREVIOUS:%b %Y}"
    assert list_headings(get_page())[0] == f"{PREVIOUS:%b %Y}"


def test_year_against_its_plan_starts_with_the_first_transaction(alice, acme, api, books, book_revenue):
    plan_hosting(api, books, EARLIER)
    book_revenue(MONTH)
    html = sign_in(alice).get(f"/app/companies/{acme.id}").content.decode()
    planned = parse_table_rows(find_section(html, "Plan vs. actual"))["Cost of revenue"]
    assert (planned[1], planned[5]) == ("3,000.00", "3,000.00")


@pytest.mark.parametrize("query", ["", "?comparison=plan", "?comparison=previousYear"])
def test_single_month_has_no_total_of_the_same_amounts(get_page, book_revenue, query):
    book_revenue(MONTH)
    (heading,) = list_headings(get_page(query))
    assert heading.startswith(f"{MONTH:%b %Y}")


@pytest.mark.parametrize("query", ["", "?comparison=plan"])
def test_month_beside_an_empty_one_has_no_total_of_the_same_amounts(get_page, book_revenue, query):
    book_revenue(PREVIOUS)
    assert list_headings(get_page(query)) == [f"{PREVIOUS:%b %Y}", f"{MONTH:%b %Y}"]


def test_total_with_the_plan_of_later_months_stays(api, books, get_page, book_revenue):
    book_revenue(MONTH)
    next_month = add_months(MONTH, 1)
    plan_hosting(api, books, next_month)
    days = f"?startDate={MONTH}&endDate={get_last_day_of_month(next_month)}"
    assert list_headings(get_page(days)) == [f"{MONTH:%b %Y}", f"{next_month:%b %Y} plan", "Total with plan"]
    assert [heading.split(" plan")[0] for heading in list_headings(get_page(f"{days}&comparison=plan"))] == [
        f"{MONTH:%b %Y}",
        f"{next_month:%b %Y}",
    ]


def test_overview_starts_with_the_first_transaction(alice, acme, book_revenue):
    def list_months(query=""):
        html = sign_in(alice).get(f"/app/companies/{acme.id}{query}").content.decode()
        return list(parse_table_rows(find_section(html, "Cash flow")))

    book_revenue(PREVIOUS)
    months = list_months()
    assert months[0].startswith(f"{PREVIOUS:%b %Y}")
    assert months[1].startswith(f"{MONTH:%b %Y}")
    assert list_months("?months=12")[0].startswith(f"{add_months(MONTH, -11):%b %Y}")


def test_company_without_transactions_has_the_usual_period(get_page):
    html = get_page()
    assert "No data for this period" in html
    assert f"{add_months(MONTH, -11):%b %Y} to " in html
