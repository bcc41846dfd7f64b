"""Acts by hand on many transactions that can be taken back: what they found is kept, and put there again."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.core.exceptions import EmptyResultSet
from django.db import connection

from companies.changing import Change, changing
from companies.models import Company, Stamp
from ledger import hooks
from ledger.models import CategorizationRun, RunAct, TransactionBefore
from ledger.recognition.posting import LINES, unpost
from ledger.recognition.redating import redate
from ledger.recognition.totals import retotal
from ledger.transactions.booking import find_account_ids
from ledger.transactions.touching import touched

KEPT = timedelta(days=30)


@contextmanager
def undoable(*, company: Company, stamp: Stamp, act: RunAct, rows: Any) -> Iterator[CategorizationRun]:
    """Around an act on the transactions ``rows``, a query set of the company: a run that can be taken back.

    What the act left as it was is no part of the run: afterwards ``affected`` counts the others, other legs of
    transfers among them that it opened. Where it changed nothing there is no run. A constant number of statements
    besides the act's own.
    """
    with changing(company, stamp=stamp) as change:
        run = CategorizationRun(company=company, act=act, created_time=stamp.time, created_user_id=stamp.actor)
        run.save(force_insert=True)
        remember(change, run, rows)
        yield run
        run.affected = forget_others(change, run)
        if run.affected:
            run.save(update_fields=["affected"])
        else:
            run.delete()


# The legs at the other end go, or are opened, with those of the chosen ones.
_REMEMBER = """
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


def remember(change: Change, run: CategorizationRun, rows: Any) -> None:
    company_id = change.company.id
    try:
        chosen, params = rows.order_by().values("id").query.sql_with_params()
    except EmptyResultSet:
        return
    with connection.cursor() as cursor:
        cursor.execute(_REMEMBER.format(rows=chosen), [*params, company_id, run.id, company_id, company_id, company_id])


# Whatever the act touched bears its time; of what it did not delete the row itself need not be kept.
_UNTOUCHED = """
    DELETE FROM ledger_transactionbefore AS b USING ledger_transaction AS t
     WHERE b.company_id = %(company)s AND b.run_id = %(run)s
       AND t.company_id = %(company)s AND t.id = b.transaction_id
       AND (t.last_updated_time, t.last_updated_user_id) IS DISTINCT FROM (%(time)s::timestamptz, %(actor)s::text)
"""
_STILL_THERE = """
    UPDATE ledger_transactionbefore AS b SET facts = NULL, file_ids = '{}'
      FROM ledger_transaction AS t
     WHERE b.company_id = %(company)s AND b.run_id = %(run)s
       AND t.company_id = %(company)s AND t.id = b.transaction_id
"""


def forget_others(change: Change, run: CategorizationRun) -> int:
    """Keeps only what the act touched; returns how many transactions those are."""
    names = names_of(run)
    with connection.cursor() as cursor:
        cursor.execute(_UNTOUCHED, names)
        cursor.execute(_STILL_THERE, names)
    return TransactionBefore.objects.of(change.company.id).filter(run=run).count()


# ---------------------------------------------------------------------------------------------- taking back


@dataclass(slots=True)
class TakenBack:
    """How many are as they were before the run, and how many stay, for somebody has touched them since."""

    affected: int
    kept_count: int


def take_back(*, company: Company, stamp: Stamp, run_id: UUID | str) -> TakenBack:
    """Puts back what an act by hand found: parts with their links and ids, and deleted transactions.

    What somebody has touched since stays as it is, and so does what refers to something that has gone. A constant
    number of statements. Raises Missing, NoRate.
    """
    with changing(company, stamp=stamp) as change:
        run = change.locked(CategorizationRun.objects.exclude(act=RunAct.RULES), run_id)
        ids = with_their_partners(run, returnable(run))
        put_back(change, run, ids)
        if run.act == RunAct.DELETE:
            hooks.balances_changed.run(change=change, account_ids=find_account_ids(company, ids))
        done = TakenBack(affected=len(ids), kept_count=run.affected - len(ids))
        run.delete()
        after = {"act": run.act, "affected": done.affected, "kept": done.kept_count}
        entry = change.record_many("transactions.runTakenBack", "categorizationRun", entity_id=run.id, after=after)
        touched(change, entry, ids)
    return done


