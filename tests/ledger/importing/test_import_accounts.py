"""Which account a CSV file goes to: the only one, or the one that is chosen, as its files were read before."""

import re
from urllib.parse import urlsplit

import pytest

from tests.ledger.importing.test_import_pages import GOOD, checked, choices, sums

pytestmark = pytest.mark.django_db

KEPT = {
    "headings": 1,
    "columns": {"date": "Date", "description": "Payee", "amount": "Amount"},
    "dateOrder": "iso",
    "decimalSign": "point",
    "flipSign": False,
}


@pytest.fixture
def editor(browser_of, alice, acme):
    return browser_of(alice, acme).client


def form_of(shown):
    """What the page's form of choices would send."""
    form = re.search(r'<form method="get".*?</form>', shown, re.DOTALL)[0]
    sent = dict(re.findall(r'<input type="(?:hidden|text)" name="(\w+)" value="([^"]*)"', form))
    for name, options in re.findall(r'<select name="(\w+)".*?>(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r'<option value="([^"]*)" selected', options)
        sent[name] = chosen[1] if chosen else re.search(r'<option value="([^"]*)"', options)[1]
    return sent


def test_a_table_asks_for_its_account_where_there_are_several(editor, acme, books, bank):
    other = books.account(name="Other", importSettings={"csv": KEPT})
    address, answer = checked(editor, acme, "", GOOD)
    shown = answer.content.decode()
    assert sums(answer) == []
    assert re.search(r'<select name="account".*?</select>', shown, re.DOTALL)[0].count(" selected") == 1
    assert re.search(r'<option value="" selected>', shown)
    sent = form_of(shown) | {"account": other}
    again = editor.get(urlsplit(address).path, sent)
    assert (sums(again), choices(again)["description"]) == ([2, 0, 0, 0], "1")
    sent |= {"description": "2", "counterparty": ""}
    assert choices(editor.get(urlsplit(address).path, sent))["description"] == "2"


def test_a_table_goes_to_the_only_account(editor, acme, bank):
    _, answer = checked(editor, acme, "", GOOD)
    assert (sums(answer), choices(answer)["account"]) == ([2, 0, 0, 0], bank)
