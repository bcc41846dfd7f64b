"""OFX, tag by tag; without a database."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.bank_statements.parsers import ofx
from ledger.bank_statements.parsers.models import (
    MAX_TEXT_LENGTH,
    TooManyEntriesError,
    UnreadableFileError,
    UnsafeXmlError,
)

COFFEE = {"DTPOSTED": "20260115", "TRNAMT": "-3.50"}


def build_movement(kind="STMTTRN", /, **values):
    return f"<{kind}>\n{''.join(f'<{name}>{value}' for name, value in (COFFEE | values).items() if value)}</{kind}>\n"


def build_statement(*inside, kind="STMTRS", currency="<CURDEF>EUR", behind=""):
    rows = "".join(inside)
    account = "<BANKACCTFROM><BANKID>370<ACCTID>DE1</BANKACCTFROM>"
    return f"<{kind}>{currency}\n{account}<BANKTRANLIST>\n{rows}</BANKTRANLIST>{behind}</{kind}>\n"


def read_ofx(*statements, max_entries=100):
    head = "<SIGNONMSGSRSV1><SONRS><DTSERVER>20260201</SONRS></SIGNONMSGSRSV1>"
    return ofx.read_ofx(f"OFXHEADER:100\n<OFX>{head}\n{''.join(statements)}</OFX>\n", max_entries=max_entries)


def read_single_entry(**values):
    (result,) = read_ofx(build_statement(build_movement(**values)))
    return result.entries[0]


def get_error(*statements):
    with pytest.raises(UnreadableFileError) as answer:
        read_ofx(*statements)
    return str(answer.value)


def build_balance(amount, day=None):
    return f"<LEDGERBAL><BALAMT>{amount}{f'<DTASOF>{day}' if day else ''}</LEDGERBAL>"


# ---------------------------------------------------------------------------------------------- the file


@pytest.mark.parametrize("evil", ["<!DOCTYPE a>", "<!ENTITY a 'b'>", "<!element a>"])
def test_ofx_with_declarations_is_rejected(evil):
    with pytest.raises(UnsafeXmlError):
        ofx.read_ofx(f"{evil}<OFX></OFX>", max_entries=1)


def test_ofx_file_must_end_with_its_closing_tag():
    with pytest.raises(UnreadableFileError, match=r"^Line 3: The file is incomplete: </OFX> is missing\.$"):
        ofx.read_ofx("<OFX>\n<STMTRS>\n</STMTRS>", max_entries=1)
    with pytest.raises(UnreadableFileError, match=r"^Line 1: The file is incomplete"):
        ofx.read_ofx("", max_entries=1)
    with pytest.raises(UnreadableFileError, match=r"^Line 2: The file is incomplete"):
        ofx.read_ofx("<OFX></OFX>\n<OFX>", max_entries=1)
    assert ofx.read_ofx("<ofx></ofx> \n", max_entries=1) == []


def test_ofx_tags_outside_entries_are_limited(monkeypatch):
    monkeypatch.setattr("ledger.bank_statements.parsers.models.MAX_OUTER_TAGS", 4)
    assert ofx.read_ofx("<OFX><A><B></OFX>", max_entries=1) == []
    with pytest.raises(UnreadableFileError, match=r"^Line 2: Too many elements\.$"):
        ofx.read_ofx("<OFX><A><B><C>\n</OFX>", max_entries=1)


def test_ofx_tags_are_read_with_line_numbers_in_any_spelling():
    text = "\n<a>one</a>\n<B.C_1 x='1'> two \n three\n<d/>"
    assert list(ofx.iterate_tags(text)) == [
        (2, False, "A", "one"), (2, True, "A", ""), (3, False, "B.C_1", "two \n three"), (5, False, "D", ""),
    ]  # fmt: skip


def test_ofx_bank_and_card_statements_are_read_with_their_accounts():
    card = build_statement(build_movement(), kind="CCSTMTRS").replace("BANKACCTFROM", "CCACCTFROM")
    result = read_ofx(build_statement(), card, "<STMTTRN>" + build_movement())
    assert [(each.account_number, len(each.entries)) for each in result] == [("DE1", 0), ("DE1", 1)]


def test_ofx_entries_and_statements_are_limited():
    assert len(read_ofx(build_statement(build_movement() * 2), build_statement(), max_entries=2)) == 2
    for content in (
        [build_statement(build_movement() * 3)],
        [build_statement()] * 3,
        [build_statement(build_movement() * 2), build_statement(build_movement())],
    ):
        with pytest.raises(TooManyEntriesError):
            read_ofx(*content, max_entries=2)


def test_ofx_values_per_entry_and_statement_are_limited():
    many = "".join(f"<A{number}>x" for number in range(ofx.MAX_VALUES - 2))
    assert len(read_ofx(build_statement(build_movement(MEMO="", X=f"x{many[:-6]}")))[0].entries) == 1
    assert get_error(build_statement(build_movement(X=f"x\n{many}<B>x"))) == "Line 7: Too many different elements."
    assert get_error(build_statement(behind=f"\n{many}")) == "Line 6: Too many different elements."


# ---------------------------------------------------------------------------------------------- a statement


def test_ofx_opening_balance_is_closing_balance_minus_entries():
    (result,) = read_ofx(
        build_statement(
            "<DTSTART>20260101<DTEND>20260120\n",
            build_movement(),
            build_movement(TRNAMT="10"),
            behind=build_balance("100", "20260131"),
        )
    )
    assert (result.closing, result.opening) == (100, Decimal("93.5"))
    assert (result.start, result.end) == (date(2026, 1, 1), date(2026, 1, 31))  # the balance is of a later day
    assert (result.currency, result.final) == ("EUR", False)


@pytest.mark.parametrize(
    ("behind", "closing", "opening", "end"),
    [
        ("", None, None, date(2026, 1, 20)),
        (build_balance("-1,5"), Decimal("-1.5"), Decimal(2), date(2026, 1, 20)),
        ("<AVAILBAL><BALAMT>7<DTASOF>20260131</AVAILBAL>", None, None, date(2026, 1, 20)),  # what a credit line leaves
    ],
)
def test_ofx_closing_balance_is_ledger_balance_not_available_balance(behind, closing, opening, end):
    (result,) = read_ofx(build_statement("<DTSTART>20260101<DTEND>20260120\n", build_movement(), behind=behind))
    assert (result.closing, result.opening, result.end) == (closing, opening, end)


def test_ofx_statement_may_lack_dates_currency_and_account():
    (result,) = read_ofx("<STMTRS><BANKTRANLIST></BANKTRANLIST></STMTRS>")
    assert (result.start, result.end, result.currency, result.account_number) == (None, None, "", "")


def test_ofx_pending_entries_do_not_count_in_balance():
    pending = build_movement("STMTTRNP", DTPOSTED="", DTTRAN="20260116")
    (result,) = read_ofx(build_statement(build_movement(), pending, behind=build_balance("10")))
    assert [(str(each.day), each.pending) for each in result.entries] == [("2026-01-15", False), ("2026-01-16", True)]
    assert result.opening == Decimal("13.5")
    assert "no DTPOSTED" in get_error(
        build_statement(build_movement(DTPOSTED="", DTTRAN="20260116"))
    )  # a booked one is posted


def test_ofx_account_number_is_cleaned_and_truncated():
    number = "9" * 40 + " \n " + "8" * 40
    (result,) = read_ofx(build_statement().replace("DE1", number))
    assert result.account_number == ("9" * 40 + " " + "8" * 40)[:64]


def test_ofx_opening_balance_is_unknown_with_several_currencies():
    foreign = build_movement(CURRENCY="<CURSYM>USD</CURRENCY>")
    (result,) = read_ofx(build_statement(foreign, behind=build_balance("10")))
    assert (result.closing, result.opening) == (10, None)


# ---------------------------------------------------------------------------------------------- a movement


def test_ofx_entry_has_party_description_reference_and_check_number():
    single_entry = read_single_entry(NAME="A &amp; B", MEMO=" two \n words ", FITID=" F 1 ", CHECKNUM=" 17 ")
    assert (single_entry.from_to, single_entry.description, single_entry.reference, single_entry.notes) == (
        "A & B",
        "two words",
        "F 1",
        "Check 17",
    )
    assert (single_entry.currency, single_entry.amount, single_entry.line, single_entry.pending) == (
        "EUR",
        "-3.5",
        5,
        False,
    )
    silent = read_single_entry()
    assert (silent.from_to, silent.description, silent.reference, silent.notes) == ("", "", "", "")


def test_ofx_payee_may_be_nested_and_name_takes_precedence():
    single_entry = read_single_entry(PAYEE="<NAME>Initech<CITY>Bonn</PAYEE>", MEMO="x")
    assert (single_entry.from_to, single_entry.description) == ("Initech", "x")
    assert read_single_entry(PAYEE="<NAME>Initech</PAYEE>", NAME="Globex").from_to == "Globex"


def test_ofx_first_value_of_a_tag_counts():
    assert read_single_entry(MEMO="first<MEMO>second").description == "first"
    assert read_single_entry(MEMO="first", PAYEE="<NAME>Initech</PAYEE><MEMO>second").description == "first"
    assert read_single_entry(MEMO="\n<MEMO>first").description == "first"


def test_ofx_closed_tags_are_accepted():
    closed = "<MEMO>two</MEMO>\n<BANKACCTTO><BANKID>1</BANKID><FITID>2</FITID></BANKACCTTO><FITID>F1</FITID>"
    (result,) = read_ofx(
        build_statement(build_movement(X=f"x</X>{closed}"), build_movement(), behind=build_balance("10"))
    )
    assert [(each.description, each.reference) for each in result.entries] == [("two", "F1"), ("", "")]
    assert (result.closing, result.account_number) == (10, "DE1")


def test_ofx_entries_without_statement_currency_have_no_currency():
    (result,) = read_ofx(build_statement(build_movement(), currency=""))
    assert [each.currency for each in result.entries] == [""]


def test_ofx_counterparty_account_data_is_ignored():
    single_entry = read_single_entry(BANKACCTTO="<NAME>Other<FITID>2</BANKACCTTO>", MEMO="x")
    assert (single_entry.from_to, single_entry.description, single_entry.reference) == ("", "x", "")


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("<CURSYM>USD<CURRATE>0.5", ("-1.75", "EUR", "Amount USD -3.5")),
        ("<CURSYM>usd<CURRATE>0,333", ("-1.17", "EUR", "Amount USD -3.5")),  # half up, as money is
        ("<CURSYM>USD", ("-3.5", "USD", "Amount USD -3.5")),  # nobody tells the rate
        ("<CURSYM>EUR<CURRATE>2", ("-3.5", "EUR", "")),
        ("<CURSYM>EUR<CURRATE>NaN", ("-3.5", "EUR", "")),  # nobody needs it
    ],
)
def test_ofx_foreign_amount_is_converted_if_rate_is_given(inside, expected):
    single_entry = read_single_entry(CURRENCY=f"{inside}</CURRENCY>", CHECKNUM="")
    assert (single_entry.amount, single_entry.currency, single_entry.notes) == expected


@pytest.mark.parametrize(
    ("amount", "rate", "own"),
    [
        ("0.01", "0.5", "0.01"),  # half a cent goes up
        ("-0.01", "0.4", "0"),
        ("-1000000", "1000", "-1000000000"),
        ("1", "+.5", "0.5"),
        ("1", "2.", "2"),
        ("1", "0.000000000000000000000000000001", "0"),
        ("999999999999999", "1", "999999999999999"),
        ("123456789012.345678901234567890", "1", "123456789012.35"),
        ("100000000000000.004999999999999999", "1.000000000000000000000000000000", "100000000000000"),
    ],
)
def test_ofx_converted_amount_is_exact_to_the_cent(amount, rate, own):
    assert read_single_entry(TRNAMT=amount, CURRENCY=f"<CURSYM>USD<CURRATE>{rate}</CURRENCY>").amount == own


def test_ofx_converted_amount_has_decimals_of_statement_currency():
    (result,) = read_ofx(
        build_statement(build_movement(CURRENCY="<CURSYM>USD<CURRATE>155.3</CURRENCY>"), currency="<CURDEF>JPY")
    )
    assert [(each.amount, each.currency) for each in result.entries] == [("-544", "JPY")]


def test_ofx_amount_is_not_converted_to_unknown_currency():
    (result,) = read_ofx(
        build_statement(build_movement(CURRENCY="<CURSYM>USD<CURRATE>2</CURRENCY>"), currency="<CURDEF>XXX")
    )
    assert [(each.amount, each.currency) for each in result.entries] == [("-3.5", "USD")]


@pytest.mark.parametrize(
    "rate",
    [
        "NaN", "-NaN", "sNaN", "Infinity", "-Infinity", "0", "0.00", "-1.5", "1E400", "1e5", "1_000", "٣", "1 2",
        "soon", ".", "1.2.3", "1" * 16, f"0.{'1' * 31}",
    ],
)  # fmt: skip
def test_ofx_invalid_rate_error_names_line(rate):
    error = get_error(build_statement(build_movement(CURRENCY=f"<CURSYM>USD<CURRATE>{rate}</CURRENCY>")))
    assert error == f"Line 5: “{rate}” is not a valid exchange rate."


def test_ofx_invalid_rate_error_shows_first_forty_characters():
    error = get_error(build_statement(build_movement(CURRENCY=f"<CURSYM>USD<CURRATE>{'x' * 50}</CURRENCY>")))
    assert error == f"Line 5: “{'x' * 40}” is not a valid exchange rate."


def test_ofx_converted_amount_that_is_too_long_is_rejected():
    foreign = build_movement(TRNAMT="-999999999999999", CURRENCY="<CURSYM>USD<CURRATE>10</CURRENCY>")
    assert get_error(build_statement(foreign)) == "Line 5: “9999999999999990.00” is not a valid amount."


def test_ofx_notes_are_on_separate_lines():
    single_entry = read_single_entry(CURRENCY="<CURSYM>USD</CURRENCY>", CHECKNUM="17")
    assert single_entry.notes == "Amount USD -3.5\nCheck 17"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"DTPOSTED": ""}, "STMTTRN has no DTPOSTED or no TRNAMT."),
        ({"TRNAMT": ""}, "STMTTRN has no DTPOSTED or no TRNAMT."),
        ({"TRNAMT": "x" * 50}, f"“{'x' * 40}” is not a valid amount."),
        ({"TRNAMT": "--1"}, "“--1” is not a valid amount."),
        ({"TRNAMT": "."}, "“.” is not a valid amount."),
        ({"DTPOSTED": "2026131" + "x" * 50}, f"“2026131{'x' * 33}” is not a valid time."),
        ({"DTPOSTED": "20261301"}, "“20261301” is not a valid time."),
        ({"DTPOSTED": "2026 1 1"}, "“2026 1 1” is not a valid time."),
        ({"DTPOSTED": "2026+1+1"}, "“2026+1+1” is not a valid time."),
        ({"NAME": "x" * (MAX_TEXT_LENGTH + 1)}, f"The text is longer than {MAX_TEXT_LENGTH} characters."),
        ({"MEMO": "x" * (MAX_TEXT_LENGTH + 1)}, f"The text is longer than {MAX_TEXT_LENGTH} characters."),
    ],
)
def test_malformed_ofx_entry_error_names_line(values, said):
    assert get_error(build_statement(build_movement(**values))) == f"Line 5: {said}"


def test_ofx_text_may_have_maximum_length():
    single_entry = read_single_entry(NAME="x" * MAX_TEXT_LENGTH, MEMO="y" * MAX_TEXT_LENGTH)
    assert (len(single_entry.from_to), len(single_entry.description)) == (MAX_TEXT_LENGTH, MAX_TEXT_LENGTH)


@pytest.mark.parametrize("behind", [build_balance("x"), build_balance("1", "x")])
def test_malformed_ofx_balance_error_names_line_of_statement(behind):
    assert get_error("\n", build_statement(behind=behind)).startswith("Line 4: “x” is not a valid ")
    assert get_error(build_statement("<DTSTART>x")) == "Line 3: “x” is not a valid time."
    assert get_error(build_statement("<DTEND>x")) == "Line 3: “x” is not a valid time."


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1,234.50", "1234.5"), ("1.234,50", "1234.5"), ("1234,5", "1234.5"), ("-1 234.50", "-1234.5"), ("+7", "7"),
        ("1.234.567,89", "1234567.89"), ("-0.00", "0"), ("1234", "1234"), (".5", "0.5"),
    ],
)  # fmt: skip
def test_ofx_last_point_or_comma_is_decimal_separator(text, amount):
    assert ofx.parse_signed_amount(text, 1) == amount


@given(st.dates(date(1900, 1, 1), date(2100, 12, 31)), st.sampled_from(["", "[0:GMT]", "120000", "120000.000[-5:EST]"]))
def test_ofx_time_gives_its_written_date(day, time):
    assert ofx.parse_ofx_day(f"{day.year:04}{day:%m%d}{time}", 1) == day
