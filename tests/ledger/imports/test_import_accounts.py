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


def parse_form(shown):
    """What the page's form of choices would send."""
    form = re.search(r'<form method="get".*?</form>', shown, re.DOTALL)[0]
    sent = dict(re.findall(r'<input type="(?:hidden|text)" name="(\w+)" value="([^"]*)"', form))
    for name, options in re.findall(r'<select name="(\w+)".*?>(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r'<option value="([^"]*)" selected', options)
        sent[name] = chosen[1] if chosen else re.search(r'<option value="([^"]*)"', options)[1]
    return sent


def test_table_import_asks_for_account_if_there_are_several(editor, acme, books, bank):
    other = books.create_account(name="Other", importSettings={"csv": SAVED_SETTINGS})
    address, answer = open_check_page(editor, acme, "", GOOD)
    shown = answer.content.decode()
    assert list_sums(answer) == []
    assert re.search(r'<select name="account".*?</select>', shown, re.DOTALL)[0].count(" selected") == 1
    assert re.search(r'<option value="" selected>', shown)
    sent = parse_form(shown) | {"account": other}
    again = editor.get(urlsplit(address).path, sent)
    assert (list_sums(again), parse_choices(again)["description"]) == ([2, 0, 0, 0], "1")
    sent |= {"description": "2", "counterparty": ""}
    assert parse_choices(editor.get(urlsplit(address).path, sent))["description"] == "2"


def test_table_import_uses_the_only_account(editor, acme, bank):
    _, answer = open_check_page(editor, acme, "", GOOD)
    assert (list_sums(answer), parse_choices(answer)["account"]) == ([2, 0, 0, 0], bank)
