"""What one press in the inbox did is taken back by another, and the row is there again."""

import re
from datetime import UTC, datetime
from html import unescape
from urllib.parse import urlsplit

import pytest

from tests.ledger.conftest import get_page_text
from tests.ledger.inbox.test_inbox_pages import inbox_page  # noqa: F401 - fixtures

pytestmark = pytest.mark.django_db


def parse_fields(form):
    return {name: unescape(value) for name, value in re.findall(r'name="([^"]+)" value="([^"]*)"', form)}


def submit_form(on, form):
    """The page after a form was sent, given as the template has it."""
    address = re.search(r'action="([^"]+)"', form)
    path = address[1] if address and address[1] else f"{on.base}/inbox"
    answer = on.client.post(path, parse_fields(form))
    assert answer.status_code == 303, get_page_text(answer)
    place = urlsplit(answer["Location"])
    return place.fragment, on.client.get(answer["Location"])


def find_form(page, text):
    """The form that has these words on it."""
    return next(form for form in re.findall(r"<form.*?</form>", page.content.decode(), re.DOTALL) if text in form)


def find_undo_form(page):
    return find_form(page, ">Undo<")


def test_undo_reopens_an_accepted_suggestion(books, bank, inbox_page):  # noqa: F811
    row = books.create_transaction(bank, "-12.00", fromTo="Nimbus Ltd")["id"]
    books.create_transaction(bank, "-13.00", fromTo="Another person")
    key = re.search(r'<option value="([^"]+:ga)"', inbox_page.get("inbox").content.decode())[1]
    done = inbox_page.client.post(
        f"{inbox_page.base}/inbox", {"act": "accept", "id": row, "category": key}, follow=True
    )
    assert "1 transaction categorized." in get_page_text(done)
    place, page = submit_form(inbox_page, find_undo_form(done))
    assert place == f"t-{row}"
    assert "1 transaction restored." in get_page_text(page)
    assert (books.list_categorizations(row), "Nimbus Ltd" in get_page_text(page)) == ([], True)
    assert ">Undo<" not in page.content.decode()
    _place, again = submit_form(inbox_page, find_undo_form(done))
    assert "Already undone." in get_page_text(again)
    unknown = {"act": "undo", "run": "01a2222a-5c97-74f6-a8c6-99ff44ec0c0e"}
    assert inbox_page.client.post(f"{inbox_page.base}/inbox", unknown).status_code == 404


def test_undo_reopens_only_accepted_rest_of_split_transaction(books, bank, inbox_page):  # noqa: F811
    row = books.create_transaction(bank, "-12.00", fromTo="Nimbus Ltd")["id"]
    hosting = books.get_category_id("hosting")
    assert books.set_categorizations(row, {"categoryId": hosting, "plSplit": {"cogs": -5}}).status_code == 200
    remaining = books.list_categorizations(row)
    done = inbox_page.client.post(
        f"{inbox_page.base}/inbox", {"act": "accept", "id": row, "category": f"{hosting}:cogs"}, follow=True
    )
    assert len(books.list_categorizations(row)) == 2
    submit_form(inbox_page, find_undo_form(done))
    assert books.list_categorizations(row) == remaining


def test_undo_restores_a_transfer_proposal(books, bank, savings, inbox_page):  # noqa: F811
    day = datetime.now(tz=UTC).date().isoformat()
    source, target = (
        books.create_transaction(bank, "-80.00", day)["id"],
        books.create_transaction(savings, "80.00", day)["id"],
    )
    done = inbox_page.client.post(
        f"{inbox_page.base}/inbox", {"act": "link", "source": source, "target": target}, follow=True
    )
    place, page = submit_form(inbox_page, find_undo_form(done))
    assert (place, books.list_categorizations(source), books.list_categorizations(target)) == (f"p-{source}", [], [])
    assert "Main → Savings" in get_page_text(page)


def test_undo_restores_an_expected_occurrence(api, books, bank, inbox_page):  # noqa: F811
    day = datetime.now(tz=UTC).date().isoformat()
    plan = {"accountId": bank, "name": "Rent", "startDate": day, "amountValue": "-80.00", "autoSettle": False}
    rent = api.post("planned_transactions", plan).json()["id"]
    paid = books.create_transaction(bank, "-80.00", day)["id"]
    done = inbox_page.client.post(
        f"{inbox_page.base}/planned/{rent}/occurrences/{day}/settle",
        {"transactionId": paid, "from": "inbox"},
        follow=True,
    )
    assert books.get_transaction(paid)["settlements"]
    _, page = submit_form(inbox_page, find_undo_form(done))
    assert books.get_transaction(paid)["settlements"] == []
    assert "Matches" in get_page_text(page)


def test_inbox_without_undoable_action_offers_no_undo(books, bank, inbox_page):  # noqa: F811
    books.create_transaction(bank)
    for query_string in ["run=x", "settled=x", "settled=x.2026-01-01", "settled=.", "run="]:
        page = inbox_page.client.get(f"{inbox_page.base}/inbox?{query_string}")
        assert (page.status_code, ">Undo<" in page.content.decode()) == (200, False), query_string
