"""CSV files with several columns of one heading: asked where their cells differ, silent where one reading is left."""

import json

import pytest

from tests.ledger.imports.test_import_pages import confirm_import, open_check_page
from tests.ledger.imports.test_sample_files import list_stored
from tests.ledger.statement_upload import get_status_and_code, upload_statement
from tests.page_text import get_page_text
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db

DATES = "Date,Date,Amount,Description\n2026-01-31,2026-02-01,-11.00,Coffee\n2026-01-30,2026-02-02,-99.00,Lunch\n"
STATUSES = (
    "Date,Amount,Text,Status,Status\n2026-01-30,-11.00,a,Completed,Completed\n2026-01-31,-99.00,b,Pending,Declined\n"
)
CURRENCIES = "Date,Amount,Currency,Currency,Text\n2026-01-30,-11.00,USD,EUR,a\n2026-01-31,-99.00,USD,EUR,b\n"
ASKED = {
    "dates": (DATES, "date", (0, 1)),
    "dates in another case": (DATES.replace("Date,Date", "Date,DATE"), "date", (0, 1)),
    "dates with numbers": (DATES.replace("Date,Date", "Date 1,Date 2"), "date", (0, 1)),
    "dates, of which one decides the order": (
        "Date,Date,Amount,Text\n02/01/2026,12/01/2026,-1.00,a\n03/01/2026,13/01/2026,-2.00,b\n",
        "date",
        (0, 1),
    ),
    "booking dates": (DATES.replace("Date,Date", "Booking date,Booking date"), "date", (0, 1)),
    "statuses": (STATUSES, "status", (3, 4)),
    "statuses, of which one has one unknown value": (
        STATUSES.replace("a,Completed", "a,X1").replace("b,Pending", "b,X1"),
        "status",
        (3, 4),
    ),
    "currencies": (CURRENCIES, "currency", (2, 3)),
    "currencies before amounts": (
        "Date,Currency,Amount,Currency,Balance,Text\n2026-01-30,USD,-1.00,EUR,9.00,a\n2026-01-31,USD,-2.00,EUR,7.00,b\n",
        "currency",
        (3, 1),
    ),
    "debits": (
        "Date,Debit,Debit,Credit,Text\n2026-01-29,,,30.00,a\n2026-01-30,5.00,4.00,,b\n2026-01-31,7.00,6.00,,c\n",
        "debit",
        (1, 2),
    ),
    "counterparties": (
        "Date,Name,Name,Amount,Description\n2026-01-30,Ann,Bob,-1.00,a\n2026-01-31,Ann,Cora,-2.00,b\n",
        "counterparty",
        None,
    ),
}
SILENT = {
    "equal dates": DATES.replace("2026-02-01", "2026-01-31").replace("2026-02-02", "2026-01-30"),
    "empty dates": DATES.replace("2026-02-01", "").replace("2026-02-02", ""),
    "equal statuses but for case": STATUSES.replace("Declined", "pending"),
    "empty statuses": STATUSES.replace(",Completed\n", ",\n").replace(",Declined", ","),
    "equal currencies": CURRENCIES.replace("USD", "EUR"),
    "currency of the fee": CURRENCIES.replace("Currency,Currency", "Currency,Card,Currency").replace(
        "USD,EUR", "EUR,1.00,USD"
    ),
    "descriptions": "Date,Amount,Description,Description\n2026-01-30,-1.00,Rent,May\n2026-01-31,-2.00,Tea,June\n",
    "text under the heading of dates": DATES.replace("2026-02-01", "Tea").replace("2026-02-02", "Rice"),
}


def answer_columns(**columns):
    return {"importSettings": json.dumps({"csv": {"columns": columns}})}


def test_repeated_heading_is_asked_and_either_answer_is_accepted(api, acme, bank):
    for name, (text, field, positions) in ASKED.items():
        answer = upload_statement(api, text.encode(), accountId=bank)
        assert get_status_and_code(answer) == (400, "mapping_ambiguous"), name
        (choice,) = answer.json()["choices"]
        assert choice["field"] == f"columns.{field}", name
        values = [option["value"] for option in choice["options"]]
        assert sorted(values) == sorted(positions or values), name
        examples = [json.dumps(option["examples"]) for option in choice["options"]]
        assert len(set(examples)) == len(examples) == 2, name
        for value in values:
            settings = answer_columns(**{field: value})
            again = upload_statement(api, text.encode(), accountId=bank, dryRun="true", **settings)
            left = [] if again.status_code == 200 else [each["field"] for each in again.json()["choices"]]
            assert f"columns.{field}" not in left, name
    assert list_stored(acme) == []


def test_answers_store_the_chosen_columns(upload_statement_file, acme, bank):
    assert upload_statement_file(DATES.encode(), accountId=bank, **answer_columns(date=1))["count"] == 2
    assert [row[0] for row in list_stored(acme)] == ["2026-02-01", "2026-02-02"]
    first = upload_statement_file(STATUSES.encode(), accountId=bank, dryRun="true", **answer_columns(status=3))
    assert (first["count"], first["leftOut"]) == (2, 0)
    second = upload_statement_file(STATUSES.encode(), accountId=bank, dryRun="true", **answer_columns(status=4))
    assert (second["count"], second["leftOut"]) == (1, 1)


def test_repeated_heading_given_by_its_name_is_asked(api, bank):
    answer = upload_statement(api, DATES.encode(), accountId=bank, **answer_columns(date="Date"))
    assert get_status_and_code(answer) == (400, "mapping_ambiguous")


def test_repeated_heading_with_one_reading_is_silent(upload_statement_file, bank):
    for name, text in SILENT.items():
        with undo_changes():
            assert upload_statement_file(text.encode(), accountId=bank)["count"] == 2, name


def test_page_asks_for_the_repeated_column_and_keeps_the_answer(editor, acme, bank):
    address, answer = open_check_page(editor, acme, bank, DATES)
    assert "Several columns have this heading. Which one do you want to use?" in get_page_text(answer)
    assert b"confirm-row" not in answer.content
    confirm_import(editor, f"{address}&answer:columns.date=1")
    assert [row[0] for row in list_stored(acme)] == ["2026-02-01", "2026-02-02"]
    _, answer = open_check_page(editor, acme, bank, DATES.replace("2026-0", "2025-0"))
    assert "Questions about the file" not in get_page_text(answer)
