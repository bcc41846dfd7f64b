"""Bank statements over HTTP: whose they are, what is stored, what is refused, and who is told."""

import pytest

from companies.models import AuditEntry
from ledger.models import Account, Statement
from notifications.models import Notification
from tests.ledger.bank_file_builders import (
    IBAN,
    build_camt,
    build_entry,
    build_mt940,
    build_ofx,
    build_qif,
    build_simple_camt,
    build_statement,
)
from tests.ledger.conftest import get_error_codes
from tests.ledger.statement_upload import get_status_and_code, list_stored_rows, upload_statement

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]


# ---------------------------------------------------------------------------------- what is stored


def test_statement_import_stores_rows_and_returns_summary(upload_statement_file, acme, main_account):
    answer = upload_statement_file(build_simple_camt("-40.00", "25.50"))
    assert {name: answer[name] for name in ("format", "count", "duplicates", "skippedBeforeDataStart", "errors")} == {
        "format": "camt.053",
        "count": 2,
        "duplicates": 0,
        "skippedBeforeDataStart": 0,
        "errors": [],
    }
    assert answer["dryRun"] is False
    assert answer["statements"] == [
        {
            "accountId": main_account,
            "accountNumber": IBAN,
            "currency": "EUR",
            "statementId": "2026-01",
            "startDate": "2026-01-01",
            "endDate": "2026-01-31",
            "openingBalance": "100.00",
            "closingBalance": "85.50",
            "bookedSum": "-14.50",
            "difference": "0.00",
            "count": 2,
            "duplicates": 0,
            "pending": 0,
            "ledgerBalance": "85.50",
            "ledgerDifference": "0.00",
            "balanceFault": None,
        }
    ]
    assert list_stored_rows(acme) == [
        ("2026-01-15", "-40.00", "Initech GmbH", "Invoice 1042"),
        ("2026-01-15", "25.50", "Initech GmbH", "Invoice 1042"),
    ]


def test_statement_rows_have_bank_source_and_import_id(api, upload_statement_file, main_account):
    answer = upload_statement_file(build_simple_camt("-40.00"))
    (row,) = api.get("transactions", {"importId": answer["importId"]}).json()
    assert (row["source"], row["pending"], row["importId"]) == ("bank", False, answer["importId"])


def test_dry_run_returns_result_and_stores_nothing(api, upload_statement_file, acme, main_account):
    tried = upload_statement_file(build_simple_camt("-40.00", "25.50"), dryRun="true")
    assert (tried["importId"], tried["dryRun"]) == (None, True)
    assert (
        list_stored_rows(acme),
        api.get("imports").json(),
        api.get(f"accounts/{main_account}").json()["bankConnection"],
    ) == (
        [],
        [],
        None,
    )
    done = upload_statement_file(build_simple_camt("-40.00", "25.50"))
    assert tried["statements"] == done["statements"]


def test_import_list_shows_file_format_and_accounts(api, upload_statement_file, main_account):
    answer = upload_statement_file(build_simple_camt("-40.00"), name="Kontoauszug Mai.xml")
    (listed,) = api.get("imports").json()
    assert (listed["id"], listed["filename"], listed["format"]) == (
        answer["importId"],
        "Kontoauszug Mai.xml",
        "camt.053",
    )
    assert (listed["accountIds"], listed["source"], listed["count"]) == ([main_account], "bank", 1)


def test_item_import_lists_accounts_and_no_file(api, bank):
    item = {"accountId": bank, "date": "2026-01-31", "amountValue": "1.00"}
    api.post("transactions/import", {"transactions": [item]})
    (listed,) = api.get("imports").json()
    assert (listed["filename"], listed["format"], listed["accountIds"]) == (None, None, [bank])


def test_entries_before_data_start_count_in_initial_balance_only(api, upload_statement_file, acme, main_account):
    api.put("", {"dataStartDate": "2026-01-10"})
    parts = [build_entry("-40.00", "2026-01-05"), build_entry("25.00", "2026-01-15")]
    answer = upload_statement_file(build_camt(build_statement(*parts, opening="100.00", closing="85.00")))
    assert (answer["count"], answer["skippedBeforeDataStart"]) == (1, 1)
    assert answer["statements"][0]["ledgerDifference"] == "0.00"
    initial = api.get(f"accounts/{main_account}/initial_balance").json()["transaction"]
    assert (initial["date"], initial["amountValue"]) == ("2026-01-09", "60.00")


