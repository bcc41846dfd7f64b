"""The page that says why the cash changed as it did: the figures of the bridge, each with its sign."""

import csv
import re
from datetime import date, timedelta
from decimal import Decimal
from html import unescape

import pytest
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from companies.pages.amount_formats import format_money
from companies.permissions import Role
from ledger.calc.months import add_months
from ledger.money.rates import get_rate_table
from tests import factories
from tests.analytics.booking_strategies import draw_bookings
from tests.page_text import get_page_text
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db
YEAR = {"startDate": "2024-01-01", "endDate": "2024-12-31"}


def test_cash_bridge_page_shows_opening_to_closing_cash(viewer, acme, books, bank):
    card = books.create_account(name="Card", type="creditCard")
    books.create_transaction(bank, "1000.00", "2023-12-31")
    books.create_transaction(bank, "300.00", "2024-02-02")
    books.create_transaction(card, "-45.00", "2024-02-04")
    out, into = (
        books.create_transaction(bank, "-40.00", "2024-02-06"),
        books.create_transaction(card, "40.00", "2024-02-06"),
    )
    assert books.link_transfer(out["id"], into["id"]).status_code == 200
    seen = get_page_text(viewer.get(f"/app/companies/{acme.id}/change-of-cash", YEAR))
    for line in ("Opening cash €1,000.00", "without transfers and financing. €300.00",
                 "Card settlements Transfers to and from credit cards. −€40.00", "Closing cash €1,260.00"):  # fmt: skip
        assert line in seen
    compared = get_page_text(
        viewer.get(f"/app/companies/{acme.id}/change-of-cash", YEAR | {"comparison": "previousYear"})
    )
    assert "1 Jan 2023 – 31 Dec 2023" in compared
    assert "Closing cash €1,260.00 €1,000.00" in compared


def test_cash_bridge_page_links_amounts_to_their_transactions(viewer, acme, books, bank):
    card = books.create_account(name="Card", type="creditCard")
    books.create_transaction(bank, "1000.00", "2023-12-31", fromTo="Before")
    books.create_transaction(bank, "300.00", "2024-02-02", fromTo="Sale")
    books.create_transaction(bank, "-20.00", "2024-02-03", fromTo="Rent")
    books.create_transaction(card, "-45.00", "2024-02-04", fromTo="Lunch")
    out = books.create_transaction(bank, "-40.00", "2024-02-06", fromTo="Settlement")
    assert (
        books.link_transfer(out["id"], books.create_transaction(card, "40.00", "2024-02-06")["id"]).status_code == 200
    )
    page = viewer.get(f"/app/companies/{acme.id}/change-of-cash", YEAR).content.decode()
    links = {label: unescape(href) for href, label in re.findall(r'<a href="([^"]+)"\s+aria-label="([^:"]+): ', page)}
    behind = {label: get_page_text(viewer.get(href)) for label, href in links.items()}
    names = ("Before", "Sale", "Rent", "Lunch", "Settlement")
    shown = {label: {name for name in names if f" {name} " in behind[label]} for label in behind}
    assert shown == {
        "Opening cash": {"Before"},
        "Opening balances": set(),
        "Operating inflow": {"Sale"},
        "Operating outflow": {"Rent"},
        "Card settlements": {"Settlement"},
        "Financing": set(),
        "Exchange result": set(),
        "Other transfers": set(),
        "Closing cash": {"Before", "Sale", "Rent", "Settlement"},
    }
    assert "€1,000.00 in 1 transaction" in behind["Opening cash"]
    assert "Cash bridge: Card settlements" in behind["Card settlements"]


def test_cash_bridge_page_and_overview_start_period_on_same_day(viewer, acme, books, bank):
    books.create_transaction(bank, "1.00", "2020-01-01")
    change = get_page_text(viewer.get(f"/app/companies/{acme.id}/change-of-cash?months=12"))
    first = re.search(r"From opening to closing cash, (.*?) to ", change)[1]
    overview = viewer.get(f"/app/companies/{acme.id}/overview/cash-balance.csv?months=12")
    days = overview.content.decode().splitlines()[1:]
    assert first in {f"{date.fromisoformat(line.split(',')[0]):%-d %b %Y}" for line in (days[0], days[-1])}


START = date(2024, 1, 1)


@given(drawn=draw_bookings(first=START, days=60), first=st.integers(0, 50), length=st.integers(0, 30))
@settings(max_examples=7)
def test_overview_opening_and_closing_cash_match_cash_bridge(db, make_api, drawn, first, length):
    """What flowed on the first day is part of the change, on the accounts' card as in the bridge."""
    company = factories.make_company(name="Any", base_currency=drawn.base)
    drawn.create(make_api(company))
    owner = factories.make_member(company, "any@example.com", role=Role.OWNER)
    visitor = Client()
    visitor.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    start = START + timedelta(days=first)
    end = start + timedelta(days=length)
    days = {"startDate": str(start), "endDate": str(end)}
    path, rates = f"/app/companies/{company.id}", get_rate_table()
    bridge = make_api(company).post("data/cashBridge", days).json()
    opening, closing = (Decimal(str(bridge[name])) for name in ("opening", "closing"))
    _, *rows = csv.reader(visitor.get(f"{path}/overview/accounts.csv", days).content.decode().splitlines())
    accounts = {name: (Decimal(value), Decimal(change)) for name, value, change in rows}
    for number, kind in enumerate(drawn.types):
        assert accounts[f"{kind} {number}"][0] == drawn.get_balance(number, end, rates)
    cash = [accounts[f"{kind} {number}"] for number, kind in enumerate(drawn.types) if drawn.is_cash(number)]
    assert sum(value for value, _ in cash) == closing
    assert sum(change for _, change in cash) == closing - opening - Decimal(str(bridge["openingBalances"]))
    assert f"Opening cash {format_money(opening, drawn.base)} " in get_page_text(
        visitor.get(f"{path}/change-of-cash", days)
    )


def test_overview_links_cash_runway_and_comparison_to_cash_bridge(viewer, acme, books, bank):
    for back in (1, 2):
        books.create_transaction(bank, "-10.00", str(add_months(TODAY.replace(day=1), -back)))
    query = {"months": "12", "comparison": "previousPeriod"}
    html = unescape(viewer.get(f"/app/companies/{acme.id}", query).content.decode())
    page = f'href="/app/companies/{acme.id}/change-of-cash?'
    first, end = add_months(TODAY.replace(day=1), -2), TODAY.replace(day=1) - timedelta(days=1)
    assert html.count(f'{page}months=12&comparison=previousPeriod">Cash bridge</a>') == 2
    assert html.count(f'{page}startDate={first}&endDate={end}">Cash bridge</a>') == 1
    assert "Net includes card spending, but no transfers, loans, opening balances or exchange rates." in html


def test_cash_bridge_can_be_downloaded(viewer, acme, bank, books):
    books.create_transaction(bank, "100.00", str(TODAY))
    path = f"/app/companies/{acme.id}/change-of-cash"
    query = f"startDate={TODAY}&endDate={TODAY}&comparison=previousPeriod"
    html = viewer.get(f"{path}?{query}").content.decode()
    assert f'href="{path}.csv?{query.replace("&", "&amp;")}"' in html
    lines = viewer.get(f"{path}.csv?{query}").content.decode().splitlines()
    assert lines[0].startswith(f"Description,{TODAY} – {TODAY},")
    assert lines[1] == "Opening cash,0.00,0.00"
    assert lines[-1] == "Closing cash,100.00,0.00"
