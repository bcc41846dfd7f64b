"""What undoing an import means for bank statements."""

from typing import Any

from django.db import connection

from companies.change import CompanyChange
from ledger.bank_statements.actions.opening_balances import update_opening_balance
from ledger.bank_statements.actions.pending_transactions import TOUCHED_SQL, restore_pending_state
from ledger.bank_statements.actions.reconciliation import reconcile_account
from ledger.models import Account, ImportBatch, ImportDuplicates, Statement, Transaction

# Expressions that depend on session settings, such as JSON output and date parsing, are in a WITH: a cluster
# rejects them beside the columns of the table that an UPDATE changes.

# Transactions that other imports have too; the oldest of these imports inherits them.
_HEIRS = """
    WITH heirs AS (
        SELECT DISTINCT ON (each.id) each.id, i.id AS heir
          FROM ledger_importbatch i
          JOIN ledger_knownbefore k ON k.company_id = %(company)s AND k.import_batch_id = i.id
         CROSS JOIN LATERAL unnest(k.transaction_ids) AS each (id)
         WHERE i.company_id = %(company)s AND i.id <> %(batch)s AND i.undone_time IS NULL
           AND i.account_ids && %(accounts)s::uuid[]
         ORDER BY each.id, i.created_time, i.id)
"""
_HAND_OVER = f"""
    {_HEIRS}
    UPDATE ledger_transaction t
       SET import_batch_id = h.heir, last_updated_time = %(time)s, last_updated_user_id = %(actor)s,
           told_time = CASE WHEN {TOUCHED_SQL.format(row="t")} THEN t.told_time ELSE %(time)s END
      FROM heirs h
     WHERE t.company_id = %(company)s AND t.import_batch_id = %(batch)s AND t.id = h.id
"""  # noqa: S608 - our own words
# Transactions that the undone import had booked now count as booked by the heir.
_HAND_OVER_BOOKED = """
    UPDATE ledger_pendingbefore p SET import_batch_id = t.import_batch_id
      FROM ledger_transaction t
     WHERE p.company_id = %(company)s AND p.import_batch_id = %(batch)s
       AND t.company_id = %(company)s AND t.id = p.transaction_id AND t.import_batch_id <> %(batch)s
"""
# Transactions that another import has booked since return to the heir when that import is undone.
_HAND_OVER_PENDING = f"""
    {_HEIRS}, pending AS (
        SELECT p.id, jsonb_build_object('import_batch_id', h.heir) AS new FROM ledger_pendingbefore p
          JOIN heirs h ON h.id = p.transaction_id
         WHERE p.company_id = %(company)s AND p.facts ->> 'import_batch_id' = %(batch)s::text)
    UPDATE ledger_pendingbefore p SET facts = p.facts || n.new
      FROM pending n
     WHERE p.company_id = %(company)s AND p.id = n.id
"""  # noqa: S608
# Transactions that lapsed by the undone import have lapsed by each later final statement too.
_HAND_OVER_LAPSED = """
    WITH lapsed AS (
        SELECT p.id, s.import_batch_id FROM ledger_pendingbefore p
          JOIN ledger_statement s ON s.company_id = %(company)s AND s.import_batch_id <> %(batch)s AND s.final
           AND s.account_id = coalesce(p.facts #>> '{as_told,account_id}', p.facts ->> 'account_id')::uuid
           AND s.day >= coalesce(p.facts #>> '{as_told,date}', p.facts ->> 'date')::date
         WHERE p.company_id = %(company)s AND p.import_batch_id = %(batch)s AND NOT EXISTS (
               SELECT FROM ledger_transaction t WHERE t.company_id = %(company)s AND t.id = p.transaction_id))
    UPDATE ledger_pendingbefore p SET import_batch_id = l.import_batch_id
      FROM lapsed l
     WHERE p.company_id = %(company)s AND p.id = l.id
"""


def restore_pending_transactions(*, change: CompanyChange, batch: ImportBatch) -> None:
    """Before the rows are deleted: hand over what other imports have too, and restore what was pending before, which
    then no longer belongs to this import.
    """
    params: dict[str, Any] = {"company": change.company.id, "batch": batch.id, "accounts": batch.account_ids}
    params |= {"time": change.context.time, "actor": change.context.actor}
    with connection.cursor() as cursor:
        for statement in (_HAND_OVER, _HAND_OVER_BOOKED, _HAND_OVER_PENDING, _HAND_OVER_LAPSED):
            cursor.execute(statement, params)
    restore_pending_state(change, batch)


def delete_import_statements(*, change: CompanyChange, batch: ImportBatch) -> None:
    """After the rows were deleted: delete the import's statements with what they set on accounts, and its record of
    other imports' rows.
    """
    ImportDuplicates.objects.for_company(change.company.id).filter(import_batch=batch).delete()
    statements = Statement.objects.for_company(change.company.id).filter(import_batch=batch)
    number_by_account = dict(statements.order_by("id").values_list("account_id", "number_given"))
    statements.delete()
    for account in (
        Account.objects.for_company(change.company.id).filter(id__in=[*number_by_account]).in_display_order()
    ):
        remove_adopted_account_number(change, account, number_by_account[account.id])
        is_empty = (
            not Transaction.objects.for_company(change.company.id)
            .filter(account=account)
            .without_initial_balances()
            .exists()
        )
        update_opening_balance(change, account, is_first=False, is_empty=is_empty)
        reconcile_account(change, account)


def remove_adopted_account_number(change: CompanyChange, account: Account, number: str | None) -> None:
    """Remove the number that an account has from statements with the last statement that has it."""
    if number is None or account.account_number != number:
        return
    remaining_statements = Statement.objects.for_company(change.company.id).for_account(account.id)
    if not remaining_statements.filter(number_given=number).exists():
        change.update(account, "account.updated", account_number=None)
