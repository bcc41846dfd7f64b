"""What is wrong is refused once: neither the inbox nor the API proposes it again, but what else fits."""

import pytest

from ledger.models import DismissedMatch
from tests.ledger.conftest import get_page_text
from tests.ledger.inbox.test_inbox_pages import inbox_page  # noqa: F401 - fixtures
from tests.ledger.inbox.test_inbox_undo import find_form, find_undo_form, submit_form
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db
DAY = TODAY.isoformat()
WINDOW = {"startDate": DAY, "endDate": DAY}


def list_transfer_proposals(api):
    body = api.post("transactions/transfer_proposals", WINDOW).json()
    return [(each["sourceTransactionId"], each["targetTransactionId"]) for each in body]


def list_planned_matches(api):
    return [each["transactionId"] for each in api.post("planned_transactions/matches", WINDOW).json()]


def dismiss_proposal(site):
    return submit_form(site, find_form(site.get("inbox"), "Reject"))


@pytest.fixture
def rent(api, bank):
    plan = {"accountId": bank, "name": "Rent", "startDate": DAY, "amountValue": "-80.00", "autoSettle": False}
    return api.post("planned_transactions", plan).json()["id"]


def test_dismissed_transfer_proposal_is_replaced_by_next_match(api, books, bank, savings, inbox_page):  # noqa: F811
    source = books.create_transaction(bank, "-80.00", DAY)["id"]
    one, other = (books.create_transaction(savings, "80.00", DAY)["id"] for _ in range(2))
    assert list_transfer_proposals(api) == [(source, one)]
    _, page = dismiss_proposal(inbox_page)
    assert "Suggestion rejected." in get_page_text(page)
    assert list_transfer_proposals(api) == [(source, other)]
    _, page = dismiss_proposal(inbox_page)
    assert list_transfer_proposals(api) == []
    assert "Main → Savings" not in get_page_text(page)
    place, page = submit_form(inbox_page, find_undo_form(page))
    assert (place, list_transfer_proposals(api)) == (f"p-{source}", [(source, other)])
    assert books.link_transfer(source, one).status_code == 200, "a person may link them still"


def test_dismissed_planned_match_is_not_proposed_again(api, books, bank, rent, inbox_page):  # noqa: F811
    near, far = books.create_transaction(bank, "-80.00", DAY)["id"], books.create_transaction(bank, "-84.00", DAY)["id"]
    assert list_planned_matches(api) == [near]
    dismiss_proposal(inbox_page)
    assert list_planned_matches(api) == [far]
    _, page = dismiss_proposal(inbox_page)
    assert list_planned_matches(api) == []
    assert "Matches" not in get_page_text(page)
    plan = inbox_page.client.get(f"{inbox_page.base}/planned")
    assert "fits" not in get_page_text(plan)
    submit_form(inbox_page, find_undo_form(page))
    assert list_planned_matches(api) == [far]
    settled = api.post(f"planned_transactions/{rent}/settle", {"date": DAY, "transactionId": near})
    assert settled.status_code == 200, "a person may settle it still"


def test_dismissed_match_is_audited_and_deleted_with_the_transaction(api, books, bank, savings, inbox_page):  # noqa: F811
    source, _ = books.create_transaction(bank, "-80.00", DAY)["id"], books.create_transaction(savings, "80.00", DAY)
    dismiss_proposal(inbox_page)
    assert "Match rejected" in get_page_text(inbox_page.get(f"transactions/{source}"))
    assert DismissedMatch.objects.count() == 1
    assert api.delete(f"transactions/{source}").status_code == 200
    assert DismissedMatch.objects.count() == 0


@pytest.mark.parametrize(("id", "other", "day"), [("x", "x", ""), ("", "", "2026-13-01")])
def test_dismissing_a_non_match_is_rejected(books, bank, inbox_page, id, other, day):  # noqa: A002, F811
    books.create_transaction(bank)
    page = inbox_page.post("inbox", act="refuse", id=id, other=other, day=day)
    assert page.status_code == 400
    assert 'role="alert"' in page.content.decode()


def test_dismissing_match_requires_transaction_of_own_company(books, bank, inbox_page):  # noqa: F811
    page = inbox_page.post("inbox", act="refuse", id="01a20925-25c0-774e-9b7c-b7069283a5f9", other=bank, day="")
    assert (page.status_code, DismissedMatch.objects.count()) == (404, 0)
