"""Which account a bank's file goes to, in which currency, and amounts that refuse it."""

from pathlib import Path

import pytest

from tests.ledger import bank_file_builders
from tests.ledger.bank_file_builders import build_camt, build_entry, build_simple_camt, build_statement
from tests.ledger.statement_upload import get_status_and_code, list_stored_rows, upload_statement
from tests.rollback import undo_changes

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]
SAMPLES = Path(__file__).parents[2] / "data" / "statements"
FIRST, SECOND = "DE02120300000000202051", "DE02500105170137075030"
TWO_ACCOUNTS = {
    "mt940": (SAMPLES / "mt940_two_accounts.sta").read_bytes(),
    "camt": build_camt(
        build_statement(build_entry("-10.00"), iban=FIRST, opening="100", closing="90"),
        build_statement(build_entry("-70.00"), iban=SECOND, opening="5000", closing="4930"),
    ),
    "ofx": bank_file_builders.build_ofx(
        {"DTPOSTED": "20260115", "TRNAMT": "-10.00", "FITID": "1"}, account=FIRST
    ).replace(
        b"</OFX>\n",
        bank_file_builders.build_ofx({"DTPOSTED": "20260115", "TRNAMT": "-70.00", "FITID": "1"}, account=SECOND).split(
            b"<OFX>\n"
        )[1],
    ),
}
QIF_OF_TWO = (SAMPLES / "qif_two_accounts.qif").read_bytes()


def test_multi_account_file_is_routed_by_account_number(api, acme, upload_statement_file, books):
    for case, content in TWO_ACCOUNTS.items():
        with undo_changes():
            assert get_status_and_code(upload_statement(api, content)) == (400, "account_unknown")
            one, two = books.create_account(accountNumber=FIRST), books.create_account(accountNumber=SECOND)
            answer = upload_statement_file(content)
            assert [(each["accountId"], each["count"]) for each in answer["statements"]] == [(one, 1), (two, 1)], (
                content
            )
            assert answer["otherAccountNumbers"] == [], case


def test_import_into_one_account_takes_only_its_statements(api, acme, upload_statement_file, books, main_account):
    fresh, one = books.create_account(), books.create_account(accountNumber=FIRST)
    for case, content in TWO_ACCOUNTS.items():
        with undo_changes():
            for other in (main_account, fresh):
                answer = upload_statement(api, content, accountId=other)
                assert get_status_and_code(answer) == (400, "account_differs"), case
                assert FIRST in answer.json()["detail"], case
                assert SECOND in answer.json()["detail"], case
            assert list_stored_rows(acme) == [], case
            answers = upload_statement_file(content, accountId=one)
            assert [(each["accountId"], each["count"]) for each in answers["statements"]] == [(one, 1)], case
            assert answers["otherAccountNumbers"] == [SECOND], case
            assert [row[1] for row in list_stored_rows(acme)] == ["-10.00"], case
            assert api.get(f"accounts/{fresh}").json()["accountNumber"] is None, case


def test_file_of_another_account_is_not_taken_by_one_without_number(api, acme, upload_statement_file, books):
    content = build_camt(build_statement(build_entry("-10.00"), iban=FIRST))
    numberless, dollars = books.create_account(), books.create_account(defaultCurrency="USD")
    in_dollars = build_camt(build_statement(build_entry("-10.00", currency="USD"), iban=FIRST, currency="USD"))
    owner = books.create_account(accountNumber="DE02 1203 0000 0000 2020 51")
    answer = upload_statement(api, content, accountId=numberless)
    assert get_status_and_code(answer) == (400, "account_differs")
    assert FIRST in answer.json()["detail"]
    assert list_stored_rows(acme) == []
    assert upload_statement_file(in_dollars, accountId=dollars)["count"] == 1, "the number has another currency too"
    assert upload_statement_file(content)["statements"][0]["accountId"] == owner
    api.put(f"accounts/{owner}/archive")
    assert upload_statement_file(content, accountId=numberless)["count"] == 1, "a new account in place of an archived"


