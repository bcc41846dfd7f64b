"""Totals of categorizations stored on the transaction: categorized amount and transferred amount."""

from uuid import UUID

from django.db import connection

from companies.change import CompanyChange
from ledger.recognition.actions.postings import rebuild_postings


def recompute_totals_and_postings(change: CompanyChange, transaction_ids: list[UUID]) -> None:
    """Recompute totals, cash flows and postings after categorizations changed.

    A constant number of statements. Raises MissingRateError.
    """
    recompute_totals(change, transaction_ids)
    rebuild_postings(company=change.company, transaction_ids=transaction_ids)


def recompute_totals(change: CompanyChange, transaction_ids: list[UUID], *, automatic: bool = False) -> None:
    """Recompute both totals from the categorizations and mark the transactions as updated; one statement.

    Rows are written in the order of their ids, as they lie on disk: that takes a third less time than any other
    order. The database refuses categorizations that exceed their transaction: SplitExceedsAmount.

    Args:
        automatic: no person chose the categorizations; who changes them later takes the transaction over.
    """
    context = change.context
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE ledger_transaction t
               SET categorized_value = totals.categorized, transferred_value = totals.transferred,
                   categorizations_auto_assigned = %(automatic)s,
                   last_updated_time = %(time)s, last_updated_user_id = %(actor)s
              FROM (SELECT asked.id, coalesce(sum(c.value), 0) AS categorized,
                           coalesce(sum(c.value) FILTER (WHERE c.counter_id IS NOT NULL), 0) AS transferred
                      FROM unnest(%(ids)s::uuid[]) AS asked (id)
                      LEFT JOIN ledger_categorization c
                             ON c.company_id = %(company)s AND c.transaction_id = asked.id
                     GROUP BY asked.id ORDER BY asked.id) AS totals
             WHERE t.company_id = %(company)s AND t.id = totals.id
            """,
            {
                "ids": transaction_ids,
                "company": change.company.id,
                "automatic": automatic,
                "time": context.time,
                "actor": context.actor,
            },
        )
