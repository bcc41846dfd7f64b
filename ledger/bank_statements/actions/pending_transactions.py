"""Pending transactions that a statement books or lets lapse, and restoring them."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import connection

from companies.change import CompanyChange
from ledger import hooks
from ledger.bank_statements.actions.categorization_rescaling import (
    recompute_totals_by_automatic_flag,
    rescale_categorizations,
)
from ledger.imports.calc.entries import Entry
from ledger.imports.calc.entry_groups import StoredTransaction
from ledger.models import Categorization, ImportBatch, Transaction
from ledger.recognition.actions.period_updates import recompute_periods
from ledger.recognition.actions.postings import delete_postings
from ledger.rules.actions.auto_assign import assign_categories
from ledger.transactions.actions.transactions import delete_transaction_rows

_REMEMBER = """
    INSERT INTO ledger_pendingbefore (company_id, id, transaction_id, import_batch_id, facts, parts, file_ids)
    SELECT t.company_id, gen_random_uuid(), t.id, %(batch)s, to_jsonb(t),
           (SELECT jsonb_agg(to_jsonb(c)) FROM ledger_categorization c
             WHERE c.company_id = %(company)s AND c.transaction_id = t.id AND c.counter_id IS NULL),
           ARRAY(SELECT f.file_id FROM ledger_filetransaction f
                  WHERE f.company_id = %(company)s AND f.transaction_id = t.id)
      FROM ledger_transaction t
     WHERE t.company_id = %(company)s AND t.id = ANY(%(ids)s::uuid[])
"""
TOUCHED_SQL = "({row}.last_updated_time > coalesce({row}.told_time, {row}.created_time))"
_TOUCHED, _TOUCHED_BEFORE = TOUCHED_SQL.format(row="t"), TOUCHED_SQL.format(row="f")
# Texts that a user has changed since the import stay; empty ones are filled by the bank's.
_BOOK = f"""
    WITH booked AS (
        SELECT b.*, jsonb_build_object(
                   'account_id', coalesce(o.as_told ->> 'account_id', o.account_id::text), 'date', b.day,
                   'amount_value', b.amount::text, 'amount_currency', b.currency, 'from_to', b.from_to,
                   'description', b.description) AS told
          FROM unnest(%(ids)s::uuid[], %(days)s::date[], %(amounts)s::numeric[], %(currencies)s::text[],
                      %(from_to)s::text[], %(descriptions)s::text[], %(notes)s::text[], %(references)s::text[])
               AS b (id, day, amount, currency, from_to, description, notes, reference)
          JOIN ledger_transaction o ON o.company_id = %(company)s AND o.id = b.id)
    UPDATE ledger_transaction t
       SET pending = false, date = b.day, amount_value = b.amount, import_batch_id = %(batch)s,
           from_to = CASE WHEN {_TOUCHED} THEN coalesce(nullif(t.from_to, ''), b.from_to)
               ELSE coalesce(nullif(b.from_to, ''), t.from_to) END,
           description = CASE WHEN {_TOUCHED} THEN coalesce(nullif(t.description, ''), b.description)
               ELSE coalesce(nullif(b.description, ''), t.description) END,
           notes = CASE WHEN {_TOUCHED} THEN coalesce(nullif(t.notes, ''), nullif(b.notes, ''))
               ELSE coalesce(nullif(b.notes, ''), t.notes) END,
           bank_reference = coalesce(nullif(b.reference, ''), t.bank_reference),
           as_told = b.told, told_time = CASE WHEN {_TOUCHED} THEN t.told_time ELSE %(time)s END,
           last_updated_time = %(time)s, last_updated_user_id = %(actor)s
      FROM booked b
     WHERE t.company_id = %(company)s AND t.id = b.id
"""  # noqa: S608 - our own words
# Nothing is restored for an import that was undone itself.
_BEFORE = """
      FROM ledger_pendingbefore p
     CROSS JOIN LATERAL jsonb_populate_record(NULL::ledger_transaction, p.facts) AS f
      JOIN ledger_importbatch i ON i.company_id = %(company)s AND i.id = f.import_batch_id AND i.undone_time IS NULL
