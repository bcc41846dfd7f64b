"""Which account a CSV file goes to: the only one, or the one that is chosen, as its files were read before."""

import re
from urllib.parse import urlsplit

import pytest

from tests.ledger.imports.test_import_pages import GOOD, list_sums, open_check_page, parse_choices

pytestmark = pytest.mark.django_db

SAVED_SETTINGS = {
    "headings": 1,
    "columns": {"date": "Date", "description": "Payee", "amount": "Amount"},
    "dateOrder": "iso",
    "decimalSign": "point",
    "flipSign": False,
}


def test_table_import_asks_for_account_if_there_are_several(editor, acme, books, bank, savings):
    address, answer = open_check_page(editor, acme, "", GOOD)
    assert list_sums(answer) == []
    options = re.search(r'<select name="account".*?</select>', answer.content.decode(), re.DOTALL)[0]
    assert re.findall(r'<option value="([^"]*)" selected>', options) == [""]
    again = editor.get(urlsplit(address).path, {"account": savings, "name": "bank.csv"})
    assert list_sums(again) == [2, 0, 0, 0]
    sent = parse_choices(again) | {"description": "1", "counterparty": ""}
    assert parse_choices(editor.get(urlsplit(address).path, sent))["description"] == "1"


def test_account_with_the_saved_columns_is_chosen_and_read_as_before(editor, acme, books, bank):
    other = books.create_account(name="Other", importSettings={"csv": SAVED_SETTINGS})
    _, answer = open_check_page(editor, acme, "", GOOD)
    assert list_sums(answer) == [2, 0, 0, 0]
    assert {"account": other, "description": "1"}.items() <= parse_choices(answer).items()


def test_table_import_uses_the_only_account(editor, acme, bank):
    _, answer = open_check_page(editor, acme, "", GOOD)
    assert (list_sums(answer), parse_choices(answer)["account"]) == ([2, 0, 0, 0], bank)
