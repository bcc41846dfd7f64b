"""QIF files that are broken, or of several accounts, or that tell the order of their dates: over HTTP."""

import pytest

from tests.ledger.banks import qif
from tests.ledger.receiving import code, rows, send

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("exact")]


@pytest.mark.parametrize("amount", [["T"], ["T  "], ["T\t"], ["T", "U"], ["T.", "U1.00"]], ids=repr)
def test_an_entry_without_an_amount_is_told_with_its_line(api, acme, bank, amount):
    answer = send(api, qif(["D25/03/2026", "T1.00"], ["D26/03/2026", *amount, "PRent"]), accountId=bank)
    assert code(answer) == (400, "statement_unreadable")
    assert answer.json()["detail"].startswith("Line 5: ")
    assert rows(acme) == []


def test_the_other_letter_for_the_amount_counts_where_the_first_is_empty(take, acme, bank):
    take(qif(["D25/03/2026", "T", "U-7.00", "PRent"]), accountId=bank)
    assert rows(acme) == [("2026-03-25", "-7.00", "Rent", "")]
