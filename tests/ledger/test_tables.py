"""Text in columns: encodings, separators, ragged and empty lines, and which column says what."""

import csv
import io
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.calc.columns import Columns, from_kept, guessed, names_of, to_keep
from ledger.calc.readings import DateOrder, DecimalSign
from ledger.calc.tables import MOST_COLUMNS, Line, NotATable, decoded, lines_of, separator_of

TEXT = "Datum;Empfänger;Betrag\n31.01.2026;Müller & Söhne;-1.234,50\n"
GERMAN = """Kontonummer;DE00 1234
Zeitraum;01.2026

Buchungstag;Wertstellung;Auftraggeber/Empfänger;Verwendungszweck;Betrag (EUR);Währung
31.01.2026;31.01.2026;Initech;"Rechnung; 1042";1.190,00;EUR
30.01.2026;30.01.2026;Bank;Gebühr;-4,00;EUR
"""


def read(text):
    return lines_of(text, most=1000)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
def test_a_file_is_read_in_every_encoding_that_spreadsheets_write(encoding):
    assert decoded(TEXT.encode(encoding)) == TEXT


def test_bytes_that_are_no_text_are_none():
    assert decoded(b"\x81\x8d\xff\x00") is None


@pytest.mark.parametrize(("separator", "quoted"), [(",", '"-1,50"'), (";", "-1,50"), ("\t", "-1,50"), ("|", "-1.50")])
def test_the_separator_is_found(separator, quoted):
    text = "".join(separator.join(row) + "\n" for row in (["Date", "Text", "Amount"], ["2026-01-31", "a b", quoted]))
    assert separator_of(text) == separator
    assert [len(line.cells) for line in read(text)] == [3, 3]


def test_one_ragged_line_does_not_hide_the_separator():
    text = "a;b;c;d\n1;2,5;3;4\n1;2,5\n" + "1;2,5;3;4\n" * 5
    assert separator_of(text) == ";"


def test_the_first_line_may_name_the_separator():
    assert read("sep=;\na,b;c\n") == [Line(2, ["a,b", "c"])]


def test_empty_lines_and_lines_of_empty_cells_are_left_out_and_the_others_keep_their_numbers():
    text = "a,b\r\n\r\n , \r\n1,2\r\n"
    assert read(text) == [Line(1, ["a", "b"]), Line(4, ["1", "2"])]


def test_a_cell_over_several_lines_counts_them():
    assert [line.number for line in read('a,b\n"1\n2\n3",x\n4,5\n')] == [1, 2, 5]


def test_a_quotation_mark_that_is_never_closed_is_told_with_its_line():
    with pytest.raises(NotATable, match="Line 2: a quotation mark"):
        read('a,b\n"x,y\n' + "z,z\n" * 60_000)


def test_reading_ends_where_nobody_would_look_any_more():
    assert len(lines_of("a,b\n" * 50, most=10)) == 10


CELL = st.text("ab ,;\t\"'|é€1.\u2028", max_size=6).map(str.strip)


@given(rows=st.lists(st.lists(CELL, min_size=2, max_size=5), min_size=1, max_size=8), separator=st.sampled_from(",;\t"))
def test_what_a_spreadsheet_writes_is_read_back(rows, separator):
    out = io.StringIO()
    csv.writer(out, delimiter=separator, quoting=csv.QUOTE_ALL).writerows(rows)
    text = f"sep={separator}\r\n{out.getvalue()}"
    assert [line.cells for line in lines_of(text, most=100)] == [row for row in rows if any(row)]


@given(st.binary(max_size=300))
def test_whatever_is_uploaded_is_read_or_refused(content):
    text = decoded(content)
    if text is None:
        return
    try:
        lines = lines_of(text, most=100)
    except NotATable:
        return
    columns = guessed(lines)
    assert all(line.number > columns.headings for line in columns.rows(lines))
    assert len(names_of(lines, columns.headings)) <= max((len(line.cells) for line in lines), default=0)


def test_a_hundred_thousand_rows_are_all_there():
    text = "Date,Text,Amount\n" + "".join(f"2026-01-31,row {n},-{n}.50\n" for n in range(100_000))
    lines = lines_of(text, most=200_000)
    assert (len(lines), lines[-1]) == (100_001, Line(100_001, ["2026-01-31", "row 99999", "-99999.50"]))


# ---------------------------------------------------------------------------------------------- guessing


def test_a_banks_preamble_is_skipped_and_its_columns_are_found():
    columns = guessed(read(GERMAN))
    assert columns.headings == 4
    assert columns.places == {"date": 0, "from_to": 2, "description": 3, "amount": 4, "currency": 5}
    assert (columns.date_order, columns.decimal_sign) == (DateOrder.DAY_FIRST, DecimalSign.COMMA)
    assert len(columns.rows(read(GERMAN))) == 2


def test_debit_and_credit_stand_for_the_amount_where_there_is_none():
    columns = guessed(read("Date,Details,Paid out,Paid in\n01/31/2026,Rent,100.00,\n01/15/2026,Sale,,5.00\n"))
    assert columns.places == {"date": 0, "description": 1, "debit": 2, "credit": 3}
    assert columns.date_order == DateOrder.MONTH_FIRST


def test_without_headings_the_data_tells():
    columns = guessed(read("1042,2026-01-31,Rent,-100.00\n1043,2026-02-28,Rent,-100.00\n"))
    assert (columns.headings, columns.places) == (0, {"date": 1, "amount": 3})
    assert names_of(read("a,b\n"), 0) == ["Column A", "Column B"]


def test_headings_in_a_language_nobody_knows_leave_it_to_the_data():
    columns = guessed(read("Päivä,Selite,Määrä\n2026-01-31,Vuokra,-100.00\n"))
    assert columns.places == {"date": 0, "amount": 2}


def test_what_was_kept_is_found_again_by_the_headings_wherever_they_stand():
    lines = read("Day,What,Sum\n31.01.2026,Rent,5\n")
    kept = to_keep(Columns(1, {"date": 0, "amount": 2}, DateOrder.DAY_FIRST, flip_sign=True), names_of(lines, 1))
    moved = from_kept(kept, read("Sum,Day\n5,31.01.2026\n"))
    assert moved == Columns(1, {"date": 1, "amount": 0}, DateOrder.DAY_FIRST, flip_sign=True)
    assert from_kept(kept, read("Other,Words\n5,31.01.2026\n")) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["columns", "headings", "date", "amount", "dateOrder", "x"]), inner, max_size=4
        )
    ),
    max_leaves=8,
)


@given(JSON)
def test_whatever_stands_in_an_accounts_settings_is_read_or_passed_over(kept):
    lines = [Line(1, ["Date", "Amount"]), Line(2, ["2026-01-31", "1"])]
    columns = from_kept(kept, lines)
    assert columns is None or all(0 <= place < 2 for place in columns.places.values())


def test_the_days_of_a_guess_are_dates():
    columns = guessed(read("When,Much\n2026-01-31,1.00\n"))
    assert columns.places["date"] == 0
    assert date.fromisoformat(columns.rows(read("When,Much\n2026-01-31,1.00\n"))[0].cells[0])


def test_a_table_has_so_many_columns_and_no_more():
    fits = ",".join(["x"] * MOST_COLUMNS)
    assert len(lines_of(fits, most=10)[0].cells) == MOST_COLUMNS
    with pytest.raises(NotATable, match="Line 2 has 251 columns"):
        lines_of(f"a,b\n{fits},x\n", most=10)
