"""Which rows of two CSV or OFX files are the same: other texts are others, and one id is one row."""

import pytest

from tests.ledger.bank_file_builders import build_ofx
from tests.ledger.imports.test_import_pages import confirm_import, get_page_text, list_sums, open_check_page
from tests.ledger.imports.test_sample_files import list_stored

pytestmark = pytest.mark.django_db

FIO = (
    "Datum;Objem;Měna;Název protiúčtu;Poznámka;Zpráva pro příjemce;Poznámka\n"
    "31.03.2025;-45,60;CZK;{0};{1};;{2}\n30.03.2025;4,00;CZK;K;;z;\n"
)
WITH_ID = "ID,Date,Text,Amount\nT-17,2025-03-{},Shop,-5.00\n"


@pytest.fixture
def koruna_account(books):
    return books.create_account(defaultCurrency="CZK")


@pytest.mark.parametrize(
    ("first", "second"),
    [(("", "Nákup A", ""), ("", "Nákup B", "")), (("Shop", "A", "Nákup A"), ("Shop", "A", "Nákup B"))],
)
def test_rows_that_differ_in_their_notes_are_two(upload_statement_file, acme, koruna_account, first, second):
    upload_statement_file(FIO.format(*first).encode(), accountId=koruna_account)
    answer = upload_statement_file(FIO.format(*second).encode(), accountId=koruna_account)
    assert (answer["count"], answer["duplicates"], answer["possibleDuplicates"]) == (1, 1, 1)
    assert len(list_stored(acme)) == 3
    assert upload_statement_file(FIO.format(*second).encode(), accountId=koruna_account)["count"] == 0


def test_row_with_one_text_in_its_notes_differs_from_another(upload_statement_file, acme, bank):
    text = "Date;Text;Amount;Notes\n2025-03-31;;-45.60;{}\n2025-03-30;z;4.00;\n"
    upload_statement_file(text.format("Purchase A").encode(), accountId=bank)
    assert upload_statement_file(text.format("Purchase B").encode(), accountId=bank)["count"] == 1


def test_row_with_a_known_id_is_the_same_on_another_day(upload_statement_file, acme, bank):
    upload_statement_file(WITH_ID.format("01").encode(), accountId=bank)
    answer = upload_statement_file(WITH_ID.format("02").encode(), accountId=bank)
    assert (answer["count"], answer["duplicates"]) == (0, 1)
    assert list_stored(acme) == [("2025-03-01", "-5.00", "EUR")]


def test_row_with_a_known_id_is_the_same_on_another_day_on_the_page(editor, acme, bank):
    confirm_import(editor, open_check_page(editor, acme, bank, WITH_ID.format("01"))[0])
    _, answer = open_check_page(editor, acme, bank, WITH_ID.format("02"))
    assert "Nothing new" in get_page_text(answer)


def test_reference_that_rows_may_share_does_not_make_rows_of_two_days_one(upload_statement_file, bank):
    text = "Reference,Date,Text,Amount\nR-17,2025-03-{},Shop,-5.00\n"
    upload_statement_file(text.format("01").encode(), accountId=bank)
    assert upload_statement_file(text.format("02").encode(), accountId=bank)["count"] == 1


def test_id_of_a_row_with_another_amount_does_not_make_them_one(upload_statement_file, bank):
    upload_statement_file(WITH_ID.format("01").encode(), accountId=bank)
    assert upload_statement_file(WITH_ID.replace("-5.00", "-6.00").format("02").encode(), accountId=bank)["count"] == 1


def test_ofx_entry_with_a_known_id_is_the_same_on_another_day(upload_statement_file, acme, bank):
    for day in ("20260115", "20260116"):
        movement = {"TRNTYPE": "DEBIT", "DTPOSTED": day, "TRNAMT": "-5.00", "FITID": "F-1", "NAME": "Shop"}
        answer = upload_statement_file(build_ofx(movement), name="a.ofx", accountId=bank)
    assert (answer["count"], answer["duplicates"]) == (0, 1)
    assert len(list_stored(acme)) == 1


def test_review_of_import_lists_rows_that_are_already_imported(editor, acme, bank):
    text = "Date,Payee,Amount\n" + "".join(f"2025-03-{day:02},Shop {day},-{day}.00\n" for day in range(1, 7))
    confirm_import(editor, open_check_page(editor, acme, bank, text)[0])
    more = text + "".join(f"2025-03-{day:02},Cafe {day},-{day}.00\n" for day in range(7, 16))
    _, answer = open_check_page(editor, acme, bank, more)
    assert list_sums(answer) == [9, 6, 0, 0]
    preview, known = get_page_text(answer).split("6 already imported")
    assert "All new rows." in preview
    assert "Shop" not in preview.split("Preview for")[1]
    assert all(f"Shop {day}" in known for day in range(1, 7))
    assert "Cafe" not in known.split("Import settings")[0]
