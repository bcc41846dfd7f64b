"""Several statements in one file or one archive: as if each had been sent after the other."""

import json

import pytest

from ledger.bank_statements.calc import statement_matcher
from ledger.models import ImportBatch
from tests.ledger import bank_file_builders
from tests.ledger.archives import build_xlsx, build_zip
from tests.ledger.bank_file_builders import build_camt, build_entry, build_simple_camt, build_statement
from tests.ledger.statement_upload import get_status_and_code, list_stored_rows, upload_statement
from tests.rollback import undo_changes

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]
HEADINGS = ["Date", "Text", "Amount"]
CSV = b"Date,Text,Amount\n2026-01-15,Rent,-10.50\n2026-01-16,Sale,20.00\n"
MT940 = bank_file_builders.build_mt940(("260115D10,50NTRFNONREF//A-1", "Rent"), closing="C260131EUR89,50")
OFX = bank_file_builders.build_ofx({"DTPOSTED": "20260115", "TRNAMT": "-10.50", "FITID": "1", "MEMO": "Rent"})
QIF = bank_file_builders.build_qif(["D31/1'26", "T-10.50", "MRent"])
TWICE = {
    "CAMT": build_camt(
        *[build_statement(build_entry("-10.50", ref="A"), build_entry("-3.00"), build_entry("-3.00"))] * 2
    ),
    "notifications": build_camt(*[build_statement(build_entry("-10.50"), kind="054")] * 2, kind="054"),
    "MT940": MT940 * 2,
    "OFX": OFX.replace(b"</OFX>\n", OFX.split(b"<OFX>\n")[1]),
    "a ZIP of CAMT": build_zip(
        **{"a.xml": build_simple_camt("-10.50", "7.00"), "b.xml": build_simple_camt("-10.50", "7.00")}
    ),
    "a ZIP of CSV": build_zip(**{"a.csv": CSV, "b.csv": CSV}),
    "a ZIP of QIF": build_zip(**{"a.qif": QIF, "b.qif": QIF}),
    "a ZIP of CSV and a workbook": build_zip(
        **{"a.csv": CSV, "b.xlsx": build_xlsx(HEADINGS, ["2026-01-15", "Rent", -10.5], ["2026-01-16", "Sale", 20])}
    ),
}  # fmt: skip


def test_statement_contained_twice_in_file_is_stored_once(acme, upload_statement_file, main_account):
    for case, content in TWICE.items():
        with undo_changes():
            summary = upload_statement_file(content, accountId=main_account)
            assert [(each["count"], each["duplicates"]) for each in summary["statements"]] == [
                (summary["count"], 0),
                (0, summary["count"]),
            ], case
            assert len(list_stored_rows(acme)) == summary["count"] == summary["duplicates"], case
            assert upload_statement_file(content, accountId=main_account)["count"] == 0


@pytest.mark.parametrize("first", ["MT940", "CAMT"])
def test_two_formats_of_same_day_in_archive_are_stored_once(acme, upload_statement_file, main_account, first):
    both = {
        "a.sta": MT940,
        "b.xml": build_camt(build_statement(build_entry("-10.50", text="Rent", name="", ref="C-1"))),
    }
    summary = upload_statement_file(build_zip(**(both if first == "MT940" else dict(reversed(both.items())))))
    assert (summary["count"], summary["duplicates"], summary["format"], len(list_stored_rows(acme))) == (1, 1, "zip", 1)
    for content in both.values():
        assert upload_statement_file(content)["count"] == 0


def test_archive_with_two_formats_is_recognized_in_either_format_later(acme, upload_statement_file, main_account):
    second = bank_file_builders.build_mt940(
        ("260116D20,00NTRFNONREF", "Coffee"), opening="C260116EUR1,00", closing="C260116EUR0,00"
    )
    first = build_camt(build_statement(build_entry("-10.50", text="Rent", name="")))
    assert upload_statement_file(build_zip(**{"a.xml": first, "b.sta": second}))["count"] == 2
    other = build_camt(build_statement(build_entry("-20.00", "2026-01-16", text="Coffee", name="", ref="C-2")))
    for content in (first, second, other, MT940):
        assert upload_statement_file(content)["count"] == 0


def test_equal_payments_on_pages_of_one_day_are_both_stored(acme, upload_statement_file, main_account):
    pages = [
        build_statement(build_entry("-3.50"), end="2026-01-15", opening="100", closing="96.50", number="1"),
        build_statement(build_entry("-3.50"), start="2026-01-15", opening="96.50", closing="93.00", number="2"),
    ]
    assert upload_statement_file(build_camt(*pages))["count"] == 2
    assert upload_statement_file(build_camt(*pages))["duplicates"] == 2


def test_copy_of_zero_sum_statement_is_not_a_further_page(acme, upload_statement_file, main_account):
    zero = build_statement(build_entry("-3.50"), build_entry("3.50"), opening="100", closing="100")
    assert (upload_statement_file(build_camt(zero, zero))["count"], len(list_stored_rows(acme))) == (2, 2)


