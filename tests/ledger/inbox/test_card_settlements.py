"""The settlement of a credit card is suggested as a transfer, and then no other category for its two transactions."""

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from html import unescape

import pytest

from ledger.models import Transaction
from tests.ledger.bank_file_builders import build_simple_camt
from tests.ledger.bank_statements.test_statement_pages import open_check_page as open_statements
from tests.ledger.conftest import get_page_text
from tests.ledger.imports.test_import_pages import confirm_import, open_check_page

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


def test_settlement_without_the_card_is_suggested_as_a_transfer(
    editor, api, acme, books, bank, categorization_history, today
):
    inbox_path = f"/app/companies/{acme.id}/inbox"
    text = {"fromTo": "Mastercard Abrechnung", "description": "Kreditkartenabrechnung 5412********1188 09/2026"}
    out = books.create_transaction(bank, "-1843.27", today, **text)["id"]
    body = {"transactionIds": [out], "paymentKinds": True}
    first, second = api.post("transactions/proposals", body).json()[out]
    assert (first["categoryId"], first["basis"]["kind"]) == (books.get_category_id("transfer"), "paymentKind")
    assert second["basis"]["kind"] == "account"
    shown = editor.get(inbox_path).content.decode()
    assert "Create the other side on Firmenkreditkarte" in shown
    accept_buttons = re.findall(r'<button[^>]* name="category"[^>]*>([^<]*)</button>', shown)
    assert accept_buttons == []
    books.create_account(name="Zweite Karte", type="creditCard")
    reason = "Looks like a credit card settlement. Import the card's statement to link it as a transfer."
    assert f"Transfers: {reason}" in get_page_text(editor.get(inbox_path)), "nobody knows which card"
    accept_page = get_page_text(editor.get(f"{inbox_path}/accept"))
    assert "1 possible transfer is not included." in accept_page
    assert "No suggestions with this confidence." in accept_page
    assert "No transactions to group" in get_page_text(editor.get(f"{inbox_path}/groups"))


def test_payment_on_the_card_without_the_bank_is_suggested_as_a_transfer(editor, api, acme, books, card, today):
    into = books.create_transaction(card, "1843.27", today, fromTo="ZAHLUNG/ÜBERWEISUNG ERHALTEN BESTEN DANK")["id"]
    (proposal,) = api.post("transactions/proposals", {"transactionIds": [into], "paymentKinds": True}).json()[into]
    assert proposal["categoryId"] == books.get_category_id("transfer")
    reason = "Looks like a payment received on a credit card. Import the bank's statement to link it as a transfer."
    assert reason in get_page_text(editor.get(f"/app/companies/{acme.id}/inbox"))


def test_settlement_with_the_card_is_suggested_as_a_pair(editor, api, acme, books, bank, card, today):
    out = books.create_transaction(bank, "-1843.27", today, fromTo="Mastercard Abrechnung")["id"]
    into = books.create_transaction(card, "1843.27", today, fromTo="ZAHLUNG/ÜBERWEISUNG ERHALTEN BESTEN DANK")["id"]
    answer = api.post("transactions/proposals", {"transactionIds": [out, into], "paymentKinds": True}).json()
    assert [[proposal["basis"]["kind"] for proposal in answer[each]] for each in (out, into)] == [["own"], ["own"]]
    shown = get_page_text(editor.get(f"/app/companies/{acme.id}/inbox"))
    assert "Looks like a credit card settlement" not in shown
    assert "Link as transfer" in shown


def test_settlement_accepted_as_a_transfer_is_paired_with_the_card_later(editor, acme, books, bank, card, today):
    out = books.create_transaction(bank, "-1843.27", today, fromTo="Mastercard Abrechnung")["id"]
    transfer = f"{books.get_category_id('transfer')}:neutral"
    form = {"act": "accept", "id": out, "category": transfer, "counterparty": ""}
    assert editor.post(f"/app/companies/{acme.id}/inbox", form).status_code == 303
    books.create_transaction(card, "1843.27", today, fromTo="ZAHLUNG/ÜBERWEISUNG ERHALTEN BESTEN DANK")
    assert "Link as transfer" in get_page_text(editor.get(f"/app/companies/{acme.id}/inbox"))


