"""QIF, of Quicken: the first letter of each line names its field, and ^ ends an entry.

It has no currency and no balance, accounts only by name, and an unknown date order.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date
from typing import NamedTuple

from ledger.bank_statements.parsers.models import (
    MAX_ACCOUNT_NUMBER_LENGTH,
    MAX_TEXT_LENGTH,
    TooManyEntriesError,
    UnreadableFileError,
    clean_text,
)
from ledger.bank_statements.parsers.ofx import build_mixed_marks_error, parse_signed_amount
from ledger.calc.months import clamp_day_to_month
from ledger.calc.written_amounts import MixedMarksError, find_decimal_mark
from ledger.imports.calc.entries import Entry

ACCOUNT_TYPES = {"bank", "cash", "ccard", "oth a", "oth l"}
DAY_FIRST, MONTH_FIRST = "dayFirst", "monthFirst"
DATE_PATTERN = re.compile(r"\s*([0-9]{1,4})\s*[-/.]\s*([0-9]{1,2})\s*([-/.'])\s*([0-9]{1,4})\s*")
CENTURY_TURNS = 70  # 69 is 2069, 70 is 1970, as POSIX reads two digits; behind an apostrophe it is 20xx


class AmbiguousDateOrderError(Exception):
    """The dates fit both orders."""


class SeveralAccounts(Exception):
    """A section begins behind another one, and neither says of which account it is: ``line`` is where."""

    def __init__(self, line: int):
        self.line = line
        super().__init__(f"Line {line}")


def is_qif(text: str) -> bool:
    """Whether a text begins like QIF."""
    return re.match(r"\s*!(?:type|account|option|clear)", text[:200], re.IGNORECASE) is not None


def read_qif_entries(
    lines: Iterator[str],
    *,
    find_currency: Callable[[str], str],
    order: str | None,
    default_order: str | None,
    max_entries: int,
) -> tuple[str | None, dict[str, list[Entry]]]:
    """Return (order of the dates, entries by the name of their account, which may be empty).

    Args:
        find_currency: returns an account's currency by its name.
        order: as requested; if None, what the dates show, or ``default_order``. Dates with the year first need
            none.

    Raises UnreadableFileError, TooManyEntriesError, AmbiguousDateOrderError.
    """
    records = list(iterate_qif_records(lines, max_entries))
    date_matches = [match_date_numbers(qif_record.values["D"], qif_record.date_line) for qif_record in records]
    order = order or detect_date_order(date_matches) or default_order
    if order is None and not all(map(is_year_first, date_matches)):
        raise AmbiguousDateOrderError
    decimal_mark = find_qif_decimal_mark(records)
    currencies = {name: find_currency(name) for name in {qif_record.account: None for qif_record in records}}
    entries: dict[str, list[Entry]] = {name: [] for name in currencies}
    for match, record in zip(date_matches, records, strict=True):
        when = parse_qif_day(match, order, record.date_line)
        entries[record.account].append(
            build_qif_entry(when, record.line, record.values, currencies[record.account], decimal_mark)
        )
    return order, entries


class QifRecord(NamedTuple):
    """One entry of the file; ``values`` by letter."""

    account: str
    date_line: int
    line: int
    values: dict[str, str]


def iterate_qif_records(lines: Iterator[str], max_entries: int) -> Iterator[QifRecord]:
    """The entries of accounts; what is none is left out. Before those of an account its name may stand.

    Raises SeveralAccounts, Unreadable, TooManyEntries.
    """
    in_account, values, first_line, date_line, count = False, {}, 0, 0, 0  # type: tuple[bool, dict[str, str], int, int, int]
    sections = QifSections()
    for number, read_line in enumerate(lines, 1):
        line = read_line.strip()
        sections.read_line(line)
        if line.startswith("!"):
            in_account = is_account_header(line, number)
            sections.begin_section(line, is_wanted=in_account)
            values = {}
        elif line.startswith("^"):
            if in_account and values:
                count += 1
                if count > max_entries:
                    raise TooManyEntriesError
                yield QifRecord(
                    sections.get_account(first_line), date_line, first_line, check_qif_record(values, first_line)
                )
            values = {}
        elif line and in_account:
            first_line = first_line if values else number
            date_line = number if line[0] == "D" and "D" not in values else date_line
            values.setdefault(line[0], line[1:])
    if in_account and values:
        raise UnreadableFileError("The entry has no end: ^ is missing.", line=first_line)


class QifSections:
    """Of which account the entries of each section are."""

    def __init__(self) -> None:
        self.account = ""
        self.names_account = False  # whether the lines tell an account
        self.is_named = False  # whether one was told since the section before
        self.has_entries = False
        self.is_unknown = False

    def read_line(self, line: str) -> None:
        if self.names_account and line.startswith("N"):
            self.account, self.is_named = clean_text(line[1:])[:MAX_ACCOUNT_NUMBER_LENGTH], True

    def begin_section(self, header: str, *, is_wanted: bool) -> None:
        self.names_account = header[1:].strip().lower() == "account"
        if is_wanted:
            self.is_unknown = self.has_entries and not self.is_named
            self.is_named = False

    def get_account(self, line: int) -> str:
        """The account of an entry. Raises SeveralAccounts."""
        if self.is_unknown:
            raise SeveralAccounts(line)
        self.has_entries = True
        return self.account


def is_account_header(header: str, line: int) -> bool:
    """Whether entries of an account follow. Raises UnreadableFileError for securities."""
    kind = header[1:].strip().lower()
    if kind.startswith("type:"):
        kind = kind.removeprefix("type:").strip()
        if kind == "invst":
            raise UnreadableFileError("Securities entries are not supported.", line=line)
        return kind in ACCOUNT_TYPES
    return False


def check_qif_record(values: dict[str, str], line: int) -> dict[str, str]:
    """Return the values. Raises UnreadableFileError if date or amount is missing."""
    if "D" not in values or not get_amount_text(values):
        raise UnreadableFileError("The entry has no date (D) or no amount (T).", line=line)
    return values


def get_amount_text(values: dict[str, str]) -> str:
    """Return the text of T, or else of U; empty if both are blank."""
    return values.get("T", "").strip() or values.get("U", "").strip()


def match_date_numbers(text: str, line: int) -> "re.Match[str]":
    """Return the numbers of a date. Raises UnreadableFileError."""
    match = DATE_PATTERN.fullmatch(text[:40])
    if match is None:
        raise UnreadableFileError(
            "“{text}” is not a valid date. Use the format 31/12/2026 or 2026-12-31.", line=line, text=text[:40]
        )
    return match


def is_year_first(match: "re.Match[str]") -> bool:
    return len(match[1]) > 2


def detect_date_order(dates: "list[re.Match[str]]") -> str | None:
    """Return the only order in which all dates exist; None if both or none fit.

    >>> detect_date_order([match_date_numbers("1/31'26", 1), match_date_numbers("2/3'26", 2)])
    'monthFirst'
    >>> detect_date_order([match_date_numbers("1.2.2026", 1)]) is None
    True
    """
    possible_orders = {DAY_FIRST, MONTH_FIRST}
    for match in dates:
        if is_year_first(match):
            continue
        if int(match[1]) > 12:
            possible_orders.discard(MONTH_FIRST)
        if int(match[2]) > 12:
            possible_orders.discard(DAY_FIRST)
    return possible_orders.pop() if len(possible_orders) == 1 else None


def parse_qif_day(match: "re.Match[str]", order: str | None, line: int) -> date:
    """Return the date; one with its year first is read in any order. Raises UnreadableFileError."""
    first, second, separator, last = int(match[1]), int(match[2]), match[3], int(match[4])
    if is_year_first(match):
        order, year, month, number = None, first, second, last
    else:
        year = last
        if len(match[4]) <= 2:
            year += 2000 if separator == "'" or last < CENTURY_TURNS else 1900
        month, number = (second, first) if order == DAY_FIRST else (first, second)
    try:
        return clamp_day_to_month(year, month, number)
    except ValueError:
        raise build_day_error(match[0].strip(), order, line) from None


def build_day_error(text: str, order: str | None, line: int) -> UnreadableFileError:
    if order is None:
        error = UnreadableFileError("“{text}” is not a valid date. Use the format 2026-12-31.", line=line, text=text)
    elif order == DAY_FIRST:
        error = UnreadableFileError(
            "“{text}” is not a valid date with the day first. Choose the other order.", line=line, text=text
        )
    else:
        error = UnreadableFileError(
            "“{text}” is not a valid date with the month first. Choose the other order.", line=line, text=text
        )
    return error


def find_qif_decimal_mark(records: list[QifRecord]) -> str:
    """The decimal mark of all amounts; nothing where none tells it. Raises Unreadable where they differ."""
    lines = {get_amount_text(each.values): each.line for each in reversed(records)}
    try:
        return find_decimal_mark(reversed(lines))
    except MixedMarksError as error:
        raise build_mixed_marks_error(error, lines[error.texts[1]]) from None


def build_qif_entry(when: date, line: int, values: dict[str, str], currency: str, decimal_mark: str) -> Entry:
    texts = {name: clean_text(values.get(name, "")) for name in "PMN"}
    if any(len(text) > MAX_TEXT_LENGTH for text in texts.values()):
        raise UnreadableFileError("The text is longer than {most} characters.", line=line, most=MAX_TEXT_LENGTH)
    return Entry(
        day=when,
        amount=parse_signed_amount(get_amount_text(values), line, decimal_mark),
        currency=currency,
        from_to=texts["P"],
        description=texts["M"],
        notes=f"Number {texts['N']}" if texts["N"] else "",
        line=line,
    )
