"""Columns of money out and money in without known headings, on the page: asked, and read as answered the next time."""

import pytest

from tests.ledger.imports.sample_files import read_file
from tests.ledger.imports.test_import_pages import confirm_import, open_check_page
from tests.ledger.imports.test_sample_files import list_stored
from tests.ledger.statement_upload import upload_statement
from tests.page_text import get_page_text

pytestmark = pytest.mark.django_db
PAIR = read_file("97_amount_and_refund").decode()
OVERDRAFT = read_file("98_overdraft_balance").decode()


def test_debit_column_is_asked_on_page_and_kept(api, editor, acme, bank):
    address, answer = open_check_page(editor, acme, bank, PAIR)
    assert "Which column has the money out?" in get_page_text(answer)
    confirm_import(editor, f"{address}&answer:columns.debit=%22Amount%22")
    assert [row[1] for row in list_stored(acme)] == ["-45.60", "-20.00", "15.00"]
    again = upload_statement(api, PAIR.replace("2024-03", "2024-04").encode(), accountId=bank)
    assert again.status_code == 200, again.content
    assert [row[1] for row in list_stored(acme)] == ["-45.60", "-20.00", "15.00"] * 2


def test_overdraft_balance_is_read_on_page_and_kept(api, editor, acme, bank):
    address, _ = open_check_page(editor, acme, bank, OVERDRAFT)
    confirm_import(editor, f"{address}&answer:unprovenSign=%22out%22")
    assert [row[1] for row in list_stored(acme)] == ["-20.00", "30.00", "-40.00"]
    later = OVERDRAFT.replace("2024-03", "2024-04").replace("Shop", "Bar")
    settings = api.get(f"accounts/{bank}").json()["importSettings"]["csv"]
    assert settings["columns"]["balanceDirection"] == "Dr/Cr"
    assert upload_statement(api, later.encode(), accountId=bank).json()["choices"][0]["field"] == "unprovenSign"
