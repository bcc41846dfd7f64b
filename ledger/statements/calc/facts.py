"""What a bank's file says, whatever its format: statements with their entries."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property, lru_cache

from ledger.calc.months import day_in_month
from ledger.importing.calc.entries import Entry

LONGEST_TEXT = 10_000  # of a transaction's texts
LONGEST_NUMBER = 64  # of an account
LONGEST_PIECE = 2 * LONGEST_TEXT  # of a line or a field, with what a bank writes around its texts
MOST_AROUND, MOST_AN_ENTRY = 200_000, 100  # tags of a file; an entry has about thirty, its details included
CONTROL = dict.fromkeys([*range(32), *range(127, 160)], " ")
AMOUNT = re.compile(r"0*+([0-9]{0,15})(?:\.([0-9]{0,18}))?")
ISO_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")


class Unreadable(Exception):
    """The file is broken; ``why`` says to people what is wrong there, with ``values`` in its braces. Line 0 is none."""

    def __init__(self, why: str, *, line: int, **values: str | int):
        self.line, self.why, self.values = line, why, values
        said = why.format(**values)
        super().__init__(f"Line {line}: {said}" if line else said)


class Unsafe(Exception):
    """XML with a document type or entities: those can grow, or lie elsewhere."""


class NoStatement(Exception):
    """XML that is something else."""


class TooManyEntries(Exception):
    """More entries than one import takes."""


def enough(count: int, entries: int, *, line: int) -> None:
    """Holds a file to as many tags as so many entries can need. Raises Unreadable."""
    if count > MOST_AROUND + MOST_AN_ENTRY * entries:
        raise Unreadable("Too many elements for so few entries.", line=line)


@dataclass(frozen=True)
class Statement:
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
        """What the booked entries add up to; None where one is in another currency only."""
        total = Decimal(0)
        for entry in self.entries:
            if not entry.pending:
                if entry.currency != self.currency:
                    return None
                total += Decimal(entry.amount)
        return total

    @property
    def difference(self) -> Decimal | None:
        """By how much the file contradicts itself."""
        booked = self.booked_sum
        if self.opening is None or self.closing is None or booked is None:
            return None
        return self.closing - self.opening - booked

    @property
    def period(self) -> tuple[date, date] | None:
        """What it is about: as it says, else from its first entry to its last; None where it has none."""
        first, last = self.days or (self.end, self.start)
        start, end = self.start or first, self.end or last
        return (start, end) if start and end else None

    @property
    def first_day(self) -> date | None:
        first, _last = self.booked_days or (None, None)
        return min((day for day in (self.start, first) if day), default=None)

    @property
    def last_day(self) -> date | None:
        """On whose evening the closing balance holds: the end, or the last entry's day where that is later."""
        _first, last = self.booked_days or (None, None)
        return max((day for day in (self.end, last) if day), default=None)


def unheard(_done: int) -> None:
    """For who does not ask how far a reader is."""


def clean(text: str) -> str:
    """A text in one line, without control characters and without blanks beyond one.

    >>> clean(" Invoice\\t1042\\n  of May\\0 ")
    'Invoice 1042 of May'
    """
    return " ".join(text.translate(CONTROL).split())


def amount_of(text: str, *, negative: bool, line: int) -> str:
    """An amount without a sign as plain text with one; zeros at its ends say nothing. Raises Unreadable.

    >>> amount_of("0012.5000", negative=True, line=1), amount_of("7.", negative=False, line=1)
    ('-12.5', '7')
    """
    match = AMOUNT.fullmatch(text)
    if match is None or not text.strip("."):
        raise Unreadable("“{text}” is no amount.", line=line, text=text[:40])
    whole, cents = match[1] or "0", (match[2] or "").rstrip("0")
    plain = f"{whole}.{cents}" if cents else whole
    return f"-{plain}" if negative and plain != "0" else plain


@lru_cache(maxsize=1 << 12)
def iso_day(text: str) -> date | None:
    """The day at the start of an ISO date or time, as it is written there; None for anything else."""
    match = ISO_DAY.match(text)
    try:
        return day_in_month(int(match[1]), int(match[2]), int(match[3])) if match else None
    except ValueError:
        return None


def fitting(lines: list[str]) -> str:
    """Lines put together as far as a text holds them, with a word about the rest."""
    text = "\n".join(lines)
    if len(text) <= LONGEST_TEXT:
        return text
    shown: list[str] = []
    room = LONGEST_TEXT - 40
    for each in lines:
        room -= len(each) + 1
        if room < 0:
            break
        shown.append(each)
    return "\n".join([*shown, f"… and {len(lines) - len(shown):,} more"])
