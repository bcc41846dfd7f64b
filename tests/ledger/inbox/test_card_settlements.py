"""The settlement of a credit card is suggested as a transfer, and then no other category for its two transactions."""

from datetime import UTC, datetime

import pytest

from tests.ledger.conftest import get_page_text

pytestmark = pytest.mark.django_db


@pytest.fixture
def today():
    return datetime.now(tz=UTC).date().isoformat()


@pytest.fixture
def card(books):
    return books.create_account(name="Firmenkreditkarte", type="creditCard")


@pytest.fixture
def categorization_history(api, books, bank, card):
    """Categorized transactions on both accounts, so that each account has a suggested category."""
    for account, amount, category in ((bank, "-20.00", "hosting"), (card, "20.00", "revenueUsage")):
        ids = [
            books.create_transaction(account, amount, "2026-01-05", fromTo=f"Party {number}")["id"]
            for number in range(4)
        ]
        body = {"selection": {"mode": "ids", "ids": ids}, "categoryId": books.get_category_id(category)}
        assert api.post("transactions/categorize", body).status_code == 200


def list_suggested_kinds(api, *ids):
    """Return the basis of each transaction's suggested categories."""
    answer = api.post("transactions/proposals", {"transactionIds": list(ids)})
    assert answer.status_code == 200, answer.content
    return [[proposal["basis"]["kind"] for proposal in answer.json()[each]] for each in ids]


def test_no_category_is_suggested_for_a_card_settlement(
    api, sign_in_browser, alice, acme, books, bank, card, categorization_history, today
):
    out = books.create_transaction(bank, "-812.34", today, fromTo="Kartenabrechnung")["id"]
    assert list_suggested_kinds(api, out) == [["account"]]
    into = books.create_transaction(card, "812.34", today, fromTo="ZAHLUNG ERHALTEN")["id"]
    assert list_suggested_kinds(api, out, into) == [["own"], ["own"]]
    assert {
        each["categoryId"] for each in api.post("transactions/proposals", {"transactionIds": [out]}).json()[out]
    } == {books.get_category_id("transfer")}
    shown = get_page_text(sign_in_browser(alice, acme).client.get(f"/app/companies/{acme.id}/inbox"))
    assert shown.count("Part of a suggested transfer. Link it above.") == 2
    assert "Hosting:" not in shown


def test_dismissed_card_settlement_is_suggested_categories_again(
    api, sign_in_browser, alice, acme, books, bank, card, categorization_history, today
):
    out = books.create_transaction(bank, "-812.34", today, fromTo="Kartenabrechnung")["id"]
    into = books.create_transaction(card, "812.34", today, fromTo="ZAHLUNG ERHALTEN")["id"]
    form = {"act": "refuse", "id": out, "other": into}
    assert sign_in_browser(alice, acme).client.post(f"/app/companies/{acme.id}/inbox", form).status_code == 303
    assert list_suggested_kinds(api, out, into) == [["account"], ["account"]]


@pytest.mark.parametrize(
    ("bank_text", "card_text"),
    [
        pytest.param("Amazon", "Zahlung erhalten", id="a third party"),
        pytest.param("", "", id="no sign of an own transfer"),
        pytest.param("Amazon", "Globex", id="no pair"),
    ],
)
def test_category_of_another_pair_is_still_suggested(
    api, books, bank, card, categorization_history, today, bank_text, card_text
):
    out = books.create_transaction(bank, "-812.34", today, fromTo=bank_text)["id"]
    into = books.create_transaction(card, "812.34", today, fromTo=card_text)["id"]
    assert list_suggested_kinds(api, out, into) == [["account"], ["account"]]
