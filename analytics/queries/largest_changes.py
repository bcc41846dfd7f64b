"""The largest changes of results from the month before, by category, with the counterparties behind each."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from analytics.queries.monthly_report import ReportMonth, compute_month_results, is_result_line
from analytics.queries.posted_results import to_statement_sign
from analytics.queries.profit_and_loss import ResultRow
from ledger.calc.months import add_months
from ledger.money.calc.money import round_half_up

ZERO = Decimal(0)
MAX_CHANGES = 8
MAX_COUNTERPARTIES = 3  # of a change
MAX_TEXT_LENGTH = 60  # of the description that stands for a missing name
LineCategory = tuple[str, UUID]  # P&L line and category


class CounterpartyChange(NamedTuple):
    """What counts of a counterparty in both months, in the base currency, with the sign of the statement.

    Without a counterparty `id` is None and `name` is that of the other party in the transactions, else the start of
    their description, which may be empty. The last one may stand for several others: `party_count` is then how many,
    `id` and `name` are those of any.
    """

    id: UUID | None
    name: str
    actual: Decimal
    previous: Decimal
    party_count: int = 1
    is_description: bool = False


@dataclass(frozen=True, slots=True)
class LargestChange:
    """A category whose amount changed."""

    row: ResultRow
    previous: Decimal
    counterparties: list[CounterpartyChange] = field(default_factory=list)


def list_largest_changes(report: ReportMonth, *, with_counterparties: bool) -> list[LargestChange] | None:
    """Return the categories that changed most from the month before, largest first; neutral ones are left out.

    None if the month before has no results: everything would be a change.

    Raises:
        RateLookupError: a currency has no exchange rate.
    """
    rows, _ = compute_month_results(report, comparison="previousPeriod")
    if not any(row.compared for row in rows if is_result_line(row)):
        return None
    changed = [row for row in rows if is_result_line(row) and row.actual != row.compared]
    changed.sort(key=lambda row: (-abs(row.actual - (row.compared or ZERO)), row.pl_type, row.category_id))
    changes = [LargestChange(row, row.compared or ZERO) for row in changed[:MAX_CHANGES]]
    if with_counterparties and changes:
        keys = [(change.row.pl_type, change.row.category_id) for change in changes]
        parties = list_counterparty_changes(report, keys, previous=add_months(report.month, -1))
        return [replace(change, counterparties=parties[key]) for key, change in zip(keys, changes, strict=True)]
    return changes


# Raw SQL: postings have no foreign key to categorizations.
_CHANGES = """
    WITH party AS (
        SELECT p.pl_type, p.category_id, c.counterparty_id,
               COALESCE(k.name, NULLIF(t.from_to, ''), left(t.description, %(text)s)) AS name,
               k.name IS NULL AND t.from_to = '' AS is_description,
               COALESCE(sum(p.base_amount) FILTER (WHERE p.month = %(month)s), 0) AS actual,
               COALESCE(sum(p.base_amount) FILTER (WHERE p.month = %(previous)s), 0) AS previous
          FROM ledger_posting AS p
          JOIN ledger_categorization AS c ON c.company_id = %(company)s AND c.id = p.categorization_id
          JOIN ledger_transaction AS t ON t.company_id = %(company)s AND t.id = c.transaction_id
          LEFT JOIN ledger_counterparty AS k ON k.company_id = %(company)s AND k.id = c.counterparty_id
         WHERE p.company_id = %(company)s AND p.month IN (%(month)s, %(previous)s)
           AND p.category_id = ANY (%(categories)s)
         GROUP BY 1, 2, 3, 4, 5),
    ranked AS (
        SELECT *, row_number() OVER (
                      PARTITION BY pl_type, category_id ORDER BY abs(actual - previous) DESC, name, counterparty_id
                  ) AS place
          FROM party)
    SELECT pl_type, category_id, counterparty_id, name, actual, previous, 1, is_description, place
      FROM ranked WHERE place <= %(most)s AND actual <> previous
     UNION ALL
    SELECT pl_type, category_id, (array_agg(counterparty_id))[1], min(name), sum(actual), sum(previous), count(*),
           bool_or(is_description), %(most)s + 1
      FROM ranked WHERE place > %(most)s OR actual = previous GROUP BY pl_type, category_id
     ORDER BY place
"""


def list_counterparty_changes(
    report: ReportMonth, keys: Collection[LineCategory], *, previous: date | None
) -> defaultdict[LineCategory, list[CounterpartyChange]]:
    """Return the counterparties that changed most from a month, then the sum of all others, so that they add up.

    One statement. Without a previous month they are those with the largest amounts of the month.
    """
    values: dict[str, Any] = {
        "company": report.company.id,
        "month": report.month,
        "previous": previous,
        "categories": list({category_id for _line, category_id in keys}),
        "most": MAX_COUNTERPARTIES,
        "text": MAX_TEXT_LENGTH,
    }
    parties = defaultdict[LineCategory, list[CounterpartyChange]](list)
    with connection.cursor() as cursor:
        cursor.execute(_CHANGES, values)
        for line, category_id, party_id, name, *amounts, count, is_description, _ in cursor.fetchall():
            actual, earlier = (
                round_half_up(to_statement_sign(line, amount), report.company.base_currency) for amount in amounts
            )
            party = CounterpartyChange(party_id, name, actual, earlier, count, is_description)
            parties[line, category_id].append(party)
    return parties
