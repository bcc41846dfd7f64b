"""Import transactions: one pass of checks against the company, one COPY, one transaction.

A row is a duplicate by its externalId if it has one; otherwise, if requested, by account, date, amount,
currency and text, counted with multiplicity: two equal coffees stay two, and the same file sent twice adds
nothing.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID

from companies.api.limits import MAX_ERRORS
from companies.change import CompanyChange, change_company
from companies.closed_periods import PeriodClosed
from companies.counters import count_import_outcome
from companies.errors import ValidationFailed, build_unknown_id_entry
from companies.models import AuditContext, Company
from ledger import hooks
from ledger.bulk.copy import copy_lines
from ledger.bulk.planner_statistics import analyze_after_commit, analyze_grown_table
from ledger.bulk.request_bodies import Fault, find_amount_fault, normalize_id, sort_faults
from ledger.categorization.actions.full_categorization import FullCategorization, categorize_new_transactions
from ledger.imports.actions.copy_rows import TRANSACTION_COPY_COLUMNS, to_copy_lines
from ledger.imports.calc.entries import Entry
from ledger.imports.calc.entry_groups import EntryGroup, StoredTransaction
from ledger.imports.calc.entry_matcher import MAX_BOOKING_DAYS, EntryMatcher, list_match_keys
from ledger.imports.import_body import TransactionImportItem, TransactionImportRequest
from ledger.imports.progress import SizedRows, track_row_progress
from ledger.imports.queries.categorization_lookup import CategorizationLookup
from ledger.imports.queries.known_rows import count_known_rows
from ledger.imports.queries.stored_transactions import iterate_matchable_rows, iterate_stored_rows, list_import_formats
from ledger.models import Account, ImportBatch, ImportDuplicates, Source, Transaction
from ledger.rules.actions.auto_assign import assign_categories
from notifications.notify import notify_import_finished

READ_CHUNK_ROWS = 2000


@dataclass(slots=True)
class TransactionImportOutcome:
    """What an import did, or would do."""

    count: int = 0
    skipped_before_data_start: int = 0
    skipped_closed: int = 0
    duplicates: int = 0
    lapsed: int = 0  # of the duplicates: pending entries that the bank no longer reports
    possible_duplicates: int = 0  # new rows with the day and amount of one that is there with other words
    errors: list[Fault] = field(default_factory=list)
    batch: ImportBatch | None = None
    dry_run: bool = False
    booked: list[tuple[StoredTransaction, Entry]] = field(default_factory=list)  # pending rows, and what books them
    rows: SizedRows = field(default_factory=list)  # what is stored, or would be
    known: list[UUID] = field(default_factory=list)  # stored rows that it has too; they stay when theirs is undone
    known_items: list[TransactionImportItem] = field(default_factory=list)  # rows that were stored already
    reported_balance: hooks.ReportedBalance | None = None  # that the balance column proves

    @property
    def bad(self) -> int:
        """The number of rows with an error; one may have several."""
        return len({"/".join(pointer.split("/", 3)[:3]) for pointer, *_ in self.errors})


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The file that an import came in."""

    name: str
    format: str


def import_transactions(
    *,
    company: Company,
    context: AuditContext,
    request: TransactionImportRequest,
    source: str = Source.IMPORT,
    file: SourceFile | None = None,
) -> TransactionImportOutcome:
    """Import transactions, all or none of them; with ``onError: skip`` all valid ones.

    Raises ValidationFailed with up to 1,000 pointers if a row is wrong and none may be skipped.
    """
    with change_company(
        company, context=context
    ) as change:  # before anything is read: no duplicate slips in beside this import
        outcome = TransactionImportOutcome(dry_run=request.dry_run, errors=request.errors)
        lookup = CategorizationLookup(company=company, items=request.items)
        rows = validate_items(company=company, request=request, lookup=lookup, outcome=outcome)
        if outcome.errors and request.on_error == "abort":
            raise ValidationFailed(outcome.errors[:MAX_ERRORS])
        account_ids = {row.account_id for row in rows}
        rows = drop_duplicate_items(company=company, rows=rows, request=request, outcome=outcome)
        rows = drop_closed_items(company=company, rows=rows, request=request, outcome=outcome)
        outcome.rows, outcome.count = rows, len(rows)
        count_import_outcome(source="transactions", outcome=outcome)
        if (rows or outcome.booked) and not request.dry_run:
            batch = store_batch(change, outcome, source=source, lookup=lookup, account_ids=account_ids, file=file)
            notify_sender(change, batch, skipped_closed=outcome.skipped_closed)
            hooks.balances_changed.run(change=change, account_ids=account_ids)
    return outcome


