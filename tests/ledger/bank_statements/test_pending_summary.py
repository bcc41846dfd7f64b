"""What becomes of entries that a bank announces is said as it is: booked, not stored, gone; never "there already"."""

import pytest

from tests.ledger.bank_file_builders import build_camt, build_entry, build_statement
from tests.ledger.bank_statements.test_statement_pages import confirm_import, open_check_page
from tests.ledger.conftest import get_page_text
from tests.ledger.statement_upload import list_stored_rows

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]

FINAL = build_camt(build_statement(build_entry("-40.00", "2026-01-16", ref="R1"), opening="100", closing="60"))
LATE = build_camt(
    build_statement(
        build_entry("-8.00", "2026-01-31", ref="P1", status="PDNG"),
        build_entry("-9.00", "2026-01-31", ref="P2", status="PDNG"),
        kind="054",
    ),
    kind="054",
)
ANNOUNCED = build_camt(
    build_statement(
        build_entry("-40.00", "2026-01-14", ref="R1", status="PDNG"),
        build_entry("-7.00", "2026-01-14", ref="R2", status="PDNG"),
        kind="052",
    ),
    kind="052",
)


def list_counts(summary):
    return [summary[name] for name in ("count", "duplicates", "booked", "lapsed")]


def test_pending_rows_reported_after_final_statement_are_not_stored(upload_statement_file, acme, main_account):
    upload_statement_file(FINAL)
    assert list_counts(upload_statement_file(LATE)) == [0, 2, 0, 2]
    assert len(list_stored_rows(acme)) == 1


def test_import_page_explains_why_pending_rows_are_not_stored(editor, acme, upload_statement_file, main_account):
    upload_statement_file(FINAL)
    address, answer = open_check_page(editor, acme, ("late.xml", LATE))
    wanted = "Nothing new, 0 duplicates, 2 pending skipped because the bank no longer reports them"
    assert wanted in get_page_text(answer)
    done = get_page_text(confirm_import(editor, address, answer))
    assert "2 pending entries skipped: the bank no longer reports them." in done
    assert "late.xml CAMT.054 Main Some Person 0 No longer reported by the bank: 2 Show" in done


def test_import_page_shows_statement_that_only_books_pending_rows(
    editor, api, acme, upload_statement_file, main_account
):
    upload_statement_file(ANNOUNCED)
    both = build_camt(
        build_statement(build_entry("-40.00", ref="R1"), build_entry("-7.00", ref="R2"), opening="100", closing="53")
    )
    address, answer = open_check_page(editor, acme, ("final.xml", both))
    shown = get_page_text(answer)
    assert "Nothing new, 0 duplicates, 2 pending now booked" in shown
    assert "Book 2 pending transactions" in shown
    done = get_page_text(confirm_import(editor, address, answer))
    assert "0 transactions imported from 1 file. 2 pending transactions are now booked." in done
    assert "final.xml CAMT.053 Main Some Person 0 Pending, now booked: 2 Show" in done
    assert list_counts(upload_statement_file(both)) == [0, 2, 0, 0]


def test_import_page_reports_removed_pending_rows_and_their_edits(
    editor, api, books, acme, upload_statement_file, main_account
):
    upload_statement_file(ANNOUNCED)
    row = next(each for each in api.get("transactions").json() if each["amountValue"] == "-7.00")
    books.set_categorizations(row["id"], {"categoryId": books.get_category_id("marketing"), "plSplit": {"cac": -7}})
    address, answer = open_check_page(editor, acme, ("final.xml", FINAL))
    shown = get_page_text(answer)
    assert "1 pending transaction is missing in this statement and will be deleted." in shown
    assert "1 of them was edited or categorized. Undo this import to restore it." in shown
    assert "1 pending transaction is now booked. 1 pending transaction was deleted." in get_page_text(
        confirm_import(editor, address, answer)
    )
