"""A linked transfer is complete: the list asks for no category of it, and says why it takes none."""

import re

import pytest

from tests.ledger.conftest import get_page_text

pytestmark = pytest.mark.django_db


@pytest.fixture
def legs(books, bank, savings):
    one, other = books.book(bank, "-80.00")["id"], books.book(savings, "80.00")["id"]
    assert books.link(one, other).status_code == 200
    return one, other


def find_category_cell(page, row):
    """What stands under "Category" in a transaction's row."""
    rows = re.findall(r"<tr data-row>.*?</tr>", page.content.decode(), re.DOTALL)
    return re.search(r'<td class="detail-cell.*?</td>', next(each for each in rows if row in each), re.DOTALL)[0]


def test_list_shows_linked_legs_as_transfer_with_link(legs, pages, books, bank):
    plain = books.book(bank, "-5.00")["id"]
    page = pages.get()
    for row in legs:
        assert "Category…" not in find_category_cell(page, row)
        assert re.search(
            rf'<a class="badge" href="[^"]+/transactions/{row}[^"]*"[^>]*>Transfer</a>', find_category_cell(page, row)
        )
        assert "/split" not in find_category_cell(page, row)
    assert "Category…" in find_category_cell(page, plain)


def test_partly_linked_transaction_can_be_categorized(books, bank, savings, pages):
    row, other = books.book(bank, "-100.00")["id"], books.book(savings, "80.00")["id"]
    hosting = books.category("hosting")
    books.split(row, {"categoryId": hosting, "plSplit": {"cogs": -80}})
    assert books.link(row, other, next(iter(books.read(row)["categorizations"]))).status_code == 200
    assert "/split" in find_category_cell(pages.get(), row)


def test_categorizing_transfer_leg_explains_why_no_category_is_set(legs, pages, books, bank):
    line = f"{books.category('hosting')}:cogs"
    page = pages.client.get(pages.post(act="categorize", category=line, id=legs[0])["Location"])
    assert (
        "0 transactions categorized. 1 skipped: transfers and opening balances have no category. "
        "To categorize a transfer, unlink it first."
    ) in get_page_text(page)
    assert 'class="notice warning"' in page.content.decode()
    plain = books.book(bank, "-5.00")["id"]
    page = pages.client.get(pages.post(act="categorize", category=line, id=[*legs, plain])["Location"])
    assert "1 transaction categorized. 2 skipped: transfers and opening balances have no category." in get_page_text(
        page
    )
