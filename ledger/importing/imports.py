"""Importing transactions: one pass of checks against the company, one COPY, one transaction.

A row is a duplicate by its externalId where it has one; otherwise, when asked, by account, date, amount, currency and
text, counted with multiplicity: two equal coffees stay two, and the same file sent twice adds nothing.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from uuid import UUID

from companies.api.limits import MOST_ERRORS
from companies.changing import Change, changing
from companies.errors import FieldErrors, unknown_at
from companies.models import Company, Stamp, new_id
from companies.running.counters import note_import
from ledger import hooks
from ledger.bulk.bodies import Fault, amount_fault, in_order, spelled
from ledger.bulk.copying import NULL, copy_lines, nullable, plain
from ledger.bulk.statistics import gather_after
from ledger.importing.bodies import Item, Request
from ledger.importing.calc.entries import Entry
from ledger.importing.calc.matching import Group, Ledger, wanted
from ledger.importing.progress import Rows, counted
from ledger.importing.purposes import Purposes
from ledger.importing.stored_rows import list_formats, list_rows_near
from ledger.models import Account, ImportBatch, KnownBefore, Source, Transaction
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
    rows: Rows = field(default_factory=list)  # what is stored, or would be
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
            hooks.balances_changed.run(change=change, account_ids=accounts)
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
    hooks.transactions_booked.run(change=change, rows=stored)
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
    new = []
    for row in rows:
        if is_named(row, request):
            name = (row.account_id, row.external_id or "")
            if name in known:
                continue
            known.add(name)
        new.append(row)
    if request.duplicates == "skip" and new:
        new = leave_out_stored(company=company, rows=new, request=request, outcome=outcome)
    outcome.duplicates = len(rows) - len(new)
    return new


def is_named(row: Item, request: Request) -> bool:
    """Whether the row's external id alone says which one it is."""
    return request.trusts_ids and row.external_id is not None


def leave_out_stored(*, company: Company, rows: list[Item], request: Request, outcome: Outcome) -> list[Item]:
    """The rows that are not stored already, as files of statements are matched; those with an external id all stay.

    Of a file, rows that came in another format are known by similar words as well.
    """
    groups = [Group(row.account_id, entry := to_entry(row), (entry,)) for row in rows]
    accounts = {row.account_id for row in rows}
    stored = Transaction.objects.of(company.id).without_initial()
    formats = list_formats(company) if request.format else {}
    days = [row.date for row in rows]
    period = min(days), max(days)
    found = list(list_rows_near(stored, wanted(groups), accounts, period=period, formats=formats))
    for row in found:
        row.pending = False  # a pending row that is sent again is a duplicate like any other
    ledger = Ledger(found, format_=request.format or "")
    compared = [group for row, group in zip(rows, groups, strict=True) if not is_named(row, request)]
    for group in groups:
        group.new = list(group.units)
    outcome.known = ledger.sort_out(compared, settled={}).known
    possible = {id(unit) for unit in ledger.list_possible(groups)}
    outcome.possible_duplicates = len(possible)
    left_out = possible if request.leaves_possible else set()
    return [row for row, group in zip(rows, groups, strict=True) if group.new and id(group.entry) not in left_out]


def to_entry(item: Item) -> Entry:
    """An item as the matcher compares it."""
    return Entry(
        day=item.date,
        amount=item.amount_value,
        currency=item.amount_currency or "",
        from_to=item.from_to or "",
        description=item.description or "",
        reference=item.bank_reference or "",
    )


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
