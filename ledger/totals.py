"""What a transaction's parts add up to, kept on the transaction itself: whether it is open, and what left the flows."""

from uuid import UUID

from django.db import connection

from companies.models import Company, Stamp
from ledger.posting import repost


def parts_changed(*, company: Company, transaction_ids: list[UUID], stamp: Stamp) -> None:
    """What follows from a change of parts: the totals of their transactions, the flows and the postings.

    A constant number of statements. Raises RateMissing.
    """
    retotal(company=company, transaction_ids=transaction_ids, stamp=stamp)
    repost(company=company, transaction_ids=transaction_ids)


def retotal(*, company: Company, transaction_ids: list[UUID], stamp: Stamp) -> None:
    """Recomputes both totals from the parts and marks the transactions as changed; one statement."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE ledger_transaction t
               SET categorized_value = totals.categorized, transferred_value = totals.transferred,
                   last_updated_time = %(time)s, last_updated_user_id = %(actor)s
              FROM (SELECT asked.id, coalesce(sum(c.value), 0) AS categorized,
                           coalesce(sum(c.value) FILTER (WHERE c.counter_id IS NOT NULL), 0) AS transferred
                      FROM unnest(%(ids)s::uuid[]) AS asked (id)
                      LEFT JOIN ledger_categorization c
                             ON c.company_id = %(company)s AND c.transaction_id = asked.id
                     GROUP BY asked.id) AS totals
             WHERE t.company_id = %(company)s AND t.id = totals.id
            """,
            {"ids": transaction_ids, "company": company.id, "time": stamp.time, "actor": stamp.actor},
        )
