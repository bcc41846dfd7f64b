"""Rows named Übertrag: a balance carried forward where they move nothing or repeat the balance, else a transfer."""

import pytest

from tests.ledger.statement_upload import list_stored_rows, upload_statement
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db
MOVEMENTS = ["02.11.2026;Vermieter;Miete;-500,00;500,00", "13.11.2026;Kunde;RE 1;200,00;700,00"]
STORED = ["-500.00", "200.00"]
HEADINGS = "Buchungstag;Auftraggeber;Verwendungszweck;Betrag;Saldo"


def upload(api, bank, *lines, with_balance=True):
    rows = [line if with_balance else line.rpartition(";")[0] for line in (HEADINGS, *lines)]
    answer = upload_statement(api, "\n".join(rows).encode(), name="umsatz.csv", accountId=bank)
    assert answer.status_code == 200, answer.content


def test_carried_forward_row_of_zero_is_left_out(api, acme, bank):
    for with_balance in [True, False]:
        for text in ["Übertrag", "Übertrag aus Vormonat", "UEBERTRAG"]:
            with undo_changes():
                upload(api, bank, f"01.11.2026;Sparkasse;{text};0,00;1.000,00", *MOVEMENTS, with_balance=with_balance)
                assert [amount for _day, amount, *_texts in list_stored_rows(acme)] == STORED, (with_balance, text)


def test_carried_forward_row_that_repeats_the_balance_is_left_out(api, acme, bank):
    upload(api, bank, MOVEMENTS[0], "02.11.2026;Sparkasse;Übertrag Auszug 11;500,00;500,00", MOVEMENTS[1])
    assert [amount for _day, amount, *_texts in list_stored_rows(acme)] == STORED


@pytest.mark.parametrize("with_balance", [True, False])
def test_transfer_with_that_name_is_imported(api, acme, bank, with_balance):
    transfer = "14.11.2026;Eigenes Konto;Übertrag auf Tagesgeld;-300,00;400,00"
    upload(api, bank, *MOVEMENTS, transfer, with_balance=with_balance)
    assert [amount for _day, amount, *_texts in list_stored_rows(acme)] == [*STORED, "-300.00"]


@pytest.mark.parametrize("text", ["Übertrag aus Vormonat", "Uebertrag vom Kontoauszug Nr. 10"])
def test_carried_forward_row_above_all_movements_is_left_out_without_balances(api, acme, bank, text):
    upload(api, bank, f"01.11.2026;;{text};1.000,00;", *MOVEMENTS, with_balance=False)
    assert [amount for _day, amount, *_texts in list_stored_rows(acme)] == STORED


def test_carried_forward_rows_between_pages_are_left_out_without_balances(api, acme, bank):
    rows = [MOVEMENTS[0], "02.11.2026;;Übertrag;-500,00;", MOVEMENTS[1], "13.11.2026;;Übertrag;-300,00;"]
    upload(api, bank, *rows, with_balance=False)
    assert [amount for _day, amount, *_texts in list_stored_rows(acme)] == STORED


@pytest.mark.parametrize("row", ["01.11.2026;Eigenes Konto;Übertrag;1.000,00;", "14.11.2026;;Übertrag;-77,00;"])
def test_transfer_among_movements_is_imported_without_balances(api, acme, bank, row):
    lines = [row, *MOVEMENTS] if row.startswith("01") else [*MOVEMENTS, row]
    upload(api, bank, *lines, with_balance=False)
    assert len(list_stored_rows(acme)) == 3
