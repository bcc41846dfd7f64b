"""Files made to hold a worker or to slip something in: a clear code, and nothing is stored."""

import io
import json
import re
import time
import zipfile

import pytest

from ledger.models import ImportBatch, Transaction
from tests.ledger.archives import build_xlsx, build_zip
from tests.ledger.bank_file_builders import build_simple_camt
from tests.ledger.exports.test_exports import read_stream
from tests.ledger.statement_upload import get_status_and_code, upload_statement

pytestmark = pytest.mark.django_db

MIB = 1024 * 1024
HEAD = b"Date,Text,Amount\n"
GOOD = b"2026-01-31,a,-1.00\n"
UNKNOWN, UNREADABLE = (415, "statement_format_unknown"), (400, "statement_unreadable")
TOO_LARGE = (413, "table_too_large")
SHEET = b"<worksheet xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main'><sheetData>"
WORKBOOK = (
    b"<workbook xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main' "
    b"xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships'>"
    b"<sheets><sheet name='a' sheetId='1' r:id='r1'/></sheets></workbook>"
)
RELATIONSHIPS = (
    b"<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'><Relationship Id='r1' "
    b"Type='http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet' Target='worksheets/s.xml'/>"
    b"</Relationships>"
)
TYPES = (
    b"<Types xmlns='http://schemas.openxmlformats.org/package/2006/content-types'>"
    b"<Override PartName='/xl/workbook.xml' "
    b"ContentType='application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml'/></Types>"
)


def build_workbook(sheet):
    """A workbook by hand, of one sheet as it is given."""
    parts = {"[Content_Types].xml": TYPES, "xl/workbook.xml": WORKBOOK, "xl/_rels/workbook.xml.rels": RELATIONSHIPS}
    return build_zip(**parts, **{"xl/worksheets/s.xml": sheet})


def build_far_cells():
    """Rows whose only cell is the last that a sheet can have."""
    rows = b"".join(b"<row r='%d'><c r='XFD%d'><v>1</v></c></row>" % (n, n) for n in range(1, 60_001))
    return SHEET + rows + b"</sheetData></worksheet>"


def far_cell(name):
    """A good table with one more cell, far from it."""
    rows = [b"Date,Text,Amount", b"2026-01-31,a,-1.00"]
    cells = (b"".join(b"<c t='inlineStr'><is><t>%s</t></is></c>" % cell for cell in row.split(b",")) for row in rows)
    good = b"".join(b"<row>%s</row>" % row for row in cells)
    number = re.sub(rb"[A-Z]", b"", name)
    return SHEET + good + b"<row r='%s'><c r='%s'><v>1</v></c></row></sheetData></worksheet>" % (number, name)


def many_files(count):
    """An archive of empty files, with a directory far longer than they are."""
    return build_zip(**{f"{n:0200}.xml": b"" for n in range(count)})


def locked():
    """An archive whose file says that it has a password."""
    content = bytearray(build_zip(**{"a.xml": build_simple_camt("-1.00")}))
    content[6] |= 1
    content[content.index(b"PK\1\2") + 8] |= 1
    return bytes(content)


def understated():
    """An archive whose file unpacks to more than its directory says."""
    content = bytearray(build_zip(**{"a.xml": build_simple_camt("-1.00") + b" " * MIB}))
    position = content.index(b"PK\1\2") + 24
    content[position : position + 4] = (100).to_bytes(4, "little")
    return bytes(content)


def compressed_otherwise(method):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as packed:
        packed.writestr("a.xml", build_simple_camt("-1.00"))
    return out.getvalue()


REJECTED_FILES = {  # those that take long to build are built in the test
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 50, UNKNOWN),
    "a letter": (b"Dear all\nplease find enclosed nothing\n", UNKNOWN),
    "a page": (b"<!DOCTYPE html><html><body>a,b</body></html>", (400, "unsafe_xml")),
    "a page without type": (b"<html><body>a,b</body></html>", UNKNOWN),
    "JSON": (b'{"a": [1, 2, 3]}', UNKNOWN),
    "nothing": (b"  \n", UNKNOWN),
    "10,000 columns": ((b"Date,Text,Amount" + b",x" * 9_997 + b"\n") * 3, TOO_LARGE),
    "a column of 10,000 in one row": (HEAD + GOOD + b"," * 10_000 + b"\n", TOO_LARGE),
    "a quoted cell of 1 MiB": (HEAD + GOOD + b'2026-01-31,"' + b"x" * MIB + b'",-1.00\n', TOO_LARGE),
    "a quotation mark that is never closed": (HEAD + GOOD + b'2026-01-31,"' + b"x\n" * MIB, UNKNOWN),
    "a column of cells of 1 MiB": (lambda: HEAD + (b"2026-01-31," + b"x" * MIB + b",-1.00\n") * 8, TOO_LARGE),
    "two encodings with zeros": (HEAD + GOOD + "2026-01-31,ä,-1.00\n".encode("utf-16-le") + GOOD, UNKNOWN),
    "a formula for an amount": (HEAD + GOOD + b"2026-01-31,a,=1+1\n", UNREADABLE),
    "a formula for a day": (HEAD + GOOD + b"=2026-01-31,a,-1.00\n", UNREADABLE),
    "an archive in an archive": (build_zip(**{"a.zip": build_zip(**{"a.xml": build_simple_camt("-1.00")})}), UNKNOWN),
    "an archive of zeros": (lambda: build_zip(**{"a.xml": bytes(20 * MIB)}), UNKNOWN),
    "an archive of many files": (lambda: build_zip(**{f"{n}.xml": b"<Document/>" for n in range(1001)}), UNKNOWN),
    "an archive that ends early": (lambda: build_zip(**{"a.xml": build_simple_camt("-1.00")})[:-30], UNKNOWN),
    "a workbook of blanks": (lambda: build_workbook(SHEET + b" " * 60 * MIB + b"</sheetData></worksheet>"), TOO_LARGE),
    "a cell of 200,000 characters": (HEAD + GOOD + b"2026-01-31," + b"x" * 200_000 + b",-1.00\n", TOO_LARGE),
    "a file of empty lines": (HEAD + GOOD + b"\n" * 300_000 + GOOD, TOO_LARGE),
    "an archive of 10,000 files": (lambda: build_zip(**{f"{n}.xml": b"<Document/>" for n in range(10_000)}), UNKNOWN),
    "an archive of a long directory": (lambda: many_files(20_000), UNKNOWN),
    "an archive with a password": (locked, UNKNOWN),
    "an archive of LZMA": (lambda: compressed_otherwise(zipfile.ZIP_LZMA), UNKNOWN),
    "an archive of more than it says": (understated, UNKNOWN),
    "a workbook of far cells": (lambda: build_workbook(build_far_cells()), TOO_LARGE),
    "a workbook with one far cell": (lambda: build_workbook(far_cell(b"XFD3")), TOO_LARGE),
    "a workbook with a cell in column 251": (lambda: build_workbook(far_cell(b"IQ3")), TOO_LARGE),
    "a workbook of a row beyond the last": (lambda: build_workbook(far_cell(b"A1048577")), UNKNOWN),
    "a workbook of broken XML": (lambda: build_workbook(SHEET + b"<row><c>"), UNKNOWN),
    "a workbook of formulas": (
        lambda: build_xlsx(["Date", "Text", "Amount"], ["2026-01-31", "a", -1], ["2026-01-30", "a", "=1+1"]),
        UNREADABLE,
    ),
}  # fmt: skip


