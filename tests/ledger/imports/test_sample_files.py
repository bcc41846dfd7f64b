"""Bank files as people have them: read rightly, or asked; over HTTP."""

import json
from pathlib import Path

import pytest

from ledger.imports.calc.detection import detect_mapping
from ledger.imports.calc.detection_result import AccountFacts
from ledger.imports.table_items import read_uploaded_table
from ledger.models import Transaction
from tests.ledger.imports.sample_files import (
    ACCOUNT_CURRENCIES,
    ACCOUNT_TYPES,
    QUESTIONS_OF_FILE,
    REFUSED,
    ROWS_OF_FILE,
    SAMPLES_FOLDER,
    read_file,
)
from tests.ledger.statement_upload import get_status_and_code, upload_statement
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db


def list_stored(company):
    rows = Transaction.objects.for_company(company.id).without_initial_balances().order_by("date", "amount_value")
    return [
        (str(row.date), f"{row.amount_value:.2f}", row.amount_currency, *(["pending"] if row.pending else []))
        for row in rows
    ]


def add_answers(settings, answers):
    """The settings with an answer to each question at its place."""
    for path, value in answers.items():
        part = settings
        *outer, last = path.split(".")
        for name in outer:
            part = part.setdefault(name, {})
        part[last] = value
    return settings


@pytest.fixture
def account(books):
    def opened(name):
        currency = ACCOUNT_CURRENCIES.get(name, "EUR")
        return books.create_account(type=ACCOUNT_TYPES.get(name, "bank"), defaultCurrency=currency)

    return opened


def test_every_sample_file_has_expected_values():
    named = {path.stem for path in SAMPLES_FOLDER.glob("*.csv")} - {"14_kept_flip_b", "15_heading_twice_b"}
    assert named == ROWS_OF_FILE.keys() | QUESTIONS_OF_FILE.keys() | REFUSED.keys()


def test_file_with_one_reading_is_stored_without_a_question(api, acme, account):
    for name in ROWS_OF_FILE:
        with undo_changes():
            answer = upload_statement(api, read_file(name), name=f"{name}.csv", accountId=account(name))
            assert answer.status_code == 200, answer.content
            assert sorted(list_stored(acme)) == sorted(ROWS_OF_FILE[name])


def test_file_with_two_readings_asks_and_is_stored_as_answered(api, acme, account):
    for name in QUESTIONS_OF_FILE:
        with undo_changes():
            account_id = account(name)
            answer = upload_statement(api, read_file(name), name=f"{name}.csv", accountId=account_id)
            assert get_status_and_code(answer) == (400, "mapping_ambiguous"), name
            answers, rows = QUESTIONS_OF_FILE[name]
            assert {choice["field"] for choice in answer.json()["choices"]} == answers.keys(), name
            for choice in answer.json()["choices"]:
                values = [option["value"] for option in choice["options"]]
                assert answers[choice["field"]] in values, name
                shown = [json.dumps(option["examples"]) for option in choice["options"]]
                assert len(set(shown)) == len(shown), name
            assert list_stored(acme) == [], name
            settings = json.dumps({"csv": add_answers({}, answers)})
            again = upload_statement(
                api, read_file(name), name=f"{name}.csv", accountId=account_id, importSettings=settings
            )
            assert again.status_code == 200, again.content
            assert list_stored(acme) == rows, name


def test_file_without_any_reading_is_rejected_and_nothing_is_stored(api, acme, account):
    for name in REFUSED:
        status, error_code, named = REFUSED[name]
        answer = upload_statement(api, read_file(name), name=f"{name}.csv", accountId=account(name))
        assert get_status_and_code(answer) == (status, error_code), name
        assert named in answer.json()["detail"], name
        assert list_stored(acme) == [], name


def build_docs_table():
    """The table of tests/data/bank_files/README.md: each file, how it is read, and what is stored."""
    lines = []
    for name in sorted(ROWS_OF_FILE.keys() | QUESTIONS_OF_FILE.keys() | REFUSED.keys()):
        if name in REFUSED:
            lines.append(f"| `{name}` | refused: `{REFUSED[name][1]}` | |\n")
            continue
        answers, rows = (
            QUESTIONS_OF_FILE.get(name, ({}, None)) if name in QUESTIONS_OF_FILE else ({}, ROWS_OF_FILE[name])
        )
        own = AccountFacts(ACCOUNT_CURRENCIES.get(name, "EUR"), is_card_account=ACCOUNT_TYPES.get(name) == "creditCard")
        mapping = detect_mapping(read_uploaded_table(read_file(name)), account=own)
        questions = ", ".join(f"`{question.field}`" for question in mapping.questions)
        proven = "proven by the balance" if "amount" in mapping.proven_fields else "one reading"
        amounts = ", ".join(" ".join((row[1], row[2], *row[3:])) for row in rows)
        assert bool(questions) == bool(answers)
        lines.append(f"| `{name}` | {f'asked: {questions}' if questions else proven} | {amounts} |\n")
    return "".join(lines)


def test_readme_lists_every_sample_file_with_its_reading():
    assert build_docs_table() in Path("tests/data/bank_files/README.md").read_text("utf-8")


def test_choice_examples_are_two_rows_as_stored(api, account):
    answer = upload_statement(api, read_file("20_ambiguous_dates"), accountId=account("x"))
    (choice,) = answer.json()["choices"]
    assert (choice["question"], choice["field"]) == ("date_order", "dateOrder")
    first, second = choice["options"]
    assert [row["date"] for row in first["examples"]] == ["2024-02-07", "2024-03-07"]
    assert [row["date"] for row in second["examples"]] == ["2024-07-02", "2024-07-03"]
    assert first["examples"][0]["amountValue"] == "-52.00"
