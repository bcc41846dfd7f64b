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


def read_ofx(*statements, most=100):
    head = "<SIGNONMSGSRSV1><SONRS><DTSERVER>20260201</SONRS></SIGNONMSGSRSV1>"
    return ofx.read_ofx(f"OFXHEADER:100\n<OFX>{head}\n{''.join(statements)}</OFX>\n", most=most)


def read_single_entry(**values):
    (found,) = read_ofx(build_statement(build_movement(**values)))
    return found.entries[0]


def get_error(*statements):
    with pytest.raises(UnreadableFileError) as told:
        read_ofx(*statements)
    return str(told.value)


def build_balance(amount, day=None):
    return f"<LEDGERBAL><BALAMT>{amount}{f'<DTASOF>{day}' if day else ''}</LEDGERBAL>"


# ---------------------------------------------------------------------------------------------- the file


@pytest.mark.parametrize("evil", ["<!DOCTYPE a>", "<!ENTITY a 'b'>", "<!element a>"])
def test_a_file_that_declares_anything_is_refused(evil):
    with pytest.raises(UnsafeXmlError):
        ofx.read_ofx(f"{evil}<OFX></OFX>", most=1)


def test_a_file_ends_with_its_last_tag():
    with pytest.raises(UnreadableFileError, match=r"^Line 3: The file ends before its </OFX>\.$"):
        ofx.read_ofx("<OFX>\n<STMTRS>\n</STMTRS>", most=1)
    with pytest.raises(UnreadableFileError, match=r"^Line 1: The file ends before"):
        ofx.read_ofx("", most=1)
    with pytest.raises(UnreadableFileError, match=r"^Line 2: The file ends before"):
        ofx.read_ofx("<OFX></OFX>\n<OFX>", most=1)
    assert ofx.read_ofx("<ofx></ofx> \n", most=1) == []


def test_tags_for_so_few_movements_end_somewhere(monkeypatch):
    monkeypatch.setattr("ledger.bank_statements.parsers.models.MAX_OUTER_TAGS", 4)
    assert ofx.read_ofx("<OFX><A><B></OFX>", most=1) == []
    with pytest.raises(UnreadableFileError, match=r"^Line 2: Too many elements for so few entries\.$"):
        ofx.read_ofx("<OFX><A><B><C>\n</OFX>", most=1)


def test_tags_are_read_with_their_lines_however_they_are_written():
    text = "\n<a>one</a>\n<B.C_1 x='1'> two \n three\n<d/>"
    assert list(ofx.iterate_tags(text)) == [
        (2, False, "A", "one"), (2, True, "A", ""), (3, False, "B.C_1", "two \n three"), (5, False, "D", ""),
    ]  # fmt: skip


def test_statements_of_accounts_and_of_cards_are_read_each_with_its_account():
    card = build_statement(build_movement(), kind="CCSTMTRS").replace("BANKACCTFROM", "CCACCTFROM")
    found = read_ofx(build_statement(), card, "<STMTTRN>" + build_movement())
    assert [(each.account_number, len(each.entries)) for each in found] == [("DE1", 0), ("DE1", 1)]


def test_more_movements_or_statements_than_an_import_takes_are_refused():
    assert len(read_ofx(build_statement(build_movement() * 2), build_statement(), most=2)) == 2
    for content in (
        [build_statement(build_movement() * 3)],
        [build_statement()] * 3,
        [build_statement(build_movement() * 2), build_statement(build_movement())],
    ):
        with pytest.raises(TooManyEntriesError):
            read_ofx(*content, most=2)


def test_a_movement_or_a_statement_has_so_many_values_and_no_more():
    many = "".join(f"<A{number}>x" for number in range(ofx.MAX_VALUES - 2))
    assert len(read_ofx(build_statement(build_movement(MEMO="", X=f"x{many[:-6]}")))[0].entries) == 1
    assert get_error(build_statement(build_movement(X=f"x\n{many}<B>x"))) == "Line 7: Too many kinds of values."
    assert get_error(build_statement(behind=f"\n{many}")) == "Line 6: Too many kinds of values."


