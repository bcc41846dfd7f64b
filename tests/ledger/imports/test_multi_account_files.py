"""CSV files of several accounts: by a column or by sections, each row in its own account."""

import json

import pytest

from ledger.models import Transaction
from tests.ledger.bank_file_builders import IBAN
from tests.ledger.statement_upload import get_status_and_code, upload_statement

pytestmark = pytest.mark.django_db

OTHER = "DE02120300000000202051"
COLUMN = (
    "Account,Date,Text,Amount,Balance\n"
    f"{IBAN},2026-01-29,Rent,-1.00,99.00\n"
    f"{OTHER},2026-01-30,Interest,2.00,502.00\n"
    f"{IBAN},2026-01-31,Sale,3.00,102.00\n"
    f"{OTHER},2026-02-01,Fee,-4.00,498.00\n"
)
SECTIONS = (
    '"Umsätze Girokonto DE89 3704 0044 0532 0130 00";"30 Tage";\n'
    '"Buchungstag";"Text";"Umsatz in EUR";\n"24.03.2024";"Miete";"-500,00";\n"25.03.2024";"Strom";"-50,00";\n'
    f'"Umsätze Tagesgeld {OTHER}";"30 Tage";\n'
    '"Buchungstag";"Text";"Umsatz in EUR";\n"21.03.2024";"Zinsen";"12,00";\n'
)


@pytest.fixture
def main_account(books):
    return books.create_account(accountNumber="DE89 3704 0044 0532 0130 00")


@pytest.fixture
def other_account(books):
    return books.create_account(name="Savings", accountNumber=OTHER)


def list_amounts(company, account):
    rows = (
        Transaction.objects.for_company(company.id)
        .without_initial_balances()
        .filter(account_id=account)
        .order_by("date")
    )
    return [f"{row.amount_value:.2f}" for row in rows]


def test_rows_and_balances_are_routed_by_account_number_column(
    upload_statement_file, acme, main_account, other_account
):
    answer = upload_statement_file(COLUMN.encode())
    assert (answer["count"], answer["leftOut"]) == (4, 0)
    names = ("accountId", "count", "openingBalance", "ledgerDifference")
    assert [tuple(row[name] for name in names) for row in answer["statements"]] == [
        (main_account, 2, "100.00", "0.00"),
        (other_account, 2, "500.00", "0.00"),
    ]
    assert list_amounts(acme, main_account) == ["-1.00", "3.00"]
    assert list_amounts(acme, other_account) == ["2.00", "-4.00"]


def test_sections_are_routed_by_account_number_in_their_title(upload_statement_file, acme, main_account, other_account):
    assert upload_statement_file(SECTIONS.encode())["count"] == 3
    assert list_amounts(acme, main_account) == ["-500.00", "-50.00"]
    assert list_amounts(acme, other_account) == ["12.00"]


def test_import_into_named_account_stores_only_its_rows(upload_statement_file, acme, main_account, other_account):
    answer = upload_statement_file(COLUMN.encode(), accountId=other_account)
    assert (answer["count"], answer["leftOut"], answer["statements"][0]["openingBalance"]) == (2, 2, "500.00")
    assert upload_statement_file(SECTIONS.encode(), accountId=main_account)["count"] == 2
    assert list_amounts(acme, other_account) == ["2.00", "-4.00"]
    assert list_amounts(acme, main_account) == ["-500.00", "-50.00"]


def test_unknown_account_number_is_rejected_and_named(api, acme, main_account):
    answer = upload_statement(api, COLUMN.encode())
    assert get_status_and_code(answer) == (400, "account_unknown")
    assert OTHER in answer.json()["detail"]
    assert list_amounts(acme, main_account) == []


def test_row_without_account_number_is_rejected_but_total_is_left_out(
    api, upload_statement_file, acme, main_account, other_account
):
    answer = upload_statement(api, (COLUMN + ",2026-02-02,Gift,5.00,\n").encode())
    assert get_status_and_code(answer) == (400, "statement_unreadable")
    assert answer.json()["detail"].startswith("Line 6")
    assert list_amounts(acme, main_account) == []
    assert upload_statement_file((COLUMN + "Total,,,0.00,\n").encode())["leftOut"] == 1


def test_file_without_account_needs_an_account_choice(api):
    assert get_status_and_code(upload_statement(api, b"Date,Text,Amount\n2026-01-31,a,-1.00\n")) == (
        400,
        "account_unknown",
    )


def test_account_number_matches_with_and_without_spaces(upload_statement_file, acme, main_account, other_account):
    spaced = COLUMN.replace(f"{IBAN},2026-01-31", "DE89 3704 0044 0532 0130 00,2026-01-31")
    assert upload_statement_file(spaced.encode())["count"] == 4
    assert list_amounts(acme, main_account) == ["-1.00", "3.00"]


def test_question_for_a_multi_account_file_is_asked_once(api, upload_statement_file, acme, main_account, other_account):
    text = f"Account,Date,Text,Amount\n{IBAN},02/03/2026,a,-1.00\n{OTHER},03/04/2026,b,-2.00\n"
    answer = upload_statement(api, text.encode())
    assert get_status_and_code(answer) == (400, "mapping_ambiguous")
    assert [choice["field"] for choice in answer.json()["choices"]] == ["dateOrder"]
    settings = json.dumps({"csv": {"dateOrder": "dayFirst"}})
    assert upload_statement_file(text.encode(), importSettings=settings)["count"] == 2
    days = Transaction.objects.for_company(acme.id).order_by("date").values_list("date", flat=True)
    assert list(map(str, days)) == ["2026-03-02", "2026-04-03"]


def test_account_values_setting_limits_imported_accounts(upload_statement_file, acme, main_account, other_account):
    answer = upload_statement_file(COLUMN.encode(), importSettings=json.dumps({"csv": {"accountValues": [OTHER]}}))
    assert (answer["count"], answer["leftOut"]) == (2, 2)
    assert list_amounts(acme, main_account) == []


def test_import_scales_to_many_accounts(upload_statement_file, acme, books):
    numbers = [f"DE{number:020}" for number in range(40)]
    accounts = [books.create_account(name=number, accountNumber=number) for number in numbers]
    rows = [f"{numbers[n % 40]},2026-01-{1 + n % 28:02},Text {n},-{n}.50\n" for n in range(4000)]
    answer = upload_statement_file(("Account,Date,Text,Amount\n" + "".join(rows)).encode())
    assert (answer["count"], len(answer["statements"])) == (4000, 40)
    assert len(list_amounts(acme, accounts[0])) == 100
