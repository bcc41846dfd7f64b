"""Importing transactions: one pass of checks against the company, one COPY, one transaction.

A row is a duplicate by its externalId where it has one; otherwise, when asked, by account, date, amount, currency and
text, counted with multiplicity: two equal coffees stay two, and the same file sent twice adds nothing.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from itertools import chain
from typing import Any
from uuid import UUID

from companies.api.limits import MOST_ERRORS
from companies.changing import Change, changing
from companies.errors import FieldErrors, unknown_at
from companies.follow_ups import follow_up
from companies.models import Company, Stamp, new_id
from companies.running.counters import note_import
from ledger.bulk.bodies import Fault, amount_fault, in_order, spelled
from ledger.bulk.copying import NULL, copy_lines, nullable, plain
from ledger.bulk.statistics import gather_after
from ledger.calc.letters import fold_words
from ledger.importing.bodies import Item, Request
from ledger.importing.progress import counted
from ledger.importing.purposes import Purposes
from ledger.models import TOLD, Account, ImportBatch, KnownBefore, Source, Transaction
from ledger.purposes.categorizing import Whole, categorize_new
from ledger.rules.assigning import assign
from notifications.telling import import_finished

ROWS_A_READ = 2000


@dataclass(slots=True)
class Outcome:
    """What an import did, or would do."""

    count: int = 0
    skipped_before_data_start: int = 0
    duplicates: int = 0
    possible_duplicates: int = 0  # new rows with the day and amount of one that is there with other words
    errors: list[Fault] = field(default_factory=list)
    batch: ImportBatch | None = None
    dry_run: bool = False
    rows: list[Item] = field(default_factory=list)  # what is stored, or would be
    known: list[UUID] = field(default_factory=list)  # stored rows that it has too; they stay when theirs is undone

    @property
    def bad(self) -> int:
        """How many rows have a fault; one may have several."""
        return len({"/".join(pointer.split("/", 3)[:3]) for pointer, *_ in self.errors})


@dataclass(frozen=True, slots=True)
class SentFile:
    """The file that an import came in."""

    name: str
    format: str


def import_transactions(
    *, company: Company, stamp: Stamp, request: Request, source: str = Source.IMPORT, file: SentFile | None = None
) -> Outcome:
    """Stores the items of an import, all or none of them; with ``onError: skip`` all good ones.

    Raises FieldErrors with up to 1,000 pointers where a row is wrong and nothing may be skipped.
    """
    with changing(company, stamp=stamp) as change:  # before anything is read: no duplicate slips in beside this import
        outcome = Outcome(dry_run=request.dry_run, errors=request.errors)
        purposes = Purposes(company=company, items=request.items)
        rows = accepted(company=company, request=request, purposes=purposes, outcome=outcome)
        if outcome.errors and request.on_error == "abort":
            raise FieldErrors(outcome.errors[:MOST_ERRORS])
        accounts = {row.account_id for row in rows}
        rows = without_duplicates(company=company, rows=rows, request=request, outcome=outcome)
        outcome.rows, outcome.count = rows, len(rows)
        note_import(source="transactions", outcome=outcome)
        if rows and not request.dry_run:
            keep(change, outcome, source=source, purposes=purposes, account_ids=accounts, file=file)
            follow_up("balances_changed", change=change, account_ids=accounts)
    return outcome


def keep(
    change: Change,
    outcome: Outcome,
    *,
    source: str,
    purposes: Purposes,
    account_ids: Collection[str | UUID],
    file: SentFile | None = None,
) -> ImportBatch:
    """Stores the outcome's rows as one batch, with what they were for and what they settle, and tells whoever sent
    them."""
    company, stamp, rows = change.company, change.stamp, outcome.rows
    counts = {"count": outcome.count, "duplicates": outcome.duplicates}
    batch = outcome.batch = ImportBatch.objects.create(
        company=company,
        source=source,
        skipped_before_data_start=outcome.skipped_before_data_start,
        created_time=stamp.time,
        created_user_id=stamp.actor,
        account_ids=sorted(account_ids),
        filename=file.name if file else None,
        format=file.format if file else None,
        **counts,
    )
    if outcome.known:
        KnownBefore.objects.create(company=company, import_batch=batch, transaction_ids=outcome.known)
    wholes: list[Whole] = []
    lines = written(counted(rows), batch=batch, stamp=stamp, purposes=purposes, wholes=wholes)
    copy_lines("ledger_transaction", COLUMNS, lines)
    gather_after("ledger_transaction", rows=len(rows), company_id=company.id)
    if wholes:
        categorize_new(company=company, rows=wholes)
        gather_after("ledger_categorization", "ledger_posting", rows=len(wholes), company_id=company.id)
    stored = Transaction.objects.of(company.id).filter(import_batch=batch)
    assigned = assign(change, stored)
    follow_up("transactions_booked", change=change, rows=stored)
    after = {**counts, "errors": len(outcome.errors), **assigned.in_log()}
    change.record_many("import.finished", "import", entity_id=batch.id, after=after)
    import_finished(
        company_id=company.id,
        stamp=stamp,
        import_id=batch.id,
        skipped_before_data_start=outcome.skipped_before_data_start,
        **counts,
    )
    return batch


# ---------------------------------------------------------------------------------------------- checks


def accepted(*, company: Company, request: Request, purposes: Purposes, outcome: Outcome) -> list[Item]:
    """The items whose account, currency and amount are right; the others' errors, and a count of those too old.

    Each item gets its account and currency as the company spells them: one text for all, where 100,000 were sent.
    """
    found = Account.objects.of(company.id).values_list("id", "default_currency")
    accounts = {str(account_id): (str(account_id), currency) for account_id, currency in found}
    start = company.data_start_date
    rows: list[Item] = []
    for index, item in enumerate(request.items):
        if item is None:
            continue
        account = accounts.get(item.account_id) or accounts.get(spelled(item.account_id))
        if account is None:
            fault: Fault | None = unknown_at("accountId")
        else:
            item.account_id = account[0]
            item.amount_currency = account[1] if item.amount_currency is None else item.amount_currency
            fault = amount_fault(item.amount_value, item.amount_currency, such_as="-1234.56") or purposes.fault(item)
        if fault:
            name, code, detail = fault
            outcome.errors.append((f"#/transactions/{index}/{name}", code, detail))
        elif start is not None and item.date < start:
            outcome.skipped_before_data_start += 1
        else:
            rows.append(item)
    outcome.errors = in_order(outcome.errors)
    return rows


# ---------------------------------------------------------------------------------------------- duplicates


def without_duplicates(*, company: Company, rows: list[Item], request: Request, outcome: Outcome) -> list[Item]:
    """The rows that are new. Of the others ``outcome.known`` has those that say what the ledger says; a known external
    id may say something else by now.

    Ids of files are not trusted alone: banks give one to several payments.
    """
    by_external_id = request.trusts_ids and any(row.external_id is not None for row in rows)
    if not request.trusts_ids:
        keep_references(company, rows)
    if not rows or not (by_external_id or request.duplicates == "skip"):
        return rows
    known = known_external_ids(company, rows) if by_external_id else set()
    stored = Prints(company, rows) if request.duplicates == "skip" else None
    new = []
    for row in rows:
        if row.external_id is not None and request.trusts_ids:
            name = (row.account_id, row.external_id)
            duplicate = name in known
            known.add(name)
        else:
            duplicate = stored is not None and stored.take(row)
        if not duplicate:
            new.append(row)
    if stored is not None and stored.made:
        named = request.trusts_ids
        new = [row for row in new if (named and row.external_id is not None) or not stored.take_made(row)]
    if stored is not None:
        outcome.known = stored.taken
        certain = list(stored.without_possible(new))
        outcome.possible_duplicates = len(new) - len(certain)
        new = certain if request.leaves_possible else new
    outcome.duplicates = len(rows) - len(new)
    return new


def keep_references(company: Company, rows: list[Item]) -> None:
    """An id of a file is the row's external id where no other row has it, and its reference in any case."""
    known = known_external_ids(company, rows)
    for row in rows:
        if row.external_id is not None:
            row.bank_reference = row.external_id  # type: ignore[misc] # of a FileItem
            if (row.account_id, row.external_id) in known:
                row.external_id = None
            else:
                known.add((row.account_id, row.external_id))


