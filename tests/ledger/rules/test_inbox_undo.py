"""What one press in the inbox did is taken back by another, and the row is there again."""

import re
from datetime import UTC, datetime
from html import unescape
from urllib.parse import urlsplit

import pytest

from tests.ledger.conftest import text_of
from tests.ledger.rules.test_inbox_pages import site  # noqa: F401 - a fixture

pytestmark = pytest.mark.django_db


def fields(form):
    return {name: unescape(value) for name, value in re.findall(r'name="([^"]+)" value="([^"]*)"', form)}


def pressed(on, form):
    """The page after a form was sent, given as the template has it."""
    address = re.search(r'action="([^"]+)"', form)
    path = address[1] if address and address[1] else f"{on.base}/inbox"
    answer = on.client.post(path, fields(form))
    assert answer.status_code == 303, text_of(answer)
    place = urlsplit(answer["Location"])
    return place.fragment, on.client.get(answer["Location"])


def form_with(page, text):
    """The form that has these words on it."""
    return next(form for form in re.findall(r"<form.*?</form>", page.content.decode(), re.DOTALL) if text in form)


def undo_of(page):
    return form_with(page, ">Undo<")


def test_what_was_accepted_is_open_again(books, bank, site):  # noqa: F811
    row = books.book(bank, "-12.00", fromTo="Nimbus Ltd")["id"]
    books.book(bank, "-13.00", fromTo="Somebody else")
    key = re.search(r'<option value="([^"]+:ga)"', site.get("inbox").content.decode())[1]
    done = site.client.post(f"{site.base}/inbox", {"act": "accept", "id": row, "category": key}, follow=True)
    assert "1 transaction categorized." in text_of(done)
    place, page = pressed(site, undo_of(done))
    assert place == f"t-{row}"
    assert "1 transaction as before." in text_of(page)
    assert (books.parts(row), "Nimbus Ltd" in text_of(page)) == ([], True)
    assert ">Undo<" not in page.content.decode()


def test_of_a_split_transaction_the_rest_alone_is_open_again(books, bank, site):  # noqa: F811
    row = books.book(bank, "-12.00", fromTo="Nimbus Ltd")["id"]
    hosting = books.category("hosting")
    assert books.split(row, {"categoryId": hosting, "plSplit": {"cogs": -5}}).status_code == 200
    kept = books.parts(row)
    done = site.client.post(
        f"{site.base}/inbox", {"act": "accept", "id": row, "category": f"{hosting}:cogs"}, follow=True
    )
    assert len(books.parts(row)) == 2
    pressed(site, undo_of(done))
    assert books.parts(row) == kept


def test_what_was_linked_is_a_pair_again(books, bank, savings, site):  # noqa: F811
    day = datetime.now(tz=UTC).date().isoformat()
    source, target = books.book(bank, "-80.00", day)["id"], books.book(savings, "80.00", day)["id"]
    done = site.client.post(f"{site.base}/inbox", {"act": "link", "source": source, "target": target}, follow=True)
    place, page = pressed(site, undo_of(done))
    assert (place, books.parts(source), books.parts(target)) == (f"p-{source}", [], [])
    assert "Main → Savings" in text_of(page)


def test_what_was_settled_is_expected_again(api, books, bank, site):  # noqa: F811
    day = datetime.now(tz=UTC).date().isoformat()
    plan = {"accountId": bank, "name": "Rent", "startDate": day, "amountValue": "-80.00", "autoSettle": False}
    rent = api.post("planned_transactions", plan).json()["id"]
    paid = books.book(bank, "-80.00", day)["id"]
    done = site.client.post(
        f"{site.base}/planned/{rent}/occurrences/{day}/settle", {"transactionId": paid, "from": "inbox"}, follow=True
    )
    assert books.read(paid)["settles"]
    _, page = pressed(site, undo_of(done))
    assert books.read(paid)["settles"] is None
    assert "Expected payments" in text_of(page)


@pytest.mark.parametrize("asked", ["run=x", "settled=x", "settled=x.2026-01-01", "settled=.", "run="])
def test_an_address_with_nothing_to_take_back_offers_nothing(books, bank, site, asked):  # noqa: F811
    books.book(bank)
    page = site.client.get(f"{site.base}/inbox?{asked}")
    assert (page.status_code, ">Undo<" in page.content.decode()) == (200, False)