"""
_BOOKED = f"""
    SELECT t.id, f.amount_value, t.last_updated_time > %(booked)s, t.categorizations_auto_assigned,
           f.categorizations_auto_assigned
    {_BEFORE}
      JOIN ledger_transaction t ON t.company_id = %(company)s AND t.id = p.transaction_id
     WHERE p.company_id = %(company)s AND p.import_batch_id = %(batch)s AND t.import_batch_id = %(batch)s
"""
# Texts changed after the booking stay, and changes before it too. The ids are compared with the remembered
# rows: compared with the key of the table, each row of the table would be searched in all of them.
_UNBOOK = f"""
    UPDATE ledger_transaction t
       SET pending = true, date = f.date, amount_value = f.amount_value, import_batch_id = f.import_batch_id,
           from_to = CASE WHEN t.id = ANY(%(changed)s::uuid[]) AND t.from_to <> t.as_told ->> 'from_to'
               THEN t.from_to ELSE f.from_to END,
           description = CASE WHEN t.id = ANY(%(changed)s::uuid[]) AND t.description <> t.as_told ->> 'description'
               THEN t.description ELSE f.description END,
           notes = CASE WHEN t.id = ANY(%(changed)s::uuid[]) THEN t.notes ELSE f.notes END,
           bank_reference = f.bank_reference, as_told = f.as_told,
           told_time = CASE WHEN t.id = ANY(%(changed)s::uuid[]) OR {_TOUCHED_BEFORE}
               THEN f.told_time ELSE %(time)s END,
           last_updated_time = %(time)s, last_updated_user_id = %(actor)s
    {_BEFORE}
     WHERE p.company_id = %(company)s AND p.import_batch_id = %(batch)s AND t.company_id = %(company)s
       AND t.id = p.transaction_id AND p.transaction_id = ANY(%(ids)s::uuid[])
"""  # noqa: S608
_BRING_BACK = f"""
    INSERT INTO ledger_transaction
    SELECT r.*
    {_BEFORE}
      JOIN ledger_account a ON a.company_id = %(company)s AND a.id = f.account_id
     CROSS JOIN LATERAL jsonb_populate_record(f, jsonb_build_object(
           'categorized_value', 0, 'transferred_value', 0,
           'told_time', CASE WHEN {_TOUCHED_BEFORE} THEN f.told_time ELSE %(time)s END)) AS r
     WHERE p.company_id = %(company)s AND p.import_batch_id = %(batch)s
       AND NOT EXISTS (SELECT FROM ledger_transaction t WHERE t.company_id = %(company)s AND t.id = p.transaction_id)
 RETURNING id, categorizations_auto_assigned
"""  # noqa: S608
_FILES_BACK = """
    INSERT INTO ledger_filetransaction (company_id, id, file_id, transaction_id)
    SELECT %(company)s, gen_random_uuid(), f.id, p.transaction_id
      FROM ledger_pendingbefore p
      JOIN ledger_file f ON f.company_id = %(company)s AND f.id = ANY(p.file_ids)
     WHERE p.company_id = %(company)s AND p.import_batch_id = %(batch)s AND p.transaction_id = ANY(%(ids)s::uuid[])
"""
_PARTS_BACK = """
    INSERT INTO ledger_categorization
    SELECT f.*
      FROM ledger_pendingbefore p
     CROSS JOIN LATERAL jsonb_array_elements(p.parts) AS part
     CROSS JOIN LATERAL jsonb_populate_record(NULL::ledger_categorization, part) AS f
      JOIN ledger_category k ON k.company_id = %(company)s AND k.id = f.category_id
     WHERE p.company_id = %(company)s AND p.import_batch_id = %(batch)s AND p.transaction_id = ANY(%(ids)s::uuid[])
       AND p.parts IS NOT NULL
