"""Computing dates of parts anew, after what they follow from has changed."""

from uuid import UUID

from django.db import connection

from companies.changing import Change, changing
from companies.models import Company, Stamp
from ledger.models import Categorization, Transaction
from ledger.recognition.dating import Rule, invoice_dates, period
from ledger.recognition.posting import rebuild, repost

ROWS_AT_ONCE = 20_000


def redate(change: Change, transaction_ids: list[UUID]) -> None:
    """Computes the dates of the transactions' parts anew, and their postings; a constant number of statements.

    For a changed transaction, a file that was attached or read, a planned transaction that was settled.
    Raises NoRate, PeriodOutOfRange.
    """
    move(change, transaction_ids)
    repost(company=change.company, transaction_ids=transaction_ids)


def move(change: Change, transaction_ids: list[UUID]) -> None:
    """Stores computed dates that differ, and marks their transactions as changed: answers show the dates."""
    company, stamp = change.company, change.stamp
    known = invoice_dates(company_id=company.id, transaction_ids=transaction_ids)
    moved, touched = [], set()
    rows = Categorization.objects.of(company.id).filter(transaction_id__in=transaction_ids)
    for row in rows.values_list(
        "id",
        "transaction_id",
        "transaction__date",
        "rule",
        "rule_start_date",
        "rule_end_date",
        "invoice_date",
        "revenue",
        "computed_start_date",
        "computed_end_date",
    ):
        part_id, transaction_id, day, rule, rule_start, rule_end, invoice_date, revenue, start, end = row
        dates = period(
            Rule(rule, rule_start, rule_end, invoice_date),
            day=day,
            known_invoice_date=known.get(transaction_id),
            moves_revenue=company.pl_recognize_revenue_on_invoice,
            has_revenue=revenue is not None,
        )
        if dates != (start, end):
            moved.append((part_id, *dates))
            touched.add(transaction_id)
    if moved:
        ids, starts, ends = (list(column) for column in zip(*moved, strict=True))
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE ledger_categorization c SET computed_start_date = m.start_date, computed_end_date = m.end_date "
                "FROM unnest(%s::uuid[], %s::date[], %s::date[]) AS m (id, start_date, end_date) "
                "WHERE c.company_id = %s AND c.id = m.id",
                [ids, starts, ends, company.id],
            )
        Transaction.objects.of(company.id).filter(id__in=touched).update(
            last_updated_time=stamp.time, last_updated_user_id=stamp.actor
        )


def company_rules_changed(*, company: Company, stamp: Stamp, changed: set[str]) -> None:
    """Recomputes what depends on the base currency and on when revenue counts. Raises NoRate."""
    with changing(company, stamp=stamp) as change:
        if "pl_recognize_revenue_on_invoice" in changed:
            rows = Transaction.objects.of(company.id).exclude(categorized_value=0).order_by("id")
            ids = list(rows.values_list("id", flat=True)[:ROWS_AT_ONCE])
            while ids:
                move(change, ids)
                ids = list(rows.filter(id__gt=ids[-1]).values_list("id", flat=True)[:ROWS_AT_ONCE])
        rebuild(company.id)
