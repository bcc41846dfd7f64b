"""Exports over HTTP: tables with the filters of the list, and what is refused."""

import csv
import io
import re
from datetime import datetime
from decimal import Decimal

import openpyxl
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.utils.escape import unescape

from companies.pages.csv_escaping import escape_formulas, restore_escaped_text
from ledger.exports import workbooks
from ledger.exports.sql_decimals import build_decimals_sql
from ledger.money.calc.money import CURRENCIES, get_minor_units
from ledger.transactions.pages.labels import HIDDEN_NAME

pytestmark = pytest.mark.django_db

TABLES = ["transactions.csv", "transactions.xlsx"]
JOURNALS = ["journal.beancount", "journal.hledger"]
FORMULAS = ["=1+1", "+49 30", "-1", "@SUM(A1)", "\t=1", "\rx", "\nx", " =1+1", "＝1"]


def test_database_decimals_match_every_currency():
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT c, {build_decimals_sql('c')} FROM unnest(%s::text[]) AS c", [list(CURRENCIES)])
        assert dict(cursor.fetchall()) == {each: get_minor_units(each) for each in CURRENCIES}


def read_stream(answer):
    assert answer.status_code == 200, answer.content
    assert answer.streaming
    return b"".join(answer.streaming_content)


def read_csv_export(api, **parameters):
    text = read_stream(api.get("exports/transactions.csv", parameters)).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def read_xlsx_export(api, **parameters):
    """The same of the workbook: every cell as text, as the CSV file has it."""
    book = openpyxl.load_workbook(io.BytesIO(read_stream(api.get("exports/transactions.xlsx", parameters))))
    (sheet,) = book.worksheets
    assert not [cell for row in sheet.iter_rows() for cell in row if cell.data_type == "f"]
    head, *rows = sheet.iter_rows(values_only=True)
    return [{name: format_cell(value) for name, value in zip(head, row, strict=True)} for row in rows]


def format_cell(value):
    if isinstance(value, datetime):
        return value.date().isoformat()
    return "" if value is None else unescape(str(value))


READERS = pytest.mark.parametrize("read", [read_csv_export, read_xlsx_export])


@pytest.fixture
def transaction_ids(books, bank):
    """A hosting bill in two parts, a payment in yen, and a coffee without a category."""
    hosting = books.create_transaction(bank, "-119.00", date="2026-01-10", fromTo="Nimbus", description="Hosting")["id"]
    tax = {"passThroughTax": -19}
    cogs = {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -60}}
    assert books.set_categorizations(
        hosting, cogs, {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -40}} | tax
    )
    paid = books.create_transaction(bank, "12000", date="2026-02-03", amountCurrency="JPY", fromTo="Initech")["id"]
    coffee = books.create_transaction(
        bank, "-3.50", date="2026-02-03", fromTo="Café", notes='black, "strong"\nno sugar'
    )["id"]
    return {"hosting": hosting, "paid": paid, "coffee": coffee}


@READERS
def test_table_export_has_rows_and_amounts_of_transaction_list(api, transaction_ids, read):
    listed = {row["id"]: row for row in api.get("transactions").json()}
    rows = read(api)
    assert [row["Id"] for row in rows] == list(listed)
    for row in rows:
        known = listed[row["Id"]]
        assert Decimal(row["Amount"]) == Decimal(known["amountValue"])
        assert (row["Date"], row["Currency"]) == (known["date"], known["amountCurrency"])
        assert (row["From/to"], row["Notes"]) == (known["fromTo"], known["notes"] or "")


@READERS
def test_table_export_shows_categories_lines_and_status(api, transaction_ids, read):
    rows = {row["Id"]: row for row in read(api)}
    assert rows[transaction_ids["hosting"]]["Categories"].endswith("Hosting")
    assert rows[transaction_ids["hosting"]]["P&L lines"] == "Cost of revenue"
    assert [rows[transaction_ids[name]]["Status"] for name in ("hosting", "coffee")] == ["closed", "open"]


@READERS
def test_table_export_applies_list_filters_and_sort(api, transaction_ids, read):
    assert [row["Id"] for row in read(api, q="nimbus")] == [transaction_ids["hosting"]]
    assert [row["Id"] for row in read(api, startDate="2026-01-01", endDate="2026-01-31")] == [
        transaction_ids["hosting"]
    ]
    amounts = [Decimal(row["Amount"]) for row in read(api, sort="amount", currency="EUR")]
    assert amounts == [Decimal("-119.00"), Decimal("-3.50")]
    assert read(api, accountId="0199a0c1-7a52-7c1e-9d0b-5a1f0c3f4b11") == []


