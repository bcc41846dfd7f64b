"""The largest changes of results from the month before, with the transactions behind them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from analytics.queries.monthly_report import ReportMonth, compute_month_results, is_result_line
from analytics.queries.posted_results import to_statement_sign
from analytics.queries.profit_and_loss import ResultRow, is_favourable
from companies.models import Company
from ledger.calc.months import add_months
from ledger.money.calc.money import round_half_up

ZERO = Decimal(0)
MAX_CHANGES = 8
MAX_CAUSES = 3  # transactions of a change


class CauseTransaction(NamedTuple):
    """A transaction with what counts of it in the month, in the base currency, with the sign of the statement."""

    id: UUID
    day: date
    from_to: str
    amount: Decimal


@dataclass(frozen=True, slots=True)
class LargestChange:
    """A category whose amount changed; ``cause_month`` is the month with the larger amount."""

    row: ResultRow
    previous: Decimal
    cause_month: date
    causes: list[CauseTransaction]

    @property
    def change(self) -> Decimal:
        return self.row.actual - self.previous

    @property
    def favourable(self) -> bool | None:
        return is_favourable(self.row.pl_type, self.change)


def list_largest_changes(report: ReportMonth, *, with_causes: bool) -> list[LargestChange]:
    """Return the categories that changed most from the month before, largest first; neutral ones are left out.

    Raises:
        RateLookupError: a currency has no exchange rate.
    """
    rows, _other = compute_month_results(report, comparison="previousPeriod")
    changed = [row for row in rows if is_result_line(row) and row.actual != row.compared]
    changed.sort(key=lambda row: (-abs(row.actual - (row.compared or ZERO)), row.pl_type, row.category_id))
    changes = [
        LargestChange(
            row=row,
            previous=row.compared or ZERO,
            cause_month=report.month if abs(row.actual) >= abs(row.compared or ZERO) else add_months(report.month, -1),
            causes=[],
        )
        for row in changed[:MAX_CHANGES]
    ]
    if with_causes and changes:
        add_cause_transactions(report.company, changes)
    return changes


# Raw SQL: postings have no foreign key to categorizations.
_CAUSES = """
    SELECT month, pl_type, category_id, id, date, from_to, amount FROM (
        SELECT p.month, p.pl_type, p.category_id, t.id, t.date, t.from_to, sum(p.base_amount) AS amount,
               row_number() OVER (
                   PARTITION BY p.month, p.pl_type, p.category_id ORDER BY abs(sum(p.base_amount)) DESC, t.id
               ) AS place
          FROM ledger_posting AS p
          JOIN ledger_categorization AS c ON c.company_id = %(company)s AND c.id = p.categorization_id
          JOIN ledger_transaction AS t ON t.company_id = %(company)s AND t.id = c.transaction_id
         WHERE p.company_id = %(company)s AND p.month = ANY (%(months)s) AND p.category_id = ANY (%(categories)s)
         GROUP BY p.month, p.pl_type, p.category_id, t.id, t.date, t.from_to
    ) AS ranked WHERE place <= %(most)s ORDER BY place
"""


def add_cause_transactions(company: Company, changes: Sequence[LargestChange]) -> None:
    """Add the largest transactions to each change; one statement."""
    values: dict[str, Any] = {
        "company": company.id,
        "months": list({change.cause_month for change in changes}),
        "categories": list({change.row.category_id for change in changes}),
        "most": MAX_CAUSES,
    }
    by_key = {(change.cause_month, change.row.pl_type, change.row.category_id): change.causes for change in changes}
    with connection.cursor() as cursor:
        cursor.execute(_CAUSES, values)
        for month, line, category_id, transaction_id, day, from_to, amount in cursor.fetchall():
            if (month, line, category_id) in by_key:
                signed_amount = round_half_up(to_statement_sign(line, amount), company.base_currency)
                by_key[month, line, category_id].append(CauseTransaction(transaction_id, day, from_to, signed_amount))