def store_batch(
    change: CompanyChange,
    outcome: TransactionImportOutcome,
    *,
    source: str,
    lookup: CategorizationLookup,
    account_ids: Collection[str | UUID],
    file: SourceFile | None = None,
) -> ImportBatch:
    """Store the rows as one batch with their categorizations, and categorize and match the others."""
    company, context, rows = change.company, change.context, outcome.rows
    counts = {"count": outcome.count, "duplicates": outcome.duplicates}
    batch = outcome.batch = ImportBatch.objects.create(
        company=company,
        source=source,
        skipped_before_data_start=outcome.skipped_before_data_start,
        lapsed=outcome.lapsed,
        created_time=context.time,
        created_user_id=context.actor,
        account_ids=sorted(account_ids),
        filename=file.name if file else None,
        format=file.format if file else None,
        **counts,
    )
    if outcome.known:
        ImportDuplicates.objects.create(company=company, import_batch=batch, transaction_ids=outcome.known)
    categorizations: list[FullCategorization] = []
    lines = to_copy_lines(
        track_row_progress(rows), batch=batch, context=context, lookup=lookup, categorizations=categorizations
    )
    copy_lines("ledger_transaction", TRANSACTION_COPY_COLUMNS, lines)
    analyze_after_commit("ledger_transaction", "ledger_daymovement", rows=len(rows), company_id=company.id)
    if categorizations:
        analyze_grown_table("ledger_transaction", rows=len(rows))
        categorize_new_transactions(company=company, rows=categorizations)
        analyze_after_commit(
            "ledger_categorization", "ledger_posting", rows=len(categorizations), company_id=company.id
        )
    if outcome.booked:
        hooks.pending_transactions_matched.run(change=change, batch=batch, pairs=outcome.booked)
    stored_transactions = Transaction.objects.for_company(company.id).filter(import_batch=batch)
    assigned = assign_categories(change, stored_transactions)
    hooks.transactions_booked.run(change=change, rows=stored_transactions)
    after = {**counts, "errors": len(outcome.errors), **assigned.to_audit_values()}
    change.record_bulk("import.finished", "import", entity_id=batch.id, after=after)
    return batch


def notify_sender(change: CompanyChange, batch: ImportBatch, *, skipped_closed: int) -> None:
    """Notify the sender of an import, once its pending transactions are booked.

    Args:
        skipped_closed: the number of rows left out in closed months.
    """
    notify_import_finished(
        company_id=change.company.id,
        context=change.context,
        import_id=batch.id,
        count=batch.count,
        duplicates=count_known_rows(change.company, [batch])[batch.id].known,
        skipped_before_data_start=batch.skipped_before_data_start,
        skipped_closed=skipped_closed,
        filename=batch.filename,
    )


# ---------------------------------------------------------------------------------------------- validation


