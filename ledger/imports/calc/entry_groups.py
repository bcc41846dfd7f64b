"""What an entry of a file is matched with: stored transactions, and the group of its units."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from uuid import UUID

from ledger.calc.text_normalization import fold_words
from ledger.imports.calc.entries import Entry
from ledger.imports.calc.vocabulary import remove_booking_statuses

MatchKey = tuple[str, date, Decimal, str]


@dataclass(slots=True, eq=False)
class StoredTransaction:
    """A stored transaction as its import reported it."""

    id: UUID
    account: str
    day: date
    amount: Decimal
    currency: str
    reference: str
    from_to: str
    description: str
    pending: bool = False
    format: str | None = None  # of the file in which a statement brought it
    corrected: "StoredTransaction | None" = None  # as somebody has made it since
    is_matched: bool = False

    @property
    def words(self) -> str:
        return fold_entry_words(self)

    @property
    def match_key(self) -> MatchKey:
        return self.account, self.day, self.amount, self.currency


@dataclass(slots=True)
class EntryGroup:
    """The units of one entry: itself, or its single payments. Units that are neither new, nor booked by it, nor
    lapsed, nor closed are stored already.
    """

    account: str
    entry: Entry
    units: Sequence[Entry]
    new: list[Entry] = field(default_factory=list)
    booked: int = 0  # that were pending in the ledger until now
    lapsed: int = 0  # announced for days of which a final statement is there, that does not have them
    closed: int = 0  # that would be booked in closed months and are left out


def fold_entry_words(entry: Entry | StoredTransaction) -> str:
    """Join the texts of an entry to be compared, without words that say only that it is booked: descriptions had them
    once, and pending rows have others."""
    return fold_words(entry.from_to, remove_booking_statuses(entry.description))


def build_match_key(account: str, entry: Entry) -> MatchKey:
    """Return what an entry must have in common with a row."""
    return account, entry.day, Decimal(entry.amount), entry.currency


def build_entry_groups(account: str, entries: Iterable[Entry], *, details: bool) -> list[EntryGroup]:
    """Return entries as groups; with `details`, of single payments where there are any."""
    return [EntryGroup(account, entry, entry.parts if details and entry.parts else (entry,)) for entry in entries]
