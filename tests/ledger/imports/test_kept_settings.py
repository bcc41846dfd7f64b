"""Kept settings that a file contradicts: the balance or the only reading decides and is named, else they are asked."""

import json

import pytest

from tests.ledger.imports.test_import_pages import open_check_page
from tests.ledger.imports.test_sample_files import list_stored
from tests.ledger.statement_upload import get_status_and_code, list_stored_rows, upload_statement
from tests.page_text import get_page_text
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db

BALANCED = (
    "Date,Amount,Balance,Text\n2026-01-31,100.00,100.00,Sale\n"
    "2026-02-03,-10.00,90.00,Tea\n2026-02-04,-20.00,70.00,Cake\n"
)
COLUMNS = {"date": "Date", "amount": "Amount", "balance": "Balance", "description": ["Text"]}
PAIR = (
    "Date,Debit,Credit,Balance,Text\n2026-01-25,,100.00,100.00,Sale\n2026-01-26,10.00,,90.00,Tea\n"
    "2026-01-27,20.00,,70.00,Cake\n"
)
PAIR_COLUMNS = {"date": "Date", "debit": "Debit", "credit": "Credit", "balance": "Balance", "description": ["Text"]}
DATES = "Date,Amount,Text\n01/31/2026,-10.00,Tea\n02/15/2026,-20.00,Cake\n"
CHANGED = "Settings of the last import do not fit this file and were changed: "


def keep(api, account, **settings):
    settings = {"columns": COLUMNS, **settings}
    assert api.put(f"accounts/{account}", {"importSettings": {"csv": settings}}).status_code == 200


def upload(api, account, text, **settings):
    given = {"importSettings": json.dumps({"csv": settings})} if settings else {}
    return upload_statement(api, text.encode(), name="f.csv", accountId=account, **given)


def list_asked(answer):
    assert get_status_and_code(answer) == (400, "mapping_ambiguous"), answer.content
    return {choice["field"]: [option["value"] for option in choice["options"]] for choice in answer.json()["choices"]}


# ---------------------------------------------------------------------------------------------- sign


@pytest.mark.parametrize(("text", "columns"), [(BALANCED, COLUMNS), (PAIR, PAIR_COLUMNS)])
def test_balance_overrules_kept_flip_sign(api, acme, bank, editor, text, columns):
    keep(api, bank, columns=columns, flipSign=True)
    page = get_page_text(open_check_page(editor, acme, bank, text)[1])
    assert f"{CHANGED}Reverse signs (positive amounts are money out)." in page
    assert upload(api, bank, text).status_code == 200
    assert [row[1] for row in list_stored(acme)] == ["100.00", "-10.00", "-20.00"]


@pytest.mark.parametrize(("text", "columns"), [(BALANCED, COLUMNS), (PAIR, PAIR_COLUMNS)])
def test_flip_sign_of_request_counts_whatever_the_balance_says(api, acme, bank, text, columns):
    """A balance may be what is owed."""
    assert upload(api, bank, text, columns=columns, flipSign=True).status_code == 200
    assert [row[1] for row in list_stored(acme)] == ["-100.00", "10.00", "20.00"]


def test_kept_flip_sign_without_balance_is_used(api, acme, bank):
    keep(api, bank, columns={**COLUMNS, "balance": None}, flipSign=True)
    assert upload(api, bank, "Date,Amount,Text\n2026-02-03,10.00,Tea\n2026-02-04,-20.00,Back\n").status_code == 200
    assert [row[1] for row in list_stored(acme)] == ["-10.00", "20.00"]


def test_kept_direction_values_give_way_to_balance_and_words(api, acme, bank):
    text = (
        "Date,Amount,D/C,Balance,Text\n2026-01-31,100.00,C,100.00,Sale\n"
        "2026-02-03,10.00,D,90.00,Tea\n2026-02-04,20.00,D,70.00,Cake\n"
    )
    columns = {**COLUMNS, "direction": "D/C"}
    keep(api, bank, columns=columns, directionValues={"in": ["D"], "out": ["C"]})
    assert upload(api, bank, text).status_code == 200
    assert [row[1] for row in list_stored(acme)] == ["100.00", "-10.00", "-20.00"]


MINUS = (
    "Date,Debit,Credit,Balance,Text\n2026-01-25,,100.00,100.00,Sale\n2026-01-26,10.00,,90.00,Tea\n"
    "2026-01-27,-5.00,,95.00,Back\n2026-01-28,20.00,,75.00,Cake\n"
)


def test_kept_meaning_of_minus_gives_way_to_balance(api, acme, bank, editor):
    keep(api, bank, columns=PAIR_COLUMNS, minusMeans={"debit": "repeats"})
    page = get_page_text(open_check_page(editor, acme, bank, MINUS)[1])
    assert f"{CHANGED}Meaning of the minus sign." in page
    assert upload(api, bank, MINUS).status_code == 200
    assert [row[1] for row in list_stored(acme)] == ["100.00", "-10.00", "5.00", "-20.00"]


def test_kept_flip_sign_leaves_first_row_open_that_no_step_shows(api, bank):
    keep(api, bank, flipSign=True)
    assert list_asked(upload(api, bank, BALANCED.replace(",-", ","))) == {"unprovenSign": ["out", "in"]}


