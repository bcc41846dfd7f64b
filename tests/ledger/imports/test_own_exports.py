"""A table that was exported here and comes back is known by its headings, in whatever language; without a database."""

import io

import pytest

from ledger.calc.delimited_text import read_delimited_lines
from ledger.imports.calc.detection import detect_mapping
from ledger.imports.calc.own_exports import build_export_settings, find_export_header

ENGLISH = {"date": "Date", "account": "Account", "amount": "Amount", "description": "Description", "id": "Id"}
GERMAN = {"date": "Datum", "account": "Konto", "amount": "Betrag", "description": "Beschreibung", "id": "Kennung"}
HEADERS = [ENGLISH, GERMAN]
TABLE = "Datum;Konto;Betrag;Beschreibung;Kennung\n2026-01-31;Giro;-1234.50;Miete;1\n2026-02-01;Kasse;5.00;Kaffee;2\n"


def read_lines(text):
    return read_delimited_lines(io.StringIO(text, newline=""), max_lines=1000)


def test_own_export_is_recognized_by_headings_in_any_language_and_order():
    assert find_export_header(read_lines(TABLE), HEADERS) == GERMAN
    assert find_export_header(read_lines("Amount,More,Id,Date,Account,Description\n"), HEADERS) == ENGLISH
    with_tax = GERMAN | {"tax": "Steuer"}  # which exports of earlier releases lack
    assert find_export_header(read_lines(TABLE), [with_tax]) == with_tax


@pytest.mark.parametrize("text", ["", "Datum;Konto;Betrag;Beschreibung\n", "Date;Konto;Amount;Description;Id\n"])
def test_table_without_all_export_headings_is_treated_as_bank_file(text):
    assert build_export_settings(read_lines(text), HEADERS) is None


def test_own_export_is_read_as_written_and_ignores_its_id_column():
    # 1.234 are a thousand in no export of ours, however few cents the others have
    odd = TABLE.replace("-1234.50", "-1.234").replace("5.00", "7")
    for text in (TABLE, odd):
        mapping = detect_mapping(read_lines(text), settings=build_export_settings(read_lines(text), HEADERS)).mapping
        assert mapping.columns == {"date": 0, "account": 1, "amount": 2}
        assert (mapping.description, mapping.date_order, mapping.decimal_mark) == ((3,), "iso", "point")


def test_own_export_saved_by_spreadsheet_is_read_in_spreadsheet_format():
    saved = TABLE.replace("2026-01-31", "31.01.2026").replace("2026-02-01", "01.02.2026")
    saved = saved.replace("-1234.50", "-1234,50").replace("5.00", "5,00")
    mapping = detect_mapping(read_lines(saved), settings=build_export_settings(read_lines(saved), HEADERS)).mapping
    assert (mapping.date_order, mapping.decimal_mark) == ("dayFirst", "comma")
