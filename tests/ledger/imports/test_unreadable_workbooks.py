"""Workbooks that are refused before they are parsed, those of other formats, and escaped characters."""

import io
import tracemalloc
import zipfile

import pytest

from ledger.calc.delimited_text import MalformedTable
from ledger.imports.calc import workbook_parts
from ledger.imports.calc.workbook_parts import TooManyCells, UnsafeWorkbook
from ledger.imports.calc.workbook_reader import read_workbook_lines
from tests.ledger.archives import build_xlsx, build_zip
from tests.ledger.imports.test_import_pages import upload_csv
from tests.ledger.imports.test_workbooks import HEADINGS, ROW, SHEET, with_part
from tests.ledger.statement_upload import get_status_and_code, upload_statement

CONTENT_TYPES, WORKBOOK_PART, STYLES = "[Content_Types].xml", "xl/workbook.xml", "xl/styles.xml"
MEBIBYTE = 1024 * 1024
GOOD = build_xlsx(HEADINGS, ROW)


def read_lines(content):
    return [line.cells for line in read_workbook_lines(content, max_lines=1000)]


def insert_in_sheet(markup):
    """Return a workbook with more markup before its rows."""
    return with_part(GOOD, SHEET, lambda part: part.replace(b"<sheetData>", b"<sheetData>" + markup))


def compress_otherwise(content, method):
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as parts, zipfile.ZipFile(out, "w", method) as archive:
        for name in parts.namelist():
            archive.writestr(name, parts.read(name))
    return out.getvalue()


def encrypt(content):
    """Return an archive whose files say that they have a password."""
    locked = bytearray(content)
    locked[6] |= 1
    locked[content.index(b"PK\1\2") + 8] |= 1
    return bytes(locked)


ATTRIBUTES = b"<row " + b" ".join(b'a%d="1>"' % number for number in range(100_000)) + b"/>"


