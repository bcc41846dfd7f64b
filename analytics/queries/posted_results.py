"""Posted results by month, P&L line and category: those of closed months as reported if requested."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from companies.models import Company
from ledger.closings.queries.closings import find_reported_results
from ledger.models import EXPENSE_LINES, Category
from ledger.money.calc.money import MONEY_CONTEXT
from ledger.recognition.partial_month import UP_TO_DAY_SQL

ZERO = Decimal(0)

CellKey = tuple[date, str, UUID]
Cells = dict[CellKey, Decimal]
"""(month, line, category) -> amount as shown, not rounded."""


class CategoryHeading(NamedTuple):
    """The columns of a category that the statement needs, without a model instance."""

    id: UUID
    name: str
    system_key: str | None
    pl_types: list[str]


@dataclass(frozen=True, slots=True)
class PostedResults:
    """Results of some months, the part of them after some days, and the categories in order."""

    cells: Cells
    amounts_after: dict[date, Cells]
    categories: dict[UUID, CategoryHeading]

    def get_amounts(self, months: Sequence[date], *, up_to: date | None = None) -> Cells:
        """Return the amounts of some months, the last one up to a day if given."""
        requested_months = set(months)
        later_amounts = self.amounts_after[up_to] if up_to else {}
        return {
            key: MONEY_CONTEXT.subtract(amount, later_amounts.get(key, ZERO))
            for key, amount in self.cells.items()
            if key[0] in requested_months
        }


def list_posted_results(
    *, company: Company, months: Sequence[date], days: Collection[date | None] = ()
) -> PostedResults:
    """List posted results of months; `days` are those up to which a month is requested. Two statements."""
    rows = Category.objects.for_company(company.id).order_by("order", "name", "id")
    categories = {row[0]: CategoryHeading(*row) for row in rows.values_list("id", "name", "system_key", "pl_types")}
    cut_days = {day for day in days if day}
    cells, amounts_after = list_actual_results(company, months, cut_days)
    return PostedResults(cells, amounts_after, categories)


def apply_reported_amounts(posted_results: PostedResults, *, company: Company, months: Sequence[date]) -> PostedResults:
    """Return the results with the frozen amounts of the closed ones among the months; one query."""
    reported = find_reported_results(company, months) if company.closed_through is not None else {}
    cells = {key: amount for key, amount in posted_results.cells.items() if key[0] not in reported}
    for month, figures in reported.items():
        for figure in figures:
            category_id = UUID(figure.key.category_id)
            if category_id in posted_results.categories:
                cells[month, str(figure.key.pl_type), category_id] = figure.value
    return PostedResults(cells, posted_results.amounts_after, posted_results.categories)


def to_statement_sign(line: str, amount: Decimal) -> Decimal:
    """Convert an amount from the cash's sign to the statement's."""
    return -amount if line in EXPENSE_LINES else amount


# Raw SQL: two sums in one statement, with the SQL of partial months.
_RESULTS = """
    SELECT NULL::date, month, pl_type, category_id, base_amount
      FROM ledger_monthresult
     WHERE company_id = %(company)s AND month BETWEEN %(first)s AND %(last)s AND count > 0
"""
_AFTER = f"""
     UNION ALL
    SELECT cut.day, p.month, p.pl_type, p.category_id, sum(p.base_amount - {UP_TO_DAY_SQL})
      FROM unnest(%(days)s::date[]) AS cut (day)
      JOIN ledger_posting AS p ON p.company_id = %(company)s AND p.month = date_trunc('month', cut.day)::date
      JOIN ledger_categorization AS c ON c.company_id = %(company)s AND c.id = p.categorization_id
      JOIN ledger_transaction AS t ON t.company_id = %(company)s AND t.id = c.transaction_id
     WHERE t.date > cut.day OR c.computed_end_date > cut.day
     GROUP BY 1, 2, 3, 4
"""  # noqa: S608 - what stands in by_day


def list_actual_results(
    company: Company, months: Sequence[date], days: Collection[date] = ()
) -> tuple[Cells, dict[date, Cells]]:
    """Return what counts in the months, and what of it counts after some days of theirs; one statement."""
    cells: Cells = {}
    amounts_after: dict[date, Cells] = {day: {} for day in days}
    if not months:
        return cells, amounts_after
    parameters: dict[str, Any] = {"company": company.id, "first": months[0], "last": months[-1], "days": list(days)}
    with connection.cursor() as cursor:
        cursor.execute(_RESULTS + _AFTER if days else _RESULTS, parameters)
        for day, month, line, category, amount in cursor.fetchall():
            (amounts_after[day] if day else cells)[month, line, category] = to_statement_sign(line, amount)
    return cells, amounts_after
