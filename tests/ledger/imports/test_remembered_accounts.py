"""The account of a CSV file that names none: the one whose saved columns the file has."""

import pytest

from tests.ledger.bank_file_builders import build_simple_camt
from tests.ledger.bank_statements.test_statement_pages import confirm_import, open_check_page
from tests.ledger.imports.test_import_pages import confirm_import as confirm_table
from tests.ledger.imports.test_import_pages import get_page_text
from tests.ledger.imports.test_import_pages import open_check_page as open_table_page
from tests.ledger.statement_upload import list_stored_rows

pytestmark = pytest.mark.django_db

FEBRUARY = "Date,Payee,Amount\n2026-02-10,Initech,100.00\n2026-02-27,Landlord,-40.00\n"
MARCH = FEBRUARY.replace("2026-02", "2026-03").encode()
NO_ACCOUNT = "The file contains no account number. Choose its account below, or create it."


@pytest.fixture
def editor(sign_in_browser, alice, acme):
    return sign_in_browser(alice, acme).client


@pytest.fixture
def files(main_account, bank):
    return ("january.xml", build_simple_camt("-5.00")), ("march.csv", MARCH)


def import_table(editor, acme, account, text):
    confirm_table(editor, open_table_page(editor, acme, account, text)[0])


def test_account_with_the_saved_columns_is_chosen_in_a_batch(editor, acme, bank, files):
    import_table(editor, acme, bank, FEBRUARY)
    address, check = open_check_page(editor, acme, *files)
    assert NO_ACCOUNT not in get_page_text(check)
    assert f'<option value="{bank}" selected>' in check.content.decode()
    assert "Import 3 transactions" in get_page_text(check)
    confirm_import(editor, address, check)
    assert len(list_stored_rows(acme)) == 5


def test_remembered_account_can_be_unset(editor, acme, bank, files):
    import_table(editor, acme, bank, FEBRUARY)
    address, _ = open_check_page(editor, acme, *files)
    assert NO_ACCOUNT in get_page_text(editor.get(f"{address}&account=&account=&split=entry"))


def test_no_account_is_chosen_if_several_have_the_columns(editor, acme, bank, savings, files):
    for account in (bank, savings):
        import_table(editor, acme, account, FEBRUARY)
    _, check = open_check_page(editor, acme, *files)
    assert NO_ACCOUNT in get_page_text(check)


def test_no_account_is_chosen_if_a_saved_column_is_missing(editor, acme, bank, files):
    import_table(editor, acme, bank, FEBRUARY.replace("Payee", "Counterparty"))
    _, check = open_check_page(editor, acme, *files)
    assert NO_ACCOUNT in get_page_text(check)
