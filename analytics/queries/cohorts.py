"""What became of customers who came in the same month: how many are left, and what they pay."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Literal

from django.db import connection, transaction

from analytics.calc.movements import number_of
from analytics.calc.mrr import Factors, value
from analytics.queries.recurring import factors
from analytics.queries.results import percentage
from companies.models import Company
from ledger.calc.fx import RateTable
from ledger.calc.money import WIDE, round_half_up
from ledger.calc.months import last_of_month, months_from
from ledger.subscriptions.calc import cut, monthly_value
from ledger.subscriptions.committed import ROOM

Measure = Literal["revenue", "customers"]
ZERO = Decimal(0)

Changes = dict[date, dict[str, Decimal]]
"""Month -> by how much what a cohort holds changes at its end: its contracts by currency, or its ``HEADS``."""
HEADS = "customers"


@dataclass(frozen=True, slots=True)
class Mark:
    """A cohort at the end of a month; ``percentage`` is of where it started, None for a cohort of nobody."""

    month: date
    value: Decimal
    percentage: Decimal | None


@dataclass(frozen=True, slots=True)
class Cohort:
    """Customers whose first active month's end was that of ``month``, from it to the last month asked for.

    ``start`` is what they paid at its end, which is ``new`` in the row of that month.
    """

    month: date
    start: Decimal
    marks: list[Mark]


def cohorts(
    *,
    company: Company,
    months: Sequence[date],
    measure: Measure,
    rates: RateTable,
) -> list[Cohort]:
    """A cohort for each of the months (first days, consecutive), in the base currency or in heads.

    Revenue is at each month's own rates and its percentage compares at the same ones, so that rates keep and lose
    nothing. Raises MissingRate.
    """
    last = months[-1]
    found = changes_of(company, first=months[0], last=last, measure=measure)
    currencies = {name for changes in found.values() for month in changes.values() for name in month if name != HEADS}
    factors_of = factors(rates, base=company.base_currency, currencies={company.base_currency, *currencies})
    return [
        cohort(month, found[month], last=last, measure=measure, base=company.base_currency, factors_of=factors_of)
        for month in months
    ]


# An event stands from the end of its month, if no other of its subscription comes in that month, to the month of the
# next one. Who came in these months has one that was paid in them; whoever paid before is of an earlier cohort.
_STANDING = """
    WITH dated AS (
        SELECT s.customer_id, e.subscription_id, date_trunc('month', e.effective_date::timestamp)::date AS month,
               date_trunc('month', lead(e.effective_date) OVER later::timestamp)::date AS until,
               e.amount_value, e.amount_currency, e.interval, e.interval_count
          FROM ledger_subscriptionevent AS e
          JOIN ledger_subscription AS s ON s.company_id = e.company_id AND s.id = e.subscription_id
         WHERE e.company_id = %(company)s AND e.retracted_time IS NULL AND e.effective_date <= %(end)s
           AND s.customer_id IN (
               SELECT s.customer_id
                 FROM ledger_subscriptionevent AS e
                 JOIN ledger_subscription AS s ON s.company_id = e.company_id AND s.id = e.subscription_id
                WHERE e.company_id = %(company)s AND e.retracted_time IS NULL AND e.amount_value > 0
                  AND e.effective_date BETWEEN %(first)s AND %(end)s)
        WINDOW later AS (PARTITION BY e.subscription_id ORDER BY e.effective_date, e.id)
    ), standing AS (
        SELECT min(month) OVER (PARTITION BY customer_id) AS cohort, *
          FROM dated WHERE amount_value > 0 AND (until IS NULL OR until > month)
    ), changes AS (
        SELECT *, month AS at, 1 AS change FROM standing WHERE cohort >= %(first)s
        UNION ALL
        SELECT *, until, -1 FROM standing WHERE cohort >= %(first)s AND until IS NOT NULL
    )
"""
_PRICES = f"""{_STANDING}
    SELECT cohort, at, amount_value, amount_currency, interval, interval_count, sum(change)
      FROM changes GROUP BY 1, 2, 3, 4, 5, 6
"""  # noqa: S608 - what stands above
_HEADS = f"""{_STANDING}
    SELECT cohort, at, sum((held > 0)::int - (held > change)::int) FROM (
        SELECT cohort, at, sum(change) AS change, sum(sum(change)) OVER (PARTITION BY customer_id ORDER BY at) AS held
          FROM changes GROUP BY customer_id, cohort, at
    ) AS customers GROUP BY 1, 2
"""  # noqa: S608


def changes_of(company: Company, *, first: date, last: date, measure: Measure) -> defaultdict[date, Changes]:
    """Month -> the changes of who came in it; one statement, which adds up those who pay the same price."""
    found: defaultdict[date, Changes] = defaultdict(dict)
    asked: dict[str, Any] = {"company": company.id, "first": first, "end": last_of_month(last)}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(ROOM)
        cursor.execute(_HEADS if measure == "customers" else _PRICES, asked)
        for came, month, *prices, change in cursor.fetchall():
            changes = found[came].setdefault(month, {})
            amount, name, interval, count = prices or (Decimal(1), HEADS, "month", 1)
            changes[name] = WIDE.fma(monthly_value(amount, interval, count), change, changes.get(name, ZERO))
    return found


def cohort(
    came: date, changes: Changes, *, last: date, measure: Measure, base: str, factors_of: Callable[[int], Factors]
) -> Cohort:
    """Who came in a month, followed to the last one."""
    held: defaultdict[str, Decimal] = defaultdict(lambda: ZERO)
    marks, first = [], None
    for month in months_from(came, last):
        for name, amount in changes.get(month, {}).items():
            held[name] = WIDE.add(held[name], amount)
        if first is None:
            first = dict(held)
        if measure == "customers":
            now, then = held.get(HEADS, ZERO), first.get(HEADS, ZERO)
            shown = now
        else:
            rates = factors_of(number_of(month))
            now, then = worth(held, rates), worth(first, rates)
            shown = round_half_up(now, base)
        marks.append(Mark(month=month, value=shown, percentage=percentage(now, then) if then else None))
    return Cohort(month=came, start=marks[0].value, marks=marks)


def worth(held: Mapping[str, Decimal], factors: Factors) -> Decimal:
    return cut(value(held, factors))