def known_external_ids(company: Company, rows: list[Item]) -> set[tuple[str, str]]:
    """(account, external id) of those that are stored already."""
    ids = list({row.external_id for row in rows if row.external_id is not None})
    if not ids:
        return set()
    found = Transaction.objects.of(company.id).filter(external_id__in=ids).values_list("account_id", "external_id")
    return {(str(account), external_id) for account, external_id in found if external_id is not None}


Place = tuple[str, date, Decimal, str | None]
Print = tuple[str, date, Decimal, str | None, str]


def place_of(item: Item) -> Place:
    return item.account_id, item.date, Decimal(item.amount_value), item.amount_currency


def fingerprint(item: Item) -> Print:
    return *place_of(item), fold_words(item.from_to or "", item.description or "")


class Prints:
    """What stands in the ledger with each fingerprint, over the days and accounts of some rows: as it was told, and
    beside that what somebody has made of it."""

    def __init__(self, company: Company, rows: list[Item]):
        days = [row.date for row in rows]
        between = (min(days), max(days))
        ours = Transaction.objects.of(company.id).without_initial()
        here = ours.filter(date__range=between, account_id__in={row.account_id for row in rows})
        self.taken: list[UUID] = []
        self.gone: set[UUID] = set()
        self.references: dict[UUID, str] = {}
        self.told: dict[Print, list[UUID]] = defaultdict(list)
        self.referred: dict[tuple[Place, str], list[UUID]] = defaultdict(list)
        self.places: dict[Place, set[UUID]] = defaultdict(set)
        names = ("id", "as_told", "external_id", "bank_reference", *TOLD)
        for row_id, _told, external_id, reference, *now in here.filter(as_told__isnull=True).values_list(*names):
            self.add(row_id, reference or external_id or "", print_of(now))
        self.made: dict[Print, list[Print]] = defaultdict(list)
        otherwise = ours.filter(as_told__isnull=False)
        said = otherwise.filter(as_told__date__range=(str(between[0]), str(between[1])))
        both = chain(said.values_list(*names), otherwise.filter(date__range=between).values_list(*names))
        edited = {
            row_id: (told, reference or external_id or "", now) for row_id, told, external_id, reference, *now in both
        }
        for row_id, (told, reference, now) in edited.items():
            before = print_told(told)
            self.add(row_id, reference, before)
            self.made[print_of(now)].append(before)

    def add(self, row_id: UUID, reference: str, told: Print) -> None:
        self.told[told].append(row_id)
        self.places[told[:4]].add(row_id)
        if reference:
            self.references[row_id] = reference
            self.referred[told[:4], reference].append(row_id)

    def take(self, item: Item) -> bool:
        """Whether the ledger has another one of it: by its reference, else by its text where not both have one."""
        reference = item.bank_reference or ""
        if reference and self.take_from(self.referred.get((place_of(item), reference))):
            return True
        return self.take_told(fingerprint(item), reference)

    def take_told(self, told: Print, reference: str) -> bool:
        return self.take_from(self.told.get(told), other_than=reference)

    def take_from(self, rows: list[UUID] | None, *, other_than: str = "") -> bool:
        for place in range(len(rows or ()) - 1, -1, -1):
            row_id = rows[place]  # type: ignore[index]
            if row_id in self.gone:
                del rows[place]  # type: ignore[union-attr]
            elif not (other_than and row_id in self.references):
                del rows[place]  # type: ignore[union-attr]
                self.gone.add(row_id)
                self.taken.append(row_id)
                return True
        return False

    def take_made(self, item: Item) -> bool:
        """The same for what somebody made of rows that nobody has taken as they were told."""
        before = self.made.get(fingerprint(item))
        while before:
            if self.take_told(before.pop(), ""):
                return True
        return False

    def without_possible(self, rows: Iterable[Item]) -> Iterator[Item]:
        """The rows but for those with the account, day, amount and currency of one that is there with other words."""
        left = {place: len(ids - self.gone) for place, ids in self.places.items()}
        for row in rows:
            place = place_of(row) if left else None
            if place is not None and left.get(place):
                left[place] -= 1
            else:
                yield row


