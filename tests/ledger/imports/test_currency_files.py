"""What CSV files tell beside their amounts: categories, encodings, dates of booking, and signs of currencies."""

import json

import pytest

from ledger.accounts.calc.csv_settings import DATE_ORDERS, DECIMAL_MARKS
from ledger.imports.calc.amounts import DecimalMark
from ledger.imports.calc.dates import DateOrder, find_date_orders
from ledger.models import Categorization, Transaction
from tests.ledger.imports.sample_files import read_file
from tests.ledger.imports.test_import_pages import confirm_import, open_check_page, parse_choices
from tests.ledger.imports.test_sample_files import list_stored
from tests.ledger.statement_upload import get_status_and_code, upload_statement
from tests.page_text import get_page_text
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db
CATEGORIES = "Date,Description,Amount,Category\n2024-03-24,Rent,-7.00,office RENT\n2024-03-25,Sale,8.00,Eating out\n"


@pytest.fixture
def office(api):
    return api.post("categories", {"name": "Office rent", "plTypes": ["ga"]}).json()["id"]


def test_settings_schema_lists_supported_decimal_marks_and_date_orders():
    assert (tuple(DecimalMark), tuple(DateOrder)) == (DECIMAL_MARKS, DATE_ORDERS)


# ---------------------------------------------------------------------------------------------- categories


def categorized(acme):
    rows = Categorization.objects.filter(company_id=acme.id).values_list("category_id", "value")
    return [(str(category), f"{amount:.2f}") for category, amount in rows]


def notes(acme):
    return list(Transaction.objects.for_company(acme.id).order_by("date").values_list("notes", flat=True))


def test_row_is_categorized_by_category_name(upload_statement_file, acme, bank, office):
    upload_statement_file(CATEGORIES.encode(), accountId=bank)
    assert categorized(acme) == [(office, "-7.00")]
    assert notes(acme) == [None, "Category Eating out"]


def test_import_page_categorizes_row_by_category_name(editor, acme, bank, office):
    confirm_import(editor, open_check_page(editor, acme, bank, CATEGORIES)[0])
    assert categorized(acme) == [(office, "-7.00")]
    assert notes(acme) == [None, "Category Eating out"]


def test_ambiguous_category_name_is_kept_in_notes(api, upload_statement_file, acme, bank, office):
    api.post("categories", {"name": "OFFICE rent", "plTypes": ["pd"]})
    api.post("categories", {"name": "Eating out", "plTypes": ["ga", "pd"]})
    upload_statement_file(CATEGORIES.encode(), accountId=bank)
    assert categorized(acme) == []
    assert notes(acme) == ["Category office RENT", "Category Eating out"]


# ---------------------------------------------------------------------------------------------- encodings

UNSURE = "Date,Name,Amount\n2024-03-24,Peña,-1.00\n2024-03-25,Cafe,2.00\n".encode("cp1252")


def test_ambiguous_encoding_is_asked(api, upload_statement_file, acme, bank):
    answer = upload_statement(api, UNSURE, accountId=bank)
    assert get_status_and_code(answer) == (400, "mapping_ambiguous")
    (choice,) = answer.json()["choices"]
    shown = {option["value"]: [row["fromTo"] for row in option["examples"]] for option in choice["options"]}
    assert (choice["field"], shown) == ("encoding", {"windows-1252": ["Peña"], "windows-1250": ["Peńa"]})
    upload_statement_file(UNSURE, accountId=bank, importSettings=json.dumps({"csv": {"encoding": "windows-1252"}}))
    assert set(Transaction.objects.for_company(acme.id).values_list("from_to", flat=True)) == {"Peña", "Cafe"}


def test_ambiguous_encoding_is_asked_on_page_and_saved(editor, api, acme, bank):
    address, answer = open_check_page(editor, acme, bank, UNSURE)
    assert "Which version shows all characters correctly?" in get_page_text(answer)
    answered = f"{address}&answer:encoding=%22windows-1250%22"
    assert parse_choices(editor.get(answered))["encoding"] == "windows-1250"
    confirm_import(editor, answered)
    assert set(Transaction.objects.for_company(acme.id).values_list("from_to", flat=True)) == {"Peńa", "Cafe"}
    _, again = open_check_page(editor, acme, bank, UNSURE.replace(b"2024-03", b"2024-04"))
    assert "Which version shows all characters correctly?" not in get_page_text(again)
    assert "Peńa" in get_page_text(again)
    _, other = open_check_page(editor, acme, bank, "Date,Name,Amount\n2024-05-24,Peña,-1.00\n2024-05-25,Cafe,2.00\n")
    assert "Peña" in get_page_text(other)  # what is UTF-8 is not read in another encoding that was kept


def test_file_in_another_encoding_than_the_settings_name_is_rejected(api, acme, bank):
    settings = json.dumps({"csv": {"encoding": "utf-16"}})
    text = "Date;Text;Amount\n2024-03-24;Rent;-5,00\n"
    answer = upload_statement(api, text.encode(), accountId=bank, importSettings=settings)
    assert get_status_and_code(answer) == (400, "statement_unreadable")
    assert "utf-16" in answer.json()["detail"]
    assert upload_statement(api, text.encode("utf-16"), accountId=bank, importSettings=settings).status_code == 200
    assert Transaction.objects.for_company(acme.id).without_initial_balances().count() == 1


