"""Undo of manual bulk operations: the state before is stored, and restored on request."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.core.exceptions import EmptyResultSet
from django.db import connection

from companies.change import CompanyChange, change_company
from companies.errors import ConflictError, NotFoundError
from companies.models import AuditContext, AuditEntry, Company, parse_id
from ledger import hooks
from ledger.models import IMPORTED_FIELDS, BulkOperation, CategorizationRun, TransactionSnapshot
from ledger.recognition.actions.period_updates import recompute_periods
from ledger.recognition.actions.postings import PL_TYPES, delete_postings
from ledger.recognition.actions.transaction_totals import recompute_totals
from ledger.transactions.actions.audit_links import link_audit_entry
from ledger.transactions.actions.transactions import list_account_ids

UNDO_PERIOD = timedelta(days=30)
UNDONE_ACTION = "transactions.runTakenBack"


class AlreadyUndone(ConflictError):
    """Already undone."""

    code = "already_undone"


@contextmanager
def record_undo(
    *, company: Company, context: AuditContext, operation: BulkOperation, rows: Any
) -> Iterator[CategorizationRun]:
    """Run a bulk operation on `rows`, a queryset of the company's transactions, as a run that can be undone.

    Transactions that the operation did not change are not part of the run: afterwards `affected` counts the
    others, with the other legs of transfers that it unlinked. Without changes there is no run. Takes a constant
    number of statements besides those of the operation.
    """
    with change_company(company, context=context) as change:
        run = CategorizationRun(
            company=company, act=operation, created_time=context.time, created_user_id=context.actor
        )
        run.save(force_insert=True)
        store_undo_snapshots(change, run, rows)
        if operation == BulkOperation.DELETE:
            store_settlements(change, run)
        yield run
        run.affected = delete_unchanged_snapshots(change, run)
        if run.affected:
            run.save(update_fields=["affected"])
        else:
            run.delete()


# The other legs of transfers are deleted or unlinked together with the selected ones.
_INSERT_SNAPSHOTS = """
    WITH chosen AS MATERIALIZED ({rows}),
    meant AS (
        SELECT id FROM chosen
         UNION
        SELECT other.transaction_id
          FROM ledger_categorization AS leg
          JOIN ledger_categorization AS other ON other.company_id = leg.company_id AND other.id = leg.counter_id
         WHERE leg.company_id = %s AND leg.transaction_id IN (SELECT id FROM chosen)
    )
    INSERT INTO ledger_transactionbefore
           (company_id, id, run_id, transaction_id, auto_assigned, facts, parts, file_ids)
    SELECT t.company_id, gen_random_uuid(), %s, t.id, t.categorizations_auto_assigned, to_jsonb(t),
           coalesce((SELECT jsonb_agg(to_jsonb(c) ORDER BY c.position, c.id) FROM ledger_categorization AS c
                      WHERE c.company_id = %s AND c.transaction_id = t.id), '[]'),
           ARRAY(SELECT f.file_id FROM ledger_filetransaction AS f
                  WHERE f.company_id = %s AND f.transaction_id = t.id)
      FROM ledger_transaction AS t
     WHERE t.company_id = %s AND t.id IN (SELECT id FROM meant)
"""


def store_undo_snapshots(change: CompanyChange, run: CategorizationRun, rows: Any) -> None:
    """Store the state of the selected transactions and of the other legs of their transfers."""
    company_id = change.company.id
    try:
        selected_sql, params = rows.order_by().values("id").query.sql_with_params()
    except EmptyResultSet:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            _INSERT_SNAPSHOTS.format(rows=selected_sql),
            [*params, company_id, run.id, company_id, company_id, company_id],
        )


# Beside the columns of the row, from which it is restored.
_STORE_SETTLEMENTS = """
    UPDATE ledger_transactionbefore AS b SET facts = b.facts || jsonb_build_object('settlements', e.value)
      FROM jsonb_each(%(settlements)s::jsonb) AS e
     WHERE b.company_id = %(company)s AND b.run_id = %(run)s AND b.transaction_id = e.key::uuid
"""


def store_settlements(change: CompanyChange, run: CategorizationRun) -> None:
    """Store what the transactions of a run settle, with their snapshots."""
    company_id = change.company.id
    snapshots = TransactionSnapshot.objects.for_company(company_id).filter(run=run)
    ids = list(snapshots.values_list("transaction_id", flat=True))
    for settlements in hooks.list_settlements_to_restore.run(company_id=company_id, transaction_ids=ids):
        if settlements:
            by_id = json.dumps({str(transaction_id): rows for transaction_id, rows in settlements.items()})
            with connection.cursor() as cursor:
                cursor.execute(_STORE_SETTLEMENTS, build_run_params(run) | {"settlements": by_id})


# Changed transactions have the time of the run; only deleted ones need their full row.
_DELETE_UNCHANGED = """
    DELETE FROM ledger_transactionbefore AS b USING ledger_transaction AS t
     WHERE b.company_id = %(company)s AND b.run_id = %(run)s
       AND t.company_id = %(company)s AND t.id = b.transaction_id
       AND (t.last_updated_time, t.last_updated_user_id) IS DISTINCT FROM (%(time)s::timestamptz, %(actor)s::text)