@READERS
def test_table_export_escapes_formulas(api, books, read):
    texts = {}
    for number, text in enumerate(FORMULAS):
        bank = books.create_account(name=text.strip() or "x")
        day = f"2026-03-{number + 1:02}"
        books.create_transaction(bank, "-1.00", day, fromTo=text, description=text, notes=text, externalId=text)
        texts[day] = text
    rows = read(api)
    assert {row["Date"] for row in rows} == texts.keys()
    for row in rows:
        text = texts[row["Date"]]
        for column in ("From/to", "Description", "Notes", "External id"):
            assert row[column].startswith("'")
            escaped = escape_formulas(text).replace("\r", "\n")
            assert row[column].replace("\r", "\n") == escaped  # one ending of lines in XML
        assert row["Account"] == escape_formulas(text.strip() or "x")


def test_table_export_escapes_formulas_behind_other_cell_separators(api, books, bank):
    """Excel in German parts at semicolons, and knows quotation marks at the start of a cell alone."""
    texts = ["Shop;=cmd|' /C calc'!A0", 'a;"=1"', "a\t-1", "a\n=1", "a;  +1;@B", "a;'=1"]
    for text in texts:
        books.create_transaction(bank, "-1.00", fromTo=text, description=text, notes=text)
    raw = read_stream(api.get("exports/transactions.csv")).decode()
    cells = [cell for cell in re.split(r"[;\t\r\n]", raw) if cell.strip(' "')]
    assert not [cell for cell in cells if cell.lstrip(' "')[0] in "=+-@"]
    assert {restore_escaped_text(row["From/to"]) for row in read_csv_export(api)} == {*texts}


@given(st.text(alphabet="a;\t\r\n \"'=+-@＝", max_size=12))
def test_escaped_formulas_are_read_back(text):
    made = escape_formulas(text)
    assert restore_escaped_text(made) == text
    assert not re.search(r"(?:\A|[;\t\r\n])[ \"]*[=+@＝-]", made)


@pytest.mark.parametrize("strange", ["\x01 \x1f \ufffe \uffff _x0041_ <&> 🙂 \u2028", "<r>&</r>"])
def test_workbook_export_holds_every_storable_text(api, books, bank, strange):
    books.create_transaction(bank, "-1.00", fromTo=strange)
    (row,) = read_xlsx_export(api)
    assert row["From/to"] == strange


@READERS
def test_amount_beyond_spreadsheet_precision_keeps_its_cents(api, books, bank, read):
    books.create_transaction(bank, "99999999999999.99")
    (row,) = read(api)
    assert row["Amount"] == "99999999999999.99"


def test_workbook_export_over_row_limit_is_rejected(api, transaction_ids, monkeypatch):
    monkeypatch.setattr(workbooks, "MAX_SHEET_ROWS", 2)
    answer = api.get("exports/transactions.xlsx")
    assert (answer.status_code, answer.json()["code"]) == (400, "too_many_rows")
    assert len(read_xlsx_export(api, currency="EUR")) == 2


@READERS
def test_table_export_hides_names_the_caller_may_not_see(acme, make_api, transaction_ids, read):
    caller = make_api(acme, "transactions:read")
    assert {row["Account"] for row in read(caller)} == {HIDDEN_NAME}
    assert {row["Categories"] for row in read(caller)} == {"", HIDDEN_NAME}


def test_export_excludes_transactions_of_other_companies(api, globex_api, books, transaction_ids):
    for name in TABLES + JOURNALS:
        plain = globex_api.get(f"exports/{name}")
        stream = read_stream(plain)
        if name.endswith("xlsx"):
            assert read_xlsx_export(globex_api) == [], name
        else:
            assert not [each for each in (*transaction_ids.values(), "Nimbus", "Initech") if each.encode() in stream], (
                name
            )
        assert api.get(f"/companies/{globex_api.company.id}/exports/{name}").status_code == 404


def test_export_is_sent_as_attachment(api, transaction_ids):
    for name in TABLES + JOURNALS:
        answer = api.get(f"exports/{name}")
        assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
        assert answer["X-Content-Type-Options"] == "nosniff", name
        assert len(read_stream(answer)) > 0, name


@pytest.mark.parametrize("name", ["transactions.csv", *JOURNALS])
def test_export_is_streamed(api, transaction_ids, name):
    """The first piece goes out before any transaction is read, so no length can be announced."""
    answer = api.get(f"exports/{name}")
    assert "Content-Length" not in answer
    pieces = iter(answer.streaming_content)
    with CaptureQueriesContext(connection) as queries:
        first = next(pieces)
    assert first
    assert not queries.captured_queries
    rest = list(pieces)
    assert rest
    assert b"Nimbus" not in first