def validate_items(
    *,
    company: Company,
    request: TransactionImportRequest,
    lookup: CategorizationLookup,
    outcome: TransactionImportOutcome,
) -> list[TransactionImportItem]:
    """Return the items with valid account, currency and amount; add errors and counts of the others to the outcome.

    Each item gets account and currency as the company spells them: one text for all, where 100,000 were sent.
    """
    account_rows = Account.objects.for_company(company.id).values_list("id", "default_currency")
    accounts = {str(account_id): (str(account_id), currency) for account_id, currency in account_rows}
    start = company.data_start_date
    rows: list[TransactionImportItem] = []
    for index, item in enumerate(request.items):
        if item is None:
            continue
        account = accounts.get(item.account_id) or accounts.get(normalize_id(item.account_id))
        if account is None:
            fault: Fault | None = build_unknown_id_entry("accountId")
        else:
            item.account_id = account[0]
            item.amount_currency = account[1] if item.amount_currency is None else item.amount_currency
            fault = find_amount_fault(item.amount_value, item.amount_currency, example="-1234.56") or lookup.find_error(
                item
            )
        if fault:
            name, code, detail = fault
            outcome.errors.append((f"#/transactions/{index}/{name}", code, detail))
        elif start is not None and item.date < start:
            outcome.skipped_before_data_start += 1
        else:
            rows.append(item)
    outcome.errors = sort_faults(outcome.errors)
    return rows


# ---------------------------------------------------------------------------------------------- duplicates


def drop_duplicate_items(
    *,
    company: Company,
    rows: list[TransactionImportItem],
    request: TransactionImportRequest,
    outcome: TransactionImportOutcome,
) -> list[TransactionImportItem]:
    """Return the new rows. Of the others ``outcome.known`` has those that equal stored ones; a known external id may
    have other values by now.

    Ids of files are not trusted alone: banks use one for several payments.
    """
    by_external_id = request.trust_external_ids and any(row.external_id is not None for row in rows)
    if not request.trust_external_ids:
        set_bank_references(company, rows)
    if not rows or not (by_external_id or request.duplicates == "skip"):
        return rows
    known_ids = find_known_external_ids(company, rows) if by_external_id else set()
    new_rows = []
    for row in rows:
        if has_trusted_id(row, request):
            item_key = (row.account_id, row.external_id or "")
            if item_key in known_ids:
                outcome.known_items.append(row)
                continue
            known_ids.add(item_key)
        new_rows.append(row)
    if request.duplicates == "skip" and new_rows:
        new_rows = drop_stored_items(company=company, rows=new_rows, request=request, outcome=outcome)
    outcome.duplicates = len(rows) - len(new_rows)
    return new_rows


def drop_closed_items(
    *,
    company: Company,
    rows: list[TransactionImportItem],
    request: TransactionImportRequest,
    outcome: TransactionImportOutcome,
) -> list[TransactionImportItem]:
    """Return the rows in open months and pending ones; with `closed: skip` the others are counted as left out.

    Raises: PeriodClosed with their pointers.
    """
    if company.closed_through is None:
        return rows
    closed_row_ids = {id(row) for row in rows if row.date <= company.closed_through and not row.pending}
    if closed_row_ids and request.closed != "skip":
        indexes = (index for index, item in enumerate(request.items) if id(item) in closed_row_ids)
        raise PeriodClosed.for_company(company, *(f"#/transactions/{index}/date" for index in indexes))
    outcome.skipped_closed = len(closed_row_ids)
    return [row for row in rows if id(row) not in closed_row_ids]


def has_trusted_id(row: TransactionImportItem, request: TransactionImportRequest) -> bool:
    """Whether the row's external id alone identifies it."""
    return request.trust_external_ids and row.external_id is not None


