"""Which kind of file a bank's is, in which encoding, and what all of them have in common; without a database."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.bank_statements.parsers import formats
from ledger.bank_statements.parsers.models import (
    MAX_OUTER_TAGS,
    MAX_PIECE_LENGTH,
    MAX_TAGS_PER_ENTRY,
    MAX_TEXT_LENGTH,
    ParsedStatement,
    UnreadableFileError,
    check_element_count,
    clean_text,
    join_fitting_lines,
    parse_iso_day,
    to_signed_amount,
)
from ledger.imports.calc.entries import Entry
from tests.ledger import bank_file_builders

ENCODING_MESSAGE = "The file is not text in UTF-8, UTF-16 or Windows-1252."
NO_LETTER = b"a;b\n" + b"\x98 \x81"  # in no encoding that banks use


def get_error(act):
    with pytest.raises(UnreadableFileError) as answer:
        act()
    return str(answer.value)


# ---------------------------------------------------------------------------------------------- kinds


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"  \n<?xml version='1.0'?><Document>", "camt"),
        (b"<Document>", "camt"),
        (b"OFXHEADER:100\n", "ofx"),
        (b"\n OFXHEADER :100\n", "ofx"),
        (b"<?xml version='1.0'?>\n<?OFX OFXHEADER='200'?>", "ofx"),
        (b"<OFX><SIGNONMSGSRSV1>", "ofx"),
        (b":20:A\n:25:1\n", "mt940"),
        (b"\xef\xbb\xbf:20:A\n", "mt940"),
        (b"!Type:Bank\nD1/31/26\n", "qif"),
        (b"!ACCOUNT\nNMain\n", "qif"),
        (b"!option:MDY\n", "qif"),
        (b"!clear:x\n", "qif"),
        (b"day;amount", "csv"),
        (b"day,amount", "csv"),
        (b"day\tamount", "csv"),
        (b"day|amount", "csv"),
        ("day;amount".encode("utf-16"), "csv"),
        (b"hello", None),
        (b"X marks nothing", None),
        (b'{"a": 1, "b": 2}', None),
        (b"[1, 2]", None),
        (b"%PDF-1.7 ;;;", None),
        (b"PK\x03\x04;;;", "zip"),
        (b"", None),
        (b" \n\t ", None),
        (b";" * 89 + b"\0" * 11, None),  # more than a tenth are no letters
        (b";" * 90 + b"\0" * 10, "csv"),
        (b"x" * 5000 + b";", None),  # only the beginning is looked at
        (b"x" * 4999 + b";", "csv"),
        ("é".encode() * 4999 + b";", "csv"),
        (b";" + "é".encode() * 5000, "csv"),  # it is cut within a letter
    ],
)
def test_file_kind_is_detected_from_its_beginning(content, kind):
    assert formats.detect_file_kind(content) == kind


@pytest.mark.parametrize(
    ("content", "format_"),
    [
        (bank_file_builders.build_simple_camt("1.00"), "camt.053"),
        (bank_file_builders.build_mt940(("260115C5,00NTRFX", "a")), "mt940"),
        (bank_file_builders.build_ofx({"DTPOSTED": "20260115", "TRNAMT": "1"}), "ofx"),
        (bank_file_builders.build_qif(["D1/31/26", "T1"]), "qif"),
        (b"day;amount", "csv"),
    ],
)
def test_statement_file_is_read_by_kind_and_reports_format(content, format_):
    kind = formats.detect_file_kind(content)
    statement_file = formats.read_statement_file(content, kind, max_entries=9)
    assert (statement_file.format, statement_file.kind) == (format_, kind)
    assert len(statement_file.statements) == (0 if kind in ("qif", "csv") else 1)


def test_camt_is_read_in_detected_encoding_and_reports_progress():
    heard = []
    content = bank_file_builders.build_camt(
        bank_file_builders.build_statement(bank_file_builders.build_entry("1.00", name="Müller")),
        encoding="cp1252",
        declared="UTF-8",
    )
    (result,) = formats.read_statement_file(content, "camt", max_entries=9, on_progress=heard.append).statements
    assert (result.entries[0].from_to, heard[-1]) == ("Müller", len(content))


@pytest.mark.parametrize("content", [b"<a><BkToCstmrStmt/></a>", b":20:A\n", b"<OFX></OFX>"])
def test_file_without_statement_is_rejected(content):
    assert get_error(
        lambda: formats.read_statement_file(content, formats.detect_file_kind(content), max_entries=9)
    ) == ("Line 1: The file contains no statement.")


# ---------------------------------------------------------------------------------------------- as text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_text_is_decoded_in_detected_encoding(encoding):
    content = "Müller\r\nSöhne\n\nx".encode(encoding)
    assert formats.decode_text(content) == "Müller\r\nSöhne\n\nx"
    assert list(formats.iterate_text_lines(content)) == ["Müller\n", "Söhne\n", "\n", "x"]


def test_text_in_no_known_encoding_is_rejected():
    assert get_error(lambda: formats.decode_text(NO_LETTER)) == ENCODING_MESSAGE
    assert get_error(lambda: formats.iterate_text_lines(NO_LETTER)) == ENCODING_MESSAGE
    for act in (formats.decode_text, formats.iterate_text_lines):
        with pytest.raises(UnreadableFileError) as answer:
            act(NO_LETTER)
        assert answer.value.line == 0


def test_text_file_lines_are_limited(monkeypatch):
    monkeypatch.setattr(formats, "MAX_LINES", 3)
    assert len(list(formats.iterate_text_lines(b"a\nb\nc"))) == 3
    assert (
        get_error(lambda: list(formats.iterate_text_lines(b"a\nb\nc\nd"))) == "Line 4: The file has more than 3 lines."
    )


def test_text_file_line_length_is_limited():
    longest = b"x" * (MAX_PIECE_LENGTH - 2) + b"\n"
    assert len(list(formats.iterate_text_lines(longest * 2))) == 2
    assert get_error(lambda: list(formats.iterate_text_lines(b"\n" + b"x" + longest))) == (
        f"Line 2: The text is longer than {MAX_PIECE_LENGTH} characters."
    )


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (b"<a/>", "UTF-8"),
        (b"\xef\xbb\xbf<a/>", "UTF-8"),
        ("<a>é</a>".encode("cp1252"), "windows-1252"),
        (b"<?xml version='1.0' encoding='UTF-8'?><a/>", "UTF-8"),
        ("<?xml encoding='utf-8'?><a>é</a>".encode("cp1252"), "windows-1252"),  # a lie
        (b'<?xml encoding = "UTF-16"?><a/>', "UTF-8"),  # another
        (b"<?xml encoding='iso-8859-1'?><a/>", None),  # what it says holds
        (b"<?xml encoding='Shift_JIS'?><a/>", None),
        ("<a/>".encode("utf-16"), None),  # it has a mark
        ("<aaaa/>".encode("utf-16-le"), "UTF-16LE"),
        ("<aaaa/>".encode("utf-16-be"), "UTF-16BE"),
        (b" " * 400 + b"<?xml encoding='iso-8859-1'?><a/>", "UTF-8"),  # that is no beginning
    ],
)
def test_xml_content_takes_precedence_over_declared_unicode_encoding(content, encoding):
    assert formats.detect_xml_encoding(content) == encoding


@pytest.mark.parametrize("before", [0, 65_535, 131_071, 70_000])
def test_utf8_detection_handles_characters_across_chunks(before):
    assert formats.is_utf8_text(b"x" * before + "é".encode())
    assert not formats.is_utf8_text(b"x" * before + b"\xe9x")


# ---------------------------------------------------------------------------------------------- what all have in common


@pytest.mark.parametrize("entries", [0, 1, 7])
def test_element_count_is_limited_by_number_of_entries(entries):
    most = MAX_OUTER_TAGS + MAX_TAGS_PER_ENTRY * entries
    check_element_count(most, entries, line=3)
    assert get_error(lambda: check_element_count(most + 1, entries, line=3)) == "Line 3: Too many elements."


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("12.50", "12.5"), ("0012", "12"), ("7.", "7"), (".5", "0.5"), ("0", "0"), ("0.00", "0"), ("100", "100"),
        ("0" * 30 + "1" * 15 + "." + "1" * 18, "1" * 15 + "." + "1" * 18),
    ],
)  # fmt: skip
def test_signed_amount_is_plain_decimal_and_zero_has_no_sign(text, amount):
    assert to_signed_amount(text, negative=False, line=1) == amount
    assert to_signed_amount(text, negative=True, line=1) == (amount if amount == "0" else f"-{amount}")


@pytest.mark.parametrize("text", ["", ".", "-1", "1,5", "1.2.3", "x" * 50, "1" * 16, "1." + "1" * 19, "1e5", "٣"])
def test_malformed_amount_error_names_line_and_first_forty_characters(text):
    assert (
        get_error(lambda: to_signed_amount(text, negative=False, line=4))
        == f"Line 4: “{text[:40]}” is not a valid amount."
    )


def test_unreadable_file_error_without_line_keeps_message_and_values():
    error = UnreadableFileError("“{text}” is odd.", line=0, text="x")
    assert (str(error), error.message, error.values, error.line) == (
        "“x” is odd.",
        "“{text}” is odd.",
        {"text": "x"},
        0,
    )


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-02-28", date(2026, 2, 28)),
        ("2026-02-28T23:59:59-08:00", date(2026, 2, 28)),
        ("2026-02-30", date(2026, 2, 28)),
        ("2026-13-01", None),
        ("0000-01-01", None),
        ("28.02.2026", None),
        ("", None),
    ],
)
def test_iso_day_is_the_date_of_an_iso_time(text, day):
    parse_iso_day.cache_clear()
    assert parse_iso_day(text) == day


@given(st.text(max_size=30))
def test_clean_text_is_one_line_with_single_spaces(text):
    result = clean_text(text)
    assert result == " ".join(result.split())
    assert not any(ord(each) < 32 or 127 <= ord(each) < 160 for each in result)
    assert clean_text(result) == result


@given(st.lists(st.integers(0, 4000), max_size=9))
def test_joined_lines_fit_text_limit_with_remark_about_the_rest(lengths):
    lines = ["x" * each for each in lengths]
    results = join_fitting_lines(lines)
    assert len(results) <= MAX_TEXT_LENGTH
    if len("\n".join(lines)) <= MAX_TEXT_LENGTH:
        assert results == "\n".join(lines)
        return
    *shown, last = results.split("\n")
    assert shown == lines[: len(shown)]
    assert last == f"… and {len(lines) - len(shown)} more"
    assert len("\n".join(lines[: len(shown) + 1])) > MAX_TEXT_LENGTH - 41  # no other would have had room


def test_joined_lines_keep_longest_text_and_format_remaining_count():
    assert join_fitting_lines(["x" * MAX_TEXT_LENGTH]) == "x" * MAX_TEXT_LENGTH
    assert (
        join_fitting_lines(["x" * (MAX_TEXT_LENGTH - 41), "y" * 41]) == "x" * (MAX_TEXT_LENGTH - 41) + "\n… and 1 more"
    )
    assert join_fitting_lines(["x" * (MAX_TEXT_LENGTH - 40), "y" * 41]) == "… and 2 more"
    assert join_fitting_lines(["x"] * 10_000).endswith("\n… and 5,020 more")


def test_statement_period_comes_from_its_dates_or_its_entries():
    early, late = (Entry(date(2026, 1, day), "-1", "EUR") for day in (3, 9))
    statement = ParsedStatement("1", "EUR", [late, early], start=date(2026, 1, 1), end=date(2026, 1, 8))
    assert statement.period == (date(2026, 1, 1), date(2026, 1, 8))
    assert (statement.first_day, statement.last_day) == (date(2026, 1, 1), date(2026, 1, 9))
    untold = ParsedStatement("1", "EUR", [late, early])
    assert untold.period == (untold.first_day, untold.last_day) == (date(2026, 1, 3), date(2026, 1, 9))
    empty = ParsedStatement("1", "EUR", [])
    assert (empty.period, empty.first_day, empty.last_day) == (None, None, None)
    assert ParsedStatement("1", "EUR", [], end=date(2026, 1, 8)).period == (date(2026, 1, 8), date(2026, 1, 8))


def test_statement_difference_compares_booked_entries_with_balances():
    booked, announced = Entry(date(2026, 1, 3), "-1", "EUR"), Entry(date(2026, 1, 3), "-7", "EUR", pending=True)
    statement = ParsedStatement("1", "EUR", [booked, announced], opening=Decimal(5), closing=Decimal(3))
    assert (statement.booked_sum, statement.difference) == (Decimal(-1), Decimal(-1))
    foreign = ParsedStatement("1", "USD", [booked], opening=Decimal(5), closing=Decimal(3))
    assert (foreign.booked_sum, foreign.difference) == (None, None)