def test_multi_account_qif_file_is_routed_by_account_name(api, acme, upload_statement_file, books, bank):
    answer = upload_statement(api, QIF_OF_TWO, accountId=bank)
    assert get_status_and_code(answer) == (400, "account_differs")
    assert "One, Two" in answer.json()["detail"]
    assert get_status_and_code(upload_statement(api, QIF_OF_TWO)) == (400, "account_unknown")
    one, two = books.create_account(name="One"), books.create_account(accountNumber="two")
    answers = upload_statement_file(QIF_OF_TWO, accountId=two)
    assert ([each["count"] for each in answers["statements"]], answers["otherAccountNumbers"]) == ([1], ["One"])
    answers = upload_statement_file(QIF_OF_TWO)
    assert [(each["accountId"], each["count"]) for each in answers["statements"]] == [(one, 1), (two, 0)]


def test_statement_in_other_currency_than_account_is_rejected(api, acme, upload_statement_file, books, bank):
    pounds = (SAMPLES / "ofx_other_currency.ofx").read_bytes()
    answer = upload_statement(api, pounds, accountId=bank)
    assert get_status_and_code(answer) == (400, "currency_differs")
    assert "GBP" in answer.json()["detail"]
    assert list_stored_rows(acme) == []
    assert api.get(f"accounts/{bank}").json()["accountNumber"] is None
    books.create_account(accountNumber="777")
    assert get_status_and_code(upload_statement(api, pounds)) == (400, "currency_differs")
    sterling = books.create_account(defaultCurrency="GBP")
    assert upload_statement_file(pounds, accountId=sterling)["count"] == 1


def test_named_account_takes_only_statement_in_its_currency(api, acme, upload_statement_file, books, main_account):
    both = build_camt(
        build_statement(build_entry("1.00")), build_statement(build_entry("2.00", currency="USD"), currency="USD")
    )
    assert get_status_and_code(upload_statement(api, both)) == (400, "currency_differs")
    answer = upload_statement_file(both, accountId=main_account)
    assert [(each["currency"], each["count"]) for each in answer["statements"]] == [("EUR", 1)]
    assert [row[1] for row in list_stored_rows(acme)] == ["1.00"]


@pytest.mark.parametrize("named", [True, False])
def test_ofx_without_currency_uses_account_currency(api, acme, upload_statement_file, books, named):
    dollars = books.create_account(accountNumber=FIRST, defaultCurrency="USD")
    foreign = {"CURRENCY": "<CURRATE>0.5<CURSYM>EUR</CURRENCY>"}
    content = bank_file_builders.build_ofx(
        {"DTPOSTED": "20260115", "TRNAMT": "-4.00", "FITID": "1"},
        {"DTPOSTED": "20260115", "TRNAMT": "-7.01", "FITID": "2"} | foreign,
        account=FIRST, currency="", balance="10.00",
    )  # fmt: skip
    statement = upload_statement_file(content, **({"accountId": dollars} if named else {}))["statements"][0]
    assert (statement["currency"], statement["bookedSum"], statement["openingBalance"]) == ("USD", "-7.51", "17.51")


def test_garbled_amount_rejects_whole_file(api, acme, main_account):
    for amount in ["12.3.4", "1,2.3", "123 45", "1e3", "5-5"]:
        for format_ in ["ofx", "qif", "mt940", "camt"]:
            content = {
                "ofx": bank_file_builders.build_ofx({"DTPOSTED": "20260115", "TRNAMT": amount}),
                "qif": bank_file_builders.build_qif(["D31/1'26", f"T{amount}"]),
                "mt940": bank_file_builders.build_mt940((f"260115C{amount}NTRF", "Rent")),
                "camt": build_simple_camt("12.00").replace(b">12.00<", f">{amount}<".encode()),
            }[format_]
            assert get_status_and_code(upload_statement(api, content, accountId=main_account)) == (
                400,
                "statement_unreadable",
            ), (amount, format_)
            assert list_stored_rows(acme) == [], (amount, format_)