# ---------------------------------------------------------------------------------------------- a statement


def test_a_statement_opens_with_what_was_there_before_its_movements():
    (found,) = read_ofx(
        build_statement(
            "<DTSTART>20260101<DTEND>20260120\n",
            build_movement(),
            build_movement(TRNAMT="10"),
            behind=build_balance("100", "20260131"),
        )
    )
    assert (found.closing, found.opening) == (100, Decimal("93.5"))
    assert (found.start, found.end) == (date(2026, 1, 1), date(2026, 1, 31))  # the balance is of a later day
    assert (found.currency, found.final) == ("EUR", False)


@pytest.mark.parametrize(
    ("behind", "closing", "opening", "end"),
    [
        ("", None, None, date(2026, 1, 20)),
        (build_balance("-1,5"), Decimal("-1.5"), Decimal(2), date(2026, 1, 20)),
        ("<AVAILBAL><BALAMT>7<DTASOF>20260131</AVAILBAL>", None, None, date(2026, 1, 20)),  # what a credit line leaves
    ],
)
def test_balance_and_days_are_those_that_the_bank_tells(behind, closing, opening, end):
    (found,) = read_ofx(build_statement("<DTSTART>20260101<DTEND>20260120\n", build_movement(), behind=behind))
    assert (found.closing, found.opening, found.end) == (closing, opening, end)


def test_a_statement_may_tell_neither_days_nor_currency_nor_account():
    (found,) = read_ofx("<STMTRS><BANKTRANLIST></BANKTRANLIST></STMTRS>")
    assert (found.start, found.end, found.currency, found.account_number) == (None, None, "", "")


def test_what_was_announced_counts_for_no_balance_and_may_tell_when_it_was_made():
    pending = build_movement("STMTTRNP", DTPOSTED="", DTTRAN="20260116")
    (found,) = read_ofx(build_statement(build_movement(), pending, behind=build_balance("10")))
    assert [(str(each.day), each.pending) for each in found.entries] == [("2026-01-15", False), ("2026-01-16", True)]
    assert found.opening == Decimal("13.5")
    assert "no DTPOSTED" in get_error(
        build_statement(build_movement(DTPOSTED="", DTTRAN="20260116"))
    )  # a booked one is posted


def test_a_number_of_an_account_is_one_line_of_sixty_four_letters():
    number = "9" * 40 + " \n " + "8" * 40
    (found,) = read_ofx(build_statement().replace("DE1", number))
    assert found.account_number == ("9" * 40 + " " + "8" * 40)[:64]


def test_without_all_in_one_currency_no_opening_balance_follows():
    foreign = build_movement(CURRENCY="<CURSYM>USD</CURRENCY>")
    (found,) = read_ofx(build_statement(foreign, behind=build_balance("10")))
    assert (found.closing, found.opening) == (10, None)


# ---------------------------------------------------------------------------------------------- a movement


def test_a_movement_says_who_what_for_and_which():
    found = read_single_entry(NAME="A &amp; B", MEMO=" two \n words ", FITID=" F 1 ", CHECKNUM=" 17 ")
    assert (found.from_to, found.description, found.reference, found.notes) == ("A & B", "two words", "F 1", "Check 17")
    assert (found.currency, found.amount, found.line, found.pending) == ("EUR", "-3.5", 5, False)
    silent = read_single_entry()
    assert (silent.from_to, silent.description, silent.reference, silent.notes) == ("", "", "", "")


def test_a_payee_may_be_named_in_a_part_of_its_own():
    found = read_single_entry(PAYEE="<NAME>Initech<CITY>Bonn</PAYEE>", MEMO="x")
    assert (found.from_to, found.description) == ("Initech", "x")
    assert read_single_entry(PAYEE="<NAME>Initech</PAYEE>", NAME="Globex").from_to == "Globex"


