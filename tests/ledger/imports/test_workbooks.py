"""Workbooks: their numbers and dates as they are, their currencies, their sheets, and what is refused."""

import io
import json
import zipfile
from datetime import date, datetime

import pytest
from openpyxl import Workbook
from openpyxl.utils.datetime import CALENDAR_MAC_1904

from ledger.models import Transaction
from tests.ledger.archives import build_xlsx, build_zip
from tests.ledger.statement_upload import get_status_and_code, upload_statement
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db
SHEET = "xl/worksheets/sheet1.xml"
HEADINGS = ["Date", "Text", "Amount"]
ROW = ["2026-01-31", "a", -1]


def stored(company):
    rows = Transaction.objects.for_company(company.id).without_initial_balances().order_by("date", "amount_value")
    return [(str(row.date), str(row.amount_value.normalize()), row.amount_currency) for row in rows]


def with_part(content, name, change):
    """A workbook in which one part is changed."""
    parts = zipfile.ZipFile(io.BytesIO(content))
    return build_zip(
        **{each: change(parts.read(each)) if each == name else parts.read(each) for each in parts.namelist()}
    )


def test_number_cell_is_read_regardless_of_decimal_mark_in_texts(api, acme, upload_statement_file, bank):
    rows = [HEADINGS, [ROW[0], "b", "-1.234,50"], [ROW[0], "c", 2000], [ROW[0], "d", "-7,25"], [ROW[0], "e", -1.25]]
    upload_statement_file(build_xlsx(*rows), accountId=bank)
    assert [row[1] for row in stored(acme)] == ["-1234.5", "-7.25", "-1.25", "2E+3"]
    answer = upload_statement(api, build_xlsx(*rows, [ROW[0], "f", -1.234]), accountId=bank)
    assert get_status_and_code(answer) == (400, "statement_unreadable")
    assert "-1.234" in answer.json()["detail"]


def test_workbook_with_number_cells_needs_no_decimal_mark(acme, upload_statement_file, bank):
    assert (
        upload_statement_file(build_xlsx(HEADINGS, [ROW[0], "a", 1.5], [ROW[0], "b", -1234.25]), accountId=bank)[
            "count"
        ]
        == 2
    )
    assert [row[1] for row in stored(acme)] == ["-1234.25", "1.5"]


def test_date_cell_is_read_regardless_of_date_order_in_texts(acme, upload_statement_file, bank):
    rows = [HEADINGS, [date(2026, 3, 2), "a", -1], ["04/25/2026", "b", -2], [datetime(2026, 5, 6, 14, 30), "c", -3]]
    upload_statement_file(build_xlsx(*rows), accountId=bank)
    assert [row[0] for row in stored(acme)] == ["2026-03-02", "2026-04-25", "2026-05-06"]


def test_workbook_dates_since_1904_are_converted(acme, upload_statement_file, bank):
    book = Workbook()
    book.epoch = CALENDAR_MAC_1904
    upload_statement_file(build_xlsx(HEADINGS, [date(2026, 3, 2), "a", -1], book=book), accountId=bank)
    assert [row[0] for row in stored(acme)] == ["2026-03-02"]


def test_number_format_currency_is_used_for_amount(acme, upload_statement_file, bank):
    for code_, currency in [
        ("[$£-809]#,##0.00", "GBP"),
        ('#,##0.00\\ "€"', "EUR"),
        ('"€"#,##0.00;[Red]-"€"#,##0.00', "EUR"),
        ("_-* #,##0.00\\ [$zł-415]_-", "PLN"),
        ("[$USD] #,##0.00", "USD"),
        ("#,##0.00", "EUR"),
        ('0.00" pcs"', "EUR"),
    ]:
        with undo_changes():
            upload_statement_file(
                build_xlsx(HEADINGS, ROW, ["2026-02-01", "b", 2.5], formats={"C2": code_, "C3": code_}),
                accountId=bank,
            )
            assert stored(acme) == [("2026-01-31", "-1", currency), ("2026-02-01", "2.5", currency)], code_


def test_ambiguous_currency_sign_in_number_format_is_asked(api, acme, bank):
    content = build_xlsx(HEADINGS, ROW, ["2026-02-01", "b", 2.5], formats={"C2": "$#,##0.00", "C3": "$#,##0.00"})
    answer = upload_statement(api, content, accountId=bank)
    assert get_status_and_code(answer) == (400, "mapping_ambiguous")
    (choice,) = answer.json()["choices"]
    assert (choice["field"], choice["options"][0]["value"]) == ("currency", "USD")
    settings = json.dumps({"csv": {"currency": "USD"}})
    assert upload_statement(api, content, accountId=bank, importSettings=settings).status_code == 200
    assert stored(acme) == [("2026-01-31", "-1", "USD"), ("2026-02-01", "2.5", "USD")]


def test_locale_dependent_number_format_sets_no_currency(acme, upload_statement_file, bank):
    content = build_xlsx(HEADINGS, ROW, formats={"C2": '"$"#,##0.00_);("$"#,##0.00)'})
    assert b'"$"' not in zipfile.ZipFile(io.BytesIO(content)).read("xl/styles.xml")
    upload_statement_file(content, accountId=bank)
    assert stored(acme) == [("2026-01-31", "-1", "EUR")]


