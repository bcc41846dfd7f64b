"""How CSV files are read by settings: kept, given in the request, changed since, and with balances."""

import io
import json
import zipfile

import pytest
from openpyxl import Workbook

from ledger.imports.calc.column_mapping import normalize_csv_settings
from ledger.models import Transaction
from tests.ledger.bank_file_builders import IBAN, build_simple_camt
from tests.ledger.imports.sample_files import SAMPLES_FOLDER, read_file
from tests.ledger.imports.test_import_pages import confirm_import, open_check_page, parse_choices
from tests.ledger.imports.test_sample_files import list_stored
from tests.ledger.statement_upload import get_status_and_code, upload_statement
from tests.page_text import get_page_text

pytestmark = pytest.mark.django_db


def save_settings(api, account, **settings):
    assert api.put(f"accounts/{account}", {"importSettings": {"csv": settings}}).status_code == 200


# ---------------------------------------------------------------------------------------------- settings


def test_settings_map_every_column_and_included_values(api, upload_statement_file, acme, bank):
    save_settings(
        api,
        bank,
        columns={
            "date": "When",
            "valueDate": "Valued",
            "amount": "Sum",
            "direction": "Way",
            "fee": "Cost",
            "currency": "Cur",
            "counterparty": "Who",
            "counterpartyAccount": "Their IBAN",
            "description": ["Line 1", "Line 2"],
            "reference": "Nr",
            "status": "State",
            "account": "Pot",
            "notes": "Memo",
        },
        directionValues={"in": ["plus"], "out": ["minus"]},
        statusValues={"booked": ["ok"], "pending": ["soon"], "leaveOut": ["no"]},
        accountValues=["Main"],
        separator=";",
        encoding="windows-1250",
        decimalMark="comma",
        dateOrder="dayFirst",
        skipAbove=2,
        skipBelow=1,
    )
    text = (
        "Export;of;today\nNothing;here;1\n"
        "When;Valued;Sum;Way;Cost;Cur;Who;Their IBAN;Line 1;Line 2;Nr;State;Pot;Memo\n"
        "01.02.2026;03.02.2026;10,00;minus;0,50;USD;Żabka;DE1;Milk;Bread;R1;ok;Main;mine\n"
        "02.02.2026;02.02.2026;20,00;plus;;EUR;Bank;;Interest;;R2;soon;Main;\n"
        "03.02.2026;;30,00;plus;;EUR;Bank;;Interest;;R3;no;Main;\n"
        "04.02.2026;;40,00;plus;;EUR;Bank;;Interest;;R4;ok;Other;\n"
        "Total;;;;;;;;;;;;;\n"
    )
    answer = upload_statement_file(text.encode("cp1250"), accountId=bank)
    assert (answer["count"], answer["leftOut"]) == (2, 2)
    assert list_stored(acme) == [("2026-02-01", "-10.50", "USD"), ("2026-02-02", "20.00", "EUR", "pending")]
    row = Transaction.objects.for_company(acme.id).get(date="2026-02-01")
    assert (row.from_to, row.description, row.bank_reference) == ("Żabka", "Milk Bread", "R1")
    assert row.notes == "mine\nValue date 2026-02-03\nAccount DE1"


def test_legacy_settings_are_normalized():
    remaining = {
        "headings": 3,
        "columns": {"date": "Datum", "from_to": "Name", "external_id": "Id", "amount": "Betrag"},
        "dateOrder": "dayFirst",
        "decimalSign": "comma",
        "flipSign": True,
    }
    assert normalize_csv_settings(remaining) == {
        "columns": {"date": "Datum", "counterparty": "Name", "reference": "Id", "amount": "Betrag"},
        "dateOrder": "dayFirst",
        "decimalMark": "comma",
        "flipSign": True,
        "skipAbove": 2,
    }


def test_request_settings_override_and_are_not_saved(api, upload_statement_file, acme, bank):
    settings = json.dumps({"csv": {"flipSign": True}})
    upload_statement_file(read_file("42_card_charges_positive"), accountId=bank, importSettings=settings)
    assert [row[1] for row in list_stored(acme)] == ["-20.00", "-4.00", "24.00"]
    assert api.get(f"accounts/{bank}").json()["importSettings"] is None


@pytest.mark.parametrize("text", ["x", "[]", "1"])
def test_non_object_settings_are_rejected(api, bank, text):
    answer = upload_statement(api, read_file("01_direction_column"), accountId=bank, importSettings=text)
    assert answer.json()["errors"][0]["pointer"] == "#/importSettings"


def test_csv_without_date_or_amount_column_is_rejected(api, bank):
    assert get_status_and_code(upload_statement(api, b"What,Who\nx,y\n", accountId=bank)) == (400, "columns_unknown")


