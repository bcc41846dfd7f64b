"""Pending rows that a statement books, or that lapse; and giving them back."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import connection

from companies.changing import Change
from ledger import hooks
from ledger.importing.calc.entries import Entry
from ledger.importing.calc.matching import Row
from ledger.models import Categorization, ImportBatch, Transaction
from ledger.recognition.posting import unpost
from ledger.recognition.redating import redate
from ledger.rules.assigning import assign
from ledger.statements.sharing import retotal_as_before, shared_anew
from ledger.transactions.booking import remove

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
TOUCHED = "({row}.last_updated_time > coalesce({row}.told_time, {row}.created_time))"
_TOUCHED, _TOUCHED_BEFORE = TOUCHED.format(row="t"), TOUCHED.format(row="f")
# Of a row that somebody has touched since it came the words are theirs; what is empty the bank fills.
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
# Of an import that was undone itself nothing comes back.
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
# What somebody has written since it was booked stays, as do their changes before. The ids are compared with what is
# kept: beside the key of the table each of its rows would be looked for in all of them.
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


def book_pending(change: Change, batch: ImportBatch, pairs: Sequence[tuple[Row, Entry]]) -> None:
    """Turns pending rows into what they were booked as: their ids and what they were for stay, in proportion where the
    amount is another.

    Rules say what they were for, and they settle what was planned. A constant number of statements. Raises NoRate.
    """
    if not pairs:
        return
    ids = [row.id for row, _ in pairs]
    remember(change, batch, ids)
    entries = [entry for _, entry in pairs]
    amounts = {row.id: Decimal(entry.amount) for row, entry in pairs}
    with shared_anew(change, amounts), connection.cursor() as cursor:
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
                "currencies": [each.currency for each in entries],
                "from_to": [each.from_to for each in entries],
                "descriptions": [each.description for each in entries],
                "notes": [each.notes for each in entries],
                "references": [each.reference for each in entries],
            },
        )
    redate(change, ids)
    booked = Transaction.objects.of(change.company.id).filter(id__in=ids)
    assign(change, booked)
    hooks.transactions_booked.run(change=change, rows=booked)


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
    make_pending(change, names | {"booked": batch.created_time})
    with connection.cursor() as cursor:
        cursor.execute(_BRING_BACK, names)
        back = dict(cursor.fetchall())
        if back:
            cursor.execute(_PARTS_BACK, names | {"ids": [*back]})
            cursor.execute(_FILES_BACK, names | {"ids": [*back]})
        cursor.execute(_FORGET, names)
    retotal_as_before(change, back)


def make_pending(change: Change, names: dict[str, Any]) -> None:
    """What the import booked is as it was before; what somebody has changed since stays, and settles nothing now."""
    with connection.cursor() as cursor:
        cursor.execute(_BOOKED, names)
        found = cursor.fetchall()
    if not found:
        return
    ids = [row_id for row_id, *_ in found]
    changed = [row_id for row_id, _, since, *_ in found if since]
    # No person's: what nobody has touched, and what rules gave when it was booked.
    before = {row_id: was for row_id, _, since, automatic, was in found if automatic or not since}
    unpost(company=change.company, transaction_ids=ids)
    with shared_anew(change, {row_id: amount for row_id, amount, *_ in found}, instead=before):
        Categorization.objects.of(change.company.id).filter(transaction_id__in=[*before]).unlinked().delete()
        with connection.cursor() as cursor:
            cursor.execute(_PARTS_BACK, names | {"ids": [*before]})
            cursor.execute(_UNBOOK, names | {"ids": ids, "changed": changed})
    hooks.transactions_pending.run(company=change.company, transaction_ids=ids, stamp=change.stamp)
    redate(change, ids)