def test_long_numbers_are_rejected_and_float_errors_are_rounded(api, acme, upload_statement_file, bank):
    assert get_status_and_code(upload_statement(api, build_xlsx(HEADINGS, ROW, [*ROW[:2], 1e17]), accountId=bank)) == (
        400,
        "statement_unreadable",
    )
    upload_statement_file(build_xlsx(HEADINGS, [*ROW[:2], -0.1 - 0.2]), accountId=bank)
    assert stored(acme)[0][1] == "-0.3"


DOCTYPE = b'<!DOCTYPE a [<!ENTITY x "-1.00"><!ENTITY y "&x;&x;">]>'


def test_document_type_in_any_workbook_part_is_rejected(api, acme, bank):
    for part in [SHEET, "xl/workbook.xml", "xl/styles.xml", "docProps/core.xml"]:
        for encoding in ["utf-8", "utf-16"]:

            def change(content, encoding=encoding):
                text = content.decode()
                text = text[text.index("?>") + 2 :] if text.startswith("<?xml") else text
                return ("<!-- " + " " * 100_000 + "-->" + DOCTYPE.decode() + text).encode(encoding)

            content = with_part(build_xlsx(HEADINGS, ROW), part, change)
            assert get_status_and_code(upload_statement(api, content, accountId=bank)) == (400, "unsafe_xml"), (
                part,
                encoding,
            )
            assert stored(acme) == [], (part, encoding)


def test_formula_without_cached_result_is_rejected_with_advice(api, bank):
    answer = upload_statement(api, build_xlsx(HEADINGS, ROW, ["2026-01-30", "b", "=1+1"]), accountId=bank)
    assert get_status_and_code(answer) == (400, "statement_unreadable")
    assert answer.json()["detail"].startswith("Cell C3 has a formula without its result. Open the workbook")


def test_formula_with_cached_result_uses_the_result(acme, upload_statement_file, bank):
    content = build_xlsx(HEADINGS, ROW, ["2026-02-01", "b", "=1+1"])
    content = with_part(
        content,
        "xl/worksheets/sheet1.xml",
        lambda part: part.replace(b"<v></v>", b"<v>2</v>").replace(b"<v />", b"<v>2</v>"),
    )
    upload_statement_file(content, accountId=bank)
    assert [row[1] for row in stored(acme)] == ["-1", "2"]


def with_sheets(**sheets):
    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name.removeprefix("hidden"))
        sheet.sheet_state = "hidden" if name.startswith("hidden") else "visible"
        for row in rows:
            sheet.append(row)
    return book


def test_sheet_with_transactions_is_read(acme, upload_statement_file, bank):
    cover = [["Bank", "Northbank"], ["From", "2026-01-01"], ["Balance", "100.00"]]
    book = with_sheets(hidden=[HEADINGS, ["2026-01-01", "old", -99]], Cover=cover, Movements=[HEADINGS, ROW], Empty=[])
    upload_statement_file(build_xlsx(book=book), accountId=bank)
    assert stored(acme) == [("2026-01-31", "-1", "EUR")]


def test_several_sheets_with_transactions_are_rejected_and_named(api, acme, bank):
    content = build_xlsx(book=with_sheets(January=[HEADINGS, ROW], February=[HEADINGS, ["2026-02-01", "b", -2]]))
    answer = upload_statement(api, content, accountId=bank)
    assert get_status_and_code(answer) == (400, "several_sheets")
    assert "“January”, “February”" in answer.json()["detail"]
    assert stored(acme) == []


def test_merged_cells_above_the_headings_are_ignored(acme, upload_statement_file, bank):
    book = Workbook()
    for row in (["Statement", None, None, None], ["", "", "Money", None], ["Date", "Text", "Debit", "Credit"]):
        book.active.append(row)
    book.active.merge_cells("A1:D1")
    book.active.merge_cells("C2:D2")
    upload_statement_file(
        build_xlsx(["2026-01-31", "a", 1, None], ["2026-02-01", "b", None, 2], book=book), accountId=bank
    )
    assert [row[1] for row in stored(acme)] == ["-1", "2"]


def test_rows_far_below_the_headings_are_read(acme, upload_statement_file, bank):
    book = Workbook()
    book.active.append(HEADINGS)
    for position, value in enumerate(ROW, 1):
        book.active.cell(row=900_000, column=position, value=value)
    assert upload_statement_file(build_xlsx(book=book), accountId=bank)["count"] == 1


def test_numeric_reference_and_text_are_kept_as_written(acme, upload_statement_file, bank):
    upload_statement_file(
        build_xlsx(["Date", "Text", "Amount", "Reference"], ["2026-01-31", 4711, -1, 1234567]), accountId=bank
    )
    row = Transaction.objects.for_company(acme.id).without_initial_balances().get()
    assert (row.description, row.bank_reference) == ("4711", "1234567")
