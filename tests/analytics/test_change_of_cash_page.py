"""The page that says why the cash changed as it did: the figures of the bridge, each with its sign."""

import re
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