@pytest.mark.parametrize(
    "markup",
    [
        pytest.param(ATTRIBUTES, id="a row of 100,000 attributes"),
        pytest.param(b'<row r="' + b"1" * MEBIBYTE + b'"/>', id="a long attribute"),
        pytest.param(b"<" + b"a" * MEBIBYTE + b"/>", id="a long name"),
        pytest.param(b"<!--" + b"-a" * MEBIBYTE + b"-->", id="a long comment"),
        pytest.param(b"<row>" + b"<c/>" * 16_385 + b"</row>", id="more cells in a row than a sheet has columns"),
    ],
)
def test_markup_no_spreadsheet_writes_is_refused_without_keeping_it(markup, monkeypatch):
    monkeypatch.setattr("ledger.calc.zip_files.MAX_RATIO", 10_000)
    content = insert_in_sheet(markup)
    tracemalloc.start()
    with pytest.raises(MalformedTable, match="damaged or protected"):
        read_workbook_lines(content, max_lines=1000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * MEBIBYTE


@pytest.mark.parametrize("part", [SHEET, WORKBOOK_PART, STYLES])
def test_too_many_elements_are_refused_before_they_are_parsed(part, monkeypatch):
    monkeypatch.setattr(workbook_parts, "MAX_ELEMENTS", 1000)
    monkeypatch.setattr(workbook_parts, "MAX_DESCRIPTION_ELEMENTS", 1000)
    monkeypatch.setattr("ledger.imports.calc.workbook_reader.choose_sheet", None)
    content = with_part(
        GOOD, part, lambda text: text[: text.rindex(b"</")] + b"<c/>" * 1000 + text[text.rindex(b"</") :]
    )
    with pytest.raises(TooManyCells):
        read_workbook_lines(content, max_lines=1000)


def test_elements_of_all_parts_are_counted_together(monkeypatch):
    monkeypatch.setattr(workbook_parts, "MAX_ELEMENTS", 1000)
    sheet = b"<a>" + b"<c/>" * 600 + b"</a>"
    with pytest.raises(TooManyCells):
        read_workbook_lines(build_zip(**{WORKBOOK_PART: b"<a/>", SHEET: sheet, "xl/s.xml": sheet}), max_lines=1)


@pytest.mark.django_db
def test_workbook_of_many_cells_is_rejected_as_too_many_rows(api, bank, monkeypatch):
    monkeypatch.setattr(workbook_parts, "MAX_ELEMENTS", 10)
    answer = upload_statement(api, GOOD, accountId=bank)
    assert get_status_and_code(answer) == (413, "too_many_rows")
    assert answer.json()["detail"] == "The workbook has too many cells. Split it."


SHEET_ENTRY = (
    b'<sheet xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    b'name="s%d" sheetId="%d" r:id="rId1"/>'
)


def test_sheet_listed_many_times_is_read_once():
    sheets = b"".join(SHEET_ENTRY % (n, n + 5) for n in range(1000))
    content = with_part(GOOD, WORKBOOK_PART, lambda part: part.replace(b"</sheets>", sheets + b"</sheets>"))
    assert read_lines(content) == read_lines(GOOD)


CELL = b'<c r="B2" t="inlineStr"><is><t>a</t></is></c>'
STRINGS_TYPE = (
    b'<Override PartName="/xl/sharedStrings.xml" '
    b'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/>'
)


def share_text(text, *, position=b"0"):
    """Return a workbook whose second row has a text of the table of shared strings."""
    content = with_part(GOOD, SHEET, lambda part: part.replace(CELL, b'<c r="B2" t="s"><v>' + position + b"</v></c>"))
    content = with_part(content, CONTENT_TYPES, lambda part: part.replace(b"</Types>", STRINGS_TYPE + b"</Types>"))
    parts = zipfile.ZipFile(io.BytesIO(content))
    namespace = b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    strings = b"<sst " + namespace + b"><si>" + text + b"</si></sst>"
    return build_zip(**{name: parts.read(name) for name in parts.namelist()}, **{"xl/sharedStrings.xml": strings})


@pytest.mark.parametrize(
    ("escaped", "text"),
    [
        pytest.param(b"one_x000D_\ntwo", "one two", id="a line break"),
        pytest.param(b"_x005F_x000D_", "_x000D_", id="an escaped underscore"),
        pytest.param(b"caf_x00E9_", "café", id="a letter"),
        pytest.param(b"a_xD83D_b", "a_xD83D_b", id="half a character"),
        pytest.param(b"a_x0000_b", "a b", id="a control character"),
    ],
)
def test_escaped_characters_are_decoded(escaped, text):
    for content in (
        share_text(b"<t>" + escaped + b"</t>"),
        share_text(b"<r><t>" + escaped + b"</t></r>"),
        with_part(GOOD, SHEET, lambda part: part.replace(b"<t>a</t>", b"<t>" + escaped + b"</t>")),
    ):
        assert read_lines(content)[1][1] == text


@pytest.mark.parametrize("position", [b"-1", b"99999"])
def test_shared_string_out_of_range_is_refused(position):
    with pytest.raises(MalformedTable, match="damaged"):
        read_lines(share_text(b"<t>a</t>", position=position))


def test_strict_open_xml_is_read():
    def make_strict(part):
        part = part.replace(
            b"http://schemas.openxmlformats.org/spreadsheetml/2006/main",
            b"http://purl.oclc.org/ooxml/spreadsheetml/main",
        )
        return part.replace(
            b"http://schemas.openxmlformats.org/officeDocument/2006/relationships",
            b"http://purl.oclc.org/ooxml/officeDocument/relationships",
        )

    content = GOOD
    for name in zipfile.ZipFile(io.BytesIO(GOOD)).namelist():
        content = with_part(content, name, make_strict)
    assert read_lines(content) == read_lines(GOOD)
    with pytest.raises(UnsafeWorkbook):
        read_lines(with_part(content, SHEET, lambda part: b"<!DOCTYPE a>" + part))


PROTECTED = "The workbook is damaged or protected. Save it as .xlsx without a password."
OLE = "Save the workbook as .xlsx without a password."
UNREADABLE_FILES = {
    "cut in half": (lambda: GOOD[: len(GOOD) // 2], 415, PROTECTED),
    "encrypted": (lambda: encrypt(GOOD), 415, PROTECTED),
    "compressed with bzip2": (lambda: compress_otherwise(GOOD, zipfile.ZIP_BZIP2), 415, PROTECTED),
    ".xlsb": (lambda: build_zip(**{"[Content_Types].xml": b"<a/>", "xl/workbook.bin": b"\0"}), 415, PROTECTED),
    ".docx": (lambda: build_zip(**{"[Content_Types].xml": b"<a/>", "word/document.xml": b"<a/>"}), 415, PROTECTED),
    ".xls": (lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000), 415, OLE),
    "highly compressed": (
        lambda: insert_in_sheet(b" " * 60 * MEBIBYTE),
        413,
        "The archive is too large: 62 MB unpacked.",
    ),
}


@pytest.mark.django_db
@pytest.mark.parametrize("name", UNREADABLE_FILES)
def test_unreadable_workbook_is_refused_with_advice(api, owner, acme, bank, name):
    build_content, status, detail = UNREADABLE_FILES[name]
    content = build_content()
    answer = upload_statement(api, content, accountId=bank)
    assert (answer.status_code, answer.json()["detail"]) == (status, detail)
    page = upload_csv(owner, acme, bank, content, name="bank.xlsx")
    assert detail in page.content.decode()
