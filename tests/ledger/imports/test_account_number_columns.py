"""CSV files that name their account by its domestic number: in a column, or above the headings."""

import pytest

from tests.ledger.imports.test_sample_files import list_stored
from tests.ledger.statement_upload import get_status_and_code, upload_statement
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db

MAIN, SAVINGS, UNKNOWN = "31264785", "20718281", "40999123"
HEADINGS = (
    "Account Number", "Account number", "Account No.", "Acct No", "Bank Account Number", "IBAN Number", "Konto-Nr.",
    "Kontonr.", "Numéro de compte", "Nº cuenta", "Numero di conto", "Número da conta", "Rekeningnummer", "Nr konta",
    "Číslo účtu", "Bankszámlaszám", "Număr de cont", "Broj računa", "Številka računa", "Номер на сметка",
    "Αριθμός λογαριασμού", "Kontonummer", "Tilinumero", "Kontonumber", "Konta numurs", "Sąskaitos numeris",
    "Номер счёта", "Номер рахунку", "Hesap numarası", "账号", "口座番号",
)  # fmt: skip
LLOYDS = (
    "Transaction Date,Transaction Type,Sort Code,Account Number,Transaction Description,Debit Amount,Credit Amount,"
    "Balance\n30/01/2026,FPI,'77-12-34,{number},Refund,,100.00,100.00\n"
    "31/01/2026,DEB,'77-12-34,{number},Coffee,12.50,,87.50\n"
)
ABOVE = (
    "Account number;{}", "Account;{}", "Konto:;{}", "Account No: {}", "Account Number: {}", "Account No.;;{}",
    "Kontonr.: {}",
)  # fmt: skip
ROWS = "\n\nDate;Amount;Description\n2026-01-31;-12.50;Coffee\n2026-01-30;10.00;Refund\n"


def build_file(*numbers, heading="Account Number"):
    rows = "".join(f"2026-01-{31 - row},-{row + 1}.50,Coffee,{number}\n" for row, number in enumerate(numbers))
    return f"Date,Amount,Description,{heading}\n{rows}".encode()


@pytest.fixture
def main_account(books):
    return books.create_account(accountNumber=MAIN)


@pytest.fixture
def savings(books):
    return books.create_account(name="Savings", accountNumber=SAVINGS)


def assert_account_differs(api, content, account, number):
    answer = upload_statement(api, content, accountId=account)
    assert get_status_and_code(answer) == (400, "account_differs"), content
    assert number in answer.json()["detail"], content


# ---------------------------------------------------------------------------------------------- in a column


def test_column_of_another_accounts_number_rejects_the_file(api, acme, main_account, savings):
    for heading in HEADINGS:
        assert_account_differs(api, build_file(SAVINGS, SAVINGS, heading=heading), main_account, SAVINGS)
    assert list_stored(acme) == []


def test_column_of_two_own_accounts_gives_each_its_rows(upload_statement_file, main_account, savings):
    content = build_file(MAIN, SAVINGS, MAIN)
    summary = upload_statement_file(content, accountId=main_account, dryRun="true")
    assert (summary["count"], summary["leftOut"]) == (2, 1)
    counts = {each["accountId"]: each["count"] for each in upload_statement_file(content)["statements"]}
    assert counts == {main_account: 2, savings: 1}


def test_sort_code_beside_the_account_number_is_not_the_account(api, upload_statement_file, main_account, savings):
    assert_account_differs(api, LLOYDS.format(number=SAVINGS).encode(), main_account, SAVINGS)
    assert upload_statement_file(LLOYDS.format(number=MAIN).encode(), accountId=main_account)["count"] == 2


def test_account_number_beside_an_account_name_decides(api, main_account, savings):
    content = build_file(f"Reserve,{SAVINGS}", f"Reserve,{SAVINGS}", heading="Account Name,Account Number")
    assert_account_differs(api, content, main_account, SAVINGS)


def test_unknown_account_numbers_without_counterparties_are_asked(api, bank):
    answer = upload_statement(api, build_file(SAVINGS, UNKNOWN), accountId=bank)
    assert get_status_and_code(answer) == (400, "mapping_ambiguous")
    assert [choice["field"] for choice in answer.json()["choices"]] == ["accountValues"]


def test_numbers_beside_counterparties_are_theirs(upload_statement_file, main_account, savings):
    for heading in ("Account Number", "Beneficiary Account Number", "Account No."):
        content = build_file(f"Baker,{UNKNOWN}", f"Bob,{SAVINGS}", "Shop,50111222", heading=f"Payee,{heading}")
        with undo_changes():
            summary = upload_statement_file(content, accountId=main_account)
        assert (summary["count"], summary["leftOut"]) == (3, 0), heading


def test_own_numbers_beside_counterparties_are_the_accounts(upload_statement_file, main_account, savings):
    content = build_file(f"Baker,{MAIN}", f"Bob,{SAVINGS}", f"Shop,{MAIN}", heading="Payee,Account Number")
    summary = upload_statement_file(content, accountId=main_account)
    assert (summary["count"], summary["leftOut"]) == (2, 1)


# ---------------------------------------------------------------------------------------------- above the headings


def test_domestic_number_above_the_headings_names_the_account(api, upload_statement_file, books, main_account, savings):
    numberless = books.create_account(name="Numberless")
    for above in ABOVE:
        content = f"{above.format(SAVINGS)}{ROWS}".encode()
        assert_account_differs(api, content, main_account, SAVINGS)
        assert_account_differs(api, content, numberless, SAVINGS)
        assert upload_statement_file(content, accountId=savings, dryRun="true")["count"] == 2, above
        with undo_changes():
            (statement,) = upload_statement_file(content)["statements"]
            assert statement["accountId"] == savings, above


def test_unknown_domestic_number_above_the_headings_is_of_another_account(
    api, upload_statement_file, books, main_account
):
    numberless = books.create_account(name="Numberless")
    for above in ABOVE:
        content = f"{above.format(UNKNOWN)}{ROWS}".encode()
        assert_account_differs(api, content, main_account, UNKNOWN)
        with undo_changes():
            assert upload_statement_file(content, accountId=numberless)["count"] == 2, above