def test_row_with_garbled_amount_rejects_csv_file(api, acme, bank):
    for amount in ("12.3.4", "1,2.3", "123 45", "1e3", "5-5"):
        content = f'Date,Text,Amount\n2026-01-31,a,-1.00\n2026-01-31,b,2.50\n2026-01-31,c,"{amount}"\n'.encode()
        answer = upload_statement(api, content, accountId=bank)
        assert get_status_and_code(answer) == (400, "statement_unreadable")
        assert answer.json()["detail"].startswith("Line 4")
    assert list_stored(acme) == []


def test_csv_rows_are_selected_by_account_number_or_file_is_rejected(api, upload_statement_file, acme, books):
    account = books.create_account(accountNumber=IBAN)
    other = "DE02120300000000202051"
    text = f"Account,Date,Text,Amount\n{IBAN},2026-01-31,a,-1.00\n{other},2026-01-31,b,-2.00\n"
    assert upload_statement_file(text.encode(), accountId=account)["leftOut"] == 1
    assert [row[1] for row in list_stored(acme)] == ["-1.00"]
    answer = upload_statement(api, text.replace(IBAN, other).encode(), accountId=account)
    assert get_status_and_code(answer) == (400, "account_differs")
    assert other in answer.json()["detail"]


# ---------------------------------------------------------------------------------------------- kept settings


def test_saved_sign_setting_survives_changed_preamble(editor, acme, bank):
    address, _ = open_check_page(editor, acme, bank, read_file("14_kept_flip_a"))
    confirm_import(editor, f"{address}&answer:flipSign=true")
    _, answer = open_check_page(editor, acme, bank, read_file("14_kept_flip_b"))
    assert "Questions about the file" not in get_page_text(answer)
    assert "−€99.50" in get_page_text(answer)
    assert "€150.50" in get_page_text(answer)


def test_saved_column_of_repeated_heading_is_found_by_position(editor, acme, bank):
    address, _ = open_check_page(editor, acme, bank, read_file("15_heading_twice_a"))
    confirm_import(editor, f"{address}&answer:columns.amount=4")
    _, answer = open_check_page(editor, acme, bank, read_file("15_heading_twice_b"))
    assert "−€46.00" in get_page_text(answer)


def test_missing_saved_column_is_named_and_asked_again(editor, acme, bank):
    confirm_import(
        editor, open_check_page(editor, acme, bank, "Date,Text,Sum\n2026-01-30,a,-1.00\n2026-01-31,b,2.00\n")[0]
    )
    _, answer = open_check_page(editor, acme, bank, "Date,Text,Betrag\n2026-02-01,a,-3.00\n2026-02-02,b,4.00\n")
    assert "Columns of the last import are missing: Amount." in get_page_text(answer)
    assert b"confirm-row" not in answer.content


def test_import_waits_until_open_question_is_answered(editor, acme, bank):
    address, answer = open_check_page(editor, acme, bank, read_file("20_ambiguous_dates"))
    assert b"confirm-row" not in answer.content
    editor.post(address.partition("?")[0], {"account": bank})
    assert list_stored(acme) == []
    answer = editor.get(f"{address}&answer:dateOrder=%22monthFirst%22")
    assert parse_choices(answer)["date_order"] == "monthFirst"
    confirm_import(editor, f"{address}&answer:dateOrder=%22monthFirst%22")
    assert [row[0] for row in list_stored(acme)] == ["2024-07-02", "2024-07-03", "2024-12-03"]


# ---------------------------------------------------------------------------------------------- balances


def get_initial_balance(api, account):
    transaction = api.get(f"accounts/{account}/initial_balance").json()["transaction"]
    return transaction and (transaction["date"], transaction["amountValue"])


def test_import_page_offers_opening_balance_on_first_import(editor, api, acme, bank):
    address, answer = open_check_page(editor, acme, bank, read_file("11_padded_preamble"))
    assert "Amounts checked against the balance column." in get_page_text(answer)
    assert "Set the opening balance to €2,000.00 on 23 Mar 2024" in get_page_text(answer)
    confirm_import(editor, address, set_opening="on")
    assert get_initial_balance(api, bank) == ("2024-03-23", "2000.00")
    _, answer = open_check_page(editor, acme, bank, read_file("11_padded_preamble").replace(b"-03-", b"-04-"))
    assert "Set the opening balance" not in get_page_text(answer)


def test_opening_balance_is_not_set_unless_chosen(editor, api, acme, bank):
    address, _ = open_check_page(editor, acme, bank, read_file("11_padded_preamble"))
    confirm_import(editor, address)
    assert get_initial_balance(api, bank) is None


