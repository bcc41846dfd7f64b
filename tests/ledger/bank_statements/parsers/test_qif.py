"""QIF, letter by letter; without a database."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.bank_statements.parsers import qif
from ledger.bank_statements.parsers.models import MAX_TEXT_LENGTH, TooManyEntriesError, UnreadableFileError
from ledger.bank_statements.parsers.qif import DAY_FIRST, MONTH_FIRST, AmbiguousDateOrderError

HEAD = "!Type:Bank"


def read_qif(*lines, order=None, kept=None, most=9):
    order, entries = qif.read_qif_entries(
        iter(lines), find_currency=lambda _: "EUR", order=order, default_order=kept, max_entries=most
    )
    return order, [each for account in entries.values() for each in account]


def get_error(*lines, **more):
    with pytest.raises(UnreadableFileError) as answer:
        read_qif(*lines, **more)
    return str(answer.value)


def read_day(text, **more):
    _, (result,) = read_qif(HEAD, f"D{text}", "T1", "^", **more)
    return str(result.day)


@pytest.mark.parametrize(
    ("text", "one"),
    [("!Type:Bank", True), (" \n!type:cash", True), ("!Account", True), ("!Option:X", True), ("!Clear:X", True),
     ("!Other", False), ("D1/31/26", False), (" " * 195 + "!Type:Bank", True), (" " * 196 + "!Type:Bank", False)],
)  # fmt: skip
def test_qif_is_detected_by_first_header(text, one):
    assert qif.is_qif(text) is one


def test_qif_entry_yields_date_amount_payee_memo_and_number():
    order, (result,) = read_qif("", HEAD, " D31/12/26 ", "T-1,234.50", "P A  B ", "Mtwo\twords", "N 17", "LRent", "^")
    assert order == DAY_FIRST
    assert (result.day, result.amount, result.currency) == (date(2026, 12, 31), "-1234.5", "EUR")
    assert (result.from_to, result.description, result.notes, result.line) == ("A B", "two words", "Number 17", 3)
    _, (silent,) = read_qif(HEAD, "D31/12/26", "T1", "^")
    assert (silent.from_to, silent.description, silent.notes, silent.reference) == ("", "", "", "")


def test_qif_entry_uses_first_line_per_letter_and_u_amount_if_t_is_blank():
    _, result = read_qif(HEAD, "D31/12/26", "T1", "T2", "U3", "^", "D31/12/26", "T ", "U 3 ", "^")
    assert [each.amount for each in result] == ["1", "3"]


@pytest.mark.parametrize("kind", ["Bank", "CASH", " ccard ", "Oth A", "oth l"])
def test_entries_of_accounts_are_read(kind):
    assert len(read_qif(f"!Type:{kind}", "D31/12/26", "T1", "^")[1]) == 1


@pytest.mark.parametrize("header", ["!Type:Cat", "!Type:Memorized", "!Account", "!Option:AutoSwitch", "!Bank"])
def test_non_account_entries_are_skipped(header):
    assert read_qif(header, "NMain", "^", HEAD, "D31/12/26", "T1", "^", header, "NMain")[1][0].line == 5


def test_qif_header_discards_unfinished_entry():
    assert read_qif(HEAD, "Mopen", HEAD, "^", "D31/12/26", "T1", "^")[1][0].description == ""


def test_lines_before_the_first_header_are_skipped():
    assert len(read_qif("D31/12/26", "T1", "^", HEAD, "D31/12/26", "T2", "^")[1]) == 1


def test_empty_qif_entry_is_ignored():
    assert read_qif(HEAD, "^", "", "^") == (None, [])
    assert read_qif() == (None, [])


def test_qif_entries_over_limit_are_rejected():
    one = ["D31/12/26", "T1", "^"]
    assert len(read_qif(HEAD, *one * 2, most=2)[1]) == 2
    with pytest.raises(TooManyEntriesError):
        read_qif(HEAD, *one * 3, most=2)


INVALID_DATE_MESSAGE = "is not a valid date. Use the format 31/12/2026 or 2026-12-31."


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["!Type:Invst"], "Line 2: Securities entries are not supported."),
        ([HEAD, "PRent", "D31/12/26", "T1"], "Line 3: The entry has no end: ^ is missing."),
        ([HEAD, "", "PRent", "T1", "^"], "Line 4: The entry has no date (D) or no amount (T)."),
        ([HEAD, "D31/12/26", "PRent", "^"], "Line 3: The entry has no date (D) or no amount (T)."),
        ([HEAD, "D31/12/26", "T ", "U", "^"], "Line 3: The entry has no date (D) or no amount (T)."),
        ([HEAD, "PRent", "Dsoon", "D1/1/26", "T1", "^"], f"Line 4: “soon” {INVALID_DATE_MESSAGE}"),
        ([HEAD, f"D{'1' * 50}", "T1", "^"], f"Line 3: “{'1' * 40}” {INVALID_DATE_MESSAGE}"),
        (
            [HEAD, "T1", "D31/13/26", "^"],
            "Line 4: “31/13/26” is not a valid date with the day first. Choose the other order.",
        ),
        ([HEAD, "T1", "D2026-13-01", "^"],
         "Line 4: “2026-13-01” is not a valid date. Use the format 2026-12-31."),
        ([HEAD, "PRent", "D31/12/26", "Tx", "^"], "Line 3: “x” is not a valid amount."),
        ([HEAD, "PRent", "D31/12/26", "T1", "M" + "x" * (MAX_TEXT_LENGTH + 1), "^"],
         f"Line 3: The text is longer than {MAX_TEXT_LENGTH} characters."),
    ],
)  # fmt: skip
def test_broken_qif_line_is_named_in_error(lines, said):
    assert get_error("", *lines, kept=DAY_FIRST) == said


def test_date_in_other_order_is_rejected_with_hint_to_change_order():
    assert get_error(HEAD, "T1", "D 31/12/26", "^", order=MONTH_FIRST) == (
        "Line 3: “31/12/26” is not a valid date with the month first. Choose the other order."
    )


@pytest.mark.parametrize("letter", "PMN")
def test_text_over_max_length_is_rejected(letter):
    assert len(read_qif(HEAD, "D31/12/26", "T1", letter + "x" * MAX_TEXT_LENGTH, "^")[1]) == 1
    assert "The text is longer than" in get_error(HEAD, "D31/12/26", "T1", letter + "x" * (MAX_TEXT_LENGTH + 1), "^")


# ---------------------------------------------------------------------------------------------- dates


@given(st.dates(date(1970, 1, 1), date(2069, 12, 31)))
def test_date_is_parsed_in_its_order_with_two_or_four_digit_year(day):
    assert read_day(f"{day:%d/%m/%Y}", order=DAY_FIRST) == read_day(f"{day:%d.%m.%y}", order=DAY_FIRST) == str(day)
    assert read_day(f"{day:%m/%d/%Y}", order=MONTH_FIRST) == read_day(f"{day:%m-%d-%y}", order=MONTH_FIRST) == str(day)
    assert read_day(f"{day:%Y-%m-%d}") == read_day(f"{day:%Y/%m/%d}", order=MONTH_FIRST) == str(day)


@pytest.mark.parametrize(
    ("text", "day"),
    [("1/2/69", "2069-02-01"), ("1/2/70", "1970-02-01"), ("1/2'70", "2070-02-01"), ("1/2' 5", "2005-02-01"),
     ("1/2/1900", "1900-02-01"), ("1/2/2100", "2100-02-01"), ("31/02/26", "2026-02-28")],
)  # fmt: skip
def test_two_digit_year_starts_at_1970_or_at_2000_after_apostrophe(text, day):
    assert read_day(text, order=DAY_FIRST) == day


@pytest.mark.parametrize("text", ["1/2/0099", "1/2/100", "0024-03-25"])
def test_year_before_1900_is_rejected(text):
    with pytest.raises(UnreadableFileError):
        read_day(text, order=DAY_FIRST)


@pytest.mark.parametrize(
    ("texts", "order"),
    [
        (["13/1/26"], DAY_FIRST),
        (["1/13/26"], MONTH_FIRST),
        (["12/1/26", "1/13/26"], MONTH_FIRST),
        (["2026-01-31", "13/1/26", "999-01-31"], DAY_FIRST),  # one that begins with its year tells nothing
        (["1/2/26"], None),
        (["12/12/26"], None),
        (["13/1/26", "1/13/26"], None),  # they contradict each other
        (["2026-01-13"], None),
    ],
)
def test_date_order_is_detected_from_unambiguous_dates(texts, order):
    assert qif.detect_date_order([qif.match_date_numbers(each, 1) for each in texts]) == order


def test_date_order_prefers_request_then_dates_then_saved_order():
    two = [HEAD, "D1/2/26", "T1", "^"]
    assert (read_qif(*two, kept=DAY_FIRST)[0], read_day("1/2/26", kept=DAY_FIRST)) == (DAY_FIRST, "2026-02-01")
    assert read_day("1/2/26", kept=DAY_FIRST, order=MONTH_FIRST) == "2026-01-02"
    assert read_day("13/2/26", kept=MONTH_FIRST) == "2026-02-13"
    with pytest.raises(AmbiguousDateOrderError):
        read_qif(*two)
    with pytest.raises(AmbiguousDateOrderError):
        read_qif(*two, "D2026-01-01", "T1", "^")
    assert read_qif(HEAD, "D2026-01-02", "T1", "^")[0] is None
