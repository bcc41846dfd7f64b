"""Before an import is undone a page says what would go, and it is that which goes."""

import pytest

from ledger.models import ImportBatch, Transaction
from tests.ledger.bank_file_builders import build_camt, build_entry, build_simple_camt, build_statement
from tests.ledger.conftest import get_page_text
from tests.ledger.statement_upload import list_stored_rows

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]


def build_pending_entry(amount, ref):
    return build_entry(amount, "2026-01-14", ref=ref, status="PDNG")


ANNOUNCED = build_camt(
    build_statement(build_pending_entry("-40.00", "R1"), build_pending_entry("-7.00", "R2"), kind="052"), kind="052"
)
BOOKED = build_camt(
    build_statement(build_entry("-40.00", ref="R1"), build_entry("-7.00", ref="R2"), build_entry("-1.00", ref="R3"))
)


def build_undo_path(company, summary):
    return f"/app/companies/{company.id}/imports/{summary['importId']}/undo"


def test_undo_preview_counts_match_deleted_and_changed_rows(editor, api, acme, upload_statement_file, main_account):
    first, last = upload_statement_file(ANNOUNCED), upload_statement_file(BOOKED)
    api.delete(f"imports/{first['importId']}")
    row = Transaction.objects.for_company(acme.id).get(bank_reference="R1")
    api.put(f"transactions/{row.id}", {"notes": "mine"})
    page_text = get_page_text(editor.get(build_undo_path(acme, last)))
    assert "This deletes 3 transactions." in page_text
    assert "1 of them has been changed since. These changes are lost." in page_text
    assert len(list_stored_rows(acme)) == 3
    assert "3 transactions deleted. 1 of them had been edited." in get_page_text(
        editor.post(build_undo_path(acme, last), follow=True)
    )
    assert list_stored_rows(acme) == []


def test_undo_preview_lists_rows_that_become_pending(editor, acme, upload_statement_file, main_account):
    upload_statement_file(ANNOUNCED)
    last = upload_statement_file(BOOKED)
    page_text = get_page_text(editor.get(build_undo_path(acme, last)))
    assert (
        "This deletes 1 transaction. It has not been changed since. 2 transactions become pending again." in page_text
    )
    done = get_page_text(editor.post(build_undo_path(acme, last), follow=True))
    assert "1 transaction deleted. 2 transactions are pending again." in done
    assert Transaction.objects.for_company(acme.id).filter(pending=True).count() == 2


def test_undo_preview_leaves_out_rows_of_other_imports(editor, acme, upload_statement_file, main_account):
    first = upload_statement_file(build_simple_camt("-40.00", "25.50"))
    upload_statement_file(build_simple_camt("-40.00", "25.50", "-3.00"))
    page_text = get_page_text(editor.get(build_undo_path(acme, first)))
    assert "No transactions are deleted. Other imports contain them, or they are already deleted." in page_text
    assert len(list_stored_rows(acme)) == 3


def test_undo_preview_changes_nothing_and_is_unavailable_after_undo(
    editor, api, acme, upload_statement_file, main_account
):
    answer = upload_statement_file(BOOKED)
    editor.get(build_undo_path(acme, answer))
    assert ImportBatch.objects.for_company(acme.id).get().undone_time is None
    assert len(api.get("events", {"type": "import.undone"}).json()) == 0
    api.delete(f"imports/{answer['importId']}")
    assert "The import was already undone." in get_page_text(editor.get(build_undo_path(acme, answer), follow=True))
