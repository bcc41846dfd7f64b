"""Import a bank's file: each entry once, balances compared, in one transaction. A dry run rolls all of it back."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Max, Q

from companies.changing import Change, changing
from companies.models import Company, Stamp
from companies.running.counters import note_import
from ledger.importing.calc.entries import Entry
from ledger.importing.calc.matching import MOST_DAYS, Group, Row, key
from ledger.importing.imports import Outcome, SentFile, keep
from ledger.importing.items import told as explain
from ledger.importing.purposes import Purposes
from ledger.importing.stored_rows import list_formats, list_rows_near, read_rows
from ledger.models import Account, ImportBatch, Source, Statement, Transaction
from ledger.statements import reading
from ledger.statements.accounts import find_accounts, list_labels, named
from ledger.statements.calc import facts
from ledger.statements.calc.sequence import KeyHashes, Matched, Part, StatementMatcher, split_rounds
from ledger.statements.errors import StatementUnreadable
from ledger.statements.items import NewItems
from ledger.statements.opening import open_with_earliest, opens_first
from ledger.statements.pending import book_pending, let_lapse
from ledger.statements.reconciling import balances_at, reconcile


@dataclass(slots=True)
class Told:
    """One statement of a file, and what became of it."""

    statement: facts.Statement
    account: Account
    entries: Sequence[Entry] = ()  # those that are not before the books start
    groups: dict[int, Group] = field(default_factory=dict)  # of those that may be known, by their position
    split: bool = False  # single payments in place of entries that are several
    count: int = 0
    duplicates: int = 0  # those that are booked now or have lapsed among them
    skipped: list[Entry] = field(default_factory=list)
    ledger_balance: Decimal | None = None

    @property
    def pending(self) -> int:
        return self.statement.pending_count

    @property
    def booked(self) -> int:
        return sum(group.booked for group in self.groups.values())

    @property
    def lapsed(self) -> int:
        return sum(group.lapsed for group in self.groups.values())

    def get_units(self, entry: Entry) -> Sequence[Entry]:
        """What is stored of an entry."""
        return entry.parts if self.split and entry.parts else (entry,)

    def list_new(self) -> Iterator[Entry]:
        """Yield what the ledger has not, in the order of the file."""
        for place, entry in enumerate(self.entries):
            group = self.groups.get(place)
            yield from group.new if group else self.get_units(entry)

    @property
    def known(self) -> int:
        """How many were there already."""
        return self.duplicates - self.booked - self.lapsed

    @property
    def ledger_difference(self) -> Decimal | None:
        if self.statement.closing is None or self.ledger_balance is None:
            return None
        return self.statement.closing - self.ledger_balance


@dataclass(slots=True)
class Received:
    """What taking a file in did, or would do."""

    format: str
    statements: list[Told]
    dry_run: bool
    other_accounts: list[str] = field(default_factory=list)  # whose statements are in the file and were left out
    batch: ImportBatch | None = None
    gone: int = 0  # rows that were pending and are not in a final statement
    gone_changed: int = 0  # of these, by somebody
    left_out: int = 0  # rows of a table that are no movements
    left_out_files: list[str] = field(default_factory=list)  # of an archive, that are no statements
    possible_duplicates: int = 0  # new ones with the day and amount of one that is there

    @property
    def count(self) -> int:
        return sum(told.count for told in self.statements)

    @property
    def duplicates(self) -> int:
        return sum(told.duplicates for told in self.statements)

    @property
    def booked(self) -> int:
        return sum(told.booked for told in self.statements)

    @property
    def lapsed(self) -> int:
        return sum(told.lapsed for told in self.statements)

    @property
    def known(self) -> int:
        return sum(told.known for told in self.statements)

    @property
    def skipped_before_data_start(self) -> int:
        return sum(len(told.skipped) for told in self.statements)


def receive(
    *,
    company: Company,
    stamp: Stamp,
    content: bytes,
    filename: str,
    account: Account | None,
    details: bool = False,
    date_order: str | None = None,
    dry_run: bool = False,
    settings: Any = None,
) -> Received:
    """Stores what a bank's file has and the ledger has not, all of it or nothing. ``details``: single payments in place
    of entries that are several. ``account`` is the one that was named. ``settings``: how a CSV file is read.

    Raises what ``reading.read`` and ``accounts.find_accounts`` raise, FieldErrors (unknown_id), NoRate.
    """
    read = reading.read(content, company=company, account=account, date_order=date_order, settings=settings)
    with changing(company, stamp=stamp) as kept, transaction.atomic():
        # What a rehearsal leaves in the log is taken back, and moves nothing.
        change = replace(kept, stamp=replace(stamp, changed=set())) if dry_run else kept
        account = named(company, str(account.id)) if account else None  # another file may have given it a number
        told = [Told(*pair) for pair in find_accounts(company, read.statements, account)]
        taken = {id(each.statement) for each in told}
        others = list_labels(each for each in read.statements if id(each) not in taken)
        received = Received(
            read.format,
            told,
            dry_run,
            other_accounts=others,
            left_out=read.left_out,
            left_out_files=read.left_out_files,
        )
        store(change, received, SentFile(filename, read.format), details=details)
        if read.date_order and account is not None:
            keep_order(change, account, read.date_order)
        if dry_run:
            transaction.set_rollback(True)
            received.batch = None
    return received


def store(change: Change, received: Received, file: SentFile, *, details: bool) -> None:
    """The rows, what was pending, the statements, the initial balances, and whether all agrees."""
    accounts = {told.account.id: told.account for told in received.statements}
    first = {account.id: opens_first(change, account) for account in accounts.values()}
    outcome = sort_out(change, received, details=details)
    batch = stored(change, received, outcome, file, accounts)
    numbers = {account.id: take_number(change, account, received.statements) for account in accounts.values()}
    with_statements(change, received, batch, numbers)
    for account in accounts.values():
        open_with_earliest(change, account, first=first[account.id])
        reconcile(change, account)
    compare(change, received)


# ---------------------------------------------------------------------------------------------- known or new


@dataclass(slots=True)
class Decided:
    """What is to be done with rows that are there."""

    booked: list[tuple[Row, Entry]]
    lapsed: list[UUID]
    known: list[UUID]  # they came with another import, and stay when that is undone


def sort_out(change: Change, received: Received, *, details: bool) -> Decided:
    """Counts what is new in each statement, and decides about pending rows."""
    starts = change.company.data_start_date
    for told in received.statements:
        told.split, told.entries = details, told.statement.entries
        if starts is not None and any(each.day < starts for each in told.entries):
            told.skipped = [each for each in told.entries if each.day < starts]
            told.entries = [each for each in told.entries if each.day >= starts]
    account_ids = {told.account.id for told in received.statements}
    settled = settled_until(change.company, account_ids)
    rows = list(rows_for(change.company, received.statements, account_ids))
    found = match_statements(received, rows, settled)
    received.possible_duplicates = found.possible
    for told in received.statements:
        units = sum(len(told.get_units(entry)) for entry in told.entries) if details else len(told.entries)
        groups = told.groups.values()
        told.duplicates = sum(len(group.units) - len(group.new) for group in groups)
        told.count = units - told.duplicates
    return Decided(found.booked, lapsed(received, rows, found, settled), [*found.known, *found.seen])


def match_statements(received: Received, rows: Sequence[Row], settled: Mapping[str, date]) -> Matched:
    """Match the statements with the ledger's rows, and with each other where they have days in common.

    Entries that no row can be get no group: there may be very many. Raises StatementUnreadable.
    """
    parts = [Part(str(told.account.id), told.statement, []) for told in received.statements]
    rounds = split_rounds(parts)
    matcher = StatementMatcher(rows, settled)
    for told, part in zip(received.statements, parts, strict=True):
        every = len(rounds) > 1 or bool(told.pending)
        if not (every or rows):
            continue
        for place, entry in enumerate(told.entries):
            if every or matcher.is_candidate(part.account, entry):
                told.groups[place] = Group(part.account, entry, told.get_units(entry))
        part.groups = list(told.groups.values())
    try:
        return matcher.match(rounds)
    except facts.Unreadable as error:
        raise StatementUnreadable(explain(error)) from None


def settled_until(company: Company, account_ids: set[UUID]) -> dict[str, date]:
    """The last day of the final statements that are there, by account."""
    final = Statement.objects.of(company.id).filter(account_id__in=account_ids, final=True, day__isnull=False)
    found = final.order_by().values("account_id").annotate(last=Max("day")).values_list("account_id", "last")
    return {str(account): day for account, day in found}


def rows_for(company: Company, statements: Sequence[Told], account_ids: set[UUID]) -> Iterator[Row]:
    """The stored rows that entries may be: those of the same account, day, amount and currency, as they were told or
    as they are now, and pending ones."""
    rows = Transaction.objects.of(company.id).without_initial()
    here = Q(account_id__in=account_ids) | Q(as_told__isnull=False)
    if not rows.filter(here).exists():
        return
    places, days, amounts = KeyHashes(), set(), set()  # type: tuple[KeyHashes, set[date], set[Decimal]]
    waits = any(told.pending for told in statements)
    for told in statements:
        account = str(told.account.id)
        for entry in told.entries:
            for unit in (entry, *entry.parts):
                place = key(account, unit)
                places.add(place)
                days.add(unit.day)
                if waits:
                    amounts.add(place[2])
    formats = list_formats(company)
    if days:
        period = min(days), max(days)
        booked = rows.booked()
        yield from list_rows_near(
            booked, places, account_ids, period=period, formats=formats, days=MOST_DAYS, amounts=amounts
        )
    pending = rows.filter(here, pending=True, source=Source.BANK, import_batch__isnull=False)
    yield from (row for row in read_rows(pending, formats) if UUID(row.account) in account_ids)


def lapsed(received: Received, rows: Iterable[Row], found: Matched, settled: dict[str, date]) -> list[UUID]:
    """Pending rows up to the day of a final statement that does not have them. One that is older than another final
    statement says nothing of what came since."""
    ends: dict[str, date] = {}
    for told in received.statements:
        account, end = str(told.account.id), told.statement.last_day
        if told.statement.final and end and end >= settled.get(account, end):
            ends[account] = max(end, ends.get(account, end))
    kept = found.seen | found.taken | {row.id for row, _ in found.booked}
    return [row.id for row in rows if row.pending and row.id not in kept and row.day <= ends.get(row.account, date.min)]


def stored(
    change: Change, received: Received, decided: Decided, file: SentFile, accounts: dict[UUID, Account]
) -> ImportBatch:
    """The import, with its new rows and what became of pending ones; one without anything new too."""
    outcome = Outcome(
        count=received.count,
        duplicates=received.duplicates,
        skipped_before_data_start=received.skipped_before_data_start,
        rows=NewItems(received.statements, count=received.count),
        known=decided.known,
        dry_run=received.dry_run,
    )
    note_import(source="statements", outcome=outcome)
    purposes = Purposes(company=change.company, items=outcome.rows)
    batch = keep(change, outcome, source=Source.BANK, purposes=purposes, account_ids=set(accounts), file=file)
    received.batch = batch
    book_pending(change, batch, decided.booked)
    gone = Transaction.objects.of(change.company.id).filter(id__in=decided.lapsed)
    received.gone, received.gone_changed = len(decided.lapsed), gone.touched().count() if decided.lapsed else 0
    let_lapse(change, batch, decided.lapsed)
    return batch


def with_statements(change: Change, received: Received, batch: ImportBatch, numbers: Mapping[UUID, str | None]) -> None:
    """Keeps what each statement says of its account. ``numbers``: what accounts have as theirs from statements."""
    Statement.objects.bulk_create(
        Statement(
            company=change.company,
            account=told.account,
            import_batch=batch,
            currency=told.statement.currency,
            start_date=books_start(change.company, told),
            day=told.statement.last_day,
            opening_balance=opening(told),
            closing_balance=told.statement.closing,
            final=told.statement.final,
            number_given=numbers[told.account.id],
            created_time=change.stamp.time,
        )
        for told in received.statements
    )


def books_start(company: Company, told: Told) -> date | None:
    """The first day of which there are entries in the ledger."""
    start = told.statement.first_day
    return max(start, company.data_start_date) if start and told.skipped and company.data_start_date else start


def opening(told: Told) -> Decimal | None:
    """The opening balance with what the books leave out behind it."""
    if told.statement.opening is None:
        return None
    left_out = (entry for entry in told.skipped if not entry.pending and entry.currency == told.statement.currency)
    return told.statement.opening + sum(Decimal(entry.amount) for entry in left_out)


def take_number(change: Change, account: Account, statements: Iterable[Told]) -> str | None:
    """An account without a number takes its statement's; returns the number that it has from this one or another."""
    numbers = (told.statement.account_number for told in statements if told.account.id == account.id)
    number = next(filter(None, numbers), "")
    if not number:
        return None
    if not account.account_number:
        change.update(account, "account.updated", account_number=number)
        return number
    given = Statement.objects.of(change.company.id).of_account(account.id)
    return account.account_number if given.filter(number_given=account.account_number).exists() else None


def keep_order(change: Change, account: Account, order: str) -> None:
    """The account's next QIF file is read in the same order, where its own dates do not tell."""
    settings = {**(account.import_settings or {}), "qif": {"dateOrder": order}}
    change.update(account, "account.updated", import_settings=settings)


def compare(change: Change, received: Received) -> None:
    """What the ledger says at the end of each statement now."""
    places = {
        id(told): (told.account.id, told.statement.currency, told.statement.last_day)
        for told in received.statements
        if told.statement.last_day and told.statement.booked_sum is not None
    }
    held = balances_at(change.company, places.values())
    for told in received.statements:
        told.ledger_balance = held[places[id(told)]] if id(told) in places else None