"""
_FORGET = "DELETE FROM ledger_pendingbefore WHERE company_id = %(company)s AND import_batch_id = %(batch)s"


def book_pending_transactions(
    change: CompanyChange, batch: ImportBatch, pairs: Sequence[tuple[StoredTransaction, Entry]]
) -> None:
    """Update pending transactions to their booked values: ids and categorizations stay, scaled if the amount
    changed.

    They are categorized by rules and matched with planned transactions. A constant number of statements. Raises
    MissingRateError.
    """
    if not pairs:
        return
    transaction_ids = [row.id for row, _ in pairs]
    store_pending_snapshots(change, batch, transaction_ids)
    entries = [entry for _, entry in pairs]
    amounts = {row.id: Decimal(entry.amount) for row, entry in pairs}
    with rescale_categorizations(change, amounts), connection.cursor() as cursor:
        cursor.execute(
            _BOOK,
            {
                "company": change.company.id,
                "batch": batch.id,
                "time": change.context.time,
                "actor": change.context.actor,
                "ids": transaction_ids,
                "days": [bank_entry.day for bank_entry in entries],
                "amounts": [bank_entry.amount for bank_entry in entries],
                "currencies": [bank_entry.currency for bank_entry in entries],
                "from_to": [bank_entry.from_to for bank_entry in entries],
                "descriptions": [bank_entry.description for bank_entry in entries],
                "notes": [bank_entry.notes for bank_entry in entries],
                "references": [bank_entry.reference for bank_entry in entries],
            },
        )
    recompute_periods(change, transaction_ids)
    booked_transactions = Transaction.objects.for_company(change.company.id).filter(id__in=transaction_ids)
    assign_categories(change, booked_transactions)
    hooks.transactions_booked.run(change=change, rows=booked_transactions)


def delete_lapsed_transactions(change: CompanyChange, batch: ImportBatch, ids: list[UUID]) -> None:
    """Delete pending transactions that the bank will not book."""
    if ids:
        store_pending_snapshots(change, batch, ids)
        delete_transaction_rows(change, ids)


def store_pending_snapshots(change: CompanyChange, batch: ImportBatch, ids: list[UUID]) -> None:
    """Store pending transactions as they are, so that undoing the import restores them."""
    with connection.cursor() as cursor:
        cursor.execute(_REMEMBER, {"company": change.company.id, "batch": batch.id, "ids": ids})


def restore_pending_state(change: CompanyChange, batch: ImportBatch) -> None:
    """Make transactions pending again that an import booked, and restore those that lapsed. Raises MissingRateError."""
    context = change.context
    params: dict[str, Any] = {
        "company": change.company.id,
        "batch": batch.id,
        "time": context.time,
        "actor": context.actor,
    }
    reset_to_pending(change, params | {"booked": batch.created_time})
    with connection.cursor() as cursor:
        cursor.execute(_BRING_BACK, params)
        auto_assigned_by_id = dict(cursor.fetchall())
        if auto_assigned_by_id:
            cursor.execute(_PARTS_BACK, params | {"ids": [*auto_assigned_by_id]})
            cursor.execute(_FILES_BACK, params | {"ids": [*auto_assigned_by_id]})
        cursor.execute(_FORGET, params)
    recompute_totals_by_automatic_flag(change, auto_assigned_by_id)


def reset_to_pending(change: CompanyChange, params: dict[str, Any]) -> None:
    """Restore booked transactions as they were; later changes by users stay, and they settle nothing now."""
    with connection.cursor() as cursor:
        cursor.execute(_BOOKED, params)
        booked_rows = cursor.fetchall()
    if not booked_rows:
        return
    transaction_ids = [row_id for row_id, *_ in booked_rows]
    changed_ids = [row_id for row_id, _, is_changed, *_ in booked_rows if is_changed]
    # Not by a person: unchanged rows, and those that rules categorized when they were booked.
    previous_auto_assigned = {
        row_id: was_auto_assigned
        for row_id, _, is_changed, is_auto_assigned, was_auto_assigned in booked_rows
        if is_auto_assigned or not is_changed
    }
    delete_postings(company=change.company, transaction_ids=transaction_ids)
    with rescale_categorizations(
        change, {row_id: amount for row_id, amount, *_ in booked_rows}, instead=previous_auto_assigned
    ):
        Categorization.objects.for_company(change.company.id).filter(
            transaction_id__in=[*previous_auto_assigned]
        ).unlinked().delete()
        with connection.cursor() as cursor:
            cursor.execute(_PARTS_BACK, params | {"ids": [*previous_auto_assigned]})
            cursor.execute(_UNBOOK, params | {"ids": transaction_ids, "changed": changed_ids})
    hooks.transactions_pending.run(change=change, transaction_ids=transaction_ids)
    recompute_periods(change, transaction_ids)
