"""Balances of an imported table as those of a bank statement."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from companies.change import CompanyChange
from companies.models import Company
from ledger.bank_statements.actions.opening_balances import update_opening_balance
from ledger.bank_statements.actions.reconciliation import compute_balances_at, reconcile_account
from ledger.bank_statements.actions.statement_results import StatementOutcome
from ledger.bank_statements.actions.statements import create_statements
from ledger.bank_statements.parsers.models import ParsedStatement
from ledger.bank_statements.queries.adjacent_pages import find_adjacent_page_row_ids
from ledger.bank_statements.queries.statement_files import build_plain_statement
from ledger.hooks import ReportedBalance
from ledger.imports.actions.imports import to_bank_entry
from ledger.imports.calc.entry_groups import StoredTransaction
from ledger.imports.calc.running_balance import TableBalances
from ledger.imports.import_body import TransactionImportRequest
from ledger.models import Account, ImportBatch


def store_table_balances(
    *,
    change: CompanyChange,
    batch: ImportBatch,
    account_id: UUID,
    request: TransactionImportRequest,
    balances: TableBalances,
    opens_account: bool,
) -> ReportedBalance | None:
    """Store the balances that the balance column of a table proves as a statement of the account, and reconcile it.

    Raises: PeriodClosed: the opening balance of the account would change in a closed month.
    """
    account = change.lock(Account, account_id)
    statement = build_table_statement(account, request, balances)
    outcome = StatementOutcome(statement, account)
    outcome.split_entries_at(change.company.data_start_date)
    skips_closed = request.closed == "skip"
    outcome.closed_through = change.company.closed_through if skips_closed else None
    create_statements(change, [outcome], batch, {account.id: None})
    # An account that the file opens has no rows yet: its balance is set after the closed months, as the page says.
    update_opening_balance(change, account, is_first=opens_account, skips_closed=skips_closed or opens_account)
    reconcile_account(change, account)
    day = statement.last_day
    if day is None:
        return None
    balance_key = (account.id, statement.currency, day)
    calculated = compute_balances_at(change.company, [balance_key])[balance_key]
    return ReportedBalance(day, balances.closing, calculated, statement.currency)


def build_table_statement(
    account: Account, request: TransactionImportRequest, balances: TableBalances
) -> ParsedStatement:
    """Return a table of one account as a statement."""
    entries = [to_bank_entry(item, pending=bool(item.pending)) for item in request.items if item is not None]
    statement = build_plain_statement(account, entries)
    return replace(statement, opening=balances.opening, closing=balances.closing, format="csv")


def find_table_page_row_ids(
    *, company: Company, request: TransactionImportRequest, rows: Sequence[StoredTransaction]
) -> frozenset[UUID]:
    """Return the ids of stored rows that another page brought, so that no row of the table can be one of them."""
    if request.balances is None or not rows:
        return frozenset()
    account_ids = {item.account_id for item in request.items if item is not None}
    account = Account.objects.for_company(company.id).get(id__in=account_ids)  # a table with balances has one
    statement = build_table_statement(account, request, request.balances)
    return find_adjacent_page_row_ids(company, account, statement, rows)