def test_bad_file_is_rejected_quickly_with_code_and_nothing_is_stored(api, acme, bank):
    for name in REJECTED_FILES:
        content, expected = REJECTED_FILES[name]
        content = content() if callable(content) else content
        begun = time.process_time()
        answer = upload_statement(api, content, accountId=bank)
        assert get_status_and_code(answer) == expected, name
        assert time.process_time() - begun < 5, name
        assert (
            Transaction.objects.for_company(acme.id).without_initial_balances().count()
            == ImportBatch.objects.for_company(acme.id).count()
            == 0
        ), name


LIMITS = {
    "Line 3 has 10,001 columns. The limit is 250.": HEAD + GOOD + b"," * 10_000 + b"\n",
    "Line 3 has a cell of more than 131,072 characters, or a quotation mark that is never closed.": HEAD
    + GOOD
    + b"2026-01-31,"
    + b"x" * 200_000
    + b",-1.00\n",
    "Line 3 has more than 1,048,576 characters.": HEAD + GOOD + b"2026-01-31," + b"x" * MIB + b",-1.00\n",
    "The file has more than 200,000 empty lines. Remove them.": HEAD + GOOD + b"\n" * 300_000 + GOOD,
    "Line 3 has 16,384 columns. The limit is 250.": lambda: build_workbook(far_cell(b"XFD3")),
    "Line 3 has 251 columns. The limit is 250.": lambda: build_workbook(far_cell(b"IQ3")),
    "The archive has 1,001 files; at most 1,000 are read.": lambda: build_zip(
        **{f"{n}.xml": b"<a/>" for n in range(1001)}
    ),
    "The archive has more than 1,000 files. Send fewer at once.": lambda: many_files(20_000),
}


def test_file_over_limit_error_names_limit_and_position(api, bank):
    for detail, content in LIMITS.items():
        sent = content() if callable(content) else content
        assert upload_statement(api, sent, accountId=bank).json()["detail"] == detail


def test_a_cell_in_column_250_is_read(upload_statement_file, bank):
    settings = json.dumps({"csv": {"columns": {"date": 0, "description": [1], "amount": 2}}})
    assert (
        upload_statement_file(build_workbook(far_cell(b"IP2")), accountId=bank, importSettings=settings)["count"] == 1
    )


def test_file_with_mixed_line_encodings_keeps_its_amounts(upload_statement_file, acme, bank):
    lines = [f"2026-01-{1 + n:02},Müller {n},-{n}.50\n".encode("utf-8" if n % 2 else "cp1252") for n in range(20)]
    assert upload_statement_file(HEAD + b"".join(lines), accountId=bank)["count"] == 20
    rows = Transaction.objects.for_company(acme.id).without_initial_balances().order_by("date")
    assert [f"{row.amount_value:.2f}" for row in rows] == [f"-{n}.50" for n in range(20)]
    assert all(row.description.startswith("M") and row.description.endswith(f" {n}") for n, row in enumerate(rows))


def test_formulas_are_stored_as_text_and_escaped_in_exports(api, upload_statement_file, acme, bank):
    formulas = ["=HYPERLINK(1)", "+1+1", "-1+1", "@SUM(A1)", "=cmd|' /C calc'!A0"]
    lines = "".join(f"2026-01-{1 + n:02},{text},-1.00\n" for n, text in enumerate(formulas))
    settings = json.dumps({"csv": {"columns": {"description": "Text"}}})
    upload_statement_file(HEAD + lines.encode(), accountId=bank, importSettings=settings)
    rows = Transaction.objects.for_company(acme.id).without_initial_balances().order_by("date")
    assert [row.description for row in rows] == formulas
    text = read_stream(api.get("exports/transactions.csv")).decode()
    for formula in formulas:
        assert f"'{formula}" in text
        assert f",{formula}" not in text