def test_export_holds_no_database_transaction_while_streaming(api, transaction_ids):
    """However slowly somebody takes the pieces, no transaction of the database is open meanwhile."""
    open_blocks = list(connection.savepoint_ids)
    for name in TABLES + JOURNALS:
        for _piece in api.get(f"exports/{name}").streaming_content:
            assert connection.savepoint_ids == open_blocks, name


@pytest.fixture
def split_bill(books, bank):
    """A bill of 119 in two categorizations, one on two lines, one with tax and a service period; 10 are left over."""
    bill = books.create_transaction(bank, "-129.00", date="2026-01-10", fromTo="Nimbus", notes="=1+1")["id"]
    machines = books.api.post("categories", {"name": "Machines", "plTypes": ["cogs", "ga"]}).json()["id"]
    vendor = books.api.post("counterparties", {"name": "Nimbus Ltd", "type": "vendor"}).json()
    period = {"type": "servicePeriod", "startDate": "2026-01-01", "endDate": "2026-12-31"}
    hosting = {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -50}, "passThroughTax": -9.5}
    answer = books.set_categorizations(
        bill,
        hosting | {"usingDateRule": period, "counterparty": {"id": vendor["id"], "type": "vendor"}},
        {"categoryId": machines, "plSplit": {"cogs": -40, "ga": -19.5}},
    )
    assert answer.status_code == 200, answer.content
    return bill


CATEGORIZATION_COLUMNS = [
    *("Date", "Account", "From/to", "Description", "Amount", "Currency", "Category", "P&L line", "Tax"),
    *("Service period start", "Service period end", "Counterparty", "Transaction amount", "Status", "Pending"),
    *("Transfer", "Source", "Notes", "External id", "Id"),
]


def parse_amount(text):
    return Decimal(text) if text else None


@READERS
def test_categorization_export_has_one_row_per_categorization(api, books, bank, split_bill, read):
    books.create_transaction(bank, "-3.50", date="2026-02-03", fromTo="Café")  # has no categorization
    hosting, machines = read(api, rows="categorizations")
    assert list(hosting) == CATEGORIZATION_COLUMNS
    assert hosting["Category"].endswith("Hosting")
    assert machines["Category"] == "Machines"
    assert [parse_amount(row["Amount"]) for row in (hosting, machines)] == [Decimal("-59.50")] * 2
    assert [parse_amount(row["Tax"]) for row in (hosting, machines)] == [Decimal("-9.50"), None]
    assert [hosting["P&L line"], hosting["Counterparty"], machines["Counterparty"]] == [
        "Cost of revenue", "Nimbus Ltd", "",
    ]  # fmt: skip
    assert machines["P&L line"] == "Cost of revenue -40.00; General and administration -19.50"
    assert [hosting["Service period start"], hosting["Service period end"]] == ["2026-01-01", "2026-12-31"]
    assert [machines["Service period start"], machines["Service period end"]] == ["2026-01-10", "2026-01-10"]
    for row in (hosting, machines):
        assert (row["Id"], row["Date"], row["Status"], row["Currency"]) == (split_bill, "2026-01-10", "open", "EUR")
        assert (parse_amount(row["Transaction amount"]), row["Notes"]) == (Decimal("-129.00"), "'=1+1")


@READERS
def test_categorization_export_matches_api_categorizations(api, transaction_ids, split_bill, read):
    listed = [
        (row["id"], part) for row in api.get("transactions").json() for part in row["categorizations"].values()
    ]  # fmt: skip
    rows = read(api, rows="categorizations")
    assert len(rows) == len(listed) == 4
    for row, (transaction_id, part) in zip(rows, listed, strict=True):
        assert row["Id"] == transaction_id
        tax = Decimal(str(part["passThroughTax"] or 0))
        lines = sum(Decimal(str(value or 0)) for value in part["plSplit"].values())
        assert (parse_amount(row["Amount"]), parse_amount(row["Tax"]) or 0) == (lines + tax, tax)
    assert [row["Id"] for row in read(api, rows="categorizations", startDate="2026-01-01", minAmount="-120")] == [
        transaction_ids["hosting"]
    ] * 2
    assert read(api, rows="transactions") == read(api)


@READERS
def test_categorization_export_hides_names_the_caller_may_not_see(acme, make_api, split_bill, read):
    rows = read(make_api(acme, "transactions:read"), rows="categorizations")
    assert {row["Category"] for row in rows} == {row["Account"] for row in rows} == {str(HIDDEN_NAME)}
    assert [row["Counterparty"] for row in rows] == [str(HIDDEN_NAME), ""]


