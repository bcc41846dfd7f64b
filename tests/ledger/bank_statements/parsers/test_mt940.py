"""MT940 and MT942, field by field; without a database."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.bank_statements.parsers import mt940
from ledger.bank_statements.parsers.models import (
    MAX_PIECE_LENGTH,
    MAX_TEXT_LENGTH,
    TooManyEntriesError,
    UnreadableFileError,
)

HEAD = [":20:A", ":25:DE1", ":28C:7/1", ":60F:C260101EUR10,00"]
END = ":62F:C260131EUR10,00"


def read_mt940(*lines, max_entries=100):
    return mt940.read_mt940(iter([f"{line}\n" for line in lines]), max_entries=max_entries)


def read_single_entry(*lines):
    _, (statement,) = read_mt940(*HEAD, *lines, END)
    (result,) = statement.entries
    return result


def get_error(*lines):
    with pytest.raises(UnreadableFileError) as answer:
        read_mt940(*lines)
    return str(answer.value)


# ---------------------------------------------------------------------------------------------- which files


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (":20:A\n", True),
        ("Bank of somewhere\n\n:20:A\n", True),
        ("{1:F01}{2:I940}{4:\n:20:A\n", True),
        ("{4:\n:20:A", True),
        ("{4::20:A", True),
        ("x:20:A\n", False),  # a line begins with it
        (":21:A\n", False),
        ("x" * 4995 + "\n:20:A", True),
        ("x" * 4996 + "\n:20:A", False),  # not within the first 5,000 letters
    ],
)
def test_mt940_is_detected_by_its_first_field(text, expected):
    assert mt940.is_mt940(text) is expected


# ---------------------------------------------------------------------------------------------- a statement


def test_mt940_statement_has_account_currency_number_dates_and_balances():
    format_, (result,) = read_mt940(":20:A", ":25: DE1 \n2", ":28C:7/1", ":60F:D260102EUR1,5", ":62F:C260131EUR2,", "-")
    assert format_ == "mt940"
    assert (result.account_number, result.currency, result.statement_id) == ("DE1", "EUR", "7/1")
    assert (result.start, result.end) == (date(2026, 1, 2), date(2026, 1, 31))
    assert (result.opening, result.closing, result.final) == (Decimal("-1.5"), Decimal(2), True)


def test_mt940_account_number_is_truncated_and_read_from_field_25p():
    _, (result,) = read_mt940(":20:A", f":25P:{'9' * 70}", ":28:3", *HEAD[3:], END)
    assert (result.account_number, result.statement_id) == ("9" * 64, "3")


def test_mt940_closing_balance_alone_is_sufficient():
    _, (result,) = read_mt940(":20:A", ":25:1", END)
    assert (result.start, result.opening, result.currency, result.closing) == (None, None, "EUR", 10)
    assert (result.account_number, result.statement_id) == ("1", "")


def test_mt940_balance_is_first_line_of_its_field():
    _, (result,) = read_mt940(*HEAD, END, "thank you")
    assert result.closing == 10


def test_mt940_account_may_be_missing():
    _, (result,) = read_mt940(":20:A", *HEAD[3:], END)
    assert result.account_number == ""


def test_mt940_text_before_first_message_and_empty_messages_are_ignored():
    assert read_mt940(":61:x", *HEAD, END)[1] != []
    assert read_mt940(":20:A", ":25:1", ":28:1") == ("mt940", [])
    assert read_mt940() == ("mt940", [])


def test_mt942_report_has_no_balances_and_all_entries_pending():
    lines = [":20:A", ":25:DE1", ":13D:2601151200+0100", ":34F:EURD0,00", ":34F:USDC0,00", ":61:260115D1,NTRF"]
    format_, (result,) = read_mt940(*lines)
    assert (format_, result.currency, result.final, result.opening) == ("mt942", "EUR", False, None)
    assert [each.pending for each in result.entries] == [True]
    assert read_mt940(*lines, *HEAD, END)[0] == "mt940", "a file with a statement in it is one of statements"


def test_mt942_report_may_be_empty():
    format_, (result,) = read_mt940(
        ":20:A", ":25:DE1", ":28C:1/1", ":34F:EUR0,00", ":13D:2601151200+0100", ":90D:0EUR0,00"
    )
    assert (format_, result.currency, result.entries) == ("mt942", "EUR", [])


def test_mt940_message_without_currency_is_rejected():
    assert get_error("", ":20:A", ":61:260115D1,NTRF") == ("Line 2: The statement has no currency (60F, 62F or 34F).")


def test_mt940_pages_are_merged_per_account_until_statement_ends():
    page = [":20:A", ":25:1", ":60F:C260101EUR1,", ":61:260102C1,NTRF", ":62M:C260102EUR2,"]
    last = [":20:A", ":25:1", ":60M:C260102EUR2,", ":61:260103C1,NTRF", ":62F:C260103EUR3,"]
    middle = [":20:A", ":25:1", ":60M:C260102EUR2,", ":61:260102C1,NTRF", ":62M:C260102EUR2,"]
    (result,) = read_mt940(*page, *middle, *last)[1]
    assert (result.opening, result.closing, len(result.entries)) == (1, 3, 3)
    others = [":20:A", ":25:2", *last[2:]]
    assert [len(each.entries) for each in read_mt940(*page, *others)[1]] == [1, 1]
    again = [*last[:2], ":60F:C260102EUR2,", *last[3:]]  # it opens anew
    assert [len(each.entries) for each in read_mt940(*page, *again)[1]] == [1, 1]
    ended = [*page[:4], ":62F:C260102EUR2,"]  # it ended
    assert [each.opening for each in read_mt940(*ended, *last)[1]] == [1, 2]


def test_mt940_empty_message_between_pages_is_ignored():
    page = [":20:A", ":25:1", ":60F:C260101EUR1,", ":62M:C260102EUR2,"]
    last = [":20:A", ":25:1", ":60M:C260102EUR2,", ":62F:C260103EUR3,"]
    (result,) = read_mt940(*page, ":20:B", ":25:1", *last)[1]
    assert result.closing == 3


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([":60F:C260101EUR1,"], "Line 2: The statement has no closing balance (62F)."),
        (
            [":60F:C260101EUR1,", ":62F:C260131USD1,"],
            "Line 2: The statement opens in EUR and closes in USD. Request it from the bank again.",
        ),
        ([":60F:nothing"], "Line 3: “nothing” is not a valid balance."),
        ([":60F:"], "Line 3: “” is not a valid balance."),
        ([f":60F:{'x' * 50}"], f"Line 3: “{'x' * 40}” is not a valid balance."),
        ([":60F:C261301EUR1,"], "Line 3: “261301” is not a valid date."),
        ([":60F:C260101EUR1,2,3"], "Line 3: “1.2.3” is not a valid amount."),
        ([f":61:{'x' * 50}", HEAD[3], END], f"Line 3: “{'x' * 40}” is not a valid entry (61)."),
        ([":61:260100C1,NTRF", HEAD[3], END], "Line 3: “260100” is not a valid date."),
        ([":61:2601011301C1,NTRF", HEAD[3], END], "Line 3: “1301” is not a valid date."),
        ([":61:260101C1,2,3NTRF", HEAD[3], END], "Line 3: “1.2.3” is not a valid amount."),
    ],
)
def test_malformed_mt940_line_errors_name_line(lines, said):
    assert get_error("", ":20:A", *lines) == said


def test_mt940_entries_and_messages_are_limited():
    movement = ":61:260115D1,NTRF"
    assert len(read_mt940(*HEAD, movement, movement, END, max_entries=2)[1][0].entries) == 2
    with pytest.raises(TooManyEntriesError):
        read_mt940(*HEAD, movement, movement, movement, END, max_entries=2)
    with pytest.raises(TooManyEntriesError):
        read_mt940(":20:A", ":20:B", ":20:C", max_entries=2)


# ---------------------------------------------------------------------------------------------- fields


def test_mt940_field_continues_until_next_field_or_end_of_message():
    lines = [":20:A\n", ":86:one\r\n", "two\r\n", "-\n", "outside\n", ":20:B\n", ":86:three\n", "-}\n", ":NS:x"]
    assert list(mt940.iterate_mt940_fields(iter(lines))) == [
        (1, "20", "A"), (2, "86", "one\ntwo"), (6, "20", "B"), (7, "86", "three"), (9, "NS", "x"),
    ]  # fmt: skip


@pytest.mark.parametrize("end", ["-", "-}", "-}{5:{CHK:1}}", "{1:F01BANK}", "-XXX"])
def test_mt940_message_terminators_are_recognized(end):
    assert list(mt940.iterate_mt940_fields(iter([":86:one", end, "outside", end]))) == [(1, "86", "one")]


@pytest.mark.parametrize("line", ["-x", "- ", "{2:I940}", ":8:x", ":86x", " :86:x"])
def test_mt940_continuation_lines_belong_to_the_text(line):
    assert list(mt940.iterate_mt940_fields(iter([":86:one", line]))) == [(1, "86", f"one\n{line}")]


def test_mt940_field_length_is_limited():
    first, more = ":86:" + "x" * 9_995, "x" * 10_000  # and the end of the line between them
    assert len([*mt940.iterate_mt940_fields(iter([first, more]))]) == 1
    with pytest.raises(UnreadableFileError) as answer:
        list(mt940.iterate_mt940_fields(iter(["", first, more + "x"])))
    assert str(answer.value) == f"Line 2: The text is longer than {MAX_PIECE_LENGTH} characters."
    assert len([*mt940.iterate_mt940_fields(iter([first, ":86:", first, ":86:", first]))]) == 5  # each field for itself


# ---------------------------------------------------------------------------------------------- movements


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("260115C5,NTRFRENT//B-1", ("2026-01-15", "5", "RENT", "", "B-1")),
        ("260115D5,5NTRFNONREF//NONREF", ("2026-01-15", "-5.5", "", "", "")),
        ("260115D5,5NTRF RENT // B  1 ", ("2026-01-15", "-5.5", "RENT", "", "B 1")),
        ("2601150114RC1234,56NTRF", ("2026-01-14", "-1234.56", "", "Value date 2026-01-15", "")),
        ("260115ED5,NTRF", ("2026-01-15", "-5", "", "", "")),
        ("260115EC5,NTRF", ("2026-01-15", "5", "", "", "")),
        ("260115C5,", ("2026-01-15", "5", "", "", "")),
        ("260115CR5,S103", ("2026-01-15", "5", "", "", "")),
        ("791231C5,NTRF", ("2079-12-31", "5", "", "", "")),
        ("800101C5,NTRF", ("1980-01-01", "5", "", "", "")),
    ],
)
def test_mt940_entry_has_day_amount_reference_and_customer_reference(field, expected):
    single_entry = read_single_entry(f":61:{field}")
    assert (
        str(single_entry.day),
        single_entry.amount,
        single_entry.description,
        single_entry.notes,
        single_entry.reference,
    ) == expected
    assert (single_entry.currency, single_entry.from_to, single_entry.pending, single_entry.line) == (
        "EUR",
        "",
        False,
        5,
    )


@given(st.dates(date(1990, 1, 1), date(2070, 1, 1)), st.integers(-180, 180))
def test_mt940_entry_date_without_year_is_closest_to_value_date(value, away):
    day = date.fromordinal(value.toordinal() + away)
    if (day.month, day.day) != (2, 29):  # one that the year beside it has not is its month's last there
        assert mt940.find_entry_day(value, f"{day:%m%d}", 1) == day


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ([":61:260115C5,NTRFRENT", "further"], "further"),
        ([":61:260115C5,NTRFRENT", "further", ":86:said"], "said"),
        ([":61:260115C5,NTRFRENT"], "RENT"),
        ([":61:260115C5,NTRFNOTPROVIDED"], ""),
        ([":61:260115C5,NTRFRENT", ":28:1", ":86:of something else"], "RENT"),
        ([":86:of the account", ":61:260115C5,NTRFRENT", ":86: one ", " two "], "one two"),
    ],
)
def test_mt940_description_prefers_information_over_other_texts(lines, text):
    assert read_single_entry(*lines).description == text


def test_mt940_notes_start_with_value_date():
    single_entry = read_single_entry(":61:2601150116C5,NTRF", ":86:166?20EREF+E-1")
    assert single_entry.notes == "Value date 2026-01-15\nEnd-to-end E-1"


def test_mt940_information_applies_only_to_last_entry():
    _, (result,) = read_mt940(*HEAD, ":61:260115C5,NTRFX", ":61:260115C6,NTRFY", ":86:said", END)
    assert [each.description for each in result.entries] == ["X", "said"]


def test_mt940_text_length_is_limited():
    assert len(read_single_entry(":61:260115C5,NTRF", ":86:" + "x" * MAX_TEXT_LENGTH).description) == MAX_TEXT_LENGTH
    why = f"Line 5: The text is longer than {MAX_TEXT_LENGTH} characters."
    assert get_error(*HEAD, ":61:260115C5,NTRF", ":86:" + "x" * (MAX_TEXT_LENGTH + 1), END) == why
    assert get_error(*HEAD, ":61:260115C5,NTRF", ":86:166?32" + "x" * (MAX_TEXT_LENGTH + 1), END) == why
    assert len(read_single_entry(":61:260115C5,NTRF", ":86:166?32" + "x" * MAX_TEXT_LENGTH).from_to) == MAX_TEXT_LENGTH


@pytest.mark.parametrize(
    ("said", "party", "text", "notes"),
    [
        ("166?00GUTSCHRIFT?20Miete?21Mai", "", "Miete Mai", []),
        ("166?00GUTSCHRIFT?29a?30b?31c?60d?63e?64f?19g", "", "a d e", []),  # 30 is a bank, 31 an account
        ("166?00GUTSCHRIFT", "", "GUTSCHRIFT", []),
        ("166?21second?20first", "", "first second", []),
        ("166?20one?20again", "", "one", []),  # the first counts
        (f"166?20{'x' * 27}?21y", "", f"{'x' * 27}y", []),  # a full field goes on in the next
        (f"166?20{'x' * 26}?21y", "", f"{'x' * 26} y", []),
        ("166?20a?32Init?33ech GmbH", "Initech GmbH", "a", []),
        ("166?20a?33Initech", "Initech", "a", []),
        ("166?20EREF+E-1?21MREF+M-1?22SVWZ+Miete", "", "Miete", ["End-to-end E-1", "Mandate M-1"]),
        ("166?20EREF+NOTPROVIDED?21SVWZ+Miete", "", "Miete", []),
        ("166?20Miete EREF+E-1", "", "Miete", ["End-to-end E-1"]),
        ("166?20EREF+E-1?00LOHN", "", "", ["End-to-end E-1"]),
        ("1 6?20blank", "", "blank", []),
        ("16?20a", "", "16?20a", []),  # no code of a booking stands before it
        ("166?a", "", "166?a", []),
        ("166?20one\ntwo", "", "onetwo", []),  # a line ends where it is full
        ("/EREF/E-1/MARF/M-1/NAME/Init\nech/REMI/Miete", "Initech", "Miete", ["End-to-end E-1", "Mandate M-1"]),
        ("166?32Initech", "Initech", "", []),
        ("Miete/NAME/Initech", "Initech", "Miete", []),
        ("/REMI/Miete", "", "Miete", []),
        ("/NAME/Initech/NAME/Globex/REMI//EREF/NONREF", "Initech", "", []),
        (" plain\n text ", "", "plain text", []),
        ("", "", "", []),
    ],
)
def test_mt940_information_is_read_as_numbered_slash_or_plain_text(said, party, text, notes):
    assert mt940.parse_information(said) == (party, text, notes)


# ---------------------------------------------------------------------------------------------- what banks do otherwise


@pytest.mark.parametrize("amount", ["12.3.4", "1,2.3", "123 45", "1e3", "1E3", "5-5", "1,2,3"])
def test_mt940_malformed_amount_is_rejected(amount):
    assert "is not a valid " in get_error(*HEAD, f":61:260115C{amount}NTRF", END)
    assert "is not a valid " in get_error(*HEAD[:3], f":60F:C260101EUR{amount}", END)


def test_mt940_text_line_that_looks_like_a_field_stays_text():
    text = [
        ":86:106?20SVWZ+SHOP?21 21-03-2024T03:46",
        ":08:12 Karte?22 und",
        ":20:15 Uhr",
        ": x",
        ":25:30 h?32KREDITBANK",
    ]
    single_entry = read_single_entry(":61:260115D44,04NMSC", *text)
    assert (single_entry.from_to, single_entry.description) == (
        "KREDITBANK",
        "SHOP 21-03-2024T03:46:08:12 Karte und:20:15 Uhr: x:25:30 h",
    )


def test_mt940_next_message_may_start_without_separator():
    first = [*HEAD, ":61:260115D1,NTRF", ":86:Rent", END, ":86:of the statement"]
    second = [":20:B", ":25:DE2", ":28C:1/1", ":60F:C260101EUR5,", END]
    assert [(each.account_number, len(each.entries)) for each in read_mt940(*first, *second)[1]] == [
        ("DE1", 1),
        ("DE2", 0),
    ]


def test_mt940_messages_without_field_20_start_with_account():
    one = ["BANK", "940", ":25:DE1", ":28:1", ":60F:C260101EUR1,", ":61:260115C1,NTRF", ":86:Rent", ":62F:C260131EUR2,"]
    other = ["-", ":25:DE2", ":28:1", ":60F:C260101EUR1,", ":62F:C260131EUR1,"]
    assert mt940.is_mt940("\n".join(one))
    assert not mt940.is_mt940("day;text\n1;:25:00\n")
    result = read_mt940(*one, *other)[1]
    assert [(each.account_number, len(each.entries)) for each in result] == [("DE1", 1), ("DE2", 0)]


@pytest.mark.parametrize("separator", [">", "/", "<", "~", "|", "+", "&", "^"])
def test_mt940_numbered_fields_accept_other_separators(separator):
    text = "000?00FEE?20COSTS OF TH?21IS MONTH?32BANK NV".replace("?", separator)
    assert mt940.parse_information(text) == ("BANK NV", "COSTS OF THIS MONTH", [])


def test_mt940_full_subfields_are_joined_and_others_separated_by_space():
    full = "TRANSACTION COSTS FROM JANU"
    assert mt940.parse_information(f"000>100987654321\n>20{full}>21ARY\n>22TRIONL2U\n>23NL36") == (
        "", "TRANSACTION COSTS FROM JANUARY TRIONL2U NL36", [],
    )  # fmt: skip


@pytest.mark.parametrize("text", ["123/10 of 20/12", "100/20 paid", "007-00 James", "999 00 1 20"])
def test_mt940_plain_text_with_numbers_is_not_split(text):
    assert mt940.parse_information(text) == ("", text, [])