def test_inbox_names_the_card_whose_file_is_missing(api, sign_in_browser, alice, acme, books, bank, card, today):
    first_day = date.fromisoformat(today).replace(day=1)
    last_month = first_day - timedelta(days=1)
    settlement = books.create_transaction(bank, "-812.34", str(last_month.replace(day=20)), fromTo="Kartenabrechnung")
    books.create_transaction(card, "-20.00", str(last_month.replace(day=10)), fromTo="Bahn")
    other = books.create_transaction(bank, "-500.00", str(last_month.replace(day=21)), fromTo="Tagesgeld")
    client = sign_in_browser(alice, acme).client

    def find_notice():
        page = client.get(f"/app/companies/{acme.id}/inbox").content.decode()
        return re.findall(r'<p class="notice warning"><a href="([^"]*)">(The file of [^<]*)</a></p>', page)

    assert find_notice() == []
    ids = [settlement["id"], other["id"]]
    body = {"selection": {"mode": "ids", "ids": ids}, "categoryId": books.get_category_id("transfer")}
    assert api.post("transactions/categorize", body).status_code == 200
    month = f"{last_month:%B %Y}"
    text = f"The file of Firmenkreditkarte for {month} is missing"
    assert find_notice() == [(f"/app/companies/{acme.id}/imports/new", text)]
    books.create_transaction(card, "-30.00", str(last_month), fromTo="Hotel")
    assert find_notice() == [], "the file of that day is there"


CARD_FILE = (
    "Kreditkarte;5412********4417;;;\nZeitraum;01.11.2026 - 30.11.2026;;;\n\n"
    "Belegdatum;Buchungsdatum;Beschreibung;Betrag (EUR);Saldo (EUR)\n"
    "2026-11-02;2026-11-02;CLAUDE.AI ANTHROPIC;-178,50;-1.831,33\n"
    "2026-11-12;2026-11-12;ZAHLUNG ERHALTEN BESTEN DANK;1.652,83;-178,50\n"
    "2026-11-16;2026-11-16;UBER *TRIP;-34,20;-212,70\n"
)


def book_settlement(books, bank, from_to="Kreditkarte 4417 Abrechnung"):
    """Book a payment of the bank account that settles a card."""
    books.create_transaction(
        bank, "-1652.83", "2026-11-12", fromTo=from_to, description="Kreditkartenabrechnung Oktober"
    )


def find_card_forms(editor, acme):
    """Return the addresses and accounts of the inbox's buttons that create the other side."""
    content = editor.get(f"/app/companies/{acme.id}/inbox").content.decode()
    pattern = r'action="([^"]*/other-leg[^"]*)">.*?name="accountId" value="([^"]*)"'
    return [(unescape(address), account) for address, account in re.findall(pattern, content, re.DOTALL)]


def test_inbox_creates_the_other_side_on_the_card_whose_file_is_not_there(editor, acme, books, bank):
    card = books.create_account(name="Karte", type="creditCard", accountNumber="**** 4417")
    books.create_account(name="Kreditkarte 1188", type="creditCard")
    book_settlement(books, bank)
    ((address, account),) = find_card_forms(editor, acme)
    assert account == card
    shown = get_page_text(editor.post(address, {"accountId": account}, follow=True))
    assert "Other side created on Karte and linked as a transfer." in shown
    assert "All done" in shown
    (row,) = Transaction.objects.for_company(acme.id).filter(account=card)
    assert (str(row.date), row.amount_value, row.transferred_value) == (
        "2026-11-12",
        Decimal("1652.83"),
        row.amount_value,
    )


def test_card_file_imported_later_marks_the_settlement_as_a_possible_duplicate(editor, acme, books, bank):
    card = books.create_account(name="Karte", type="creditCard", accountNumber="**** 4417")
    book_settlement(books, bank)
    ((address, account),) = find_card_forms(editor, acme)
    editor.post(address, {"accountId": account})
    path, check = open_check_page(editor, acme, card, CARD_FILE)
    shown = get_page_text(check)
    assert "1 row may be a duplicate: same date and amount, different text." in shown
    assert "Import transactions" in shown
    assert "Import 3" not in shown, "it depends on the box"
    together = [("card.csv", CARD_FILE.encode()), ("bank.xml", build_simple_camt("-40.00"))]
    assert "1 row may be a duplicate" in get_page_text(open_statements(editor, acme, *together)[1])
    confirm_import(editor, path, leave_possible="on")
    rows = Transaction.objects.for_company(acme.id).filter(account=card)
    assert sorted(row.amount_value for row in rows) == [Decimal("-178.50"), Decimal("-34.20"), Decimal("1652.83")]


@pytest.mark.parametrize(
    ("name", "text", "card_row_day"),
    [
        pytest.param("Kreditkarte 1188", "Kreditkarte 4417 Abrechnung", None, id="another card"),
        pytest.param("Karte", "Kreditkarte 4417 Abrechnung", "2026-11-12", id="rows of the day are there"),
        pytest.param("Karte 88", "Kreditkarte 4417", "2026-12-01", id="later rows are there"),
    ],
)
def test_inbox_creates_no_other_side_otherwise(editor, acme, books, bank, name, text, card_row_day):
    card = books.create_account(name=name, type="creditCard")
    book_settlement(books, bank, from_to=text)
    if card_row_day:
        books.create_transaction(card, "-10.00", card_row_day, fromTo="Hotel")
    assert find_card_forms(editor, acme) == []