"""
_CLEAR_EXISTING = """
    UPDATE ledger_transactionbefore AS b SET facts = NULL, file_ids = '{}'
      FROM ledger_transaction AS t
     WHERE b.company_id = %(company)s AND b.run_id = %(run)s
       AND t.company_id = %(company)s AND t.id = b.transaction_id
"""


def delete_unchanged_snapshots(change: CompanyChange, run: CategorizationRun) -> int:
    """Delete the snapshots of transactions that did not change; return how many remain."""
    params = build_run_params(run)
    with connection.cursor() as cursor:
        cursor.execute(_DELETE_UNCHANGED, params)
        cursor.execute(_CLEAR_EXISTING, params)
    return TransactionSnapshot.objects.for_company(change.company.id).filter(run=run).count()


# ---------------------------------------------------------------------------------------------- undo


@dataclass(slots=True)
class RunUndoResult:
    """How many transactions were restored, and how many were not because they changed after the run.

    Of a deletion the deleted ones count, not the other legs of transfers that it unlinked.
    """

    affected: int
    kept_count: int
    reimported_count: int = 0  # of those that were kept, the ones that were deleted and imported again since
    unsettled_names: list[str] = field(default_factory=list)  # what restored transactions settled and no longer do


def undo_run(*, company: Company, context: AuditContext, run_id: UUID | str) -> RunUndoResult:
    """Undo a manual bulk operation: restore categorizations with their links and ids, and deleted transactions.

    Transactions that were changed since are kept as they are, and so are those that refer to deleted records.
    Deleted ones that were imported again since are not restored. Takes a constant number of statements.

    Raises:
        NotFoundError, AlreadyUndone, MissingRateError.
    """
    with change_company(company, context=context) as change:
        run = change.lock_or_none(CategorizationRun.objects.exclude(act=BulkOperation.RULES), run_id)
        if run is None:
            known_id = str(parse_id(str(run_id)))
            undone = AuditEntry.objects.for_company(company.id).filter(entity_id=known_id, action=UNDONE_ACTION)
            raise AlreadyUndone if undone.exists() else NotFoundError
        reimported_ids = find_reimported_ids(run)
        ids = filter_ids_with_partners(run, find_undoable_ids(run) - reimported_ids)
        counted_ids = list_counted_ids(run)
        affected = len(counted_ids.intersection(ids))
        unsettled_names = restore_rows(change, run, ids)
        if run.act == BulkOperation.DELETE:
            hooks.balances_changed.run(change=change, account_ids=list_account_ids(company, ids))
        result = RunUndoResult(
            affected=affected,
            kept_count=len(counted_ids) - affected,
            reimported_count=len(reimported_ids),
            unsettled_names=unsettled_names,
        )
        run.delete()
        after = {"act": run.act, "affected": result.affected, "kept": result.kept_count}
        entry = change.record_bulk(UNDONE_ACTION, "categorizationRun", entity_id=run.id, after=after)
        link_audit_entry(change, entry, ids)
    return result


def list_counted_ids(run: CategorizationRun) -> set[UUID]:
    """Return the transactions of a run that its undo counts: of a deletion the deleted ones."""
    snapshots = TransactionSnapshot.objects.for_company(run.company_id).filter(run=run)
    if run.act == BulkOperation.DELETE:
        snapshots = snapshots.filter(facts__isnull=False)
    return set(snapshots.values_list("transaction_id", flat=True))


_SELECT_UNDOABLE = """
    SELECT b.transaction_id
      FROM ledger_transactionbefore AS b
      LEFT JOIN ledger_transaction AS t ON t.company_id = %(company)s AND t.id = b.transaction_id
     WHERE b.company_id = %(company)s AND b.run_id = %(run)s
       AND CASE WHEN b.facts IS NULL
           THEN (t.last_updated_time, t.last_updated_user_id)
                IS NOT DISTINCT FROM (%(time)s::timestamptz, %(actor)s::text)
           ELSE t.id IS NULL
            AND EXISTS (SELECT 1 FROM ledger_account AS a
                         WHERE a.company_id = %(company)s AND a.id = (b.facts ->> 'account_id')::uuid)
            AND NOT EXISTS (SELECT 1 FROM ledger_importbatch AS i
                             WHERE i.company_id = %(company)s AND i.id = (b.facts ->> 'import_batch_id')::uuid
                               AND i.undone_time IS NOT NULL)
            AND NOT EXISTS (SELECT 1 FROM ledger_transaction AS same
                             WHERE same.company_id = %(company)s
                               AND same.account_id = (b.facts ->> 'account_id')::uuid
                               AND same.external_id = b.facts ->> 'external_id') END
       AND NOT EXISTS (
           SELECT 1
             FROM jsonb_array_elements(b.parts) AS e (part),
                  LATERAL jsonb_populate_record(NULL::ledger_categorization, e.part) AS p
             LEFT JOIN ledger_category AS g ON g.company_id = %(company)s AND g.id = p.category_id
             LEFT JOIN ledger_counterparty AS w ON w.company_id = %(company)s AND w.id = p.counterparty_id
            WHERE g.id IS NULL OR (p.counterparty_id IS NOT NULL AND w.id IS NULL)
               OR EXISTS (SELECT 1 FROM unnest(%(lines)s::text[]) AS line (name)
                           WHERE e.part ->> name IS NOT NULL AND NOT name = ANY (g.pl_types)))