def test_pending_entry_in_archive_is_booked_by_later_file(acme, upload_statement_file, main_account):
    pending = build_camt(build_statement(build_entry("-10.50", status="PDNG"), kind="052"), kind="052")
    booked = build_camt(build_statement(build_entry("-10.50", "2026-01-17"), opening="100", closing="89.50"))
    summary = upload_statement_file(build_zip(**{"a.xml": pending, "b.xml": booked}))
    assert (summary["count"], summary["duplicates"], summary["booked"]) == (1, 1, 1)
    assert list_stored_rows(acme) == [("2026-01-17", "-10.50", "Initech GmbH", "Invoice 1042")]
    assert upload_statement_file(booked)["count"] == 0


def test_pending_entry_lapses_if_missing_in_later_archive_file(acme, upload_statement_file, main_account):
    pending = build_camt(build_statement(build_entry("-10.50", status="PDNG"), kind="052"), kind="052")
    final = build_camt(build_statement(build_entry("-7.00", text="Other", name="Other"), opening="100", closing="93"))
    for files in ({"a.xml": pending, "b.xml": final}, {"b.xml": final, "a.xml": pending}):
        summary = upload_statement_file(build_zip(**files), dryRun="true")
        assert (summary["count"], summary["lapsed"]) == (1, 1)
    upload_statement_file(build_zip(**{"a.xml": pending, "b.xml": final}))
    assert [row[1] for row in list_stored_rows(acme)] == ["-7.00"]


def test_archive_import_is_undone_as_one_import(api, acme, upload_statement_file, main_account):
    summary = upload_statement_file(TWICE["a ZIP of CSV"], accountId=main_account)
    assert ImportBatch.objects.for_company(acme.id).count() == 1
    assert api.delete(f"imports/{summary['importId']}").json()["deletedCount"] == 2
    assert list_stored_rows(acme) == []


def test_import_scales_to_many_copies_of_a_statement(upload_statement_file, main_account):
    values = [f"-{n}.00" for n in range(1, 51)]
    one = build_statement(*(build_entry(value, ref=f"R{value}") for value in values))
    summary = upload_statement_file(build_camt(*[one] * 60))
    assert (summary["count"], summary["duplicates"]) == (50, 59 * 50)


def test_too_many_overlapping_statements_are_rejected(api, acme, main_account, monkeypatch):
    monkeypatch.setattr(statement_matcher, "MAX_COMPARED", 10)
    one = build_statement(*(build_entry(f"-{n}.00") for n in range(1, 8)))
    answer = upload_statement(api, build_camt(one, one, one))
    assert get_status_and_code(answer) == (400, "statement_unreadable")
    assert answer.json()["detail"] == "Too many of its statements overlap. Send them as separate files."
    assert list_stored_rows(acme) == []


# ---------------------------------------------------------------------------------------------- archives


def test_archive_may_contain_every_file_format(acme, upload_statement_file, main_account):
    book = build_xlsx(["Date", "Text", "Amount"], ["2026-01-19", "Book", -4])
    files = {"a.csv": CSV, "b.qif": QIF, "c.xml": build_simple_camt("-1.00", day="2026-01-20"), "d.xlsx": book}
    summary = upload_statement_file(build_zip(**files), accountId=main_account)
    assert (summary["count"], summary["format"], summary["leftOutFiles"]) == (5, "zip", [])


def test_archive_import_into_account_takes_own_and_unnumbered_statements(
    api, acme, upload_statement_file, books, main_account
):
    other = build_simple_camt("-1.00", iban="DE02500105170137075030")
    summary = upload_statement_file(build_zip(**{"a.csv": CSV, "b.xml": other}), accountId=main_account)
    assert (summary["count"], summary["otherAccountNumbers"]) == (2, ["DE02500105170137075030"])
    both = build_zip(**{"a.xml": build_simple_camt("-1.00"), "b.xml": other})
    assert get_status_and_code(upload_statement(api, both, accountId=books.create_account())) == (
        400,
        "account_differs",
    )


def test_non_statement_files_in_archive_are_left_out_and_named(acme, upload_statement_file, main_account):
    beside = {
        "README.txt": b"Dear customer,\nhere are your statements, as you wished.\n",
        "__MACOSX/._a.csv": b"\0\1",
        ".DS_Store": b"\0\1",
        "logo.png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
        "help.html": b"<!DOCTYPE html><html>a,b</html>",
        "letter.docx": build_zip(**{"[Content_Types].xml": b"<a/>", "word/document.xml": b"<a/>"}),
        "empty.csv": b"",
        "folder/": b"",
        "../../etc/passwd.csv": CSV,
    }
    summary = upload_statement_file(build_zip(**beside), accountId=main_account)
    assert (summary["count"], len(list_stored_rows(acme))) == (2, 2)
    assert summary["leftOutFiles"] == ["README.txt", "logo.png", "help.html", "letter.docx", "empty.csv"]
    assert upload_statement_file(CSV, accountId=main_account)["leftOutFiles"] == []


