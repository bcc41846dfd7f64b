"""Pending rows that a statement books, or that lapse; and giving them back."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connection

from companies.changing import Change
from companies.follow_ups import follow_up
from ledger.models import ImportBatch, Transaction
from ledger.recognition.redating import redate
from ledger.recognition.totals import retotal
from ledger.rules.assigning import assign
from ledger.statements.calc.facts import Entry
from ledger.statements.calc.matching import Row
from ledger.transactions.booking import remove

_REMEMBER = """
    INSERT INTO ledger_pendingbefore (company_id, id, transaction_id, import_batch_id, facts, parts)
    SELECT t.company_id, gen_random_uuid(), t.id, %(batch)s, to_jsonb(t),
           (SELECT jsonb_agg(to_jsonb(c)) FROM ledger_categorization c
             WHERE c.company_id = %(company)s AND c.transaction_id = t.id AND c.counter_id IS NULL)
      FROM ledger_transaction t
     WHERE t.company_id = %(company)s AND t.id = ANY(%(ids)s::uuid[])
"""
# Of a row that somebody has touched since it came the words are theirs; what is empty the bank fills.
_BOOK = """
    UPDATE ledger_transaction t
       SET pending = false, date = b.day, amount_value = b.amount, import_batch_id = %(batch)s,
           from_to = CASE WHEN t.last_updated_time > t.created_time THEN coalesce(nullif(t.from_to, ''), b.from_to)
               ELSE coalesce(nullif(b.from_to, ''), t.from_to) END,
           description = CASE WHEN t.last_updated_time > t.created_time
               THEN coalesce(nullif(t.description, ''), b.description)
               ELSE coalesce(nullif(b.description, ''), t.description) END,
           notes = CASE WHEN t.last_updated_time > t.created_time
               THEN coalesce(nullif(t.notes, ''), nullif(b.notes, ''))
               ELSE coalesce(nullif(b.notes, ''), t.notes) END,
           bank_reference = coalesce(nullif(b.reference, ''), t.bank_reference),
           last_updated_time = %(time)s, last_updated_user_id = %(actor)s
      FROM unnest(%(ids)s::uuid[], %(days)s::date[], %(amounts)s::numeric[], %(from_to)s::text[],
                  %(descriptions)s::text[], %(notes)s::text[], %(references)s::text[])
           AS b (id, day, amount, from_to, description, notes, reference)
     WHERE t.company_id = %(company)s AND t.id = b.id
"""
# Of an import that was undone itself nothing comes back.
_UNBOOK = """
    UPDATE ledger_transaction t
       SET pending = true, date = f.date, amount_value = f.amount_value, import_batch_id = f.import_batch_id,
           from_to = f.from_to, description = f.description, notes = f.notes, bank_reference = f.bank_reference,
           last_updated_time = %(time)s, last_updated_user_id = %(actor)s
      FROM ledger_pendingbefore p
     CROSS JOIN LATERAL jsonb_populate_record(NULL::ledger_transaction, p.facts) AS f
      JOIN ledger_importbatch i ON i.company_id = %(company)s AND i.id = f.import_batch_id AND i.undone_time IS NULL
     WHERE p.company_id = %(company)s AND p.import_batch_id = %(batch)s AND t.company_id = %(company)s
       AND t.id = p.transaction_id AND t.import_batch_id = %(batch)s
       AND abs(t.categorized_value) <= abs(f.amount_value)
 RETURNING t.id
"""
_BRING_BACK = """
    INSERT INTO ledger_transaction
    SELECT f.*
      FROM ledger_pendingbefore p
     CROSS JOIN LATERAL jsonb_populate_record(NULL::ledger_transaction, p.facts) AS f
      JOIN ledger_importbatch i ON i.company_id = %(company)s AND i.id = f.import_batch_id AND i.undone_time IS NULL
      JOIN ledger_account a ON a.company_id = %(company)s AND a.id = f.account_id
     WHERE p.company_id = %(company)s AND p.import_batch_id = %(batch)s
       AND NOT EXISTS (SELECT FROM ledger_transaction t WHERE t.company_id = %(company)s AND t.id = p.transaction_id)
 RETURNING id
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


def book_pending(change: Change, batch: ImportBatch, pairs: Sequence[tuple[Row, Entry]]) -> None:
    """Turns pending rows into what they were booked as: their ids and what they were for stay.

    Rules say what they were for, and they settle what was planned. A constant number of statements. Raises NoRate.
    """
    if not pairs:
        return
    ids = [row.id for row, _ in pairs]
    remember(change, batch, ids)
    entries = [entry for _, entry in pairs]
    with connection.cursor() as cursor:
        cursor.execute(
            _BOOK,
            {
                "company": change.company.id,
                "batch": batch.id,
                "time": change.stamp.time,
                "actor": change.stamp.actor,
                "ids": ids,
                "days": [each.day for each in entries],
                "amounts": [each.amount for each in entries],
                "from_to": [each.from_to for each in entries],
                "descriptions": [each.description for each in entries],
                "notes": [each.notes for each in entries],
                "references": [each.reference for each in entries],
            },
        )
    redate(change, ids)
    booked = Transaction.objects.of(change.company.id).filter(id__in=ids)
    assign(change, booked)
    follow_up("transactions_booked", change=change, rows=booked)


def let_lapse(change: Change, batch: ImportBatch, ids: list[UUID]) -> None:
    """Deletes pending rows that the bank will not book."""
    if ids:
        remember(change, batch, ids)
        remove(change, ids)


def remember(change: Change, batch: ImportBatch, ids: list[UUID]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_REMEMBER, {"company": change.company.id, "batch": batch.id, "ids": ids})


def give_back(change: Change, batch: ImportBatch) -> None:
    """Makes pending again what an import booked, and brings back what it let lapse. Raises NoRate."""
    stamp = change.stamp
    names: dict[str, Any] = {"company": change.company.id, "batch": batch.id, "time": stamp.time, "actor": stamp.actor}
    with connection.cursor() as cursor:
        cursor.execute(_UNBOOK, names)
        pending = [row_id for (row_id,) in cursor.fetchall()]
        cursor.execute(_BRING_BACK, names)
        back = [row_id for (row_id,) in cursor.fetchall()]
        if back:
            cursor.execute(_PARTS_BACK, names | {"ids": back})
        cursor.execute(_FORGET, names)
    if pending:
        redate(change, pending)
    if back:
        retotal(change, back)
