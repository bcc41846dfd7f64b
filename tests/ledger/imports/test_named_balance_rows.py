"""Rows with a day that name a balance or a sum: left out where the file proves it, stored where it proves a payment."""

import pytest

from tests.ledger.statement_upload import get_status_and_code, list_stored_rows, upload_statement
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db
NAMES = [
    "Saldo", "SALDO", "Balance", "Solde", "SUMME", "Summe", "Carried forward", "Closing balance", "Opening balance",
]  # fmt: skip


def build_file(*rows, headings="Buchungstag;Buchungstext;Betrag"):
    return "\n".join((headings, *rows)).encode()


def upload(api, bank, content):
    return upload_statement(api, content, name="umsatz.csv", accountId=bank)


def list_amounts(api, acme, bank, content):
    """Upload a file without questions and return the stored amounts, the oldest first."""
    answer = upload(api, bank, content)
    assert answer.status_code == 200, answer.content
    return [amount for _day, amount, *_texts in list_stored_rows(acme)]


def test_unproven_balance_among_movements_is_refused_with_its_line(api, acme, bank):
    for name in NAMES:
        content = build_file("15.01.2026;Miete;-900,00", f"16.01.2026;{name};-500,00", "17.01.2026;Gutschrift;1900,00")
        answer = upload(api, bank, content)
        assert get_status_and_code(answer) == (400, "statement_unreadable"), name
        detail = answer.json()["detail"]
        assert "Line 3" in detail
        assert f"“{name}” may be a balance or a payment" in detail
    assert list_stored_rows(acme) == []


def test_unproven_balance_above_all_movements_is_refused(api, acme, bank):
    for name in ("Übertrag", "UEBERTRAG", "Saldo"):
        rows = [f"15.01.2026;{name};-900,00", "16.01.2026;Miete;-500,00", "17.01.2026;Gutschrift;1900,00"]
        for each in (rows, rows[::-1]):
            assert get_status_and_code(upload(api, bank, build_file(*each))) == (400, "statement_unreadable"), each
    assert list_stored_rows(acme) == []


@pytest.mark.parametrize("name", ["Saldo", "Übertrag", "Closing balance"])
def test_balance_column_shows_that_a_row_is_a_payment(api, acme, bank, name):
    headings = "Buchungstag;Buchungstext;Betrag;Saldo"
    rows = ("15.01.2026;{};-900,00;100,00", "16.01.2026;{};-500,00;-400,00", "17.01.2026;{};1900,00;1500,00")
    for place in range(3):
        with undo_changes():
            named = [row.format(name if position == place else "Miete") for position, row in enumerate(rows)]
            amounts = list_amounts(api, acme, bank, build_file(*named, headings=headings))
            assert amounts == ["-900.00", "-500.00", "1900.00"], place


@pytest.mark.parametrize(
    ("heading", "out", "came"), [("S/H", "S", "H"), ("D/C", "D", "C"), ("Soll/Haben", "Soll", "Haben")]
)
def test_row_with_a_direction_is_a_payment(api, acme, bank, heading, out, came):
    rows = f"15.01.2026;Miete;900,00;{out}", f"16.01.2026;Saldo;500,00;{out}", f"17.01.2026;Erlös;1900,00;{came}"
    content = build_file(*rows, headings=f"Buchungstag;Buchungstext;Betrag;{heading}")
    assert list_amounts(api, acme, bank, content) == ["-900.00", "-500.00", "1900.00"]


def test_row_with_a_reference_is_a_payment(api, acme, bank):
    rows = "15.01.2026;Miete;-900,00;R1", "16.01.2026;Saldo;-500,00;R2", "17.01.2026;Erlös;1900,00;R3"
    content = build_file(*rows, headings="Buchungstag;Buchungstext;Betrag;Referenz")
    assert list_amounts(api, acme, bank, content) == ["-900.00", "-500.00", "1900.00"]


PROVEN_BALANCES = [
    ["15.01.2026;Miete;-900,00", "16.01.2026;Saldo;-900,00", "17.01.2026;Gutschrift;1900,00"],
    ["14.01.2026;Saldo;100,00", "15.01.2026;Miete;-900,00", "17.01.2026;Erlös;1900,00", "17.01.2026;Saldo;1100"],
    ["17.01.2026;Saldo;1100", "17.01.2026;Erlös;1900,00", "15.01.2026;Miete;-900,00", "14.01.2026;Saldo;100,00"],
    ["14.01.2026;Anfangssaldo;77,00", "15.01.2026;Miete;-900,00", "17.01.2026;Gutschrift;1900,00"],
    ["14.01.2026;Saldo;0,00", "15.01.2026;Miete;-900,00", "17.01.2026;Gutschrift;1900,00"],
    ["15.01.2026;Miete;-900,00", "17.01.2026;Gutschrift;1900,00", "17.01.2026;SUMME;1000,00"],
    ["15.01.2026;Miete;-900,00", "17.01.2026;Gutschrift;1900,00", ";SUMME;4711,00"],
]  # fmt: skip


def test_proven_balance_is_left_out(api, acme, bank):
    for rows in PROVEN_BALANCES:
        with undo_changes():
            assert list_amounts(api, acme, bank, build_file(*rows)) == ["-900.00", "1900.00"], rows


def test_balance_that_goes_against_a_row_named_as_one_asks_for_the_sign(api, acme, bank):
    headings = "Buchungstag|Buchungstext|Betrag EUR|Saldo nach Buchung"
    for name in ("Übertrag", "Saldo", "Einkauf"):
        rows = f"07.10.2025|{name}|8 000.00|-8 413.10", "06.10.2025|Miete|-91.00|-413.10"
        answer = upload(api, bank, build_file(*rows, headings=headings))
        assert get_status_and_code(answer) == (400, "mapping_ambiguous"), name
        assert [choice["field"] for choice in answer.json()["choices"]] == ["flipSign"], name
    assert list_stored_rows(acme) == []
