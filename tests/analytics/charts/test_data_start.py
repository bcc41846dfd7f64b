"""Lines start where the data does, and what accounts were opened with is no change."""

import re
from datetime import timedelta

import pytest

from tests.ledger.conftest import get_page_text
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db


def format_day_ago(days_ago):
    return str(TODAY - timedelta(days=days_ago))


@pytest.fixture
def client(browser_of, alice, acme):
    return browser_of(alice, acme).client


@pytest.fixture
def opened(api, books, bank):
    """An account that was opened with 1,000.00 twenty days ago and has earned 50.00 since."""
    answer = api.put(f"accounts/{bank}/initial_balance", {"date": format_day_ago(20), "amountValue": "1000.00"})
    assert answer.status_code == 200, answer.content
    books.book(bank, "50.00", format_day_ago(5))
    return bank


def list_line_starts(answer, series):
    """Where the paths of a line begin, from 0 to 1000 of the chart's width."""
    result = re.findall(rf'class="chart-line l-{series}"[^>]* d="M([0-9.]+) ', answer.content.decode())
    return [float(each) for each in result]


def test_cash_line_starts_at_first_booking(client, acme, opened):
    (start,) = list_line_starts(
        client.get(f"/app/companies/{acme.id}?startDate={format_day_ago(99)}&endDate={format_day_ago(0)}"), "cash"
    )
    assert 780 < start < 820  # day 79 of 99


def test_account_line_starts_at_first_booking(client, acme, opened):
    (start,) = list_line_starts(
        client.get(
            f"/app/companies/{acme.id}/accounts/{opened}?startDate={format_day_ago(99)}&endDate={format_day_ago(0)}"
        ),
        "cash",
    )
    assert 780 < start < 820


def test_other_accounts_line_is_omitted_without_such_accounts(client, acme, opened):
    assert list_line_starts(client.get(f"/app/companies/{acme.id}"), "nonCash") == []


def test_opening_balances_do_not_count_as_change(client, acme, opened):
    text = get_page_text(
        client.get(f"/app/companies/{acme.id}?startDate={format_day_ago(99)}&endDate={format_day_ago(0)}")
    )
    assert "Change in 30 days +€50" in text
    assert "5.0 % of €1k" in text
    assert re.search(r"All accounts €?1,050(\.00)? \+€?50(\.00)? ", text)


def test_balance_by_cash_type_still_returns_one_point_per_day(api, opened):
    body = api.post("data/balanceByCashType", {"startDate": format_day_ago(30), "endDate": format_day_ago(0)}).json()
    assert (len(body["cash"]), len(body["nonCash"])) == (31, 31)
