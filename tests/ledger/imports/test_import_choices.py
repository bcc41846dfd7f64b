"""What the pages choose by themselves, and what they say of a file before it is imported."""

import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from openpyxl import Workbook

from ledger.imports.pages.mapping_questions import merge_equal_options
from tests.ledger.bank_file_builders import IBAN
from tests.ledger.imports.test_import_pages import build_page_path, confirm_import, open_check_page, parse_choices
from tests.page_text import get_page_text

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "text",
    [
        f"IBAN;{IBAN}\n\nDatum;Text;Betrag\n11.03.2025;Rewe;-5,00\n22.03.2025;Rewe;6,00\n",
        f"Auftragskonto;Datum;Text;Betrag\n{IBAN};11.03.2025;Rewe;-5,00\n{IBAN};22.03.2025;Rewe;6,00\n",
    ],
)
def test_account_of_one_csv_file_is_found_by_its_number(editor, acme, books, text):
    books.create_account(name="Savings")
    giro = books.create_account(name="Giro", accountNumber=IBAN)
    _, answer = open_check_page(editor, acme, "", text)
    assert parse_choices(answer)["account"] == giro


def test_options_with_equal_rows_are_merged_where_all_rows_are_compared():
    options = [{"value": 1, "rows": [1]}, {"value": 2, "rows": [1]}, {"value": 3, "rows": [2]}]
    assert [option["value"] for option in merge_equal_options(options, is_complete=True)] == [1, 3]
    assert merge_equal_options(options, is_complete=False) == options


def test_question_with_one_option_is_answered_by_it(editor, acme, bank):
    confirm_import(
        editor, open_check_page(editor, acme, bank, "Date,Text,Sum\n2026-01-30,a,-1.00\n2026-01-31,b,2.00\n")[0]
    )
    _, answer = open_check_page(editor, acme, bank, "Date,Text,Betrag\n2026-02-01,a,-3.00\n2026-02-02,b,4.00\n")
    assert answer.content.count(b'name="answer:columns.amount"') == 1
    assert b"required checked" in answer.content


def test_page_says_that_all_amounts_are_in_another_currency(editor, acme, books):
    account = books.create_account(name="Dollars", defaultCurrency="USD")
    text = "Date,Text,Amount,Currency\n2025-03-01,a,-1.00,EUR\n2025-03-02,b,2.00,EUR\n"
    _, answer = open_check_page(editor, acme, account, text)
    assert "All amounts are in EUR, and the account is in USD. They are stored in EUR." in get_page_text(answer)
    _, answer = open_check_page(editor, acme, account, text.replace(",2.00,EUR", ",2.00,USD"))
    assert "All amounts are in" not in get_page_text(answer)


def test_imported_workbook_is_called_a_workbook(editor, acme, bank):
    book, out = Workbook(), io.BytesIO()
    for row in (["Date", "Text", "Amount"], ["2026-01-31", "Rent", -500], ["2026-02-01", "Sale", 120.5]):
        book.active.append(row)
    book.save(out)
    file = SimpleUploadedFile("january.xlsx", out.getvalue())
    answer = editor.post(build_page_path(acme, "/new"), {"file": file, "account": bank})
    confirm_import(editor, answer["Location"])
    text = get_page_text(editor.get(build_page_path(acme)))
    assert "january.xlsx Workbook" in text
    assert "CSV file" not in text


def test_cash_count_of_a_cashbook_is_its_balance(editor, acme, bank):
    rows = "01.03.2025;Start;100,00;;100,00\n02.03.2025;Porto;;5,00;95,00\n03.03.2025;Porto;;5,00;90,00\n"
    text = f"Datum;Text;Einnahme;Ausgabe;Bestand\n{rows}"
    _, answer = open_check_page(editor, acme, bank, text)
    assert "Amounts checked against the balance column." in get_page_text(answer)
