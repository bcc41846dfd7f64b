"""What the balance column and the currency prove: decimal marks, pairs, and examples as they would be stored."""

import json

import pytest

from ledger.imports.calc.amounts import DecimalMark
from ledger.imports.calc.columns import Column
from ledger.imports.calc.decimal_marks import drop_unstorable_marks
from tests.ledger.imports.test_import_pages import open_check_page
from tests.ledger.imports.test_sample_files import list_stored
from tests.ledger.statement_upload import get_status_and_code, upload_statement
from tests.page_text import get_page_text

pytestmark = pytest.mark.django_db

PAIR = (
    "Date,Debit,Credit,Balance,Description\n2026-01-25,100.00,,100.00,Sale Acme\n2026-01-26,,10.00,90.00,Coffee\n"
    "2026-01-27,,20.00,70.00,Lunch\n2026-01-28,50.00,,120.00,Sale Beta\n2026-01-29,,33.00,87.00,Rent\n"
)
THREE_DIGITS = "Date,Amount,Text\n2026-01-31,1.234,Sale\n2026-02-03,-1.567,Refund\n"
WITH_BALANCE = (
    "Date;Amount;Balance;Text\n2026-01-29;5.000;5.000;a\n2026-01-30;-1.234;3.766;b\n2026-01-31;-1.500;2.266;c\n"
)


def upload(api, account, text, **settings):
    given = {"importSettings": json.dumps({"csv": settings})} if settings else {}
    return upload_statement(api, text.encode(), name="f.csv", accountId=account, **given)


def get_options(answer, field):
    """The values of a question's options, each with the amounts and currencies of its examples."""
    assert get_status_and_code(answer) == (400, "mapping_ambiguous"), answer.content
    (choice,) = (choice for choice in answer.json()["choices"] if choice["field"] == field)
    return {
        option["value"]: [(row["amountValue"], row["amountCurrency"]) for row in option["examples"]]
        for option in choice["options"]
    }


# ---------------------------------------------------------------------------------------------- decimal mark


@pytest.mark.parametrize("heading", ["Amount", "Foo"])
def test_three_digits_are_thousands_where_currency_has_two_decimals(api, acme, bank, heading):
    answer = upload(api, bank, THREE_DIGITS.replace("Amount", heading))
    assert answer.status_code == 200, answer.content
    assert [row[1] for row in list_stored(acme)] == ["1234.00", "-1567.00"]


@pytest.mark.parametrize("heading", ["Amount", "Foo"])
def test_balance_with_three_digits_is_read_as_thousands(api, acme, bank, heading):
    answer = upload(api, bank, WITH_BALANCE.replace("Amount", heading))
    assert answer.status_code == 200, answer.content
    assert [row[1] for row in list_stored(acme)] == ["5000.00", "-1234.00", "-1500.00"]


def test_both_marks_remain_in_currency_with_three_decimals():
    column = Column(1, "Amount", ["1.234", "-1.567"])
    marks = [DecimalMark.POINT, DecimalMark.COMMA]
    assert drop_unstorable_marks(marks, [column], 3) == marks
    assert drop_unstorable_marks(marks, [column], 2) == [DecimalMark.COMMA]


def test_three_digits_are_thousands_where_currency_has_no_decimals(api, acme, books):
    assert upload(api, books.create_account(defaultCurrency="JPY"), THREE_DIGITS).status_code == 200
    assert [row[1:] for row in list_stored(acme)] == [("1234.00", "JPY"), ("-1567.00", "JPY")]


def test_zeros_behind_decimals_are_asked_with_amounts_as_stored(api, bank):
    text = "Date,Amount,Text\n2026-01-31,5.000,Sale\n2026-02-03,-1.000,Refund\n"
    assert get_options(upload(api, bank, text), "decimalMark") == {
        "point": [("5.00", "EUR"), ("-1.00", "EUR")],
        "comma": [("5000.00", "EUR"), ("-1000.00", "EUR")],
    }


# ---------------------------------------------------------------------------------------------- pairs


def test_debits_that_raise_the_balance_are_asked(api, acme, bank):
    """They are money in, or the balance is what is owed on a card."""
    options = get_options(upload(api, bank, PAIR), "flipSign")
    assert [amounts[0][0] for amounts in options.values()] == ["-100.00", "100.00"]
    assert upload(api, bank, PAIR, flipSign=True).status_code == 200
    assert [row[1] for row in list_stored(acme)] == ["100.00", "-10.00", "-20.00", "50.00", "-33.00"]


# ---------------------------------------------------------------------------------------------- examples and wording


def test_currency_that_cannot_hold_amounts_is_not_offered(api, bank):
    text = "Date,Amount,Text\n2026-01-31,kr 7.50,Sale\n2026-02-03,kr -12.00,Tea\n"
    options = get_options(upload(api, bank, text), "currency")
    assert list(options) == ["SEK", "NOK", "DKK"]
    assert options["SEK"] == [("7.50", "SEK"), ("-12.00", "SEK")]


def test_only_currency_that_can_hold_amounts_is_taken(api, acme, bank):
    assert upload(api, bank, "Date,Amount,Text\n2026-01-31,¥ 7.50,Sale\n2026-02-03,¥ -2.00,Tea\n").status_code == 200
    assert [row[1:] for row in list_stored(acme)] == [("7.50", "CNY"), ("-2.00", "CNY")]


def test_whole_amounts_offer_currencies_without_decimals(api, bank):
    options = get_options(upload(api, bank, "Date,Amount,Text\n2026-01-31,kr 7,a\n2026-02-03,kr -2,b\n"), "currency")
    assert options["ISK"] == [("7", "ISK"), ("-2", "ISK")]
    assert options["SEK"] == [("7.00", "SEK"), ("-2.00", "SEK")]


def test_proven_mapping_is_checked_against_balance_column(editor, acme, bank):
    assert "Amounts checked against the balance column." in get_page_text(
        open_check_page(editor, acme, bank, WITH_BALANCE)[1]
    )
