"""The page of an account: its balance is that of the API, its rows are its own."""

import re
from datetime import timedelta
from decimal import Decimal
from html import unescape

import pytest

from companies.permissions import Role
from ledger.models import Account
from tests import factories
from tests.analytics.charts.test_chart_data import format_day_cell, format_plain_cell
from tests.analytics.reports.test_overview import (
    create_transaction,
    find_section,
    parse_table_rows,
    read_list_total,
    sign_in,
)
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db
LATER = TODAY + timedelta(days=30)


@pytest.fixture
def dollars(books):
    return books.create_account(name="Dollars", defaultCurrency="USD")


def get_account_page(user, company, account, query=""):
    answer = sign_in(user).get(f"/app/companies/{company.id}/accounts/{account}{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_account_page_balance_matches_api_forecast(api, alice, acme, bank, dollars):
    create_transaction(api, bank, "55.00", TODAY - timedelta(days=20))
    create_transaction(api, dollars, "100.00", TODAY - timedelta(days=20), currency="USD")
    planned = {"accountId": dollars, "name": "Fee", "startDate": str(LATER), "amountValue": "-120.00"}
    assert api.post("planned_transactions", planned | {"amountCurrency": "USD"}).status_code == 201
    start = TODAY - timedelta(days=40)
    html = find_section(get_account_page(alice, acme, dollars, f"?startDate={start}&endDate={LATER}"), "Balance")
    body = api.post(
        "data/forecastBalanceTimeSeries", {"startDate": str(start), "endDate": str(LATER), "accountIds": [dollars]}
    ).json()
    shown = {format_day_cell(day): cells for day, cells in parse_table_rows(html).items()}
    for place, name in enumerate(("actual", "projected")):
        assert {
            day: Decimal(format_plain_cell(cells[place])) for day, cells in shown.items() if cells[place] != "–"
        } == {point["date"]: Decimal(str(point["value"])) for point in body[name]}
    assert 'class="plot"' in html
    assert "below zero from" in html


def test_cash_plan_page_line_matches_api_forecast(api, alice, acme, bank):
    create_transaction(api, bank, "55.00", TODAY - timedelta(days=2))
    planned = {"accountId": bank, "name": "Fee", "startDate": str(LATER), "amountValue": "-120.00"}
    assert api.post("planned_transactions", planned).status_code == 201
    html = sign_in(alice).get(f"/app/companies/{acme.id}/planned").content.decode()
    shown = {
        format_day_cell(day): cells for day, cells in parse_table_rows(find_section(html, "Cash forecast")).items()
    }
    body = api.post("data/forecastBalanceTimeSeries", {"startDate": min(shown), "endDate": max(shown)}).json()
    assert {day: Decimal(format_plain_cell(cells[1])) for day, cells in shown.items() if cells[1] != "–"} == {
        point["date"]: Decimal(str(point["value"])) for point in body["projected"]
    }
    assert f"lowest −€65 on {LATER:%-d %b %Y}, below zero from {LATER:%-d %b %Y}" in html
    assert f"ahead?startDate={LATER}&endDate={LATER}" in unescape(html)
    blind = factories.make_member(acme, "eve@acme.example", role=Role.VIEWER, permissions=["planning:read"])
    assert "Cash forecast" not in sign_in(blind).get(f"/app/companies/{acme.id}/planned").content.decode()


def test_account_page_lists_own_transactions_and_links_to_full_list(api, alice, acme, bank, dollars):
    for day in (TODAY, TODAY - timedelta(days=3)):
        create_transaction(api, bank, "-12.00", day)
    create_transaction(api, dollars, "99.00", TODAY, currency="USD")
    html = get_account_page(alice, acme, bank)
    assert html.count('<td class="date">') == 2
    assert "−€12.00" in html
    assert "$99.00" not in html
    address = re.search(r'<a href="([^"]+)">Transactions in this period', html)[1]
    assert read_list_total(alice, address) == ("−€24.00", 2)
    day = re.search(rf'href="([^"]+)">{TODAY:%-d %b %Y}<', html)[1]
    assert read_list_total(alice, f"{day}&amp;total=true") == ("−€12.00", 1)


def test_account_page_shows_balance_mismatch(alice, acme, bank):
    Account.objects.filter(id=bank).update(bank_connection={"balanceMismatchSince": "2026-01-31T00:00:00Z"})
    assert "Main is out of balance, since 31 Jan 2026" in unescape(get_account_page(alice, acme, bank))


def test_account_page_hides_balances_and_rows_without_permission(api, acme, bank):
    create_transaction(api, bank, "4711.00", TODAY)
    dan = factories.make_member(acme, "dan@acme.example", role=Role.VIEWER, permissions=["accounts:read"])
    html = get_account_page(dan, acme, bank)
    assert "4,711" not in html
    assert "Details" in html


@pytest.mark.django_db(transaction=True)
def test_account_page_balance_follows_permissions_and_new_transactions(api, alice, acme, bank):
    create_transaction(api, bank, "55.00", TODAY)
    drawn = find_section(get_account_page(alice, acme, bank), "Balance")
    dan = factories.make_member(
        acme, "dan@acme.example", role=Role.VIEWER, permissions=["accounts:read", "balances:read"]
    )
    assert f"accountId={bank}" in drawn
    assert "accountId=" not in find_section(get_account_page(dan, acme, bank), "Balance")
    create_transaction(api, bank, "7.00", TODAY)
    assert "62.00" in find_section(get_account_page(alice, acme, bank), "Balance")
