"""Exports over HTTP: tables with the filters of the list, and what is refused."""

import csv
import io
import re
from datetime import datetime
from decimal import Decimal

import openpyxl
import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.utils.escape import unescape

from companies.pages.downloads import as_it_was, harmless
from ledger.calc.money import CURRENCIES, minor_units
from ledger.exporting import workbooks
from ledger.exporting.decimals import decimals_of
from ledger.transactions.pages.words import NOT_SHOWN

pytestmark = pytest.mark.django_db

TABLES = ["transactions.csv", "transactions.xlsx"]
JOURNALS = ["journal.beancount", "journal.hledger"]
FORMULAS = ["=1+1", "+49 30", "-1", "@SUM(A1)", "\t=1", "\rx", "\nx", " =1+1", "＝1"]


def test_the_database_knows_the_decimals_of_every_currency():
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT c, {decimals_of('c')} FROM unnest(%s::text[]) AS c", [list(CURRENCIES)])
        assert dict(cursor.fetchall()) == {each: minor_units(each) for each in CURRENCIES}


def bytes_of(answer):
    assert answer.status_code == 200, answer.content
    assert answer.streaming
    return b"".join(answer.streaming_content)


def of_csv(api, **asked):
    text = bytes_of(api.get("exports/transactions.csv", asked)).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def of_xlsx(api, **asked):
    """The same of the workbook: every cell as text, as the CSV file has it."""
    book = openpyxl.load_workbook(io.BytesIO(bytes_of(api.get("exports/transactions.xlsx", asked))))
    (sheet,) = book.worksheets
    assert not [cell for row in sheet.iter_rows() for cell in row if cell.data_type == "f"]
    head, *rows = sheet.iter_rows(values_only=True)
    return [{name: told(value) for name, value in zip(head, row, strict=True)} for row in rows]


def told(value):
    if isinstance(value, datetime):
        return value.date().isoformat()
    return "" if value is None else unescape(str(value))


READERS = pytest.mark.parametrize("read", [of_csv, of_xlsx])


@pytest.fixture
def three(books, bank):
    """A hosting bill in two parts, a payment in yen, and a coffee without a category."""
    hosting = books.book(bank, "-119.00", date="2026-01-10", fromTo="Nimbus", description="Hosting")["id"]
    tax = {"passThroughTax": -19}
    cogs = {"categoryId": books.category("hosting"), "plSplit": {"cogs": -60}}
    assert books.split(hosting, cogs, {"categoryId": books.category("hosting"), "plSplit": {"cogs": -40}} | tax)
    paid = books.book(bank, "12000", date="2026-02-03", amountCurrency="JPY", fromTo="Initech")["id"]
    coffee = books.book(bank, "-3.50", date="2026-02-03", fromTo="Café", notes='black, "strong"\nno sugar')["id"]
    return {"hosting": hosting, "paid": paid, "coffee": coffee}


@READERS
def test_a_table_has_the_rows_and_the_amounts_of_the_list(api, three, read):
    listed = {row["id"]: row for row in api.get("transactions").json()}
    rows = read(api)
    assert [row["Id"] for row in rows] == list(listed)
    for row in rows:
        known = listed[row["Id"]]
        assert Decimal(row["Amount"]) == Decimal(known["amountValue"])
        assert (row["Date"], row["Currency"]) == (known["date"], known["amountCurrency"])
        assert (row["From/to"], row["Notes"]) == (known["fromTo"], known["notes"] or "")


@READERS
def test_a_table_says_what_transactions_were_for(api, three, read):
    rows = {row["Id"]: row for row in read(api)}
    assert rows[three["hosting"]]["Categories"].endswith("Hosting")
    assert rows[three["hosting"]]["P&L lines"] == "Cost of revenue"
    assert [rows[three[name]]["Status"] for name in ("hosting", "coffee")] == ["closed", "open"]


@READERS
def test_a_table_takes_the_filters_and_the_order_of_the_list(api, three, read):
    assert [row["Id"] for row in read(api, q="nimbus")] == [three["hosting"]]
    assert [row["Id"] for row in read(api, startDate="2026-01-01", endDate="2026-01-31")] == [three["hosting"]]
    amounts = [Decimal(row["Amount"]) for row in read(api, sort="amount", currency="EUR")]
    assert amounts == [Decimal("-119.00"), Decimal("-3.50")]
    assert read(api, accountId="0199a0c1-7a52-7c1e-9d0b-5a1f0c3f4b11") == []


@READERS
@pytest.mark.parametrize("text", FORMULAS)
def test_no_spreadsheet_calculates_what_somebody_wrote(api, books, read, text):
    name = text.strip() or "x"
    bank = books.account(name=name)
    books.book(bank, "-1.00", fromTo=text, description=text, notes=text, externalId=text)
    (row,) = read(api)
    for column in ("From/to", "Description", "Notes", "External id"):
        assert row[column].startswith("'")
        assert row[column].replace("\r", "\n") == harmless(text).replace("\r", "\n")  # one ending of lines in XML
    assert row["Account"] == harmless(name)