@pytest.mark.parametrize(
    ("balances", "fault"),
    [
        pytest.param(
            ("90.00", "75.00", "60.00"),
            (3, "The balance column does not add up in line 3. The account will not be reconciled."),
            id="contradicts-amounts",
        ),
        pytest.param(
            ("90.00", "", "65.00"),
            (3, "The balance column is empty in line 3. The account will not be reconciled."),
            id="empty",
        ),
        pytest.param(("90.00", "70.00", "65.00"), None, id="proven"),
    ],
)
def test_statement_names_line_where_balance_column_does_not_add_up(upload_statement_file, bank, balances, fault):
    rows = ["2026-01-01;Rent;-10.00;{}", "2026-01-02;Cafe;-20.00;{}", "2026-01-03;Taxi;-5.00;{}"]
    text = "\n".join(["Date;Description;Amount;Balance", *rows]).format(*balances)
    answer = upload_statement_file(text.encode(), accountId=bank)
    [statement] = answer["statements"]
    assert (answer["count"], statement["closingBalance"]) == (3, None if fault else "65.00")
    assert statement["balanceFault"] == (fault and {"line": fault[0], "detail": fault[1]})


def test_first_csv_import_by_api_sets_opening_balance(api, upload_statement_file, bank):
    (statements,) = upload_statement_file(read_file("11_padded_preamble"), accountId=bank)["statements"]
    assert (statements["openingBalance"], statements["closingBalance"], statements["ledgerDifference"]) == (
        "2000.00",
        "1619.50",
        "0.00",
    )
    assert get_initial_balance(api, bank) == ("2024-03-23", "2000.00")


# ---------------------------------------------------------------------------------------------- once


def test_csv_page_import_then_camt_does_not_duplicate_entry(editor, acme, books, api):
    account = books.create_account()
    confirm_import(editor, open_check_page(editor, acme, account, read_file("35_page_then_camt"))[0])
    assert (
        upload_statement(api, (SAMPLES_FOLDER / "35_page_then_camt.xml").read_bytes(), accountId=account).json()[
            "count"
        ]
        == 0
    )


def test_camt_then_csv_page_import_does_not_duplicate_entry(editor, acme, books, api):
    account = books.create_account()
    upload_statement(api, (SAMPLES_FOLDER / "35_page_then_camt.xml").read_bytes(), accountId=account)
    _, answer = open_check_page(editor, acme, account, read_file("35_page_then_camt"))
    assert "Nothing new" in get_page_text(answer)
    body = upload_statement(api, read_file("35_page_then_camt"), accountId=account, dryRun="true").json()
    assert (body["count"], body["duplicates"], body["possibleDuplicates"]) == (0, 1, 0)


def test_api_import_then_page_import_does_not_duplicate_file(editor, upload_statement_file, acme, bank):
    upload_statement_file(read_file("37_blanks_in_texts"), accountId=bank)
    _, answer = open_check_page(editor, acme, bank, read_file("37_blanks_in_texts"))
    assert "Nothing new" in get_page_text(answer)


def test_rows_sharing_an_external_id_are_all_stored_once(editor, acme, bank):
    for _ in range(2):
        confirm_import(editor, open_check_page(editor, acme, bank, read_file("13_shared_id"))[0])
    assert [row[1] for row in list_stored(acme)] == ["-357.38", "-11.35"]


def test_row_with_different_text_is_a_possible_duplicate(editor, upload_statement_file, acme, bank):
    text = "Date,Text,Amount\n2026-01-31,Coffee bar,-3.50\n"
    upload_statement_file(text.encode(), accountId=bank)
    other = text.replace("Coffee bar", "Card payment 4711")
    assert upload_statement_file(other.encode(), accountId=bank, dryRun="true")["possibleDuplicates"] == 1
    address, answer = open_check_page(editor, acme, bank, other)
    assert "1 row may be a duplicate: same date and amount, different text." in get_page_text(answer)
    confirm_import(editor, address, leave_possible="on")
    assert len(list_stored(acme)) == 1
    confirm_import(editor, open_check_page(editor, acme, bank, other)[0])
    assert len(list_stored(acme)) == 2


# ---------------------------------------------------------------------------------------------- workbooks and archives


def test_workbook_is_imported_as_table(upload_statement_file, acme, bank):
    book = Workbook()
    book.active.append(["Date", "Text", "Amount"])
    book.active.append(["2026-01-31", "Rent", -500])
    book.active.append(["2026-02-01", "Sale", 120.5])
    out = io.BytesIO()
    book.save(out)
    assert upload_statement_file(out.getvalue(), accountId=bank)["format"] == "csv"
    assert list_stored(acme) == [("2026-01-31", "-500.00", "EUR"), ("2026-02-01", "120.50", "EUR")]


def test_archive_of_statements_is_imported_at_once(upload_statement_file, acme, books):
    books.create_account(accountNumber=IBAN)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.xml", build_simple_camt("-1.00", day="2026-01-15"))
        february = {"start": "2026-02-01", "end": "2026-02-28", "opening": "99.00"}
        archive.writestr("b.xml", build_simple_camt("-2.00", day="2026-02-15", **february))
    assert upload_statement_file(out.getvalue())["count"] == 2
    assert [row[1] for row in list_stored(acme)] == ["-1.00", "-2.00"]


def test_archive_without_statements_is_rejected(api):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.txt", "hello")
    assert get_status_and_code(upload_statement(api, out.getvalue())) == (415, "statement_format_unknown")
