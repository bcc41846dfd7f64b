"""QIF, of Quicken: one letter at the start of each line says what stands behind it, and ^ ends an entry.

It names no currency and no balance, accounts by their names alone, and nobody says in which order its dates are
written.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date
from typing import NamedTuple

from ledger.calc.months import day_in_month
from ledger.calc.written_amounts import MixedMarksError, find_decimal_mark
from ledger.importing.calc.entries import Entry
from ledger.statements.calc.facts import LONGEST_NUMBER, LONGEST_TEXT, TooManyEntries, Unreadable, clean
from ledger.statements.calc.ofx import mixed_marks, parse_signed_amount

ACCOUNTS = {"bank", "cash", "ccard", "oth a", "oth l"}
DAY_FIRST, MONTH_FIRST = "dayFirst", "monthFirst"
DATE = re.compile(r"\s*([0-9]{1,4})\s*[-/.]\s*([0-9]{1,2})\s*([-/.'])\s*([0-9]{1,4})\s*")
CENTURY_TURNS = 70  # 69 is 2069, 70 is 1970, as POSIX reads two digits; behind an apostrophe it is 20xx


class OrderUnknown(Exception):
    """The dates fit both orders."""


class SeveralAccounts(Exception):
    """A section begins behind another one, and neither says of which account it is: ``line`` is where."""

    def __init__(self, line: int):
        self.line = line
        super().__init__(f"Line {line}")


def is_one(text: str) -> bool:
    return re.match(r"\s*!(?:type|account|option|clear)", text[:200], re.IGNORECASE) is not None


def read(
    lines: Iterator[str], *, currency_of: Callable[[str], str], order: str | None, kept: str | None, most: int
) -> tuple[str | None, dict[str, list[Entry]]]:
    """(order of the dates, entries by the name of their account, which may be empty).

    ``currency_of`` tells the currency of an account by its name. ``order`` as it was asked for; where it is None, what
    the dates tell, or ``kept``. Dates that begin with their years need none.

    Raises Unreadable, TooManyEntries, OrderUnknown.
    """
    records = list(records_of(lines, most))
    written = [written_on(each.values["D"], each.date_line) for each in records]
    order = order or told_order(written) or kept
    if order is None and not all(map(year_first, written)):
        raise OrderUnknown
    mark = find_mark(records)
    currencies = {name: currency_of(name) for name in {each.account: None for each in records}}
    entries: dict[str, list[Entry]] = {name: [] for name in currencies}
    for match, record in zip(written, records, strict=True):
        when = day(match, order, record.date_line)
        entries[record.account].append(entry(when, record.line, record.values, currencies[record.account], mark))
    return order, entries


class Record(NamedTuple):
    """One entry as it stands in the file; ``values`` by letter."""

    account: str
    date_line: int
    line: int
    values: dict[str, str]


def records_of(lines: Iterator[str], most: int) -> Iterator[Record]:
    """The entries of accounts; what is none is left out. Before those of an account its name may stand.

    Raises SeveralAccounts, Unreadable, TooManyEntries.
    """
    wanted, has, begun, dated, count = False, {}, 0, 0, 0  # type: tuple[bool, dict[str, str], int, int, int]
    sections = Sections()
    for number, read_line in enumerate(lines, 1):
        line = read_line.strip()
        sections.take(line)
        if line.startswith("!"):
            wanted = is_wanted(line, number)
            sections.begin(line, is_wanted=wanted)
            has = {}
        elif line.startswith("^"):
            if wanted and has:
                count += 1
                if count > most:
                    raise TooManyEntries
                yield Record(sections.get_account(begun), dated, begun, whole(has, begun))
            has = {}
        elif line and wanted:
            begun = begun if has else number
            dated = number if line[0] == "D" and "D" not in has else dated
            has.setdefault(line[0], line[1:])
    if wanted and has:
        raise Unreadable("The entry does not end: ^ is missing.", line=begun)


class Sections:
    """Of which account the entries of each section are."""

    def __init__(self) -> None:
        self.account = ""
        self.names_account = False  # whether the lines tell an account
        self.is_named = False  # whether one was told since the section before
        self.has_entries = False
        self.is_unknown = False

    def take(self, line: str) -> None:
        if self.names_account and line.startswith("N"):
            self.account, self.is_named = clean(line[1:])[:LONGEST_NUMBER], True

    def begin(self, header: str, *, is_wanted: bool) -> None:
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


def is_wanted(header: str, line: int) -> bool:
    """Whether entries of an account follow. Raises Unreadable for those of securities."""
    kind = header[1:].strip().lower()
    if kind.startswith("type:"):
        kind = kind.removeprefix("type:").strip()
        if kind == "invst":
            raise Unreadable("Entries of securities are no movements of an account.", line=line)
        return kind in ACCOUNTS
    return False


def whole(has: dict[str, str], line: int) -> dict[str, str]:
    if "D" not in has or not amount_in(has):
        raise Unreadable("The entry has no date (D) or no amount (T).", line=line)
    return has


def amount_in(has: dict[str, str]) -> str:
    """What stands under T, or else under U; nothing where both are blank."""
    return has.get("T", "").strip() or has.get("U", "").strip()


def written_on(text: str, line: int) -> "re.Match[str]":
    """The numbers of a date. Raises Unreadable."""
    match = DATE.fullmatch(text[:40])
    if match is None:
        raise Unreadable("“{text}” is no date. Write it as 31/12/2026 or 2026-12-31.", line=line, text=text[:40])
    return match


def year_first(written: "re.Match[str]") -> bool:
    return len(written[1]) > 2


def told_order(dates: "list[re.Match[str]]") -> str | None:
    """The order in which all the dates are days; None where that is so of both, or of none.

    >>> told_order([written_on("1/31'26", 1), written_on("2/3'26", 2)]), told_order([written_on("1.2.2026", 1)])
    ('monthFirst', None)
    """
    fitting = {DAY_FIRST, MONTH_FIRST}
    for match in dates:
        if year_first(match):
            continue
        if int(match[1]) > 12:
            fitting.discard(MONTH_FIRST)
        if int(match[2]) > 12:
            fitting.discard(DAY_FIRST)
    return fitting.pop() if len(fitting) == 1 else None


def day(match: "re.Match[str]", order: str | None, line: int) -> date:
    """The day; one that begins with its year is read in any case. Raises Unreadable."""
    first, second, mark, last = int(match[1]), int(match[2]), match[3], int(match[4])
    if year_first(match):
        order, year, month, number = None, first, second, last
    else:
        year = last
        if len(match[4]) <= 2:
            year += 2000 if mark == "'" or last < CENTURY_TURNS else 1900
        month, number = (second, first) if order == DAY_FIRST else (first, second)
    try:
        return day_in_month(year, month, number)
    except ValueError:
        raise no_day(match[0].strip(), order, line) from None


def no_day(text: str, order: str | None, line: int) -> Unreadable:
    if order is None:
        why = Unreadable("“{text}” begins with a year, and is no date. Write it as 2026-12-31.", line=line, text=text)
    elif order == DAY_FIRST:
        why = Unreadable("“{text}” is no date with the day first. Choose the other order.", line=line, text=text)
    else:
        why = Unreadable("“{text}” is no date with the month first. Choose the other order.", line=line, text=text)
    return why


def find_mark(records: list[Record]) -> str:
    """The decimal mark of all amounts; nothing where none tells it. Raises Unreadable where they differ."""
    lines = {amount_in(each.values): each.line for each in reversed(records)}
    try:
        return find_decimal_mark(reversed(lines))
    except MixedMarksError as error:
        raise mixed_marks(error, lines[error.texts[1]]) from None


def entry(when: date, line: int, has: dict[str, str], currency: str, mark: str) -> Entry:
    texts = {name: clean(has.get(name, "")) for name in "PMN"}
    if any(len(each) > LONGEST_TEXT for each in texts.values()):
        raise Unreadable("A text of more than {most} characters.", line=line, most=LONGEST_TEXT)
    return Entry(
        day=when,
        amount=parse_signed_amount(amount_in(has), line, mark),
        currency=currency,
        from_to=texts["P"],
        description=texts["M"],
        notes=f"Number {texts['N']}" if texts["N"] else "",
        line=line,
    )
