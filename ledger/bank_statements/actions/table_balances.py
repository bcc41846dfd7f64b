"""Balances of an imported table as those of a bank statement."""

from dataclasses import replace
from uuid import UUID

from companies.change import CompanyChange
from ledger.bank_statements.actions.opening_balances import update_opening_balance
from ledger.bank_statements.actions.reconciliation import compute_balances_at, reconcile_account
from ledger.bank_statements.actions.statement_results import StatementOutcome
from ledger.bank_statements.actions.statements import create_statements
from ledger.bank_statements.queries.statement_files import build_plain_statement
from ledger.hooks import ReportedBalance
from ledger.imports.actions.imports import to_bank_entry
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
    entries = [to_bank_entry(item, pending=bool(item.pending)) for item in request.items if item is not None]
    statement = replace(
        build_plain_statement(account, entries), opening=balances.opening, closing=balances.closing, format="csv"
    )
    outcome = StatementOutcome(statement, account)
    outcome.split_entries_at(change.company.data_start_date)
    create_statements(change, [outcome], batch, {account.id: None})
    update_opening_balance(change, account, is_first=opens_account, skips_closed=request.closed == "skip")
    reconcile_account(change, account)
    day = statement.last_day
    if day is None:
        return None
    balance_key = (account.id, statement.currency, day)
    calculated = compute_balances_at(change.company, [balance_key])[balance_key]
    return ReportedBalance(day, balances.closing, calculated, statement.currency)
