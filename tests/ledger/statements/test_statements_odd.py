"""Statements that meet what people, or other statements, did meanwhile."""

import pytest

from ledger.statements import reading
from tests.ledger.banks import IBAN, camt, entry, simple, statement
from tests.ledger.receiving import code, rows, send

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("exact")]


def test_of_two_files_at_once_for_an_account_without_number_the_second_is_anothers(api, acme, bank, monkeypatch):
    read = reading.read

    def read_while_the_other_is_stored(*args, **named):
        found = read(*args, **named)
        api.put(f"accounts/{bank}", {"accountNumber": IBAN})
        return found

    monkeypatch.setattr(reading, "read", read_while_the_other_is_stored)
    answer = send(api, simple("-1.00", iban="DE02120300000000202051"), accountId=bank)
    assert code(answer) == (400, "account_differs")
    assert rows(acme) == []


def test_the_booking_leaves_the_words_of_whoever_edited_the_pending_row(api, take, books, main):
    take(camt(statement(entry("-40.00", "2026-01-14", ref="R1", status="PDNG", name=""), kind="052"), kind="052"))
    (waiting,) = api.get("transactions").json()
    api.put(f"transactions/{waiting['id']}", {**waiting, "description": "Team dinner", "notes": "ask Bob"})
    booking = entry("-40.00", "2026-01-16", ref="R1", name="Bistro", text="Card 4711", value_day="2026-01-17")
    take(camt(statement(booking, opening="100", closing="60")))
    booked = books.read(waiting["id"])
    assert (booked["pending"], booked["date"]) == (False, "2026-01-16")
    assert (booked["fromTo"], booked["description"], booked["notes"]) == ("Bistro", "Team dinner", "ask Bob")


def test_the_booking_tells_more_of_a_pending_row_that_nobody_touched(api, take, books, main):
    take(camt(statement(entry("-40.00", "2026-01-14", ref="R1", status="PDNG", text="Soon"), kind="052"), kind="052"))
    (waiting,) = api.get("transactions").json()
    take(camt(statement(entry("-40.00", "2026-01-16", ref="R1", text="Card 4711"), opening="100", closing="60")))
    assert books.read(waiting["id"])["description"] == "Card 4711"
