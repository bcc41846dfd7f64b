"""The first file of an account that begins in a closed month: its opening balance, its counts, and its review."""

from decimal import Decimal

import pytest

from tests.ledger.bank_file_builders import build_camt, build_entry, build_simple_camt, build_statement
from tests.ledger.imports.test_import_pages import get_page_text, open_check_page
from tests.ledger.imports.test_table_balances import HEADINGS, import_table, list_reconciliation
from tests.ledger.statement_upload import upload_statement

pytestmark = pytest.mark.django_db

JUNE_AND_JULY = f"{HEADINGS}2025-06-28,Initech,100.00,1100.00\n2025-07-02,Landlord,-40.00,1060.00\n"
JUNE = f"{HEADINGS}2025-06-27,Initech,100.00,1100.00\n2025-06-28,Landlord,-40.00,1060.00\n"
JULY = f"{HEADINGS}2025-07-01,Initech,100.00,1100.00\n2025-07-02,Landlord,-40.00,1060.00\n"


@pytest.fixture
def editor(sign_in_browser, alice, acme):
    return sign_in_browser(alice, acme).client


@pytest.fixture(autouse=True)
def close_books_through_june(api, books):
    """Close the books through 30 June, with a transaction on another account."""
    other = books.create_account(name="Other")
    books.create_transaction(other, "-4.00", "2025-06-15")
    answer = api.post("closings", {"month": "2025-06", "acknowledge": True})
    assert answer.status_code == 201, answer.content


def get_opening_balance(api, account):
    transaction = api.get(f"accounts/{account}/initial_balance").json()["transaction"]
    return transaction and (transaction["date"], transaction["amountValue"])


def test_opening_balance_is_set_on_the_first_open_day(editor, api, acme, bank):
    _, check = open_check_page(editor, acme, bank, JUNE_AND_JULY)
    assert "Set the opening balance to €1,100.00 on 1 Jul 2025" in get_page_text(check)
    answer = get_page_text(import_table(editor, acme, bank, JUNE_AND_JULY, set_opening="on", leave_closed="on"))
    assert "1 transaction imported" in answer
    assert "1 in a closed month left out. Reconciled through 2 Jul 2025: €1,060.00." in answer
    assert get_opening_balance(api, bank) == ("2025-07-01", "1100.00")
    assert list_reconciliation(api, bank) == [("2025-07-02", "1060.00", "1060.00", "0.00")]


def test_later_files_and_undo_leave_the_opening_balance(editor, api, acme, bank):
    import_table(editor, acme, bank, JUNE_AND_JULY, set_opening="on", leave_closed="on")
    august = f"{HEADINGS}2025-08-01,Initech,100.00,1160.00\n2025-08-02,Landlord,-40.00,1120.00\n"
    assert "Reconciled through 2 Aug 2025: €1,120.00." in get_page_text(import_table(editor, acme, bank, august))
    assert get_opening_balance(api, bank) == ("2025-07-01", "1100.00")
    later, first = (row["id"] for row in api.get("imports").json())
    assert api.delete(f"imports/{later}").status_code == 200
    assert get_opening_balance(api, bank) == ("2025-07-01", "1100.00")
    assert api.delete(f"imports/{first}").status_code == 200
    assert get_opening_balance(api, bank) is None


def test_file_that_begins_after_closed_months_opens_the_account(editor, api, acme, bank):
    _, check = open_check_page(editor, acme, bank, JULY)
    assert "Set the opening balance to €1,000.00 on 1 Jul 2025" in get_page_text(check)
    import_table(editor, acme, bank, JULY, set_opening="on")
    assert get_opening_balance(api, bank) == ("2025-07-01", "1000.00")
    assert list_reconciliation(api, bank) == [("2025-07-02", "1060.00", "1060.00", "0.00")]


def test_review_promises_nothing_where_nothing_is_imported(editor, acme, bank):
    _, check = open_check_page(editor, acme, bank, JUNE)
    shown = get_page_text(check)
    assert "To import 0" in shown
    assert "opening balance" not in shown
    assert "reconciles the account" not in shown
    assert "All rows are duplicates, before the data start date, in closed months, or have errors." in shown


def test_statement_counts_only_rows_of_the_file(api, bank):
    entries = build_entry("100.00", "2025-06-28", ref="a"), build_entry("-40.00", "2025-07-02", ref="b")
    statement = build_statement(*entries, start="2025-06-28", end="2025-07-31", opening="1000.00", closing="1060.00")
    answer = upload_statement(api, build_camt(statement), accountId=bank, closed="skip").json()
    assert (answer["count"], answer["skippedClosed"]) == (1, 1)
    assert get_opening_balance(api, bank) == ("2025-07-01", "1100.00")
    [result] = answer["statements"]
    assert (result["ledgerBalance"], result["ledgerDifference"]) == ("1060.00", "0.00")


def test_daily_statements_open_the_account_with_the_first_open_day(api, bank):
    days = [("2025-06-29", "1000.00", "5.00"), ("2025-06-30", "1005.00", "7.00"), ("2025-07-01", "1012.00", "-2.00")]
    statements = [
        build_statement(
            build_entry(amount, day, ref=day),
            start=day,
            end=day,
            opening=opening,
            closing=Decimal(opening) + Decimal(amount),
        )
        for day, opening, amount in days
    ]
    answer = upload_statement(api, build_camt(*statements), accountId=bank, closed="skip").json()
    assert (answer["count"], answer["skippedClosed"]) == (1, 2)
    assert get_opening_balance(api, bank) == ("2025-07-01", "1012.00")
    later = build_simple_camt("-1.00", start="2025-07-02", end="2025-07-02", day="2025-07-02", opening="1010.00")
    answer = upload_statement(api, later, accountId=bank).json()
    assert [each["ledgerDifference"] for each in answer["statements"]] == ["0.00"]
    assert get_opening_balance(api, bank) == ("2025-07-01", "1012.00")


def test_notification_names_rows_left_out_in_closed_months(editor, sign_in_browser, alice, acme, bank):
    import_table(editor, acme, bank, JUNE_AND_JULY, set_opening="on", leave_closed="on")
    [payload] = [
        row["payload"]
        for row in sign_in_browser(alice, acme).get("notifications").json()
        if row["type"] == "import.finished"
    ]
    assert payload["body"].startswith("1 transaction saved. 1 in a closed month left out. File: ")
