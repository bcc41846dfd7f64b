"""Statements that meet what people, or other statements, did meanwhile."""

import pytest

from ledger.bank_statements.queries import statement_files
from tests.ledger.bank_file_builders import IBAN, build_camt, build_entry, build_simple_camt, build_statement
from tests.ledger.statement_upload import get_status_and_code, list_stored_rows, upload_statement

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]


def test_concurrent_file_with_other_account_number_is_rejected(api, acme, bank, monkeypatch):
    read = statement_files.read_statements

    def read_while_the_other_is_stored(*args, **named):
        result = read(*args, **named)
        api.put(f"accounts/{bank}", {"accountNumber": IBAN})
        return result

    monkeypatch.setattr(statement_files, "read_statements", read_while_the_other_is_stored)
    answer = upload_statement(api, build_simple_camt("-1.00", iban="DE02120300000000202051"), accountId=bank)
    assert get_status_and_code(answer) == (400, "account_differs")
    assert list_stored_rows(acme) == []


def test_booking_keeps_texts_of_edited_pending_row(api, upload_statement_file, books, main_account):
    upload_statement_file(
        build_camt(
            build_statement(build_entry("-40.00", "2026-01-14", ref="R1", status="PDNG", name=""), kind="052"),
            kind="052",
        )
    )
    (waiting,) = api.get("transactions").json()
    api.put(f"transactions/{waiting['id']}", {**waiting, "description": "Team dinner", "notes": "ask Bob"})
    booking = build_entry("-40.00", "2026-01-16", ref="R1", name="Bistro", text="Card 4711", value_day="2026-01-17")
    upload_statement_file(build_camt(build_statement(booking, opening="100", closing="60")))
    booked = books.get_transaction(waiting["id"])
    assert (booked["pending"], booked["date"]) == (False, "2026-01-16")
    assert (booked["fromTo"], booked["description"], booked["notes"]) == ("Bistro", "Team dinner", "ask Bob")


def test_booking_updates_texts_of_unedited_pending_row(api, upload_statement_file, books, main_account):
    upload_statement_file(
        build_camt(
            build_statement(build_entry("-40.00", "2026-01-14", ref="R1", status="PDNG", text="Soon"), kind="052"),
            kind="052",
        )
    )
    (waiting,) = api.get("transactions").json()
    upload_statement_file(
        build_camt(
            build_statement(
                build_entry("-40.00", "2026-01-16", ref="R1", text="Card 4711"), opening="100", closing="60"
            )
        )
    )
    assert books.get_transaction(waiting["id"])["description"] == "Card 4711"