# ---------------------------------------------------------------------------------- whose it is


def test_account_number_is_matched_regardless_of_spelling(upload_statement_file, books):
    account = books.create_account(accountNumber="de89 3704 0044 0532 0130 00")
    assert upload_statement_file(build_simple_camt("1.00"))["statements"][0]["accountId"] == account


@pytest.mark.parametrize("number", ["37040044/532013000", "37040044/0532013000", f"{IBAN}EUR", f"COBADEFF/{IBAN}"])
def test_legacy_account_number_formats_match_same_account(upload_statement_file, main_account, number):
    assert upload_statement_file(build_mt940(account=number))["statements"][0]["accountId"] == main_account


def test_unknown_account_number_is_rejected_and_named(api, main_account):
    answer = upload_statement(api, build_simple_camt("1.00", iban="DE02120300000000202051"))
    assert get_status_and_code(answer) == (400, "account_unknown")
    assert "DE02120300000000202051" in answer.json()["detail"]


def test_archived_account_is_not_matched_by_number(api, main_account):
    api.put(f"accounts/{main_account}/archive")
    assert get_status_and_code(upload_statement(api, build_simple_camt("1.00"))) == (400, "account_unknown")
    assert upload_statement(api, build_simple_camt("1.00"), accountId=main_account).status_code == 200


def test_file_of_other_account_than_named_is_rejected(api, acme, main_account):
    answer = upload_statement(api, build_simple_camt("1.00", iban="DE02120300000000202051"), accountId=main_account)
    assert get_status_and_code(answer) == (400, "account_differs")
    assert "DE02120300000000202051" in answer.json()["detail"]
    assert IBAN not in answer.text  # who may only write is told nothing that is stored
    assert list_stored_rows(acme) == []


def test_account_without_number_takes_number_of_statement(api, upload_statement_file, bank):
    upload_statement_file(build_simple_camt("1.00"), accountId=bank)
    assert api.get(f"accounts/{bank}").json()["accountNumber"] == IBAN
    assert upload_statement_file(build_simple_camt("1.00"))["duplicates"] == 1


def test_shared_account_number_is_resolved_by_currency(api, upload_statement_file, books, main_account):
    dollars = books.create_account(accountNumber=IBAN, defaultCurrency="USD")
    assert upload_statement_file(build_simple_camt("1.00"))["statements"][0]["accountId"] == main_account
    in_dollars = upload_statement_file(build_camt(build_statement(build_entry("1.00", currency="USD"), currency="USD")))
    assert in_dollars["statements"][0]["accountId"] == dollars
    books.create_account(accountNumber=IBAN)
    assert get_status_and_code(upload_statement(api, build_simple_camt("2.00"))) == (400, "account_ambiguous")


def test_account_of_other_company_is_unknown(api, globex_api):
    theirs = globex_api.post("accounts", {"name": "Theirs", "type": "bank", "accountNumber": IBAN}).json()["id"]
    assert get_status_and_code(upload_statement(api, build_simple_camt("1.00"))) == (400, "account_unknown")
    answer = upload_statement(api, build_simple_camt("1.00"), accountId=theirs)
    assert get_error_codes(answer) == {"#/accountId": "unknown_id"}


def test_multi_account_file_is_stored_completely_or_not_at_all(api, upload_statement_file, acme, books, main_account):
    other = books.create_account(accountNumber="DE02120300000000202051")
    parts = [build_statement(build_entry("1.00")), build_statement(build_entry("2.00"), iban="DE02120300000000202051")]
    assert [each["accountId"] for each in upload_statement_file(build_camt(*parts))["statements"]] == [
        main_account,
        other,
    ]
    unknown = build_camt(build_statement(build_entry("3.00")), build_statement(build_entry("4.00"), iban="DE00"))
    assert get_status_and_code(upload_statement(api, unknown)) == (400, "account_unknown")
    assert len(list_stored_rows(acme)) == 2


# ---------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("content", [b"", b" \n"])
def test_empty_file_is_rejected_as_empty(api, main_account, content):
    answer = upload_statement(api, content, name="statement.csv")
    assert get_status_and_code(answer) == (415, "statement_format_unknown")
    assert answer.json()["detail"] == "The file is empty. Export it again."


