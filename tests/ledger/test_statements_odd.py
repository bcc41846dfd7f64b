"""Statements that meet what people, or other statements, did meanwhile."""

import pytest

from ledger.statements import reading
from tests.ledger.banks import IBAN, simple
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
