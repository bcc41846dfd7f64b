"""Which account a CSV file is of: a number above the table or in a column, and columns of other parties' numbers."""

import json

import pytest

from ledger.models import Transaction
from tests.ledger.bank_file_builders import IBAN
from tests.ledger.imports.test_import_pages import confirm_import, open_check_page
from tests.ledger.imports.test_sample_files import list_stored
from tests.ledger.statement_upload import get_status_and_code, upload_statement
from tests.page_text import get_page_text
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db

OTHER, THIRD = "DE02120300000000202051", "DE02500105170137075030"
ROWS = "\n\nDatum;Text;Betrag\n11.03.2025;Rewe;-5,00\n22.03.2025;Rewe;6,00\n"
STATED = ("IBAN;{}", '"Girokonto";"{}"', "Konto: {}", "Kontonummer;{}", "Konto: DE02 1203 0000 0000 2020 51")


def build_dkb_file(*rows, heading="IBAN", above=""):
    lines = "".join(f"{day};{who};a;{iban};{amount}\n" for day, who, iban, amount in rows)
    return f"{above}Buchungsdatum;Empfänger;Verwendungszweck;{heading};Betrag\n{lines}".encode()


MARCH = (
    ("14.03.25", "Strom", OTHER, "-45,60"),
    ("15.03.25", "Kunde", THIRD, "10,00"),
    ("16.03.25", "Laden", "", "-5,00"),
)


@pytest.fixture
def main_account(books):
    return books.create_account(accountNumber=IBAN)


# ---------------------------------------------------------------------------------------------- the file's own number


def test_number_above_the_table_of_another_account_rejects_the_file(api, acme, main_account):
    for above in STATED:
        answer = upload_statement(api, (above.format(OTHER) + ROWS).encode(), accountId=main_account)
        assert get_status_and_code(answer) == (400, "account_differs"), above
        assert OTHER in answer.json()["detail"], above
        assert list_stored(acme) == [], above


@pytest.mark.parametrize("above", [f"IBAN;{IBAN}", "Konto: DE89 3704 0044 0532 0130 00", "Kontonummer;0532013000"])
def test_number_above_the_table_of_the_named_account_is_accepted(upload_statement_file, main_account, above):
    assert upload_statement_file((above + ROWS).encode(), accountId=main_account)["count"] == 2


def test_local_form_of_a_number_that_is_no_part_of_its_iban_is_accepted(upload_statement_file, books):
    account = books.create_account(accountNumber="CZ65 0800 0000 1920 0014 5399")
    assert upload_statement_file(f"Konto: 19-2000145399/0800{ROWS}".encode(), accountId=account)["count"] == 2


def test_number_of_another_account_rejects_the_file_for_an_account_without_number(api, acme, main_account, books):
    savings = books.create_account(name="Savings")
    in_column = f"Auftragskonto;Datum;Text;Betrag\n{IBAN};11.03.2025;Rewe;-5,00\n{IBAN};12.03.2025;Rewe;6,00\n"
    for text in (f"IBAN;{IBAN}{ROWS}", in_column):
        answer = upload_statement(api, text.encode(), accountId=savings)
        assert get_status_and_code(answer) == (400, "account_differs")
    assert list_stored(acme) == []


def test_file_without_account_id_goes_to_the_account_stated_above_the_table(upload_statement_file, main_account):
    (statement,) = upload_statement_file(f"IBAN;{IBAN}{ROWS}".encode())["statements"]
    assert (statement["accountId"], statement["count"]) == (main_account, 2)


def test_page_names_the_account_that_the_file_is_of(editor, acme, books):
    books.create_account(name="Sparkasse Giro", accountNumber=IBAN)
    second = books.create_account(name="Sparkasse 2")
    text = f"Auftragskonto;Datum;Text;Betrag\n{IBAN};11.03.2025;Rewe;-5,00\n{IBAN};12.03.2025;Rewe;6,00\n"
    _, answer = open_check_page(editor, acme, second, text)
    assert "The file belongs to account Sparkasse Giro. Choose that account." in get_page_text(answer)
    assert b"confirm-row" not in answer.content


# ---------------------------------------------------------------------------------------------- other parties' numbers


