"""Expected dates of invoices, from what their counterparties paid before."""

from collections.abc import Collection, Iterable, Mapping
from uuid import UUID

from django.db import connection

from planning.calc.expected_dates import compute_expected_date, compute_median_delay
from planning.models import PlannedTransaction

# Raw SQL: the ORM cannot aggregate a grouped query again.
# Days from due date to the last payment of each invoice that was paid, without a write-off.
_DELAYS = """
    SELECT counterparty_id, array_agg(delay)
      FROM (SELECT p.id, p.counterparty_id,
                   max(t.date) - COALESCE((p.external_data ->> 'due_date')::date,
                                          p.invoice_date + COALESCE(p.payment_terms, c.payment_terms),
                                          p.start_date) AS delay
              FROM planning_plannedtransaction AS p
              JOIN ledger_counterparty AS c ON c.company_id = p.company_id AND c.id = p.counterparty_id
              JOIN planning_settlement AS s ON s.company_id = p.company_id AND s.planned_id = p.id
              LEFT JOIN ledger_transaction AS t ON t.company_id = s.company_id AND t.id = s.transaction_id
             WHERE p.company_id = %(company)s AND p.is_closed AND p.counterparty_id = ANY(%(ids)s::uuid[])
               AND p.invoice_date IS NOT NULL AND p.settled_by = 'transaction'
             GROUP BY p.company_id, p.id, c.payment_terms
            HAVING bool_and(s.transaction_id IS NOT NULL)) AS paid
     GROUP BY counterparty_id
"""


def find_median_delays(company_id: UUID, counterparty_ids: Collection[UUID]) -> Mapping[UUID, int]:
    """Return the median delay of each counterparty that has paid enough invoices. One statement if there are any."""
    if not counterparty_ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_DELAYS, {"company": company_id, "ids": list(counterparty_ids)})
        medians = {counterparty_id: compute_median_delay(delays) for counterparty_id, delays in cursor.fetchall()}
    return {counterparty_id: median for counterparty_id, median in medians.items() if median is not None}


def attach_expected_dates(rows: Iterable[PlannedTransaction]) -> None:
    """Set when the invoices among a company's planned transactions are expected; they have their overrides attached.

    What is closed is no longer expected: it stays on its due date. One statement if there are open invoices.
    """
    invoices = [row for row in rows if row.is_invoice]
    open_invoices = [row for row in invoices if not row.is_closed]
    counterparty_ids = {row.counterparty_id for row in open_invoices if row.counterparty_id}
    delays = find_median_delays(open_invoices[0].company_id, counterparty_ids) if open_invoices else {}
    for row in invoices:
        delay = delays.get(row.counterparty_id) if row.counterparty_id and not row.is_closed else None
        row.expected = compute_expected_date(row.build_invoice_dates(), delay=delay)
