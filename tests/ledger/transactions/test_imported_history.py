"""The history of what files brought: pending first, booked then, assigned by a rule; and what it settles and is linked
with."""

import pytest

from tests.ledger.bank_file_builders import build_camt, build_entry, build_statement
from tests.ledger.conftest import get_page_text
from tests.ledger.statement_upload import upload_statement

pytestmark = pytest.mark.django_db
PENDING = build_camt(build_statement(build_entry("-40.00", ref="a", status="PDNG"), kind="054"), kind="054")
FINAL = build_camt(build_statement(build_entry("-40.00", ref="a"), opening="100.00", closing="60.00"))


def check_order(text, *sentences):
    """The sentences are there, in this order."""
    positions = [text.find(part) for part in sentences]
    assert -1 not in positions, (sentences[positions.index(-1)], text)
    assert positions == sorted(positions)


@pytest.fixture
def rule(api, books):
    action = {"categoryId": books.category("hosting")}
    body = {"name": "Initech", "conditions": {"text": {"operator": "contains", "value": "initech"}}, "action": action}
    assert api.post("categorization_rules", body).status_code == 201


def test_history_names_file_of_pending_row_and_file_of_booking(api, main, pages, books):
    assert upload_statement(api, PENDING, "notes.xml").status_code == 200
    (row,) = api.get("transactions").json()
    books.split(row["id"], {"categoryId": books.category("hosting"), "plSplit": {"cogs": -40}})
    assert upload_statement(api, FINAL, "final.xml").status_code == 200
    check_order(
        get_page_text(pages.get(f"/{row['id']}")),
        "booked the pending transaction with final.xml.",
        "categorized it: Hosting −€40.00.",
        "imported it as pending with notes.xml.",
    )


@pytest.mark.usefixtures("rule")
def test_history_names_rule_and_category(api, main, pages, books):
    assert upload_statement(api, FINAL, "final.xml").status_code == 200
    (row,) = [each for each in api.get("transactions").json() if each["amountValue"] == "-40.00"]
    answer = "categorized it as Hosting: Rule “Initech”."
    check_order(get_page_text(pages.get(f"/{row['id']}")), answer, "imported it with final.xml.")
    books.split(row["id"], {"categoryId": books.category("hosting"), "plSplit": {"cogs": -30}})
    assert answer not in get_page_text(pages.get(f"/{row['id']}")), "by then a person has said it"


def test_history_names_other_leg_of_transfer(books, bank, savings, pages):
    one, other = books.book(bank, "-80.00")["id"], books.book(savings, "80.00")["id"]
    books.link(one, other)
    assert "linked it as a transfer with €80.00 on Savings, 15 Mar 2026." in get_page_text(pages.get(f"/{one}"))
    assert "linked it as a transfer with −€80.00 on Main, 15 Mar 2026." in get_page_text(pages.get(f"/{other}"))


def test_history_shows_settling_and_unsettling(api, books, bank, pages):
    plan = {"accountId": bank, "name": "Rent", "startDate": "2026-03-15", "amountValue": "-80.00", "autoSettle": False}
    rent = api.post("planned_transactions", plan).json()["id"]
    row = books.book(bank, "-80.00")["id"]
    assert (
        api.post(f"planned_transactions/{rent}/settle", {"date": "2026-03-15", "transactionId": row}).status_code == 200
    )
    assert "settled a planned transaction with it." in get_page_text(pages.get(f"/{row}"))
    assert api.post(f"planned_transactions/{rent}/unsettle", {"date": "2026-03-15"}).status_code == 200
    check_order(
        get_page_text(pages.get(f"/{row}")),
        "unlinked the planned transaction it settled.",
        "settled a planned transaction with it.",
    )


def test_history_shows_automatic_settlement(api, books, bank, pages):
    plan = {"accountId": bank, "name": "Rent", "startDate": "2026-03-15", "amountValue": "-80.00"}
    assert api.post("planned_transactions", plan).status_code == 201
    row = books.book(bank, "-80.00")["id"]
    assert books.read(row)["settlements"]
    assert "settled a planned transaction with it." in get_page_text(pages.get(f"/{row}"))
