"""Import bank statements: each entry once, balances compared, in one transaction. A dry run rolls everything
back.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Max, Q

from companies.change import CompanyChange, change_company
from companies.closed_periods import PeriodClosed
from companies.counters import count_import_outcome
from companies.models import AuditContext, Company
from ledger.bank_statements.actions.opening_balances import is_first_opening_statement, update_opening_balance
from ledger.bank_statements.actions.pending_transactions import book_pending_transactions, delete_lapsed_transactions
from ledger.bank_statements.actions.reconciliation import compute_balances_at, reconcile_account
from ledger.bank_statements.actions.statement_results import StatementImportResult, StatementOutcome
from ledger.bank_statements.calc.statement_matcher import (
    KeyHashes,
    MatchedRows,
    StatementMatcher,
    StatementPart,
    group_disjoint_statements,
)
from ledger.bank_statements.errors import StatementUnreadable
from ledger.bank_statements.items import NewStatementItems
from ledger.bank_statements.parsers import models
from ledger.bank_statements.queries import statement_files
from ledger.bank_statements.queries.adjacent_pages import find_adjacent_page_row_ids
from ledger.bank_statements.queries.statement_accounts import (
    find_statement_accounts,
    get_requested_account,
    list_account_labels,
)
from ledger.imports.actions.imports import SourceFile, TransactionImportOutcome, notify_sender, store_batch
from ledger.imports.calc.entries import Entry
from ledger.imports.calc.entry_groups import EntryGroup, StoredTransaction, build_match_key
from ledger.imports.calc.entry_matcher import MAX_BOOKING_DAYS
from ledger.imports.queries.categorization_lookup import CategorizationLookup
from ledger.imports.queries.stored_transactions import iterate_matchable_rows, iterate_stored_rows, list_import_formats
from ledger.imports.table_items import describe_reader_error as explain
from ledger.models import Account, ImportBatch, Source, Statement, Transaction


def import_statement(
    *,
    company: Company,
    context: AuditContext,
    content: bytes,
    filename: str,
    account: Account | None,
    details: bool = False,
    date_order: str | None = None,
    dry_run: bool = False,
    settings: Any = None,
    skips_closed: bool = False,
) -> StatementImportResult:
    """Store what a bank file has and the ledger has not, all of it or nothing.

    Args:
        account: as named in the request.
        details: single payments in place of batch entries.
        settings: how a CSV file is read.
        skips_closed: leave out new entries in closed months instead of refusing the file.

    Raises what ``read_statements`` and ``find_statement_accounts`` raise, ValidationFailed (unknown_id),
    MissingRateError, PeriodClosed.
    """
    statement_file = statement_files.read_statements(
        content, company=company, account=account, date_order=date_order, settings=settings
    )
    with change_company(company, context=context) as outer_change, transaction.atomic():
        # The audit entries of a dry run are rolled back, and it must not mark the company as changed.
        change = replace(outer_change, context=replace(context, touched_company_ids=set())) if dry_run else outer_change
        account = (
            get_requested_account(company, str(account.id)) if account else None
        )  # another file may have given it a number
        statement_outcomes = [
            StatementOutcome(*pair) for pair in find_statement_accounts(company, statement_file.statements, account)
        ]
        used_statement_ids = {id(each.statement) for each in statement_outcomes}
        other_labels = list_account_labels(
            statement for statement in statement_file.statements if id(statement) not in used_statement_ids
        )
        result = StatementImportResult(
            statement_file.format,
            statement_outcomes,
            dry_run,
            other_accounts=other_labels,
            left_out=statement_file.left_out,
            left_out_files=statement_file.left_out_files,
            skips_closed=skips_closed,
        )
        store_entries(change, result, SourceFile(filename, statement_file.format), details=details)
        if statement_file.date_order and account is not None:
            store_date_order(change, account, statement_file.date_order)
        if dry_run:
            transaction.set_rollback(True)
            result.batch = None
    return result


def store_entries(change: CompanyChange, result: StatementImportResult, file: SourceFile, *, details: bool) -> None:
    """Store new entries, pending changes, statements and initial balances, and reconcile the accounts."""
    accounts = {statement_outcome.account.id: statement_outcome.account for statement_outcome in result.statements}
    is_first_by_account = {account.id: is_first_opening_statement(change, account) for account in accounts.values()}
    decision = match_entries(change, result, details=details)
    batch = store_import_batch(change, result, decision, file, accounts)
    number_by_account = {
        account.id: adopt_account_number(change, account, result.statements) for account in accounts.values()
    }
    create_statements(change, result.statements, batch, number_by_account)
    for account in accounts.values():
        is_first = is_first_by_account[account.id]
        update_opening_balance(change, account, is_first=is_first, skips_closed=result.skips_closed)
        reconcile_account(change, account)
    compare_ledger_balances(change, result)


# ---------------------------------------------------------------------------------------------- matching


@dataclass(slots=True)
class MatchDecision:
    """What to do with stored rows."""

    booked: list[tuple[StoredTransaction, Entry]]
    lapsed: list[UUID]
    known: list[UUID]  # they came with another import, and stay when that is undone


def match_entries(change: CompanyChange, result: StatementImportResult, *, details: bool) -> MatchDecision:
    """Count what is new in each statement, and decide about pending rows."""
    data_start = change.company.data_start_date
    for statement_outcome in result.statements:
        statement_outcome.split = details
        statement_outcome.split_entries_at(data_start)
        statement_outcome.closed_through = change.company.closed_through if result.skips_closed else None
    account_ids = {statement_outcome.account.id for statement_outcome in result.statements}
    final_days = find_final_statement_days(change.company, account_ids)
    rows = list(iterate_candidate_rows(change.company, result.statements, account_ids))
    other_page_ids = {
        id(outcome): find_adjacent_page_row_ids(change.company, outcome.account, outcome.statement, rows)
        for outcome in result.statements
        if rows
    }
    matches = match_statements(change.company, result, rows, final_days, other_page_ids)
    check_period_open_for_entries(change.company, result)
    result.possible_duplicates = matches.possible
    for statement_outcome in result.statements:
        units = (
            sum(len(statement_outcome.list_entry_units(entry)) for entry in statement_outcome.entries)
            if details
            else len(statement_outcome.entries)
        )
        groups = statement_outcome.groups.values()
        statement_outcome.duplicates = sum(len(group.units) - len(group.new) - group.closed for group in groups)
        statement_outcome.count = units - statement_outcome.duplicates - statement_outcome.skipped_closed
    return MatchDecision(
        matches.booked, find_lapsed_ids(result, rows, matches, final_days), [*matches.known, *matches.seen]
    )


def match_statements(
    company: Company,
    received: StatementImportResult,
    rows: Sequence[StoredTransaction],
    settled_days: Mapping[str, date],
    other_page_ids: Mapping[int, frozenset[UUID]],
) -> MatchedRows:
    """Match the statements with the ledger's rows, and with each other where they have days in common. None of
    ``other_page_ids`` is an entry of its statement.

    Entries that no row can be get no group, but those in closed months: there may be very many.
    Raises StatementUnreadable.
    """
    parts = [
        StatementPart(str(outcome.account.id), outcome.statement, [], other_page_ids.get(id(outcome), frozenset()))
        for outcome in received.statements
    ]
    rounds = group_disjoint_statements(parts)
    matcher = StatementMatcher(rows, settled_days, closed_through=company.closed_through)
    for outcome, part in zip(received.statements, parts, strict=True):
        every = len(rounds) > 1 or bool(outcome.pending)
        if not (every or rows or company.closed_through):
            continue
        for position, entry in enumerate(outcome.entries):
            units = outcome.list_entry_units(entry)
            if every or matcher.is_candidate(part.account, entry) or any(map(matcher.is_closed, units)):
                outcome.groups[position] = EntryGroup(part.account, entry, units)
        part.groups = list(outcome.groups.values())
    try:
        return matcher.match(rounds)
    except models.UnreadableFileError as error:
        raise StatementUnreadable(explain(error)) from None


def check_period_open_for_entries(company: Company, result: StatementImportResult) -> None:
    """Raise PeriodClosed, with a pointer for each entry, where some lie in closed months and may not be left out."""
    if result.skips_closed or not any(outcome.skipped_closed for outcome in result.statements):
        return
    data_start = company.data_start_date
    pointers: list[str] = []
    for number, outcome in enumerate(result.statements):
        positions = [
            position
            for position, entry in enumerate(outcome.statement.entries)
            if data_start is None or entry.day >= data_start
        ]
        closed_places = (positions[position] for position, group in outcome.groups.items() if group.closed)
        pointers += [f"#/statements/{number}/entries/{position}" for position in closed_places]
    raise PeriodClosed.for_company(company, *pointers)


def find_final_statement_days(company: Company, account_ids: set[UUID]) -> dict[str, date]:
    """Return the last day of stored final statements, by account."""
    final = Statement.objects.for_company(company.id).filter(account_id__in=account_ids, final=True, day__isnull=False)
    last_days = final.order_by().values("account_id").annotate(last=Max("day")).values_list("account_id", "last")
    return {str(account_id): day for account_id, day in last_days}


def iterate_candidate_rows(
    company: Company, statements: Sequence[StatementOutcome], account_ids: set[UUID]
) -> Iterator[StoredTransaction]:
    """Yield stored rows that entries may match: those with the same account, day, amount and currency, as imported
    or as they are now, and pending ones.
    """
    rows = Transaction.objects.for_company(company.id).without_initial_balances()
    on_accounts = Q(account_id__in=account_ids) | Q(as_told__isnull=False)
    if not rows.filter(on_accounts).exists():
        return
    match_keys, days, amounts = KeyHashes(), set[date](), set[Decimal]()
    is_near_compared = any(outcome.pending or outcome.statement.has_unique_ids for outcome in statements)
    for outcome in statements:
        account = str(outcome.account.id)
        for entry in outcome.entries:
            for unit in (entry, *entry.parts):
                match_key = build_match_key(account, unit)
                match_keys.add(match_key)
                days.add(unit.day)
                if is_near_compared:
                    amounts.add(match_key[2])
    formats = list_import_formats(company)
    if days:
        period = min(days), max(days)
        booked = rows.booked()
        yield from iterate_matchable_rows(
            booked, match_keys, account_ids, period=period, formats=formats, days=MAX_BOOKING_DAYS, amounts=amounts
        )
    pending = rows.filter(on_accounts, pending=True, source__in=(Source.BANK, Source.CSV), import_batch__isnull=False)
    yield from (row for row in iterate_stored_rows(pending, formats) if UUID(row.account) in account_ids)


def find_lapsed_ids(
    result: StatementImportResult, rows: Iterable[StoredTransaction], matches: MatchedRows, final_days: dict[str, date]
) -> list[UUID]:
    """Return pending rows up to the end of a final statement that does not have them. A statement older than another
    final one says nothing about what came since.
    """
    end_by_account: dict[str, date] = {}
    for statement_outcome in result.statements:
        account_id, end = str(statement_outcome.account.id), statement_outcome.statement.last_day
        if statement_outcome.statement.final and end and end >= final_days.get(account_id, end):
            end_by_account[account_id] = max(end, end_by_account.get(account_id, end))
    kept_ids = matches.seen | matches.taken | {row.id for row, _ in matches.booked}
    return [
        row.id
        for row in rows
        if row.pending and row.id not in kept_ids and row.day <= end_by_account.get(row.account, date.min)
    ]


def store_import_batch(
    change: CompanyChange,
    result: StatementImportResult,
    decision: MatchDecision,
    file: SourceFile,
    accounts: dict[UUID, Account],
) -> ImportBatch:
    """Store the import with its new rows and pending changes, even if nothing is new."""
    outcome = TransactionImportOutcome(
        count=result.count,
        duplicates=result.duplicates,
        lapsed=result.lapsed,
        skipped_before_data_start=result.skipped_before_data_start,
        rows=NewStatementItems(result.statements, count=result.count),
        known=decision.known,
        dry_run=result.dry_run,
    )
    count_import_outcome(source="statements", outcome=outcome)
    lookup = CategorizationLookup(company=change.company, items=outcome.rows)
    batch = store_batch(change, outcome, source=Source.BANK, lookup=lookup, account_ids=set(accounts), file=file)
    result.batch = batch
    book_pending_transactions(change, batch, decision.booked)
    lapsed_transactions = Transaction.objects.for_company(change.company.id).filter(id__in=decision.lapsed)
    result.gone, result.gone_changed = (
        len(decision.lapsed),
        lapsed_transactions.edited_since_import().count() if decision.lapsed else 0,
    )
    delete_lapsed_transactions(change, batch, decision.lapsed)
    notify_sender(change, batch, skipped_closed=result.skipped_closed)
    return batch


def create_statements(
    change: CompanyChange,
    outcomes: Sequence[StatementOutcome],
    batch: ImportBatch,
    numbers: Mapping[UUID, str | None],
) -> None:
    """Store the statements.

    Args:
        numbers: by account, the number that it has from statements.
    """
    Statement.objects.bulk_create(
        Statement(
            company=change.company,
            account=statement_outcome.account,
            import_batch=batch,
            currency=statement_outcome.statement.currency,
            start_date=statement_outcome.start_date,
            day=statement_outcome.statement.last_day,
            opening_balance=statement_outcome.opening_balance,
            closing_balance=statement_outcome.statement.closing,
            final=statement_outcome.statement.final,
            number_given=numbers[statement_outcome.account.id],
            created_time=change.context.time,
        )
        for statement_outcome in outcomes
    )


def adopt_account_number(change: CompanyChange, account: Account, statements: Iterable[StatementOutcome]) -> str | None:
    """Give an account without a number that of its statement; return the number it has from statements."""
    numbers = (
        statement_outcome.statement.account_number
        for statement_outcome in statements
        if statement_outcome.account.id == account.id
    )
    number = next(filter(None, numbers), "")
    if not number:
        return None
    if not account.account_number:
        change.update(account, "account.updated", account_number=number)
        return number
    own_statements = Statement.objects.for_company(change.company.id).for_account(account.id)
    return account.account_number if own_statements.filter(number_given=account.account_number).exists() else None


def store_date_order(change: CompanyChange, account: Account, order: str) -> None:
    """Keep the date order for the account's next QIF file."""
    settings = {**(account.import_settings or {}), "qif": {"dateOrder": order}}
    change.update(account, "account.updated", import_settings=settings)


def compare_ledger_balances(change: CompanyChange, result: StatementImportResult) -> None:
    """Set the ledger balance at the end of each statement."""
    balance_keys = {
        id(statement_outcome): (
            statement_outcome.account.id,
            statement_outcome.statement.currency,
            statement_outcome.statement.last_day,
        )
        for statement_outcome in result.statements
        if statement_outcome.statement.last_day and statement_outcome.statement.booked_sum is not None
    }
    balances = compute_balances_at(change.company, balance_keys.values())
    for statement_outcome in result.statements:
        statement_outcome.ledger_balance = (
            balances[balance_keys[id(statement_outcome)]] if id(statement_outcome) in balance_keys else None
        )