"""


def find_undoable_ids(run: CategorizationRun) -> set[UUID]:
    """Return the run's transactions that have not changed since and whose references all still exist."""
    with connection.cursor() as cursor:
        cursor.execute(_SELECT_UNDOABLE, build_run_params(run) | {"lines": list(PL_TYPES)})
        return {transaction_id for (transaction_id,) in cursor.fetchall()}


# Compared are the values as imported. Of equal rows as many are left out as were imported again.
_SELECT_REIMPORTED = """
    WITH deleted AS (
        SELECT b.transaction_id, {key},
               row_number() OVER (PARTITION BY {key} ORDER BY b.transaction_id) AS place
          FROM ledger_transactionbefore AS b,
               LATERAL jsonb_populate_record(
                   NULL::ledger_transaction, b.facts || coalesce(nullif(b.facts -> 'as_told', 'null'), '{{}}')) AS r
         WHERE b.company_id = %(company)s AND b.run_id = %(run)s AND r.import_batch_id IS NOT NULL
    ),
    imported AS (
        SELECT {key}, count(*) AS count
          FROM ledger_importbatch AS i
          JOIN ledger_transaction AS t ON t.company_id = %(company)s AND t.import_batch_id = i.id,
               LATERAL jsonb_populate_record(
                   NULL::ledger_transaction, to_jsonb(t) || coalesce(t.as_told, '{{}}')) AS r
         WHERE i.company_id = %(company)s AND i.created_time > %(time)s
           AND (t.as_told IS NOT NULL OR (t.date, t.amount_value) IN (SELECT date, amount_value FROM deleted))
         GROUP BY {key}
    )
    SELECT transaction_id FROM deleted
      JOIN imported ON ({imported_key}) IS NOT DISTINCT FROM ({deleted_key}) AND place <= count
"""
_IMPORTED_KEY = (*IMPORTED_FIELDS, "bank_reference", "external_id")


def find_reimported_ids(run: CategorizationRun) -> set[UUID]:
    """Return the deleted transactions of a run that a later import brought again."""
    keys = {
        name: ", ".join(f"{table}.{column}" for column in _IMPORTED_KEY)
        for name, table in (("key", "r"), ("imported_key", "imported"), ("deleted_key", "deleted"))
    }
    with connection.cursor() as cursor:
        cursor.execute(_SELECT_REIMPORTED.format(**keys), build_run_params(run))
        return {transaction_id for (transaction_id,) in cursor.fetchall()}


_SELECT_LOST_LINKS = """
    SELECT b.transaction_id, e.part ->> 'id', e.part ->> 'counter_id'
      FROM ledger_transactionbefore AS b, LATERAL jsonb_array_elements(b.parts) AS e (part)
     WHERE b.company_id = %(company)s AND b.run_id = %(run)s AND e.part ->> 'counter_id' IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM ledger_categorization AS c
                        WHERE c.company_id = %(company)s AND c.id = (e.part ->> 'id')::uuid)
"""


def filter_ids_with_partners(run: CategorizationRun, ids: set[UUID]) -> list[UUID]:
    """Return, sorted, those of the ids whose lost transfer legs can be restored on both sides."""
    with connection.cursor() as cursor:
        cursor.execute(_SELECT_LOST_LINKS, build_run_params(run))
        legs = {part_id: (transaction_id, counter_id) for transaction_id, part_id, counter_id in cursor.fetchall()}
    partners: dict[UUID, set[UUID | None]] = {}
    for transaction_id, counter_id in legs.values():
        partners.setdefault(transaction_id, set()).add(legs.get(counter_id, (None, ""))[0])
    remaining = set(ids)
    incomplete = {each for each in remaining if not partners.get(each, set()) <= remaining}
    while incomplete:
        remaining -= incomplete
        incomplete = {each for each in remaining if not partners.get(each, set()) <= remaining}
    return sorted(remaining)