def test_the_first_value_of_a_tag_counts_wherever_a_part_stands_between():
    assert read_single_entry(MEMO="first<MEMO>second").description == "first"
    assert read_single_entry(MEMO="first", PAYEE="<NAME>Initech</PAYEE><MEMO>second").description == "first"
    assert read_single_entry(MEMO="\n<MEMO>first").description == "first"


def test_tags_may_be_closed_each():
    closed = "<MEMO>two</MEMO>\n<BANKACCTTO><BANKID>1</BANKID><FITID>2</FITID></BANKACCTTO><FITID>F1</FITID>"
    (found,) = read_ofx(
        build_statement(build_movement(X=f"x</X>{closed}"), build_movement(), behind=build_balance("10"))
    )
    assert [(each.description, each.reference) for each in found.entries] == [("two", "F1"), ("", "")]
    assert (found.closing, found.account_number) == (10, "DE1")


def test_a_statement_without_a_currency_has_movements_without_one():
    (found,) = read_ofx(build_statement(build_movement(), currency=""))
    assert [each.currency for each in found.entries] == [""]


def test_the_account_on_the_other_side_says_nothing_of_this_one():
    found = read_single_entry(BANKACCTTO="<NAME>Other<FITID>2</BANKACCTTO>", MEMO="x")
    assert (found.from_to, found.description, found.reference) == ("", "x", "")


@pytest.mark.parametrize(
    ("inside", "told"),
    [
        ("<CURSYM>USD<CURRATE>0.5", ("-1.75", "EUR", "Amount USD -3.5")),
        ("<CURSYM>usd<CURRATE>0,333", ("-1.17", "EUR", "Amount USD -3.5")),  # half up, as money is
        ("<CURSYM>USD", ("-3.5", "USD", "Amount USD -3.5")),  # nobody tells the rate
        ("<CURSYM>EUR<CURRATE>2", ("-3.5", "EUR", "")),
        ("<CURSYM>EUR<CURRATE>NaN", ("-3.5", "EUR", "")),  # nobody needs it
    ],
)
def test_money_of_another_currency_is_told_in_the_statements_where_the_bank_tells_the_rate(inside, told):
    found = read_single_entry(CURRENCY=f"{inside}</CURRENCY>", CHECKNUM="")
    assert (found.amount, found.currency, found.notes) == told


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
def test_an_amount_at_a_rate_is_exact_to_the_cent(amount, rate, own):
    assert read_single_entry(TRNAMT=amount, CURRENCY=f"<CURSYM>USD<CURRATE>{rate}</CURRENCY>").amount == own


def test_an_amount_at_a_rate_has_no_more_decimals_than_the_statements_currency():
    (found,) = read_ofx(
        build_statement(build_movement(CURRENCY="<CURSYM>USD<CURRATE>155.3</CURRENCY>"), currency="<CURDEF>JPY")
    )
    assert [(each.amount, each.currency) for each in found.entries] == [("-544", "JPY")]


def test_no_rate_leads_to_a_currency_that_there_is_not():
    (found,) = read_ofx(
        build_statement(build_movement(CURRENCY="<CURSYM>USD<CURRATE>2</CURRENCY>"), currency="<CURDEF>XXX")
    )
    assert [(each.amount, each.currency) for each in found.entries] == [("-3.5", "USD")]


@pytest.mark.parametrize(
    "rate",
    [
        "NaN", "-NaN", "sNaN", "Infinity", "-Infinity", "0", "0.00", "-1.5", "1E400", "1e5", "1_000", "٣", "1 2",
        "soon", ".", "1.2.3", "1" * 16, f"0.{'1' * 31}",
    ],
)  # fmt: skip
def test_a_rate_that_is_none_is_told_with_its_line(rate):
    said = get_error(build_statement(build_movement(CURRENCY=f"<CURSYM>USD<CURRATE>{rate}</CURRENCY>")))
    assert said == f"Line 5: “{rate}” is no exchange rate."


