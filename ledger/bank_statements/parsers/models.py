"""Parsed bank files, whatever their format: statements with their entries."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property, lru_cache

from ledger.calc.months import clamp_day_to_month
from ledger.imports.calc.entries import Entry
from ledger.imports.calc.running_balance import BalanceFault

MAX_TEXT_LENGTH = 10_000  # of a transaction's texts
MAX_ACCOUNT_NUMBER_LENGTH = 64  # of an account
MAX_PIECE_LENGTH = 2 * MAX_TEXT_LENGTH  # of a line or a field, with what a bank writes around its texts
MAX_OUTER_TAGS, MAX_TAGS_PER_ENTRY = 200_000, 100  # tags of a file; an entry has about thirty, its details included
CONTROL_CHARACTERS = dict.fromkeys([*range(32), *range(127, 160)], " ")
AMOUNT_PATTERN = re.compile(r"0*+([0-9]{0,15})(?:\.([0-9]{0,18}))?")
ISO_DATE_PATTERN = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")


class UnreadableFileError(Exception):
    """The file is broken; ``message`` says how, with ``values`` in its braces. Line 0: no line is known."""

    def __init__(self, message: str, *, line: int, **values: str | int):
        self.line, self.message, self.values = line, message, values
        text = message.format(**values)
        super().__init__(f"Line {line}: {text}" if line else text)


class UnsafeXmlError(Exception):
    """The XML has a document type or entities, which can expand or refer to other places."""


class NotAStatementError(Exception):
    """The XML is no bank statement."""


class TooManyEntriesError(Exception):
    """The file has more entries than one import takes."""


def check_element_count(count: int, entries: int, *, line: int) -> None:
    """Limit the number of tags by the number of entries. Raises UnreadableFileError."""
    if count > MAX_OUTER_TAGS + MAX_TAGS_PER_ENTRY * entries:
        raise UnreadableFileError("Too many elements.", line=line)


@dataclass(frozen=True)
class ParsedStatement:
    """One account's entries over a period, and its booked balances before and after, where the bank tells them.

    ``final``: of its period the bank will book nothing more. ``account_name``: where a file of several accounts has no
    numbers (QIF). ``format`` is that of its file, and ``file`` numbers the files of an archive.
    """

    account_number: str
    currency: str
    entries: Sequence[Entry]
    statement_id: str = ""
    start: date | None = None
    end: date | None = None
    opening: Decimal | None = None
    closing: Decimal | None = None
    final: bool = False
    account_name: str = ""
    format: str = ""
    file: int = 0
    has_unique_ids: bool = False  # whether a reference is the id of one entry alone
    balance_fault: BalanceFault | None = None  # why the balance column of a table has no balances

    @cached_property
    def pending_count(self) -> int:
        return sum(entry.pending for entry in self.entries)

    @cached_property
    def days(self) -> tuple[date, date] | None:
        """The first and the last day of an entry."""
        days = {entry.day for entry in self.entries}
        return (min(days), max(days)) if days else None

    @cached_property
    def booked_days(self) -> tuple[date, date] | None:
        """The first and the last day of a booked entry."""
        if not self.pending_count:
            return self.days
        days = {entry.day for entry in self.entries if not entry.pending}
        return (min(days), max(days)) if days else None

    @cached_property
    def booked_sum(self) -> Decimal | None:
        """The sum of booked entries; None if one is only in another currency."""
        total = Decimal(0)
        for entry in self.entries:
            if not entry.pending:
                if entry.currency != self.currency:
                    return None
                total += Decimal(entry.amount)
        return total

    @property
    def difference(self) -> Decimal | None:
        """By how much balances and entries of the file disagree."""
        booked = self.booked_sum
        if self.opening is None or self.closing is None or booked is None:
            return None
        return self.closing - self.opening - booked

    @property
    def period(self) -> tuple[date, date] | None:
        """The stated period, else from its first to its last entry; None without both."""
        first, last = self.days or (self.end, self.start)
        start, end = self.start or first, self.end or last
        return (start, end) if start and end else None

    @property
    def first_day(self) -> date | None:
        first, _ = self.booked_days or (None, None)
        return min((day for day in (self.start, first) if day), default=None)

    @property
    def last_day(self) -> date | None:
        """The day at whose end the closing balance holds: the end, or the last entry's day if later."""
        _, last = self.booked_days or (None, None)
        return max((day for day in (self.end, last) if day), default=None)


def discard_progress(_done: int) -> None:
    """Ignore the progress of a reader."""


def clean_text(text: str) -> str:
    """Return a text in one line, without control characters and repeated spaces.

    >>> clean_text(f" Invoice{chr(9)}1042{chr(10)}  of May{chr(0)} ")
    'Invoice 1042 of May'
    """
    return " ".join(text.translate(CONTROL_CHARACTERS).split())


def to_signed_amount(text: str, *, negative: bool, line: int) -> str:
    """Return an unsigned amount as plain text with a sign, without leading and trailing zeros. Raises
    UnreadableFileError.

    >>> to_signed_amount("0012.5000", negative=True, line=1), to_signed_amount("7.", negative=False, line=1)
    ('-12.5', '7')
    """
    match = AMOUNT_PATTERN.fullmatch(text)
    if match is None or not text.strip("."):
        raise UnreadableFileError("“{text}” is not a valid amount.", line=line, text=text[:40])
    integer_part, cents = match[1] or "0", (match[2] or "").rstrip("0")
    plain = f"{integer_part}.{cents}" if cents else integer_part
    return f"-{plain}" if negative and plain != "0" else plain


@lru_cache(maxsize=1 << 12)
def parse_iso_day(text: str) -> date | None:
    """Return the day at the start of an ISO date or time, as written; None for anything else."""
    match = ISO_DATE_PATTERN.match(text)
    try:
        return clamp_day_to_month(int(match[1]), int(match[2]), int(match[3])) if match else None
    except ValueError:
        return None


def join_fitting_lines(lines: list[str]) -> str:
    """Join lines as far as the length of a text allows, with a note about the rest."""
    text = "\n".join(lines)
    if len(text) <= MAX_TEXT_LENGTH:
        return text
    lines_shown: list[str] = []
    characters_left = MAX_TEXT_LENGTH - 40
    for line in lines:
        characters_left -= len(line) + 1
        if characters_left < 0:
            break
        lines_shown.append(line)
    return "\n".join([*lines_shown, f"… and {len(lines) - len(lines_shown):,} more"])