def test_rejected_statement_has_a_code_and_stores_nothing(api, acme, main_account):
    for content, status, code in [
        (b"hello there", 415, "statement_format_unknown"),
        (b"", 415, "statement_format_unknown"),
        (b"%PDF-1.7\n%%EOF", 415, "statement_format_unknown"),
        (b"PK\x03\x04zip", 415, "statement_format_unknown"),
        (b"<html><body>x</body></html>", 415, "statement_format_unknown"),
        (b'{"a": [1, 2]}', 415, "statement_format_unknown"),
        (b'<!DOCTYPE d [<!ENTITY a "a">]><Document>&a;</Document>', 400, "unsafe_xml"),
        (b'<!DOCTYPE d SYSTEM "file:///etc/passwd"><Document/>', 400, "unsafe_xml"),
        (build_simple_camt("1.00")[:-30], 400, "statement_unreadable"),
        (b"<Document>" + b"<a>" * 100, 400, "statement_unreadable"),
        (build_camt(), 400, "statement_unreadable"),
        (build_camt(build_statement(build_entry("1.00", day="2026-13-45"))), 400, "statement_unreadable"),
        (build_camt(build_statement(build_entry("1.00", day="17.11.2026"))), 400, "statement_unreadable"),
        (build_camt(build_statement(build_entry("1.00", currency="DEM"))), 400, "currency_unknown"),
        (build_camt(build_statement(build_entry("1.001"))), 400, "statement_unreadable"),
        (build_camt(build_statement(build_entry("1234567890123456"))), 400, "statement_unreadable"),
        (build_mt940(("260115", "x")), 400, "statement_unreadable"),
        (b":20:X\n:25:1\n:60F:C260101EUR1,00\n", 400, "statement_unreadable"),
        (build_ofx({"TRNAMT": "1"}), 400, "statement_unreadable"),
        (build_ofx()[:-8], 400, "statement_unreadable"),
        (b"<!DOCTYPE x><OFX></OFX>", 400, "unsafe_xml"),
        (build_qif(["D1/31/26", "T1"]), 400, "account_unknown"),
        (b"Date,Amount\n2026-01-01,1.00\n", 400, "account_unknown"),
    ]:
        answer = upload_statement(api, content)
        assert get_status_and_code(answer) == (status, code), answer.json()
        assert list_stored_rows(acme) == [], content


def test_broken_file_error_names_line(api, main_account):
    assert "Line 2" in upload_statement(api, build_simple_camt("1.00")[:-30]).json()["detail"]
    broken = upload_statement(api, build_mt940(("2601150115D1,00NMSC", "x"), ("garbage", "y"))).json()["detail"]
    assert broken.startswith("Line 7: “garbage”")


def test_statement_upload_validates_form_fields(api, main_account):
    answer = api.client.post(api.path("statements"), {"dryRun": "true"}, headers=api.headers)
    assert get_error_codes(answer) == {"#/file": "required"}
    wrong = upload_statement(api, build_simple_camt("1.00"), dryRun="yes", split="both", dateOrder="iso")
    assert get_error_codes(wrong) == dict.fromkeys(["#/dryRun", "#/split", "#/dateOrder"], "invalid_choice")
    assert upload_statement(api, build_simple_camt("1.00"), colour="red")["Ignored-Fields"] == "colour"


def test_statement_over_entry_limit_is_rejected(api, main_account, monkeypatch):
    monkeypatch.setattr("ledger.bank_statements.queries.statement_files.MAX_IMPORT_ITEMS", 2)
    assert get_status_and_code(upload_statement(api, build_simple_camt("1.00", "2.00", "3.00"))) == (
        413,
        "too_many_rows",
    )
    assert upload_statement(api, build_simple_camt("1.00", "2.00")).status_code == 200


# ---------------------------------------------------------------------------------- the formats that need an account


