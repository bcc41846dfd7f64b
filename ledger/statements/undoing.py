"""What follows from the undoing of an import where statements brought it."""

from typing import Any

from django.db import connection

from companies.changing import Change
from ledger.models import Account, ImportBatch, KnownBefore, Statement, Transaction
from ledger.statements.opening import open_with_earliest
from ledger.statements.pending import TOUCHED, give_back
from ledger.statements.reconciling import reconcile

# What depends on a session's settings, as how JSON is made and dates are read, stands in a WITH: beside the columns of
# the table that an UPDATE changes, a cluster refuses it.

# What other imports have too, the oldest of them first.
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
           told_time = CASE WHEN {TOUCHED.format(row="t")} THEN t.told_time ELSE %(time)s END
      FROM heirs h
     WHERE t.company_id = %(company)s AND t.import_batch_id = %(batch)s AND t.id = h.id
"""  # noqa: S608 - our own words
# What it had booked they have booked now.
_HAND_OVER_BOOKED = """
    UPDATE ledger_pendingbefore p SET import_batch_id = t.import_batch_id
      FROM ledger_transaction t
     WHERE p.company_id = %(company)s AND p.import_batch_id = %(batch)s
       AND t.company_id = %(company)s AND t.id = p.transaction_id AND t.import_batch_id <> %(batch)s
"""
# What another one has booked since comes back to them when that is undone.
_HAND_OVER_PENDING = f"""
    {_HEIRS}, pending AS (
        SELECT p.id, jsonb_build_object('import_batch_id', h.heir) AS new FROM ledger_pendingbefore p
          JOIN heirs h ON h.id = p.transaction_id
         WHERE p.company_id = %(company)s AND p.facts ->> 'import_batch_id' = %(batch)s::text)
    UPDATE ledger_pendingbefore p SET facts = p.facts || n.new
      FROM pending n
     WHERE p.company_id = %(company)s AND p.id = n.id
"""  # noqa: S608
# What it let lapse has lapsed for each later final statement too.
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


def give_back_pending(*, change: Change, batch: ImportBatch) -> None:
    """Before its rows go: what other imports have too is theirs; what was pending before it is so again, and is no
    longer among its rows."""
    names: dict[str, Any] = {"company": change.company.id, "batch": batch.id, "accounts": batch.account_ids}
    names |= {"time": change.stamp.time, "actor": change.stamp.actor}
    with connection.cursor() as cursor:
        for statement in (_HAND_OVER, _HAND_OVER_BOOKED, _HAND_OVER_PENDING, _HAND_OVER_LAPSED):
            cursor.execute(statement, names)
    give_back(change, batch)


def forget_statements(*, change: Change, batch: ImportBatch) -> None:
    """After its rows went: its statements go too, with what they said of their accounts, and what it knew of other
    imports' rows, which none of it inherits any more."""
    KnownBefore.objects.of(change.company.id).filter(import_batch=batch).delete()
    gone = Statement.objects.of(change.company.id).filter(import_batch=batch)
    told = dict(gone.order_by("id").values_list("account_id", "number_given"))
    gone.delete()
    for account in Account.objects.of(change.company.id).filter(id__in=[*told]).in_order():
        take_number_back(change, account, told[account.id])
        bare = not Transaction.objects.of(change.company.id).filter(account=account).without_initial().exists()
        open_with_earliest(change, account, first=False, bare=bare)
        reconcile(change, account)


def take_number_back(change: Change, account: Account, number: str | None) -> None:
    """The number that an account has from statements goes with the last one that tells it."""
    if number is None or account.account_number != number:
        return
    left = Statement.objects.of(change.company.id).of_account(account.id)
    if not left.filter(number_given=number).exists():
        change.update(account, "account.updated", account_number=None)
