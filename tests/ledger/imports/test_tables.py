"""Text in columns: encodings, separators, ragged and empty lines, and which column says what."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.calc.delimited_text import (
    MAX_COLUMNS,
    MAX_ROW_CHARACTERS,
    SAMPLE_CHARACTERS,
    Line,
    MalformedTable,
    find_common_width,
    guess_encodings,
    guess_separator,
    open_text,
    read_delimited_lines,
    score_separator,
)
from ledger.imports.calc.column_mapping import normalize_csv_settings
from ledger.imports.calc.detection import detect_mapping

TEXT = "Datum;Empfänger;Betrag\n31.01.2026;Müller & Söhne;-1.234,50\n"


def read_lines(text, most=1000):
    return read_delimited_lines(io.StringIO(text, newline=""), max_lines=most)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
def test_file_is_read_in_every_spreadsheet_encoding(encoding):
    assert open_text(TEXT.encode(encoding)).read() == TEXT


@pytest.mark.parametrize(
    ("content", "first"),
    [
        (b"a\0b\0", "utf-16-le"),
        (b"\0a\0b", "utf-16-be"),
        (b"a\0\0\0", "utf-8-sig"),
        (b"\0a\0\0", "utf-8-sig"),
        (b"a\0bc", "utf-8-sig"),
        (b"\0abc", "utf-8-sig"),
        (b"a\0" * 200 + b"\0b", "utf-16-le"),
        (b"\0a" * 200 + b"b\0", "utf-16-be"),
        (b"\0", "utf-8-sig"),
    ],
)
def test_utf_16_encoding_is_detected_from_zero_bytes(content, first):
    assert guess_encodings(content)[0] == first


def test_text_keeps_its_line_endings():
    assert open_text(b"a\r\nb\rc\n").read() == "a\r\nb\rc\n"


def test_lines_are_equal_by_number_and_cells():
    line = Line(1, ["a", "b"])
    assert line == Line(1, ["a", "b"])
    assert line not in (Line(2, ["a", "b"]), Line(1, ["a", "c"]), (1, ["a", "b"]))
    assert {line, Line(1, ["a", "b"]), Line(2, ["a", "b"])} == {line, Line(2, ["a", "b"])}


def test_binary_content_is_not_text():
    assert open_text(b"\x81\x8d\xff\x00") is None


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Дата;Сумма;Назначение платежа\n01.02.2024;-500,00;Аренда офиса", "cp1251"),
        ("日付,摘要,出金,入金,残高\n2024/03/24,電気料金,5000,,10000", "shift_jis"),
        ("交易时间,交易类型,商品,金额\n2024-03-24,消费,咖啡,5.00", "gb18030"),
        ("Fecha;Concepto\nseñor año", "cp1252"),
        ("Částka;Měna;Příjemce;žluťoučký kůň", "cp1250"),
        ("Beløb;Tekst æøå", "cp1252"),
        ("Kwota;Żabka", "cp1250"),
    ],
)
def test_legacy_encoding_is_detected_from_letter_pairs(text, encoding):
    assert open_text(text.encode(encoding)).read() == text


def test_named_encoding_is_used_and_unknown_one_ignored():
    content = "Größe é".encode("iso8859-15")
    assert open_text(content, "windows-1251").read() == content.decode("cp1251")
    assert open_text(content, "nonsense").read() == "Größe é"


def test_single_invalid_bytes_are_replaced_only():
    assert open_text("Schröder, Büro Grü".encode()[:-1] + b";").read() == "Schröder, Büro Gr\ufffd;"


@pytest.mark.parametrize(("separator", "quoted"), [(",", '"-1,50"'), (";", "-1,50"), ("\t", "-1,50"), ("|", "-1.50")])
def test_separator_is_detected(separator, quoted):
    text = "".join(separator.join(row) + "\n" for row in (["Date", "Text", "Amount"], ["2026-01-31", "a b", quoted]))
    assert guess_separator(text) == separator
    assert [len(line.cells) for line in read_lines(text)] == [3, 3]


@pytest.mark.parametrize(
    ("sample", "fits"),
    [
        ("", 0),
        ("a\nb\n", 0),
        ("a,b,c\nd,e,f\n", 2),
        ("a,b\nc\n", 0.5),
        ('a, "b,c"\n', 1),  # a blank before a quotation mark does not make it a letter
        ("a,b\rc,d\r", 1),
    ],
)
def test_separator_score_is_share_of_common_width_lines_times_separators(sample, fits):
    assert score_separator(sample, ",") == fits


@pytest.mark.parametrize(
    ("widths", "usual"), [([], 0), ([1, 1], 0), ([1, 1, 2], 2), ([2, 2, 3], 2), ([3, 3, 2], 3), ([2, 3], 3)]
)
def test_common_width_is_most_frequent_or_else_greatest(widths, usual):
    assert find_common_width(widths) == usual


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("one column\n", ","),
        ("a\n" + "x;" * (SAMPLE_CHARACTERS // 2 - 1), ";"),  # as long as what is looked at: nothing is cut off
        ("a\n" + "x;" * (SAMPLE_CHARACTERS // 2), ","),
        ("a;\n" + "x" * SAMPLE_CHARACTERS, ";"),
        ("a\n" + "b;c\n" * 3 + "x" * SAMPLE_CHARACTERS, ";"),
        ("a;b,c\n" + "," + "x" * SAMPLE_CHARACTERS, ";"),
        ("x;" * SAMPLE_CHARACTERS, ";"),
    ],
    ids=range(7),
)
def test_truncated_last_line_is_ignored_unless_only_line(text, separator):
    assert guess_separator(text) == separator


def test_table_and_separator_detection_use_the_same_sample():
    assert {len(line.cells) for line in read_lines("a\n" + "x;" * (SAMPLE_CHARACTERS // 2))} == {1}


def test_one_ragged_line_does_not_hide_the_separator():
    text = "a;b;c;d\n1;2,5;3;4\n1;2,5\n" + "1;2,5;3;4\n" * 5
    assert guess_separator(text) == ";"


def test_first_line_may_name_the_separator():
    assert read_lines("sep=;\na,b;c\n") == [Line(2, ["a,b", "c"])]


def test_empty_lines_are_left_out_and_line_numbers_are_kept():
    text = "a,b\r\n\r\n , \r\n1,2\r\n"
    assert read_lines(text) == [Line(1, ["a", "b"]), Line(4, ["1", "2"])]


def test_quoted_cell_may_follow_a_space():
    assert read_lines('a, "b,c"\n') == [Line(1, ["a", "b,c"])]


def test_multiline_cell_counts_its_lines():
    assert [line.number for line in read_lines('a,b\n"1\n2\n3",x\n4,5\n')] == [1, 2, 5]


def test_unclosed_quotation_mark_is_rejected_with_line_number():
    with pytest.raises(MalformedTable, match="Line 2: missing closing quotation mark"):
        read_lines('a,b\n"x,y\n' + "z,z\n" * 60_000)


def test_reading_stops_at_row_limit():
    assert len(read_lines("a,b\n" * 50, most=10)) == 10


CELL = st.text("ab ,;\t\"'|é€1.\u2028", max_size=6).map(str.strip)


@given(rows=st.lists(st.lists(CELL, min_size=2, max_size=5), min_size=1, max_size=8), separator=st.sampled_from(",;\t"))
def test_spreadsheet_text_round_trips(rows, separator):
    out = io.StringIO()
    csv.writer(out, delimiter=separator, quoting=csv.QUOTE_ALL).writerows(rows)
    text = f"sep={separator}\r\n{out.getvalue()}"
    assert [line.cells for line in read_lines(text)] == [row for row in rows if any(row)]


@given(st.binary(max_size=300))
def test_every_upload_is_read_or_rejected(content):
    text = open_text(content)
    if text is None:
        return
    try:
        lines = read_delimited_lines(text, max_lines=100)
    except MalformedTable:
        return
    mapping = detect_mapping(lines)
    width = max((len(line.cells) for line in lines), default=0)
    assert all(position < width for position in mapping.mapping.columns.values())


def test_overlong_line_is_rejected():
    with pytest.raises(MalformedTable, match="Line 2 has more than 1048576 characters"):
        read_lines("a,b\n" + "x," * MAX_ROW_CHARACTERS)
    with pytest.raises(MalformedTable, match="Line 2 has more than 1048576 characters"):
        read_lines("a,b\n" + '"\n",' * MAX_ROW_CHARACTERS)


def test_every_row_may_be_just_under_the_length_limit():
    row = ",".join(["x" * 9999] * 104)
    fits = row + "y" * (MAX_ROW_CHARACTERS - 2 - len(row)) + "\n"
    assert len(fits) == MAX_ROW_CHARACTERS - 1
    assert [len(line.cells) for line in read_lines(fits * 2)] == [104, 104]
    with pytest.raises(MalformedTable, match="Line 2 has more than 1048576 characters"):
        read_lines(f"{fits}y{fits}")


def test_table_of_a_hundred_thousand_rows_is_read_completely():
    text = "Date,Text,Amount\n" + "".join(f"2026-01-31,row {n},-{n}.50\n" for n in range(100_000))
    lines = read_lines(text, most=200_000)
    assert (len(lines), lines[-1]) == (100_001, Line(100_001, ["2026-01-31", "row 99999", "-99999.50"]))


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
def test_invalid_account_settings_are_ignored(kept):
    lines = [Line(1, ["Date", "Amount"]), Line(2, ["2026-01-31", "-1"])]
    positions = detect_mapping(lines, settings=kept).mapping.columns.values()
    assert all(0 <= position < 2 for position in positions)
    assert normalize_csv_settings(normalize_csv_settings(kept)) == normalize_csv_settings(kept)


def test_table_over_column_limit_is_rejected():
    fits = ",".join(["x"] * MAX_COLUMNS)
    assert len(read_lines(fits)[0].cells) == MAX_COLUMNS
    with pytest.raises(MalformedTable, match="Line 2 has 251 columns"):
        read_lines(f"a,b\n{fits},x\n")


@pytest.mark.parametrize("ending", ["\n", "\r", " , ,\r\n"])
def test_reading_stops_early_in_endless_empty_lines(ending):
    text = io.StringIO("a,b\n" + ending * 3_000_000, newline="")
    with pytest.raises(MalformedTable, match="empty lines"):
        read_delimited_lines(text, max_lines=100_000)
    assert text.tell() < 3_000_000
    assert len(read_delimited_lines(io.StringIO("a,b\n\n" * 100_000), max_lines=100_000)) == 100_000