def print_of(row: Iterable[Any]) -> Print:
    """The fingerprint of a row that is read by ``TOLD``."""
    account, day, amount, currency, from_to, description = row
    return str(account), day, amount, currency, fold_words(from_to, description)


def print_told(told: Mapping[str, str]) -> Print:
    account, day, amount, currency, *texts = (told[name] for name in TOLD)
    return account, date.fromisoformat(day), Decimal(amount), currency, fold_words(*texts)


# ---------------------------------------------------------------------------------------------- storing

COLUMNS = (
    "company_id",
    "id",
    "account_id",
    "date",
    "from_to",
    "description",
    "amount_value",
    "amount_currency",
    "notes",
    "pending",
    "external_id",
    "bank_reference",
    "import_batch_id",
    "source",
    "created_user_id",
    "last_updated_user_id",
    "created_time",
    "last_updated_time",
    "categorizations_auto_assigned",
    "exclude_from_auto_categorization",
    "transferred_value",
    "categorized_value",
)


def written(
    rows: Iterable[Item], *, batch: ImportBatch, stamp: Stamp, purposes: Purposes, wholes: list[Whole]
) -> Iterator[str]:
    """Each row as a line of COPY's text format; parts of those that say what for are left in ``wholes``."""
    company_id, actor = str(batch.company_id), NULL if stamp.actor is None else stamp.actor
    tail = f"\t{batch.id}\t{batch.source}\t{actor}\t{actor}\t{stamp.time}\t{stamp.time}\tf\tf\t0\t"
    for item in rows:
        row_id, categorized = new_id(), "0"
        if item.category_id is not None:
            wholes.append(purposes.whole(item, row_id))
            categorized = item.amount_value
        yield (
            f"{company_id}\t{row_id}\t{item.account_id}\t{item.date}\t{plain(item.from_to)}\t{plain(item.description)}\t"
            f"{item.amount_value}\t{item.amount_currency}\t{nullable(item.notes)}\t{'t' if item.pending else 'f'}\t"
            f"{nullable(item.external_id)}\t{nullable(item.bank_reference)}{tail}{categorized}\n"
        )