def test_encoding_is_not_asked_if_headings_or_letters_determine_encoding(upload_statement_file, acme, bank):
    for text, encoding in [
        ("Dato;Tekst;Beløb\n24-03-2024;Købmand på hjørnet;-1,00\n", "cp1252"),
        ("Fecha;Concepto;Importe\n24/03/2024;Señor Muñoz;-1,00\n", "cp1252"),
        ("Tarih;Açıklama;Tutar\n24.03.2024;İş Bankası Şubesi;-1,00\n", "cp1254"),
        ("Data;Opis;Kwota\n24.03.2024;Żabka Łódź;-1,00\n", "cp1250"),
        ("Datum;Text;Betrag\n24.03.2024;Müller Straße;-1,00\n", "cp1252"),
        ("Date,Name,Amount\n2024-03-24,Peña,-1.00\n", "utf-8"),
    ]:
        with undo_changes():
            upload_statement_file(text.encode(encoding), accountId=bank)
            row = Transaction.objects.for_company(acme.id).get()
            assert text.split("\n")[1].replace(",", ";").split(";")[1] in (row.description, row.from_to)


# ---------------------------------------------------------------------------------------------- pages


def test_ambiguous_currency_sign_is_asked_on_page_and_saved(editor, api, acme, bank):
    address, answer = open_check_page(editor, acme, bank, read_file("72_dollar_of_which_country"))
    assert "What currency are these amounts in?" in get_page_text(answer)
    confirm_import(editor, f"{address}&answer:currency=%22CAD%22")
    assert [row[2] for row in list_stored(acme)] == ["CAD", "CAD"]
    assert api.get(f"accounts/{bank}").json()["importSettings"]["csv"]["currency"] == "CAD"
    _, again = open_check_page(editor, acme, bank, read_file("72_dollar_of_which_country").replace(b"-03-", b"-04-"))
    assert "What currency are these amounts in?" not in get_page_text(again)


def test_currency_in_heading_overrides_currency_chosen_on_page(editor, acme, bank):
    address, answer = open_check_page(editor, acme, bank, read_file("41_currency_in_heading"))
    sent = parse_choices(answer) | {"account": bank, "amount_currency": "USD"}
    editor.post(address.partition("?")[0], sent)
    assert [row[2] for row in list_stored(acme)] == ["GBP", "GBP"]


@pytest.mark.parametrize(
    "name", ["70_thousands_in_heading", "71_mixed_date_orders", "73_currency_above", "74_mixed_decimal_marks"]
)
def test_import_page_shows_why_file_is_unreadable_and_imports_nothing(editor, acme, bank, name):
    address, answer = open_check_page(editor, acme, bank, read_file(name))
    assert b'role="alert"' in answer.content
    assert b"confirm-row" not in answer.content
    editor.post(address.partition("?")[0], {"account": bank})
    assert list_stored(acme) == []


def test_amounts_in_cents_are_converted_on_page(editor, acme, bank):
    confirm_import(editor, open_check_page(editor, acme, bank, read_file("70_amount_in_cents"))[0])
    assert [row[1] for row in list_stored(acme)] == ["-500.00", "120.50"]


@pytest.mark.parametrize(("before", "after"), [("", " EUR"), ("EUR ", ""), ("€", "")])
def test_amounts_in_parentheses_beside_their_currency_are_negative(upload_statement_file, acme, bank, before, after):
    rows = f"2024-03-24,Rent,{before}(20.00){after}\n2024-03-25,Sale,{before}8.00{after}\n"
    assert upload_statement_file(f"Date,Description,Amount\n{rows}".encode(), accountId=bank)["count"] == 2
    assert list_stored(acme) == [("2024-03-24", "-20.00", "EUR"), ("2024-03-25", "8.00", "EUR")]


# ---------------------------------------------------------------------------------------------- dates


def test_overlapping_files_with_started_and_completed_dates_add_nothing(upload_statement_file, acme, bank):
    pending = read_file("76_revolut_pending")
    upload_statement_file(pending, accountId=bank)
    booked = pending.replace(b"2024-03-27 08:00:00,,", b"2024-03-27 08:00:00,2024-03-28 07:00:00,")
    upload_statement_file(booked.replace(b"PENDING,", b"COMPLETED,83.50"), accountId=bank)
    assert list_stored(acme) == [("2024-03-24", "-4.50", "EUR"), ("2024-03-28", "-12.00", "EUR")]


@pytest.mark.parametrize(
    ("texts", "orders"),
    [
        (["24-03-25"], ["dayFirst", "iso"]),
        (["24-03-25", "24-03-26", "24-04-02"], ["iso"]),
        (["24/3/25", "24/3/26"], ["iso", "dayFirst"]),
        (["24/3/25", "24/3/28"], ["iso"]),
        (["24/03/24", "25/03/24", "28/03/24"], ["dayFirst"]),
        (["01.02.24", "01.03.24"], ["dayFirst"]),
        (["24.03.25", "24.03.26", "24.03.28"], ["iso"]),
        (["01/02/24", "01/03/24"], ["dayFirst", "monthFirst", "iso"]),
        (["99-12-31", "99-12-30"], ["iso"]),
    ],
)
def test_two_digit_year_position_gives_short_time_span(texts, orders):
    assert find_date_orders(texts) == orders