def test_of_a_rate_that_is_none_forty_letters_are_told():
    said = get_error(build_statement(build_movement(CURRENCY=f"<CURSYM>USD<CURRATE>{'x' * 50}</CURRENCY>")))
    assert said == f"Line 5: “{'x' * 40}” is no exchange rate."


def test_an_amount_that_a_rate_makes_longer_than_amounts_are_is_refused():
    foreign = build_movement(TRNAMT="-999999999999999", CURRENCY="<CURSYM>USD<CURRATE>10</CURRENCY>")
    assert get_error(build_statement(foreign)) == "Line 5: “9999999999999990.00” is no amount."


def test_notes_stand_on_lines_of_their_own():
    found = read_single_entry(CURRENCY="<CURSYM>USD</CURRENCY>", CHECKNUM="17")
    assert found.notes == "Amount USD -3.5\nCheck 17"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"DTPOSTED": ""}, "STMTTRN has no DTPOSTED or no TRNAMT."),
        ({"TRNAMT": ""}, "STMTTRN has no DTPOSTED or no TRNAMT."),
        ({"TRNAMT": "x" * 50}, f"“{'x' * 40}” is no amount."),
        ({"TRNAMT": "--1"}, "“--1” is no amount."),
        ({"TRNAMT": "."}, "“.” is no amount."),
        ({"DTPOSTED": "2026131" + "x" * 50}, f"“2026131{'x' * 33}” is no time."),
        ({"DTPOSTED": "20261301"}, "“20261301” is no time."),
        ({"DTPOSTED": "2026 1 1"}, "“2026 1 1” is no time."),
        ({"DTPOSTED": "2026+1+1"}, "“2026+1+1” is no time."),
        ({"NAME": "x" * (MAX_TEXT_LENGTH + 1)}, f"A text of more than {MAX_TEXT_LENGTH} characters."),
        ({"MEMO": "x" * (MAX_TEXT_LENGTH + 1)}, f"A text of more than {MAX_TEXT_LENGTH} characters."),
    ],
)
def test_a_broken_movement_is_told_with_its_line(values, said):
    assert get_error(build_statement(build_movement(**values))) == f"Line 5: {said}"


def test_texts_are_as_long_as_the_ledger_holds():
    found = read_single_entry(NAME="x" * MAX_TEXT_LENGTH, MEMO="y" * MAX_TEXT_LENGTH)
    assert (len(found.from_to), len(found.description)) == (MAX_TEXT_LENGTH, MAX_TEXT_LENGTH)


@pytest.mark.parametrize("behind", [build_balance("x"), build_balance("1", "x")])
def test_a_broken_balance_is_told_with_the_line_of_its_statement(behind):
    assert get_error("\n", build_statement(behind=behind)).startswith("Line 4: “x” is no ")
    assert get_error(build_statement("<DTSTART>x")) == "Line 3: “x” is no time."
    assert get_error(build_statement("<DTEND>x")) == "Line 3: “x” is no time."


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1,234.50", "1234.5"), ("1.234,50", "1234.5"), ("1234,5", "1234.5"), ("-1 234.50", "-1234.5"), ("+7", "7"),
        ("1.234.567,89", "1234567.89"), ("-0.00", "0"), ("1234", "1234"), (".5", "0.5"),
    ],
)  # fmt: skip
def test_the_last_point_or_comma_of_an_amount_stands_before_the_cents(text, amount):
    assert ofx.parse_signed_amount(text, 1) == amount


@given(st.dates(date(1900, 1, 1), date(2100, 12, 31)), st.sampled_from(["", "[0:GMT]", "120000", "120000.000[-5:EST]"]))
def test_a_time_is_the_day_that_is_written_there(day, time):
    assert ofx.parse_ofx_day(f"{day.year:04}{day:%m%d}{time}", 1) == day