@pytest.mark.parametrize("text", ["Shop;=cmd|' /C calc'!A0", 'a;"=1"', "a\t-1", "a\n=1", "a;  +1;@B", "a;'=1"])
def test_no_spreadsheet_calculates_where_other_signs_than_ours_part_cells(api, books, text):
    """Excel in German parts at semicolons, and knows quotation marks at the start of a cell alone."""
    bank = books.account()
    books.book(bank, "-1.00", fromTo=text, description=text, notes=text)
    raw = bytes_of(api.get("exports/transactions.csv")).decode()
    cells = [cell for cell in re.split(r"[;\t\r\n]", raw) if cell.strip(' "')]
    assert not [cell for cell in cells if cell.lstrip(' "')[0] in "=+-@"]
    (row,) = of_csv(api)
    assert as_it_was(row["From/to"]) == text


@given(st.text(alphabet="a;\t\r\n \"'=+-@＝", max_size=12))
def test_what_was_made_harmless_is_read_as_it_was(text):
    made = harmless(text)
    assert as_it_was(made) == text
    assert not re.search(r"(?:\A|[;\t\r\n])[ \"]*[=+@＝-]", made)


@pytest.mark.parametrize("strange", ["\x01 \x1f \ufffe \uffff _x0041_ <&> 🙂 \u2028", "<r>&</r>"])
def test_a_workbook_holds_every_text_that_can_be_stored(api, books, bank, strange):
    books.book(bank, "-1.00", fromTo=strange)
    (row,) = of_xlsx(api)
    assert row["From/to"] == strange


@READERS
def test_an_amount_that_no_spreadsheet_can_keep_keeps_its_cents(api, books, bank, read):
    books.book(bank, "99999999999999.99")
    (row,) = read(api)
    assert row["Amount"] == "99999999999999.99"


def test_a_sheet_ends_where_spreadsheets_do(api, three, monkeypatch):
    monkeypatch.setattr(workbooks, "MOST_ROWS", 2)
    answer = api.get("exports/transactions.xlsx")
    assert (answer.status_code, answer.json()["code"]) == (400, "too_many_rows")
    assert len(of_xlsx(api, currency="EUR")) == 2


@READERS
def test_names_are_those_that_the_caller_may_see(acme, make_api, three, read):
    caller = make_api(acme, "transactions:read")
    assert {row["Account"] for row in read(caller)} == {NOT_SHOWN}
    assert {row["Categories"] for row in read(caller)} == {"", NOT_SHOWN}


@pytest.mark.parametrize("name", TABLES + JOURNALS)
def test_another_companys_transactions_are_in_no_export(api, globex_api, books, three, name):
    plain = globex_api.get(f"exports/{name}")
    said = bytes_of(plain)
    if name.endswith("xlsx"):
        assert of_xlsx(globex_api) == []
    else:
        assert not [each for each in (*three.values(), "Nimbus", "Initech") if each.encode() in said]
    assert api.get(f"/companies/{globex_api.company.id}/exports/{name}").status_code == 404


@pytest.mark.parametrize("name", TABLES + JOURNALS)
def test_an_export_is_a_file(api, three, name):
    answer = api.get(f"exports/{name}")
    assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert int(answer["Content-Length"]) == len(bytes_of(answer))


@pytest.mark.parametrize("name", TABLES + JOURNALS)
@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"startDate": "2026-13-01"}, {"invalid_date", "invalid_filter"}),
        ({"endDate": "yesterday"}, {"invalid_value", "invalid_filter"}),
        ({"endDate": ""}, {"invalid_value", "invalid_filter"}),
        ({"startDate": "2026-02-01", "endDate": "2026-01-31"}, {"end_before_start"}),
        ({"colour": "red"}, {"unknown_parameter"}),
        ({"limit": "1"}, {"unknown_parameter"}),
        ({"startDate": ["2026-01-01", "2026-01-02"]}, {"invalid_filter"}),
    ],
)
def test_what_is_asked_wrongly_is_refused_with_a_code(api, name, asked, code):
    answer = api.get(f"exports/{name}", asked)
    assert (answer.status_code, answer.json()["code"]) == (400, "validation_failed")
    assert {each["code"] for each in answer.json()["errors"]} <= code


@pytest.mark.parametrize("name", ["transactions.pdf", "..%2f", "journal", "transactions.csv/x"])
def test_an_export_that_there_is_not_is_not_found(api, name):
    answer = api.get(f"exports/{name}")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@READERS
def test_as_many_statements_for_a_thousand_rows_as_for_one(api, books, bank, read, django_assert_num_queries):
    rows = [{"accountId": bank, "date": "2026-01-01", "amountValue": f"{n}.00"} for n in range(1, 1001)]
    assert api.post("transactions/import", {"transactions": rows}).status_code == 200
    assert len(read(api)) == 1000
    with django_assert_num_queries(8, exact=False):
        read(api, maxAmount="1")
