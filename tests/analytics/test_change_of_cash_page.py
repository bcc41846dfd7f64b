"""The page that says why the cash changed as it did: the figures of the bridge, each with its sign."""

import re
from datetime import date
from html import unescape

import pytest

pytestmark = pytest.mark.django_db
YEAR = {"startDate": "2024-01-01", "endDate": "2024-12-31"}


def text_of(answer):
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())))


def test_the_page_adds_up_from_the_cash_at_the_start_to_that_at_the_end(viewer, acme, books, bank):
    card = books.account(name="Card", type="creditCard")
    books.book(bank, "1000.00", "2023-12-31")
    books.book(bank, "300.00", "2024-02-02")
    books.book(card, "-45.00", "2024-02-04")
    seen = text_of(viewer.get(f"/app/companies/{acme.id}/change-of-cash", YEAR))
    for line in ("Cash at the start €1,000.00", "Came in On all accounts, without transfers. €300.00",
                 "Went out On all accounts, without transfers. −€45.00", "initial balances. €45.00",
                 "Cash at the end €1,300.00"):  # fmt: skip
        assert line in seen
    compared = text_of(viewer.get(f"/app/companies/{acme.id}/change-of-cash", YEAR | {"comparison": "previousYear"}))
    assert "1 Jan 2023 – 31 Dec 2023" in compared
    assert "Cash at the end €1,300.00 €1,000.00" in compared


def test_each_number_leads_to_the_rows_behind_it(viewer, acme, books, bank):
    card = books.account(name="Card", type="creditCard")
    usd = books.account(name="Dollars", defaultCurrency="USD")
    books.book(bank, "1000.00", "2023-12-31", fromTo="Before")
    books.book(bank, "300.00", "2024-02-02", fromTo="Sale")
    books.book(card, "-45.00", "2024-02-04", fromTo="Lunch")
    books.book(usd, "10.00", "2024-02-05", fromTo="Dollars")
    page = viewer.get(f"/app/companies/{acme.id}/change-of-cash", YEAR).content.decode()
    links = {label: unescape(href) for href, label in re.findall(r'<a href="([^"]+)" aria-label="([^:"]+): ', page)}
    behind = {label: text_of(viewer.get(href)) for label, href in links.items()}
    shown = {label: {name for name in ("Before", "Sale", "Lunch") if f" {name} " in behind[label]} for label in behind}
    assert shown["Cash at the start"] == {"Before"}
    assert shown["Came in"] == {"Sale"}
    assert shown["Went out"] == {"Lunch"}
    assert shown["Not of cash"] == {"Lunch"}
    assert shown["Cash at the end"] == {"Before", "Sale"}
    assert "€1,000.00 in 1 transaction" in behind["Cash at the start"]
    assert set(links) == {"Cash at the start", "Came in", "Went out", "Moved to accounts that are no cash",
                          "Exchange rates", "Not of cash", "Cash at the end"}  # fmt: skip


def test_a_span_begins_on_one_day_on_every_page(viewer, acme, books, bank):
    books.book(bank, "1.00", "2020-01-01")
    change = text_of(viewer.get(f"/app/companies/{acme.id}/change-of-cash?months=12"))
    first = re.search(r"changed as it did from (.*?) to ", change)[1]
    overview = viewer.get(f"/app/companies/{acme.id}/overview/cash-balance.csv?months=12")
    days = overview.content.decode().splitlines()[1:]
    assert first in {f"{date.fromisoformat(line.split(',')[0]):%-d %b %Y}" for line in (days[0], days[-1])}