def test_question_about_archive_file_names_file_and_is_answered_for_all(api, acme, upload_statement_file, main_account):
    asks = b"Date,Text,Amount\n02/03/2026,a,-1.00\n03/04/2026,b,-2.00\n"
    content = build_zip(**{"a.csv": CSV, "b.csv": asks, "c.csv": asks.replace(b"1.00", b"4.00")})
    answer = upload_statement(api, content, accountId=main_account)
    assert get_status_and_code(answer) == (400, "mapping_ambiguous")
    assert [(each["file"], each["field"]) for each in answer.json()["choices"]] == [
        ("b.csv", "dateOrder"),
        ("c.csv", "dateOrder"),
    ]
    assert list_stored_rows(acme) == []
    settings = json.dumps({"csv": {"dateOrder": "dayFirst"}})
    assert (
        upload_statement_file(content, accountId=main_account, importSettings=settings)["count"] == 6 - 1
    )  # one row is in both files
    alone = upload_statement(api, asks.replace(b"a", b"z"), accountId=main_account)
    assert [each["file"] for each in alone.json()["choices"]] == [None]


BROKEN = {
    "a broken statement": ({"a.csv": CSV, "b.csv": CSV + b"2026-01-17,x,12.3.4\n"}, "statement_unreadable", "b.csv"),
    "a table without amounts": ({"a.csv": CSV, "b.csv": b"Name,Street\nA,B\n"}, "columns_unknown", "b.csv"),
    "XML with entities": (
        {"a.csv": CSV, "b.xml": b'<!DOCTYPE d [<!ENTITY a "a">]><Document>&a;</Document>'},
        "unsafe_xml",
        "b.xml",
    ),
    "an archive": ({"a.csv": CSV, "b.zip": build_zip(**{"a.csv": CSV})}, "statement_format_unknown", "b.zip"),
    "a table of 300 columns": ({"a.csv": CSV, "b.csv": b",".join([b"x"] * 300)}, "table_too_large", "b.csv"),
}


def test_bad_file_rejects_archive_and_is_named(api, acme, main_account):
    for case, (files, expected, name) in BROKEN.items():
        answer = upload_statement(api, build_zip(**files), accountId=main_account)
        assert get_status_and_code(answer)[1] == expected, case
        assert name in answer.json()["detail"], case
        assert list_stored_rows(acme) == [], case


# ---------------------------------------------------------------------------------------------- unnamed accounts


def test_two_qif_sections_without_accounts_are_rejected(api, acme, main_account):
    two = QIF + bank_file_builders.build_qif(["D1/2'26", "T-7.00"], kind="CCard")
    answer = upload_statement(api, two, accountId=main_account)
    assert get_status_and_code(answer) == (400, "account_differs")
    assert answer.json()["detail"].startswith("Line 7")
    assert list_stored_rows(acme) == []
    named = b"!Account\nNOne\n^\n" + QIF
    assert get_status_and_code(
        upload_statement(api, named + bank_file_builders.build_qif(["D1/2'26", "T-7.00"]), accountId=main_account)
    ) == (400, "account_differs")


def test_empty_and_non_account_qif_sections_are_ignored(upload_statement_file, main_account):
    lists = b"!Type:Cat\nNRent\nE\n^\n!Type:Bank\n" + QIF + b"!Type:Class\nNx\n^\n!Type:CCard\n"
    assert upload_statement_file(lists, accountId=main_account)["count"] == 1


@pytest.mark.parametrize("number", ["", None])
def test_two_ofx_statements_without_numbers_are_rejected(api, acme, books, number):
    account = books.create_account()
    first, second = (
        bank_file_builders.build_ofx(
            {"DTPOSTED": "20260115", "TRNAMT": amount, "FITID": "1"}, account="X", balance=balance
        )
        for amount, balance in (("-10.00", "90.00"), ("-70.00", "5000.00"))
    )
    two = first.replace(b"</OFX>\n", second.split(b"<OFX>\n")[1])
    tag = next(line for line in two.splitlines() if b"ACCTID" in line)
    two = two.replace(tag, b"" if number is None else tag.replace(b"X", b""))
    answer = upload_statement(api, two, accountId=account)
    assert get_status_and_code(answer) == (400, "account_differs")
    assert list_stored_rows(acme) == []


def test_consecutive_statements_without_numbers_share_one_account(upload_statement_file, books):
    first = build_statement(
        build_entry("-10.00", "2026-01-10"), iban=None, opening="100", closing="90", end="2026-01-10"
    )
    second = build_statement(build_entry("-5.00"), iban=None, opening="90", closing="85", start="2026-01-11")
    assert upload_statement_file(build_camt(first, second), accountId=books.create_account())["count"] == 2
