"""Results of a statement import: by statement, and of the whole file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from ledger.bank_statements.parsers import models
from ledger.imports.calc.entries import Entry
from ledger.imports.calc.entry_groups import EntryGroup
from ledger.models import Account, ImportBatch


@dataclass(slots=True)
class StatementOutcome:
    """One statement of a file, and what happened to its entries."""

    statement: models.ParsedStatement
    account: Account
    entries: Sequence[Entry] = ()  # those that are not before the books start
    groups: dict[int, EntryGroup] = field(default_factory=dict)  # of those that may be known, by their position
    split: bool = False  # single payments in place of entries that are several
    count: int = 0
    duplicates: int = 0  # those that are booked now or have lapsed among them
    skipped: list[Entry] = field(default_factory=list)
    ledger_balance: Decimal | None = None

    def split_entries_at(self, data_start: date | None) -> None:
        """Set the entries to import, and those before the start of the books, which are left out."""
        self.entries = self.statement.entries
        if data_start is not None and any(each.day < data_start for each in self.entries):
            self.skipped = [each for each in self.entries if each.day < data_start]
            self.entries = [each for each in self.entries if each.day >= data_start]

    @property
    def pending(self) -> int:
        return self.statement.pending_count

    @property
    def booked(self) -> int:
        return sum(group.booked for group in self.groups.values())

    @property
    def lapsed(self) -> int:
        return sum(group.lapsed for group in self.groups.values())

    @property
    def skipped_closed(self) -> int:
        """What would be booked in closed months: new entries, and pending ones, which stay pending."""
        return sum(group.closed for group in self.groups.values())

    def list_entry_units(self, entry: Entry) -> Sequence[Entry]:
        """What is stored of an entry."""
        return entry.parts if self.split and entry.parts else (entry,)

    def list_new_entries(self) -> Iterator[Entry]:
        """Yield what the ledger has not, in the order of the file."""
        for position, entry in enumerate(self.entries):
            group = self.groups.get(position)
            yield from group.new if group else self.list_entry_units(entry)

    @property
    def known(self) -> int:
        """The number of entries that were stored already."""
        return self.duplicates - self.booked - self.lapsed

    @property
    def ledger_difference(self) -> Decimal | None:
        if self.statement.closing is None or self.ledger_balance is None:
            return None
        return self.statement.closing - self.ledger_balance


@dataclass(slots=True)
class StatementImportResult:
    """What importing a file did, or would do."""

    format: str
    statements: list[StatementOutcome]
    dry_run: bool
    other_accounts: list[str] = field(default_factory=list)  # whose statements are in the file and were left out
    batch: ImportBatch | None = None
    gone: int = 0  # rows that were pending and are not in a final statement
    gone_changed: int = 0  # of these, by somebody
    left_out: int = 0  # rows of a table that are no movements
    left_out_files: list[str] = field(default_factory=list)  # of an archive, that are no statements
    possible_duplicates: int = 0  # new ones with the day and amount of one that is there
    skips_closed: bool = False  # whether new entries in closed months are left out
    openings_closed: int = 0  # initial balances in closed months that were left out

    @property
    def skipped_closed(self) -> int:
        return sum(statement_outcome.skipped_closed for statement_outcome in self.statements) + self.openings_closed

    @property
    def count(self) -> int:
        return sum(statement_outcome.count for statement_outcome in self.statements)

    @property
    def duplicates(self) -> int:
        return sum(statement_outcome.duplicates for statement_outcome in self.statements)

    @property
    def booked(self) -> int:
        return sum(statement_outcome.booked for statement_outcome in self.statements)

    @property
    def lapsed(self) -> int:
        return sum(statement_outcome.lapsed for statement_outcome in self.statements)

    @property
    def known(self) -> int:
        return sum(statement_outcome.known for statement_outcome in self.statements)

    @property
    def skipped_before_data_start(self) -> int:
        return sum(len(statement_outcome.skipped) for statement_outcome in self.statements)