def test_column_of_several_unknown_numbers_is_the_other_parties(upload_statement_file, acme, bank):
    for heading in [
        "IBAN",
        "IBAN / Kontonummer",
        "IBAN/BIC",
        "Numer konta",
        "Konto odbiorcy",
        "Konto-Nr.",
        "Číslo účtu",
        "Tilinumero",
    ]:
        with undo_changes():
            summary = upload_statement_file(build_dkb_file(*MARCH, heading=heading), accountId=bank)
            assert (summary["count"], summary["leftOut"]) == (3, 0), heading
            notes = Transaction.objects.for_company(acme.id).order_by("date").values_list("notes", flat=True)
            assert list(notes) == [f"Account {OTHER}", f"Account {THIRD}", None], heading


def test_other_party_that_is_an_account_of_ours_keeps_all_rows(upload_statement_file, books):
    main_account = books.create_account(accountNumber=IBAN)
    books.create_account(name="Savings", accountNumber=OTHER)
    summary = upload_statement_file(build_dkb_file(*MARCH), accountId=main_account)
    assert (summary["count"], summary["leftOut"]) == (3, 0)


@pytest.mark.parametrize("rows", [MARCH, MARCH[:1], MARCH[1:]])
def test_number_above_the_table_tells_the_column_to_be_the_other_parties(upload_statement_file, main_account, rows):
    content = build_dkb_file(*rows, above=f'"Girokonto";"{IBAN}"\n\n')
    assert upload_statement_file(content, accountId=main_account, dryRun="true")["count"] == len(rows)
    (statement,) = upload_statement_file(content)["statements"]
    assert statement["accountId"] == main_account


def test_file_of_other_parties_numbers_asks_for_account_id_without_naming_them(api, main_account):
    answer = upload_statement(api, build_dkb_file(*MARCH))
    assert get_status_and_code(answer) == (400, "account_unknown")
    assert OTHER not in answer.json()["detail"]


def test_footer_is_no_account(upload_statement_file, acme, bank):
    rows = f"14.3.2025;14.3.2025;a;{OTHER};-45,60;EUR\n15.3.2025;15.3.2025;b;{OTHER};5,00;EUR\n"
    text = f"Buchungstag;Wert;Verwendungszweck;IBAN;Betrag;Währung\n{rows}Kontostand;31.3.2025;;EUR;0,00;EUR\n"
    assert upload_statement_file(text.encode(), accountId=bank)["count"] == 2


# ---------------------------------------------------------------------------------------------- kept choices


def test_new_number_is_asked_where_accounts_were_kept(api, acme, bank):
    kept = {"columns": {"account": "IBAN"}, "accountValues": [OTHER, THIRD]}
    assert api.put(f"accounts/{bank}", {"importSettings": {"csv": kept}}).status_code == 200
    april = build_dkb_file(
        ("14.04.25", "Strom", OTHER, "-45,60"), ("15.04.25", "Neu", "DE88100900001234567892", "99,00")
    )
    answer = upload_statement(api, april, accountId=bank)
    assert get_status_and_code(answer) == (400, "mapping_ambiguous")
    (choice,) = answer.json()["choices"]
    assert choice["field"] == "accountValues"
    assert choice["options"][0]["value"] == [OTHER, THIRD, "DE88100900001234567892"]


def test_row_without_account_is_not_dropped(api, acme, bank):
    settings = json.dumps({"csv": {"columns": {"account": "IBAN"}, "accountValues": [OTHER, THIRD]}})
    answer = upload_statement(api, build_dkb_file(*MARCH), accountId=bank, importSettings=settings)
    assert get_status_and_code(answer) == (400, "statement_unreadable")
    assert answer.json()["detail"].startswith("Line 4")


def test_new_account_name_is_asked_after_the_page_kept_a_choice(editor, acme, bank):
    text = "Date,Text,Amount,Account\n2025-03-{0},a,-1.00,Checking\n2025-03-{1},b,-2.00,{2}\n"
    address, _ = open_check_page(editor, acme, bank, text.format("01", "02", "Savings"))
    confirm_import(editor, f"{address}&answer:accountValues=%5B%22Checking%22%5D")
    assert [row[1] for row in list_stored(acme)] == ["-1.00"]
    _, answer = open_check_page(editor, acme, bank, text.format("03", "04", "Savings"))
    assert "Questions about the file" not in get_page_text(answer)
    _, answer = open_check_page(editor, acme, bank, text.format("05", "06", "Pocket"))
    assert "The file contains several accounts. Which one do you want to import?" in get_page_text(answer)
