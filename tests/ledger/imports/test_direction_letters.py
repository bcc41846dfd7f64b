"""Columns of one letter: in pairs they say the direction, beside a letter of another pair their meaning is asked."""

import json

import pytest

from tests.ledger.imports.test_sample_files import list_stored
from tests.ledger.statement_upload import get_status_and_code, upload_statement
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db
ROWS = ("Rent", "10.00"), ("Salary", "20.00"), ("Coffee", "5.00"), ("Refund", "5.00")


def build_file(letters, heading="Type", balances=()):
    """Return a file with one letter per row, and a column of balances if there are any."""
    lines = [f"Date,{heading},Text,Amount" + (",Balance" if balances else "")]
    for position, (letter, (text, amount)) in enumerate(zip(letters, ROWS, strict=True)):
        balance = f",{balances[position]}.00" if balances else ""
        lines.append(f"2026-01-{15 + position},{letter},{text},{amount}{balance}")
    return "\n".join(lines).encode()


def ask(api, bank, content):
    """Return the choices that an upload asks for, by field."""
    answer = upload_statement(api, content, name="rows.csv", accountId=bank)
    assert get_status_and_code(answer) == (400, "mapping_ambiguous"), answer.content
    return {choice["field"]: [option["value"] for option in choice["options"]] for choice in answer.json()["choices"]}


@pytest.mark.parametrize("letters", ["PCDC", "HCDC", "KCDC", "XCDC", "DHSH", "EHSH", "DHSE"])
def test_letter_outside_the_pair_asks_what_the_letters_mean(api, bank, letters):
    for heading in ("Type", "Direction", "Debit/Credit", "Code"):
        assert list(ask(api, bank, build_file(letters, heading))) == ["directionValues"], heading


def test_letter_outside_the_pair_is_stored_as_answered(api, acme, bank):
    content, right = build_file("PCDC"), {"in": ["c"], "out": ["d", "p"]}
    assert right in ask(api, bank, content)["directionValues"]
    settings = json.dumps({"csv": {"directionValues": right}})
    answer = upload_statement(api, content, name="rows.csv", accountId=bank, importSettings=settings)
    assert answer.status_code == 200, answer.content
    assert [amount for _day, amount, _currency in list_stored(acme)] == ["-10.00", "20.00", "-5.00", "5.00"]


@pytest.mark.parametrize("heading", ["Type", "Direction"])
def test_letter_that_the_balance_does_not_show_is_asked_alone(api, bank, heading):
    choices = ask(api, bank, build_file("PCDC", heading, balances=(90, 110, 105, 110)))
    assert list(choices) == ["directionValues"]
    assert {"in": ["c"], "out": ["d", "p"]} in choices["directionValues"]


def test_letters_of_two_pairs_that_the_balance_shows_are_not_asked(api, acme, bank):
    content = build_file("CPDC", "Direction", balances=(110, 90, 85, 90))
    answer = upload_statement(api, content, name="rows.csv", accountId=bank)
    assert answer.status_code == 200, answer.content
    assert [amount for _day, amount, _currency in list_stored(acme)] == ["10.00", "-20.00", "-5.00", "5.00"]


@pytest.mark.parametrize(("letters", "stored"), [("DCDC", ["-10.00", "20.00"]), ("DWDW", ["10.00", "-20.00"])])
def test_letters_of_one_pair_are_not_asked(api, acme, bank, letters, stored):
    answer = upload_statement(api, build_file(letters), name="rows.csv", accountId=bank)
    assert answer.status_code == 200, answer.content
    assert [amount for _day, amount, _currency in list_stored(acme)][:2] == stored


def test_column_of_other_letters_does_not_hold_directions(api, bank):
    for heading in ("Type", "Text"):
        with undo_changes():
            text = f"Date,{heading},Amount\n2026-01-15,A,10.00\n2026-01-16,B,20.00\n2026-01-17,C,5.00\n"
            assert list(ask(api, bank, text.encode())) == ["flipSign"]
