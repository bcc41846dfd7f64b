"""The statements of one import, matched one after another as if each had come by itself. No database.

Statements that cannot have an entry in common are matched together; a round begins with one that can.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from uuid import UUID, uuid4

from ledger.bank_statements.parsers.models import ParsedStatement, UnreadableFileError
from ledger.imports.calc.entries import Entry
from ledger.imports.calc.entry_groups import EntryGroup, MatchKey, StoredTransaction, build_match_key
from ledger.imports.calc.entry_matcher import MAX_BOOKING_DAYS, EntryMatcher, MatchResult, get_format_family

MAX_COMPARED = 2_000_000  # rows in all rounds together; a file of honest statements overlaps a few times


@dataclass(slots=True)
class StatementPart:
    """One statement as it is matched: its account, and the groups of those of its entries that may be known."""

    account: str
    statement: ParsedStatement
    groups: list[EntryGroup]
    other_page_ids: frozenset[UUID] = frozenset()  # rows that another page of the same day brought


@dataclass(slots=True)
class MatchedRows:
    """What is to be done with stored rows."""

    booked: list[tuple[StoredTransaction, Entry]] = field(default_factory=list)  # pending rows, and what they became
    seen: set[UUID] = field(default_factory=set)  # pending rows that are pending still
    known: list[UUID] = field(default_factory=list)  # rows that the file has too
    taken: set[UUID] = field(default_factory=set)  # pending rows that the file has in some form
    possible: int = 0  # new entries with the account, day, amount and currency of another row


def group_disjoint_statements(parts: Sequence[StatementPart]) -> list[list[StatementPart]]:
    """Return the statements in their order, those together that have no day of one account in common.

    A statement that goes on where the one before it ends, by their balances, has other entries on that day.
    """
    if len(parts) < 2:
        return [list(parts)] if parts else []
    days_around = MAX_BOOKING_DAYS if any(part.statement.pending_count for part in parts) else 0
    rounds: list[list[StatementPart]] = []
    ends: dict[str, tuple[ParsedStatement, ParsedStatement]] = {}  # first and last page of the round, by account
    account_days: set[tuple[str, date]] = set()
    for part in parts:
        statement = part.statement
        days = {(part.account, entry.day) for entry in statement.entries}
        chain = extend_page_chain(ends.get(part.account), statement)
        overlaps = not account_days.isdisjoint(days) and chain is None
        other_format = bool(rounds) and get_format_family(rounds[-1][0].statement.format) != get_format_family(
            statement.format
        )
        is_apart = bool(part.other_page_ids) or (bool(rounds) and bool(rounds[-1][0].other_page_ids))
        if not rounds or overlaps or other_format or is_apart:
            rounds.append([])
            ends, account_days, chain = {}, set(), None
        rounds[-1].append(part)
        ends[part.account] = chain or (statement, statement)
        around = range(-days_around, days_around + 1)
        account_days |= {(account, shift_day_within_limits(day, each)) for account, day in days for each in around}
    return rounds


def shift_day_within_limits(day: date, days: int) -> date:
    """A day so many days later, within those that there are."""
    return date.fromordinal(min(max(day.toordinal() + days, 1), date.max.toordinal()))


def extend_page_chain(
    ends: tuple[ParsedStatement, ParsedStatement] | None, statement: ParsedStatement
) -> tuple[ParsedStatement, ParsedStatement] | None:
    """Return the first and the last page with one more page before or behind them; None where it is no such page."""
    if ends is None:
        return None
    first, last = ends
    if is_statement_continued(last, statement):
        return first, statement
    return (statement, last) if is_statement_continued(statement, first) else None


def is_statement_continued(before: ParsedStatement, after: ParsedStatement) -> bool:
    """Whether a statement goes on where another ends, with other entries: pages of one day, in one file or in two."""
    if before.closing is None or before.closing != after.opening or before.currency != after.currency:
        return False
    if not before.days or not after.days or before.days[1] > after.days[0] or is_statement_copy(before, after):
        return False
    if before.file == after.file:
        return True
    shared = [Decimal(entry.amount) for entry in before.entries if entry.day == after.days[0]]
    return before.difference == after.difference == 0 and sum(shared) != 0


def is_statement_copy(statement: ParsedStatement, other: ParsedStatement) -> bool:
    """Whether two statements say the same."""
    if (statement.opening, statement.closing, len(statement.entries)) != (
        other.opening,
        other.closing,
        len(other.entries),
    ):
        return False
    return all(
        (entry.day, entry.amount, entry.reference, entry.description)
        == (other_entry.day, other_entry.amount, other_entry.reference, other_entry.description)
        for entry, other_entry in zip(statement.entries, other.entries, strict=True)
    )


class KeyHashes:
    """Account, day, amount and currency of very many entries in little memory; a few others may seem to be in it."""

    def __init__(self) -> None:
        self.hashes: set[int] = set()

    def add(self, position: MatchKey) -> None:
        self.hashes.add(hash(position))

    def __contains__(self, position: object) -> bool:
        return hash(position) in self.hashes


class StatementMatcher:
    """Matches rounds of statements; after each the ledger is as that round leaves it.

    Args:
        rows: what is stored, for all of the statements.
        settled_days: the day up to which each account has final statements.
        closed_through: the last day of the closed months, in which nothing is booked.
    """

    def __init__(
        self, rows: Iterable[StoredTransaction], settled: Mapping[str, date], *, closed_through: date | None = None
    ):
        self.settled_days, self.closed_through = dict(settled), closed_through
        self.rows_by_key: dict[MatchKey, list[StoredTransaction]] = defaultdict(list)
        self.rows_by_amount: dict[tuple[str, str, Decimal], list[StoredTransaction]] = defaultdict(list)  # pending ones
        self.rows_by_reference: dict[tuple[str, str], list[StoredTransaction]] = defaultdict(list)
        self.gone: set[StoredTransaction] = set()
        self.own: dict[
            UUID, tuple[StoredTransaction, EntryGroup, Entry]
        ] = {}  # new entries of earlier rounds, by the id of their row
        self.own_pending: set[UUID] = set()
        self.result = MatchedRows()
        self.compared = 0
        for row in rows:
            self.add(row)

    def add(self, row: StoredTransaction) -> None:
        for position in {row.match_key, *([row.corrected.match_key] if row.corrected else ())}:
            self.rows_by_key[position].append(row)
        if row.pending:
            self.rows_by_amount[row.account, row.currency, row.amount].append(row)
        if row.reference:
            self.rows_by_reference[row.account, row.reference].append(row)

    def match(self, rounds: Sequence[Sequence[StatementPart]]) -> MatchedRows:
        """Leave in each group what is new. Raises Unreadable where too many statements overlap."""
        for number, parts in enumerate(rounds, 1):
            self.match_round(parts, is_last=number == len(rounds))
        return self.result

    def match_round(self, parts: Sequence[StatementPart], *, is_last: bool) -> None:
        groups = [group for part in parts for group in part.groups]
        other_page_ids, first = parts[0].other_page_ids, parts[0].statement
        rows = [row for row in self.iter_candidate_rows(groups) if row.id not in other_page_ids]
        ledger = EntryMatcher(rows, format_=first.format, has_unique_ids=first.has_unique_ids)
        match = ledger.match_entries(groups, final_days=self.settled_days)
        self.leave_out_closed_months(groups, match)
        self.result.possible += sum(1 for _ in ledger.list_possible_duplicates(groups))
        booked_before = {row.id for row, _ in self.result.booked}
        self.result.known += [each for each in match.known_ids if each not in self.own and each not in booked_before]
        self.result.seen |= {each for each in match.still_pending_ids if each not in self.own}
        self.result.taken |= {row.id for row in rows if row.is_matched and row.pending}
        if is_last and not self.own:
            self.result.booked += match.booked
            return
        for row, entry in match.booked:
            self.book_pending_row(row, entry, parts[0].statement.format)
        self.mark_lapsed(parts, match.still_pending_ids)
        if not is_last:
            for part in parts:
                self.add_new_entries(part)

    def is_closed(self, unit: Entry) -> bool:
        """Whether the unit would be booked in a closed month; pending ones may come."""
        return self.closed_through is not None and not unit.pending and unit.day <= self.closed_through

    def leave_out_closed_months(self, groups: Iterable[EntryGroup], matches: MatchResult) -> None:
        """Take out what would be booked in closed months: new units, and pending rows, which stay pending."""
        if self.closed_through is None:
            return
        pending_ids = {id(unit): row.id for row, unit in matches.booked if self.is_closed(unit)}
        for group in groups:
            open_units = [unit for unit in group.new if not self.is_closed(unit)]
            unbooked_count = sum(id(unit) in pending_ids for unit in group.units)
            group.closed = len(group.new) - len(open_units) + unbooked_count
            group.new, group.booked = open_units, group.booked - unbooked_count
        matches.still_pending_ids |= set(pending_ids.values())
        matches.booked = [(row, unit) for row, unit in matches.booked if id(unit) not in pending_ids]

    def iter_candidate_rows(self, groups: Iterable[EntryGroup]) -> Iterator[StoredTransaction]:
        """Yield each row that an entry of the groups may be, once and free to be taken."""
        rows_in_groups: set[StoredTransaction] = set()
        visited: set[int] = set()
        for group in groups:
            for unit in (group.entry, *group.entry.parts):
                for rows in self.iterate_candidate_lists(group.account, unit):
                    if rows is None or id(rows) in visited:
                        continue
                    visited.add(id(rows))
                    self.compared += len(rows)
                    for row in rows:
                        if row not in rows_in_groups and row not in self.gone:
                            rows_in_groups.add(row)
                            row.is_matched = False
                            yield row
            if self.compared > MAX_COMPARED:
                raise UnreadableFileError("Too many of its statements overlap. Send them as separate files.", line=0)

    def iterate_candidate_lists(self, account: str, unit: Entry) -> Iterator[list[StoredTransaction] | None]:
        position = build_match_key(account, unit)
        around = range(-MAX_BOOKING_DAYS, MAX_BOOKING_DAYS + 1) if unit.pending else (0,)
        for days in around:
            yield self.rows_by_key.get((account, shift_day_within_limits(unit.day, days), position[2], position[3]))
        yield self.rows_by_amount.get((account, unit.currency, position[2]))
        if unit.reference:
            yield self.rows_by_reference.get((account, unit.reference))

    def is_candidate(self, account: str, entry: Entry) -> bool:
        """Whether some row may be the entry, or one of its payments."""
        return any(rows for unit in (entry, *entry.parts) for rows in self.iterate_candidate_lists(account, unit))

    def book_pending_row(self, row: StoredTransaction, entry: Entry, format_: str) -> None:
        """A pending row is what an entry books; one of this import is stored as booked at once."""
        self.gone.add(row)
        booked = build_ledger_row(row.id, row.account, entry, format_)
        self.add(booked)
        if row.id not in self.own:
            self.result.booked.append((row, entry))
            return
        _, group, unit = self.own[row.id]
        group.new = [entry if each is unit else each for each in group.new]
        self.own[row.id] = booked, group, entry
        self.own_pending.discard(row.id)

    def mark_lapsed(self, parts: Sequence[StatementPart], seen: set[UUID]) -> None:
        """Leave out what an earlier round has pending and a final statement of that day does not have."""
        for part in parts:
            end, account = part.statement.last_day, part.account
            if not part.statement.final or end is None or end < self.settled_days.get(account, end):
                continue
            self.settled_days[account] = end
            for row_id in self.own_pending - seen:
                row, group, unit = self.own[row_id]
                if row.account == account and row.day <= end:
                    group.new = [each for each in group.new if each is not unit]
                    group.lapsed += 1
                    self.gone.add(row)
                    self.own_pending.discard(row_id)
                    del self.own[row_id]

    def add_new_entries(self, part: StatementPart) -> None:
        """The new entries of a statement are rows for those behind it."""
        for group in part.groups:
            for unit in group.new:
                row = build_ledger_row(uuid4(), part.account, unit, part.statement.format)
                self.own[row.id] = row, group, unit
                if row.pending:
                    self.own_pending.add(row.id)
                self.add(row)


def build_ledger_row(row_id: UUID, account: str, entry: Entry, format_: str) -> StoredTransaction:
    """An entry as it is in the ledger."""
    return StoredTransaction(
        id=row_id,
        account=account,
        day=entry.day,
        amount=Decimal(entry.amount),
        currency=entry.currency,
        reference=entry.reference,
        from_to=entry.from_to,
        description=entry.description,
        pending=entry.pending,
        format=format_,
    )
