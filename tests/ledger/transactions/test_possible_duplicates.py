"""Payments that may have been made twice: flagged in the inbox and on their pages until somebody says they are not."""

import re
from datetime import timedelta

import pytest

from tests.ledger.conftest import get_page_text
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db


@pytest.fixture
def editor(sign_in_browser, alice, acme):
    return sign_in_browser(alice, acme).client


@pytest.fixture
def create_payment(books, bank):
    """Create a payment some days ago; return its id."""

    def create(days, amount="-250.00", name="Print shop", account=None, **values):
        day = str(TODAY - timedelta(days=days))
        return books.create_transaction(account or bank, amount, day, fromTo=name, **values)["id"]

    return create


def read_inbox(client, acme):
    return client.get(f"/app/companies/{acme.id}/inbox")


def read_page(client, acme, transaction):
    return client.get(f"/app/companies/{acme.id}/transactions/{transaction}")


def count_notices(answer):
    return answer.content.decode().count('value="refuse"')


def test_second_payment_is_flagged_on_both_pages_and_in_the_inbox(editor, acme, books, create_payment):
    first = create_payment(9)
    second = create_payment(2, name="PRINT SHOP", account=books.create_account(name="Card"))
    inbox = read_inbox(editor, acme)
    assert "Possible duplicate: PRINT SHOP, −€250.00," in get_page_text(inbox)
    for shown, other in ((first, second), (second, first)):
        answer = read_page(editor, acme, shown)
        assert "Possible duplicate of" in get_page_text(answer)
        assert f'href="/app/companies/{acme.id}/transactions/{other}"' in answer.content.decode()


def test_not_a_duplicate_removes_the_notice_until_undone(editor, acme, create_payment):
    first, second = create_payment(5), create_payment(2)
    sent = {"act": "refuse", "id": second, "other": first}
    done = editor.post(f"/app/companies/{acme.id}/inbox", sent, follow=True)
    assert "Suggestion rejected." in get_page_text(done)
    assert count_notices(done) == 0
    assert "Possible duplicate" not in get_page_text(read_page(editor, acme, first))
    dismissed = re.search(r'name="refused" value="([^"]+)"', done.content.decode())[1]
    editor.post(f"/app/companies/{acme.id}/inbox", {"act": "undo", "refused": dismissed})
    assert count_notices(read_inbox(editor, acme)) == 1


@pytest.mark.parametrize(
    "second",
    [
        {"days": 1},
        {"days": 8, "amount": "-250.01"},
        {"days": 8, "name": "Copy shop"},
        {"days": 8, "amount": "250.00"},
        {"days": 8, "pending": True},
    ],
    ids=["eight days later", "another amount", "another name", "money in", "pending"],
)
def test_other_payments_are_not_flagged(editor, acme, create_payment, second):
    first = create_payment(9)
    other = create_payment(**second)
    assert count_notices(read_inbox(editor, acme)) == 0
    for each in (first, other):
        assert count_notices(read_page(editor, acme, each)) == 0


def test_incoming_payments_are_not_flagged(editor, acme, create_payment):
    rows = [create_payment(days, "250.00") for days in (9, 8)]
    assert [count_notices(read_page(editor, acme, row)) for row in rows] == [0, 0]


def test_weekly_payments_are_not_flagged(editor, acme, create_payment):
    for days in (30, 23, 16, 9, 2):
        create_payment(days)
    shown = get_page_text(read_inbox(editor, acme))
    assert shown.count("Possible duplicate") == 1, "the first two alone may be one paid twice"


def test_monthly_payment_that_was_made_twice_is_flagged(editor, acme, create_payment):
    for days in (40, 10, 8):
        create_payment(days)
    assert count_notices(read_inbox(editor, acme)) == 1


def test_payments_that_settle_planned_ones_are_not_flagged(editor, acme, api, bank, create_payment):
    for days in (9, 8):
        body = {"accountId": bank, "name": f"Order {days}", "startDate": str(TODAY - timedelta(days=days))}
        plan = api.post("planned_transactions", body | {"amountValue": "-250.00", "autoSettle": False}).json()["id"]
        settled = {"date": body["startDate"], "transactionId": create_payment(days)}
        assert api.post(f"planned_transactions/{plan}/settle", settled).status_code == 200
    assert count_notices(read_inbox(editor, acme)) == 0


def test_transfers_are_not_flagged(editor, acme, books, savings, create_payment):
    for days in (9, 8):
        day = str(TODAY - timedelta(days=days))
        other = books.create_transaction(savings, "250.00", day)["id"]
        assert books.link_transfer(create_payment(days), other).status_code == 200
    assert count_notices(read_inbox(editor, acme)) == 0


def test_readers_see_the_notice_without_a_button(sign_in_browser, bob, acme, create_payment):
    create_payment(5)
    second = create_payment(2)
    answer = read_page(sign_in_browser(bob, acme).client, acme, second)
    assert "Possible duplicate of" in get_page_text(answer)
    assert count_notices(answer) == 0