def test_categorization_export_excludes_other_companies(globex_api, split_bill):
    assert read_csv_export(globex_api, rows="categorizations") == []


def test_unknown_rows_parameter_is_rejected(api):
    for name in TABLES:
        for rows in ["parts", "", "Categorizations", ["transactions", "categorizations"]]:
            answer = api.get(f"exports/{name}", {"rows": rows})
            assert (answer.status_code, answer.json()["code"]) == (400, "validation_failed"), (name, rows)
            assert [(each["pointer"], each["code"]) for each in answer.json()["errors"]] == [
                ("#/rows", "invalid_filter")
            ], (name, rows)


def test_journal_export_takes_no_rows_parameter(api):
    for name in JOURNALS:
        answer = api.get(f"exports/{name}", {"rows": "categorizations"})
        assert [each["code"] for each in answer.json()["errors"]] == ["unknown_parameter"], name


def test_categorization_workbook_over_row_limit_is_rejected(api, split_bill, monkeypatch):
    monkeypatch.setattr(workbooks, "MAX_SHEET_ROWS", 1)
    answer = api.get("exports/transactions.xlsx", {"rows": "categorizations"})
    assert (answer.status_code, answer.json()["code"]) == (400, "too_many_rows")


def test_categorization_workbook_has_date_and_number_cells(api, split_bill):
    content = read_stream(api.get("exports/transactions.xlsx", {"rows": "categorizations"}))
    (sheet,) = openpyxl.load_workbook(io.BytesIO(content)).worksheets
    cells = {cell.value: sheet.cell(2, cell.column) for cell in sheet[1]}
    days = ("Date", "Service period start", "Service period end")
    assert [cells[name].value for name in days] == [datetime(2026, 1, 10), datetime(2026, 1, 1), datetime(2026, 12, 31)]
    amounts = ("Amount", "Tax", "Transaction amount")
    assert [cells[name].value for name in amounts] == [-59.5, -9.5, -129]
    assert {cells[name].number_format for name in amounts} == {"#,##0.00"}


def test_transaction_page_offers_categorization_exports(sign_in_browser, alice, acme, split_bill):
    browser = sign_in_browser(alice, acme).client
    shown = browser.get(f"/app/companies/{acme.id}/transactions", {"q": "nimbus"}).content.decode()
    addresses = re.findall(r'href="([^"]+rows=categorizations)"', shown)
    assert [address.partition("?")[0].rpartition("/")[2] for address in addresses] == TABLES
    for address in addresses:
        assert "q=nimbus" in address
        assert read_stream(browser.get(address.replace("&amp;", "&")))
    table = read_stream(browser.get(addresses[0].replace("&amp;", "&"))).decode()
    assert [row["Category"] for row in csv.DictReader(io.StringIO(table, newline=""))][1:] == ["Machines"]
    refused = browser.get(addresses[0].replace("&amp;", "&").replace("categorizations", "parts"), follow=True)
    assert "Must be one of transactions, categorizations." in refused.content.decode()


def test_invalid_export_parameters_return_an_error_code(api):
    for name in TABLES + JOURNALS:
        for parameters, code in [
            ({"startDate": "2026-13-01"}, {"invalid_date", "invalid_filter"}),
            ({"endDate": "yesterday"}, {"invalid_value", "invalid_filter"}),
            ({"endDate": ""}, {"invalid_value", "invalid_filter"}),
            ({"startDate": "2026-02-01", "endDate": "2026-01-31"}, {"end_before_start"}),
            ({"colour": "red"}, {"unknown_parameter"}),
            ({"limit": "1"}, {"unknown_parameter"}),
            ({"startDate": ["2026-01-01", "2026-01-02"]}, {"invalid_filter"}),
        ]:
            answer = api.get(f"exports/{name}", parameters)
            assert (answer.status_code, answer.json()["code"]) == (400, "validation_failed"), (name, parameters)
            assert {each["code"] for each in answer.json()["errors"]} <= code, (name, parameters)


@pytest.mark.parametrize("name", ["transactions.pdf", "..%2f", "journal", "transactions.csv/x"])
def test_unknown_export_is_not_found(api, name):
    answer = api.get(f"exports/{name}")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@READERS
def test_export_queries_do_not_grow_with_rows(api, books, bank, read, django_assert_num_queries):
    rows = [{"accountId": bank, "date": "2026-01-01", "amountValue": f"{n}.00"} for n in range(1, 1001)]
    assert api.post("transactions/import", {"transactions": rows}).status_code == 200
    assert len(read(api)) == 1000
    with django_assert_num_queries(8, exact=False):
        read(api, maxAmount="1")
