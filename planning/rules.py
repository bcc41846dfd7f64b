"""Planned transactions as the forecast reads them: rules with what differs about their occurrences, without models."""

import datetime as dt
from collections.abc import Collection, Iterator
from decimal import Decimal
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from planning.calc.recurrence import Overrides, Rule
from planning.models import patch_of


class PlannedRule(NamedTuple):
    """What the forecast needs of a planned transaction, without a model's weight; columns of ``_REACHING``.

    ``category_id`` and ``counterparty_id`` are those of planned totals; else they are None.
    """

    id: UUID
    account_id: UUID | None
    amount: Decimal
    currency: str
    start: dt.date
    frequency: str | None
    interval: int
    last_day_of_month: bool
    end_date: dt.date | None
    end_count: int | None
    category_id: UUID | None = None
    counterparty_id: UUID | None = None

    @property
    def is_total(self) -> bool:
        """Whether its occurrences stand for a month's total in its category."""
        return self.category_id is not None

    def rule(self) -> Rule:
        """The columns from ``start`` to ``end_count`` are in the order of the rule's fields."""
        return Rule(*self[4:10])  # type: ignore[arg-type]


# What can have an occurrence in the window, as ``touching`` has it, each with all that differs about its occurrences.
_REACHING = """
    SELECT p.id, p.account_id, p.amount_value, p.amount_currency, p.start_date, p.frequency, p.interval,
           p.last_day_of_month, p.end_date, p.end_count,
           CASE WHEN p.settled_by = 'category' THEN p.category_id END,
           CASE WHEN p.settled_by = 'category' THEN p.counterparty_id END,
           o.original_date, o.skipped, o.date, o.amount_value, o.account_id, o.category_id, o.name, o.transaction_id
      FROM planning_plannedtransaction AS p
      LEFT JOIN planning_plannedoverride AS o ON o.company_id = p.company_id AND o.planned_id = p.id
     WHERE p.company_id = %(company)s AND (%(rules)s::uuid[] IS NULL OR p.id = ANY (%(rules)s::uuid[])) AND (
           %(settled_by)s::text IS NULL OR p.settled_by = %(settled_by)s) AND (
           p.start_date <= %(end)s AND (
               p.start_date >= %(start)s OR p.frequency IS NOT NULL AND (p.end_date IS NULL OR p.end_date >= %(start)s))
           OR p.id IN (SELECT planned_id FROM planning_plannedoverride
                        WHERE company_id = %(company)s AND date BETWEEN %(start)s AND %(end)s))
     ORDER BY p.id
"""
COLUMNS = len(PlannedRule.__annotations__)  # of the rule; behind them the override's


def read_rules(
    company_id: UUID,
    start: dt.date,
    end: dt.date,
    *,
    rules: Collection[UUID] | None = None,
    settled_by: str | None = None,
) -> Iterator[tuple[PlannedRule, Overrides]]:
    """Yield the rules that can have an occurrence in [start, end], each with its overrides; one statement.

    Args:
        rules: ids of the rules to read; all where it is None.
        settled_by: `transaction` or `category` to read such rules alone.
    """
    asked: dict[str, Any] = {
        "company": company_id,
        "start": start,
        "end": end,
        "rules": None if rules is None else list(rules),
        "settled_by": settled_by,
    }
    with connection.cursor() as cursor:
        cursor.execute(_REACHING, asked)
        found = cursor.fetchall()
    for columns, rows in groupby(found, key=lambda row: row[:COLUMNS]):
        differing = (row[COLUMNS:] for row in rows)
        yield PlannedRule(*columns), {day: patch for day, *values in differing if (patch := patch_of(values))}