# ---------------------------------------------------------------------------------------------- marks and dates


def test_kept_decimal_mark_gives_way_to_only_reading(api, acme, bank, editor):
    keep(api, bank, decimalMark="comma")
    page = get_page_text(open_check_page(editor, acme, bank, BALANCED)[1])
    assert f"{CHANGED}Decimal mark." in page
    assert upload(api, bank, BALANCED).status_code == 200
    assert [row[1] for row in list_stored(acme)] == ["100.00", "-10.00", "-20.00"]


def test_kept_decimal_mark_that_cannot_be_stored_gives_way(api, acme, bank):
    keep(api, bank, columns={"date": "Date", "amount": "Amount", "description": ["Text"]}, decimalMark="point")
    assert upload(api, bank, "Date,Amount,Text\n2026-01-31,1.234,Sale\n2026-02-03,-1.567,Back\n").status_code == 200
    assert [row[1] for row in list_stored(acme)] == ["1234.00", "-1567.00"]


def test_kept_decimal_mark_that_fits_is_used(api, acme, bank):
    keep(api, bank, columns={"date": "Date", "amount": "Amount", "description": ["Text"]}, decimalMark="comma")
    assert upload(api, bank, "Date,Amount,Text\n2026-01-31,1.500,Sale\n2026-02-03,-2.500,Back\n").status_code == 200
    assert [row[1] for row in list_stored(acme)] == ["1500.00", "-2500.00"]


def test_kept_date_order_gives_way_to_only_reading(api, acme, bank, editor):
    keep(api, bank, columns={"date": "Date", "amount": "Amount", "description": ["Text"]}, dateOrder="dayFirst")
    page = get_page_text(open_check_page(editor, acme, bank, DATES)[1])
    assert f"{CHANGED}Date format." in page
    assert upload(api, bank, DATES).status_code == 200
    assert [row[0] for row in list_stored(acme)] == ["2026-01-31", "2026-02-15"]


def test_kept_date_order_is_asked_where_two_orders_remain(api, acme, bank):
    keep(api, bank, columns={"date": "Date", "amount": "Amount", "description": ["Text"]}, dateOrder="iso")
    text = "Date,Amount,Text\n03/04/2026,-10.00,Tea\n03/05/2026,-20.00,Cake\n"
    assert list_asked(upload(api, bank, text)) == {"dateOrder": ["dayFirst", "monthFirst"]}


@pytest.mark.parametrize(("name", "value", "text"), [("decimalMark", "comma", BALANCED), ("dateOrder", "iso", DATES)])
def test_setting_of_request_that_does_not_fit_is_refused(api, bank, name, value, text):
    answer = upload(api, bank, text, **{name: value})
    assert get_status_and_code(answer) == (400, "statement_unreadable")


# ---------------------------------------------------------------------------------------------- encoding and separator


def test_kept_encoding_and_separator_give_way_to_those_of_file(api, acme, bank):
    text = BALANCED.replace("Tea", "Café")
    for kept in ({"encoding": "windows-1252"}, {"separator": ";"}, {"encoding": "utf-16"}):
        with undo_changes():
            keep(api, bank, **kept)
            answer = upload(api, bank, text)
            assert answer.status_code == 200, answer.content
            assert [row[3] for row in list_stored_rows(acme)] == ["Sale", "Café", "Cake"]


def test_encoding_is_asked_where_kept_one_cannot_read_file(api, bank):
    keep(api, bank, encoding="utf-8")
    content = BALANCED.replace("Tea", "Café crème").encode("windows-1252")
    asked = list_asked(upload_statement(api, content, name="f.csv", accountId=bank))
    assert asked == {"encoding": ["windows-1252", "windows-1250"]}


# ---------------------------------------------------------------------------------------------- description


def test_missing_kept_description_is_asked(api, acme, bank, editor):
    keep(api, bank, columns={"date": "Date", "amount": "Net", "description": ["Text"]})
    text = "Date,Gross,Net\n2026-02-01,-12.50,-10.00\n2026-02-03,100.00,90.00\n"
    answer = upload(api, bank, text)
    assert list_asked(answer) == {"columns.description": [None]}
    assert answer.json()["choices"][0]["question"] == "column_gone"
    page = get_page_text(open_check_page(editor, acme, bank, text)[1])
    assert "Description: A column from your last import is missing." in page


def test_missing_part_of_kept_description_is_asked_beside_the_rest(api, acme, bank, editor):
    columns = {"date": "Date", "amount": "Amount", "description": ["Text", "More"]}
    keep(api, bank, columns=columns)
    text = "Date,Text,Other,Amount\n2026-02-01,Tea,Green,-10.00\n2026-02-03,Cake,Plum,-90.00\n"
    assert list_asked(upload(api, bank, text)) == {"columns.description": [["Text", "Other"], ["Text"]]}
    _address, answer = open_check_page(editor, acme, bank, text)
    assert "Text (Column B), Other (Column C)" in get_page_text(answer)
    settings = {"columns": {**columns, "description": ["Text", "Other"]}}
    assert upload(api, bank, text, **settings).status_code == 200