_RESTORE_TRANSACTIONS = """
    INSERT INTO ledger_transaction
    SELECT r.*
      FROM ledger_transactionbefore AS b,
           LATERAL jsonb_populate_record(
               NULL::ledger_transaction, b.facts || '{"categorized_value": 0, "transferred_value": 0}') AS r
     WHERE b.company_id = %(company)s AND b.run_id = %(run)s AND b.transaction_id = ANY (%(ids)s::uuid[])
       AND b.facts IS NOT NULL
"""
# A categorization that the run linked as a leg of a transfer is replaced by what it was before.
_DELETE_ASSIGNED = """
    DELETE FROM ledger_categorization AS c USING ledger_transactionbefore AS b
     WHERE c.company_id = %(company)s AND c.transaction_id = ANY (%(ids)s::uuid[])
       AND b.company_id = %(company)s AND b.run_id = %(run)s AND b.transaction_id = c.transaction_id
       AND NOT EXISTS (SELECT FROM jsonb_array_elements(b.parts) AS e (part)
                        WHERE (e.part ->> 'id')::uuid = c.id
                          AND (e.part ->> 'counter_id')::uuid IS NOT DISTINCT FROM c.counter_id)
"""
# If the rule run of a categorization was undone meanwhile, the reference to it is dropped.
_RESTORE_CATEGORIZATIONS = """
    INSERT INTO ledger_categorization
    SELECT r.*
      FROM ledger_transactionbefore AS b,
           LATERAL jsonb_array_elements(b.parts) AS e (part),
           LATERAL jsonb_populate_record(
               NULL::ledger_categorization,
               CASE WHEN EXISTS (SELECT 1 FROM ledger_categorizationrun AS k
                                  WHERE k.company_id = %(company)s AND k.id = (e.part ->> 'run_id')::uuid)
                    THEN e.part ELSE e.part || '{"run_id": null, "replaced": null}' END) AS r
     WHERE b.company_id = %(company)s AND b.run_id = %(run)s AND b.transaction_id = ANY (%(ids)s::uuid[])
       AND NOT EXISTS (SELECT 1 FROM ledger_categorization AS c WHERE c.company_id = %(company)s AND c.id = r.id)
"""
_RESTORE_FILE_LINKS = """
    INSERT INTO ledger_filetransaction (company_id, id, file_id, transaction_id)
    SELECT %(company)s, gen_random_uuid(), f.id, b.transaction_id
      FROM ledger_transactionbefore AS b
      JOIN ledger_file AS f ON f.company_id = %(company)s AND f.id = ANY (b.file_ids)
     WHERE b.company_id = %(company)s AND b.run_id = %(run)s AND b.transaction_id = ANY (%(ids)s::uuid[])
"""


def restore_rows(change: CompanyChange, run: CategorizationRun, ids: list[UUID]) -> list[str]:
    """Restore deleted rows, then categorizations in place of the assigned ones, then totals, settlements and periods.

    Returns the names of the planned transactions that are not settled again.
    """
    if not ids:
        return []
    params = build_run_params(run) | {"ids": ids}
    with connection.cursor() as cursor:
        cursor.execute(_RESTORE_TRANSACTIONS, params)
        delete_postings(company=change.company, transaction_ids=ids)
        for statement in (_DELETE_ASSIGNED, _RESTORE_CATEGORIZATIONS, _RESTORE_FILE_LINKS):
            cursor.execute(statement, params)
    snapshots = TransactionSnapshot.objects.for_company(change.company.id).filter(run=run, transaction_id__in=ids)
    for auto_assigned in (True, False):
        transaction_ids = list(snapshots.filter(auto_assigned=auto_assigned).values_list("transaction_id", flat=True))
        recompute_totals(change, transaction_ids, automatic=auto_assigned)
    settled = snapshots.filter(facts__settlements__isnull=False).values_list("transaction_id", "facts__settlements")
    unsettled_names = hooks.transactions_restored.run(change=change, settlements=dict(settled))
    recompute_periods(change, ids)  # a file or settlement sets an invoice date
    return [name for names in unsettled_names for name in names]


def build_run_params(run: CategorizationRun) -> dict[str, Any]:
    """Return the SQL parameters of a run."""
    return {"company": run.company_id, "run": run.id, "time": run.created_time, "actor": run.created_user_id}


def prune_undo_runs(*, now: datetime) -> int:
    """Delete runs that are too old to be undone, and return how many there were."""
    count, _ = (
        CategorizationRun.objects.exclude(act=BulkOperation.RULES).filter(created_time__lt=now - UNDO_PERIOD).delete()
    )
    return count
