"""Columns of directions in words that are not known, beside amounts without signs: what they mean is asked."""

import json

import pytest

from tests.ledger.imports.test_sample_files import list_stored
from tests.ledger.statement_upload import upload_statement
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db

KNOWN = [("구분", "출금", "입금"), ("Sens", "Dépense", "Recette"), ("MD/D", "MD", "D"), ("DT/KT", "DT", "KT")]
UNKNOWN = [
    ("Type", "Paid", "Received"),
    ("Type", "Sale", "Refund"),
    ("Type", "U", "I"),
    ("Kind", "1", "2"),
    ("Way", "To", "From"),
    ("CR", "", "CR"),
]
STORED = [("2025-03-01", "-5.00", "EUR"), ("2025-03-02", "10.00", "EUR"), ("2025-03-03", "-2.00", "EUR")]


def build_file(heading, out, came):
    rows = (("01", "Rewe Markt", "5,00", out), ("02", "Shell Tank", "10,00", came), ("03", "Kunde Nord", "2,00", out))
    lines = "".join(f"2025-03-{day};{text};{amount};{value}\n" for day, text, amount, value in rows)
    return f"Date;Text;Amount;{heading}\n{lines}".encode()


def test_words_for_directions_of_further_languages_are_known(upload_statement_file, acme, bank):
    for words in KNOWN:
        with undo_changes():
            upload_statement_file(build_file(*words), accountId=bank)
            assert list_stored(acme) == STORED, words


def test_values_of_an_unknown_direction_column_are_asked(api, acme, bank):
    for words in UNKNOWN:
        with undo_changes():
            answer = upload_statement(api, build_file(*words), accountId=bank)
            (choice,) = answer.json()["choices"]
            assert choice["field"] == "directionValues", words
            right = {"in": [words[2].lower()], "out": [words[1].lower()]}
            assert right in [option["value"] for option in choice["options"]], words
            settings = json.dumps({"csv": {"directionValues": right}})
            answer = upload_statement(api, build_file(*words), accountId=bank, importSettings=settings)
            assert answer.status_code == 200, answer.content
            assert list_stored(acme) == STORED, words


def test_column_of_flags_does_not_hold_directions(api, bank):
    answer = upload_statement(api, build_file("Reviewed", "0", "1"), accountId=bank)
    assert [choice["field"] for choice in answer.json()["choices"]] == ["flipSign"]


def test_only_column_of_texts_does_not_hold_directions(api, bank):
    text = "Date;Shop;Amount\n2025-03-01;Rewe;5,00\n2025-03-02;Aldi;10,00\n2025-03-03;Rewe;2,00\n"
    answer = upload_statement(api, text.encode(), accountId=bank)
    assert [choice["field"] for choice in answer.json()["choices"]] == ["flipSign"]


def test_rows_of_a_further_direction_can_be_left_out(api, acme, bank):
    text = "Date;Text;Amount;Direction\n2025-03-01;a;5,00;OUT\n2025-03-02;b;10,00;IN\n2025-03-03;c;2,00;NEUTRAL\n"
    answer = upload_statement(api, text.encode(), accountId=bank)
    (choice,) = answer.json()["choices"]
    value = {"in": ["in"], "out": ["out"], "leaveOut": ["neutral"]}
    assert value in [option["value"] for option in choice["options"]]
    settings = json.dumps({"csv": {"directionValues": value}})
    answer = upload_statement(api, text.encode(), accountId=bank, importSettings=settings)
    assert (answer.json()["count"], answer.json()["leftOut"]) == (2, 1)
    assert list_stored(acme) == STORED[:2]