_RETURNABLE = """
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


def returnable(run: CategorizationRun) -> set[UUID]:
    """The run's transactions that are as it left them, and of which all that they refer to is there still."""
    with connection.cursor() as cursor:
        cursor.execute(_RETURNABLE, names_of(run) | {"lines": list(LINES)})
        return {transaction_id for (transaction_id,) in cursor.fetchall()}


_LINKS = """
    SELECT b.transaction_id, e.part ->> 'id', e.part ->> 'counter_id'
      FROM ledger_transactionbefore AS b, LATERAL jsonb_array_elements(b.parts) AS e (part)
     WHERE b.company_id = %(company)s AND b.run_id = %(run)s AND e.part ->> 'counter_id' IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM ledger_categorization AS c
                        WHERE c.company_id = %(company)s AND c.id = (e.part ->> 'id')::uuid)
"""


def with_their_partners(run: CategorizationRun, ids: set[UUID]) -> list[UUID]:
    """Those among the transactions whose lost legs have their other ends among them too, in order."""
    with connection.cursor() as cursor:
        cursor.execute(_LINKS, names_of(run))
        legs = {part_id: (transaction_id, counter_id) for transaction_id, part_id, counter_id in cursor.fetchall()}
    partners: dict[UUID, set[UUID | None]] = {}
    for transaction_id, counter_id in legs.values():
        partners.setdefault(transaction_id, set()).add(legs.get(counter_id, (None, ""))[0])
    left = set(ids)
    alone = {each for each in left if not partners.get(each, set()) <= left}
    while alone:
        left -= alone
        alone = {each for each in left if not partners.get(each, set()) <= left}
    return sorted(left)


_ROWS = """
    INSERT INTO ledger_transaction
    SELECT r.*
      FROM ledger_transactionbefore AS b,
           LATERAL jsonb_populate_record(
               NULL::ledger_transaction, b.facts || '{"categorized_value": 0, "transferred_value": 0}') AS r
     WHERE b.company_id = %(company)s AND b.run_id = %(run)s AND b.transaction_id = ANY (%(ids)s::uuid[])
       AND b.facts IS NOT NULL
"""
_GIVEN = """
    DELETE FROM ledger_categorization AS c USING ledger_transactionbefore AS b
     WHERE c.company_id = %(company)s AND c.transaction_id = ANY (%(ids)s::uuid[])
       AND b.company_id = %(company)s AND b.run_id = %(run)s AND b.transaction_id = c.transaction_id
       AND NOT EXISTS (SELECT FROM jsonb_array_elements(b.parts) AS e (part) WHERE (e.part ->> 'id')::uuid = c.id)
"""
# A run of rules that was taken back meanwhile is no more: what it gave stays, as the taking back told.
_PARTS = """
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
_FILES = """
    INSERT INTO ledger_filetransaction (company_id, id, file_id, transaction_id)
    SELECT %(company)s, gen_random_uuid(), f.id, b.transaction_id
      FROM ledger_transactionbefore AS b
      JOIN ledger_file AS f ON f.company_id = %(company)s AND f.id = ANY (b.file_ids)
     WHERE b.company_id = %(company)s AND b.run_id = %(run)s AND b.transaction_id = ANY (%(ids)s::uuid[])
"""


def put_back(change: Change, run: CategorizationRun, ids: list[UUID]) -> None:
    """Deleted rows, then parts in place of those that the act gave, then what follows from parts."""
    if not ids:
        return
    names = names_of(run) | {"ids": ids}
    with connection.cursor() as cursor:
        cursor.execute(_ROWS, names)
        unpost(company=change.company, transaction_ids=ids)
        for statement in (_GIVEN, _PARTS, _FILES):
            cursor.execute(statement, names)
    before = TransactionBefore.objects.of(change.company.id).filter(run=run, transaction_id__in=ids)
    for automatic in (True, False):
        of_kind = list(before.filter(auto_assigned=automatic).values_list("transaction_id", flat=True))
        retotal(change, of_kind, automatic=automatic)
    redate(change, ids)  # a file that was read meanwhile may have told the date of an invoice


def names_of(run: CategorizationRun) -> dict[str, Any]:
    return {"company": run.company_id, "run": run.id, "time": run.created_time, "actor": run.created_user_id}


def prune(*, now: datetime) -> int:
    """Deletes acts by hand that nobody takes back any more, and returns how many there were."""
    count, _ = CategorizationRun.objects.exclude(act=RunAct.RULES).filter(created_time__lt=now - KEPT).delete()
    return count
