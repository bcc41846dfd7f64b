"""A table that was exported here and comes back is known by its headings, in whatever language; without a database."""

import io

import pytest
from ledger.importing.calc.written import DateOrder, DecimalSign

from ledger.calc.tables import lines_of
from ledger.importing.calc.columns import Columns, accounts_in_export, names_in_export, of_export

ENGLISH = {"date": "Date", "account": "Account", "amount": "Amount", "description": "Description", "id": "Id"}
GERMAN = {"date": "Datum", "account": "Konto", "amount": "Betrag", "description": "Beschreibung", "id": "Kennung"}
HEADERS = [ENGLISH, GERMAN]
TABLE = "Datum;Konto;Betrag;Beschreibung;Kennung\n2026-01-31;Giro;-1234.50;Miete;1\n2026-02-01;Kasse;5.00;Kaffee;2\n"


def read(text):
    return lines_of(io.StringIO(text, newline=""), most=1000)


def test_an_export_is_known_by_its_headings_in_any_language_and_in_any_order():
    assert names_in_export(read(TABLE), HEADERS) == GERMAN
    assert names_in_export(read("Amount,More,Id,Date,Account,Description\n"), HEADERS) == ENGLISH


@pytest.mark.parametrize("text", ["", "Datum;Konto;Betrag;Beschreibung\n", "Date;Konto;Amount;Description;Id\n"])
def test_a_table_without_all_headings_of_one_language_is_a_banks(text):
    assert names_in_export(read(text), HEADERS) is None
    assert of_export(read(text), HEADERS) is None
    assert accounts_in_export(read(text), HEADERS) == []


def test_an_export_is_read_as_it_was_written_and_our_id_is_no_reference_of_the_bank():
    places = {"date": 0, "amount": 2, "description": 3}
    assert of_export(read(TABLE), HEADERS) == Columns(1, places, DateOrder.ISO, DecimalSign.POINT)
    # 1.234 are a thousand in no export of ours, however few cents the others have
    odd = TABLE.replace("-1234.50", "-1.234").replace("5.00", "7")
    assert of_export(read(odd), HEADERS) == Columns(1, places, DateOrder.ISO, DecimalSign.POINT)


def test_an_export_that_a_spreadsheet_has_saved_is_read_in_the_spreadsheets_way():
    saved = TABLE.replace("2026-01-31", "31.01.2026").replace("2026-02-01", "01.02.2026")
    saved = saved.replace("-1234.50", "-1234,50").replace("5.00", "5,00")
    found = of_export(read(saved), HEADERS)
    assert (found.date_order, found.decimal_sign) == (DateOrder.DAY_FIRST, DecimalSign.COMMA)
    assert (found.headings, found.places) == (1, {"date": 0, "amount": 2, "description": 3})


def test_a_spreadsheet_may_write_the_month_first():
    saved = TABLE.replace("2026-01-31", "01/31/2026").replace("2026-02-01", "02/01/2026")
    assert of_export(read(saved), HEADERS).date_order == DateOrder.MONTH_FIRST


@pytest.mark.parametrize(("before", "order"), [(199, DateOrder.DAY_FIRST), (200, DateOrder.ISO)])
def test_the_first_two_hundred_rows_tell_whether_a_spreadsheet_has_saved_it(before, order):
    rows = "2026-01-31;Giro;1.00;x;1\n" * before + "31.01.2026;Giro;1,00;x;1\n"
    assert of_export(read(TABLE.splitlines()[0] + "\n" + rows), HEADERS).date_order == order


def test_the_accounts_of_an_export_are_told_once_each_by_name():
    more = TABLE + "2026-02-02;Kasse;1.00;x;3\n2026-02-03;;1.00;x;4\n2026-02-03;Bar;1.00;x;5\n"
    assert accounts_in_export(read(more), HEADERS) == ["Bar", "Giro", "Kasse"]