def drop_stored_items(
    *,
    company: Company,
    rows: list[TransactionImportItem],
    request: TransactionImportRequest,
    outcome: TransactionImportOutcome,
) -> list[TransactionImportItem]:
    """Return the rows that are not stored yet, matched like statements; those with an external id all stay.

    Rows of a file that came in another format are matched by similar words as well.
    """
    groups = [
        EntryGroup(row.account_id, entry := to_bank_entry(row, pending=bool(request.format and row.pending)), (entry,))
        for row in rows
    ]
    accounts = {row.account_id for row in rows}
    stored_transactions = Transaction.objects.for_company(company.id).without_initial_balances()
    formats = list_import_formats(company) if request.format else {}
    days = [row.date for row in rows]
    period = min(days), max(days)
    stored_rows = list(
        iterate_matchable_rows(
            stored_transactions,
            list_match_keys(groups),
            accounts,
            period=period,
            formats=formats,
            days=MAX_BOOKING_DAYS if request.has_unique_ids else 0,
            amounts={Decimal(row.amount_value) for row in rows} if request.has_unique_ids else (),
        )
    )
    if request.balances is not None:
        results = hooks.find_other_page_row_ids.run(company=company, request=request, rows=stored_rows)
        stored_rows = [row for row in stored_rows if not any(row.id in ids for ids in results)]
    if request.format:
        stored_rows = add_pending_rows(stored_transactions, stored_rows, accounts=accounts, formats=formats)
    else:
        for row in stored_rows:
            row.pending = False  # a pending row that is sent again is a duplicate like any other
    ledger = EntryMatcher(stored_rows, format_=request.format or "", has_unique_ids=request.has_unique_ids)
    compared_groups = [group for row, group in zip(rows, groups, strict=True) if not has_trusted_id(row, request)]
    for group in groups:
        group.new = list(group.units)
    matches = ledger.match_entries(compared_groups, final_days={})
    outcome.known, outcome.booked = [*matches.known_ids, *matches.still_pending_ids], matches.booked
    possible_duplicate_ids = {id(unit) for unit in ledger.list_possible_duplicates(groups)}
    outcome.possible_duplicates = len(possible_duplicate_ids)
    skipped_ids = possible_duplicate_ids if request.skip_possible_duplicates else set()
    new_rows = []
    for item, group in zip(rows, groups, strict=True):
        if group.new and id(group.entry) not in skipped_ids:
            new_rows.append(item)
        elif not group.booked:
            outcome.known_items.append(item)
    return new_rows


def add_pending_rows(
    stored_transactions: Any,
    rows: Sequence[StoredTransaction],
    *,
    accounts: Collection[str],
    formats: Mapping[UUID, str],
) -> list[StoredTransaction]:
    """Return rows with the pending ones of other days that files brought, which a row of a file may book."""
    known_ids = {row.id for row in rows}
    pending = stored_transactions.filter(
        account_id__in=accounts, pending=True, source__in=(Source.BANK, Source.CSV), import_batch__isnull=False
    )
    return [*rows, *(row for row in iterate_stored_rows(pending, formats) if row.id not in known_ids)]


def to_bank_entry(item: TransactionImportItem, *, pending: bool = False) -> Entry:
    """Return an item as the matcher compares it."""
    return Entry(
        day=item.date,
        amount=item.amount_value,
        currency=item.amount_currency or "",
        from_to=item.from_to or "",
        description=item.description or "",
        notes=item.notes or "",
        reference=item.bank_reference or "",
        pending=pending,
    )


def set_bank_references(company: Company, rows: list[TransactionImportItem]) -> None:
    """Use an id of a file as external id if no other row has it, and always as bank reference."""
    known_ids = find_known_external_ids(company, rows)
    for row in rows:
        if row.external_id is not None:
            row.bank_reference = row.external_id  # type: ignore[misc] # of a FileItem
            if (row.account_id, row.external_id) in known_ids:
                row.external_id = None
            else:
                known_ids.add((row.account_id, row.external_id))


def find_known_external_ids(company: Company, rows: list[TransactionImportItem]) -> set[tuple[str, str]]:
    """Return (account, external id) of those that are stored already."""
    external_ids = list({row.external_id for row in rows if row.external_id is not None})
    if not external_ids:
        return set()
    known_rows = (
        Transaction.objects.for_company(company.id)
        .filter(external_id__in=external_ids)
        .values_list("account_id", "external_id")
    )
    return {(str(account), external_id) for account, external_id in known_rows if external_id is not None}
