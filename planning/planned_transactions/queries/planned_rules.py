"""Planned transactions as plain values for the forecast, with the overrides of their occurrences."""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Mapping
from decimal import Decimal
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from planning.calc.recurrence import Overrides, RecurrenceRule, WeekendShift, widen_window_by_weekend
from planning.models import build_patch
from planning.planned_transactions.queries.settlements import sum_settled_by_occurrence


class PlannedRule(NamedTuple):
    """The columns of a planned transaction that the forecast needs, without a model instance.

    `category_id` and `counterparty_id` are set for planned totals only.
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
    weekend_shift: WeekendShift = "none"
    category_id: UUID | None = None
    counterparty_id: UUID | None = None
    transfer_account_id: UUID | None = None

    @property
    def is_total(self) -> bool:
        """Whether its occurrences stand for a month's total in its category."""
        return self.category_id is not None

    def with_changes(self, amount: Decimal, rule: RecurrenceRule) -> "PlannedRule":
        """Return it with another amount and end."""
        return self._replace(amount=amount, end_date=rule.end_date, end_count=rule.count)

    def recurrence_rule(self) -> RecurrenceRule:
        """Return its recurrence; the columns from `start` to `weekend_shift` are in the order of the rule's fields."""
        return RecurrenceRule(*self[4:11])  # type: ignore[arg-type]


# Raw SQL: overrides have no reverse relation to join by.
# Planned transactions but invoices that can have an occurrence in the window, with all their overrides.
_RULES_IN_WINDOW = """
    SELECT p.id, p.account_id, p.amount_value, p.amount_currency, p.start_date, p.frequency, p.interval,
           p.last_day_of_month, p.end_date, p.end_count,
           CASE WHEN p.settled_by = 'category' THEN 'none' ELSE p.weekend_shift END,
           CASE WHEN p.settled_by = 'category' THEN p.category_id END,
           CASE WHEN p.settled_by = 'category' THEN p.counterparty_id END,
           p.transfer_account_id,
           o.original_date, o.skipped, o.date, o.amount_value, o.account_id, o.category_id, o.name
      FROM planning_plannedtransaction AS p
      LEFT JOIN planning_plannedoverride AS o ON o.company_id = p.company_id AND o.planned_id = p.id
     WHERE p.company_id = %(company)s AND NOT p.is_closed
       AND NOT (p.invoice_date IS NOT NULL AND p.frequency IS NULL AND p.settled_by = 'transaction') AND (
           %(rules)s::uuid[] IS NULL OR p.id = ANY (%(rules)s::uuid[])) AND (
           %(settled_by)s::text IS NULL OR p.settled_by = %(settled_by)s) AND (
           p.start_date <= %(end)s AND (
               p.start_date >= %(start)s OR p.frequency IS NOT NULL AND (p.end_date IS NULL OR p.end_date >= %(start)s))
           OR p.id IN (SELECT planned_id FROM planning_plannedoverride
                        WHERE company_id = %(company)s AND date BETWEEN %(start)s AND %(end)s))
     ORDER BY p.id
"""
RULE_COLUMN_COUNT = len(PlannedRule.__annotations__)  # of the rule; the columns of the override follow


class RuleWithOverrides(NamedTuple):
    """A planned transaction, its overrides, and what is paid or written off, by original date."""

    planned: PlannedRule
    overrides: Overrides
    settled_amounts: Mapping[dt.date, Decimal]


def read_planned_rules(
    company_id: UUID,
    start: dt.date,
    end: dt.date,
    *,
    rules: Collection[UUID] | None = None,
    settled_by: str | None = None,
) -> list[RuleWithOverrides]:
    """Return the planned transactions that can have an open occurrence in [start, end], without invoices.

    Two statements.

    Args:
        rules: ids to read; None: all.
        settled_by: `transaction` or `category` to read those only.
    """
    first, last = widen_window_by_weekend(start, end)
    parameters: dict[str, Any] = {
        "company": company_id,
        "start": first,
        "end": last,
        "rules": None if rules is None else list(rules),
        "settled_by": settled_by,
    }
    with connection.cursor() as cursor:
        cursor.execute(_RULES_IN_WINDOW, parameters)
        fetched_rows = cursor.fetchall()
    settled: defaultdict[UUID, dict[dt.date, Decimal]] = defaultdict(dict)
    for (planned_id, day), amount in sum_settled_by_occurrence(company_id, {row[0] for row in fetched_rows}).items():
        settled[planned_id][day] = amount
    rules_with_overrides = []
    for columns, rows in groupby(fetched_rows, key=lambda row: row[:RULE_COLUMN_COUNT]):
        override_rows = (row[RULE_COLUMN_COUNT:] for row in rows)
        overrides = {day: patch for day, *values in override_rows if (patch := build_patch(values))}
        planned = PlannedRule(*columns)
        rules_with_overrides.append(RuleWithOverrides(planned, overrides, settled.get(planned.id, {})))
    return rules_with_overrides