def test_csv_uses_column_settings_of_account(api, upload_statement_file, acme, bank):
    content = b"Datum;Wer;Text;Betrag\n31.01.2026;Initech;Rechnung;-1.234,50\n"
    columns = {"date": "Datum", "from_to": "Wer", "description": "Text", "amount": "Betrag"}
    reading = {"headings": 1, "columns": columns, "dateOrder": "dayFirst", "decimalSign": "comma", "flipSign": False}
    api.put(f"accounts/{bank}", {"importSettings": {"csv": reading}})
    answer = upload_statement_file(content, accountId=bank)
    assert (answer["format"], answer["count"], answer["statements"][0]["closingBalance"]) == ("csv", 1, None)
    assert list_stored_rows(acme) == [("2026-01-31", "-1234.50", "Initech", "Rechnung")]
    assert upload_statement_file(content, accountId=bank)["count"] == 0
    upload_statement_file(
        content.replace(b"31.01", b"30.01").replace(b"Initech", b"'=Initech"), accountId=bank
    )  # as our own files have it
    assert {row[2] for row in list_stored_rows(acme)} == {"Initech", "=Initech"}
    assert get_status_and_code(upload_statement(api, content.replace(b"31.01", b"31.13"), accountId=bank)) == (
        400,
        "statement_unreadable",
    )
    assert get_status_and_code(upload_statement(api, content.replace(b"31.01", b"32.01"), accountId=bank)) == (
        400,
        "statement_unreadable",
    )
    refused = upload_statement(api, b"A;B\n1;2\n", accountId=bank)
    assert get_status_and_code(refused) == (400, "columns_unknown")
    assert refused.json()["detail"].endswith("set importSettings.csv.")


def test_csv_day_past_month_end_becomes_last_day_of_month(upload_statement_file, acme, books):
    columns = {"date": "Date", "amount": "Amount"}
    for order in ("dayFirst", "iso"):
        reading = {"headings": 1, "columns": columns, "dateOrder": order, "decimalSign": "point", "flipSign": False}
        account = books.create_account(importSettings={"csv": reading})
        days = [b"31.11.2026", b"30.02.2024"] if order == "dayFirst" else [b"2026-11-31", b"2024-02-30"]
        upload_statement_file(b"Date,Amount\n%s,-1.00\n%s,-2.00\n" % tuple(days), accountId=account)
    assert [row[:2] for row in list_stored_rows(acme)] == [("2024-02-29", "-2.00")] * 2 + [("2026-11-30", "-1.00")] * 2


def test_qif_date_order_comes_from_dates_saved_setting_or_request(api, upload_statement_file, acme, bank):
    unclear = build_qif(["D02/03/2026", "T-5.00", "PCoffee bar"])
    assert get_status_and_code(upload_statement(api, unclear, accountId=bank)) == (400, "date_order_unknown")
    upload_statement_file(build_qif(["D01/31/2026", "T-1.00", "PCoffee bar"]), accountId=bank)
    assert api.get(f"accounts/{bank}").json()["importSettings"] == {"qif": {"dateOrder": "monthFirst"}}
    upload_statement_file(unclear, accountId=bank)
    upload_statement_file(build_qif(["D02/03/2026", "T-6.00"]), accountId=bank, dateOrder="dayFirst")
    assert [row[:2] for row in list_stored_rows(acme)] == [
        ("2026-01-31", "-1.00"),
        ("2026-02-03", "-5.00"),
        ("2026-03-02", "-6.00"),
    ]


# ---------------------------------------------------------------------------------- who is told


def test_statement_import_is_audited_and_notified(api, upload_statement_file, acme, alice, main_account):
    answer = upload_statement_file(build_simple_camt("-40.00"))
    (logged,) = AuditEntry.objects.for_company(acme.id).filter(action="import.finished")
    assert (logged.entity_id, logged.after["count"]) == (answer["importId"], 1)
    assert Notification.objects.filter(type="import.finished", recipient_id=alice.id).count() == 1


def test_statement_import_hides_counts_without_read_permission(make_api, acme, main_account):
    writer = make_api(acme, "transactions:write")
    body = upload_statement(writer, build_simple_camt("-40.00")).json()
    assert body["importId"]
    assert (body["count"], body["statements"]) == (None, None)
    assert upload_statement(make_api(acme, "transactions:read"), build_simple_camt("-40.00")).status_code == 403


def test_import_undo_removes_statements_and_bank_connection(api, upload_statement_file, acme, main_account):
    answer = upload_statement_file(build_simple_camt("-40.00"))
    api.delete(f"imports/{answer['importId']}")
    assert Statement.objects.for_company(acme.id).count() == 0
    assert Account.objects.get(id=main_account).bank_connection is None
