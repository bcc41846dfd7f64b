"""Customer cohorts by their first month: how many remain, and what they pay."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Literal

from django.db import connection, transaction

from analytics.calc.mrr import Factors, compute_contract_value, to_month_number
from analytics.queries.cached_revenue import get_or_compute
from analytics.queries.profit_and_loss import compute_percentage
from analytics.queries.recurring_revenue import build_month_end_factors_lookup
from companies.models import Company
from ledger.calc.months import get_last_day_of_month, list_months
from ledger.money.calc.fx import RateTable
from ledger.money.calc.money import MONEY_CONTEXT, round_half_up
from ledger.subscriptions.calc.monthly_value import compute_monthly_value, drop_rounding_noise
from ledger.subscriptions.queries.committed_revenue import SORT_MEMORY_SQL

Measure = Literal["revenue", "customers"]
ZERO = Decimal(0)

Changes = dict[date, dict[str, Decimal]]
"""Month -> by how much what a cohort holds changes at its end: its contracts by currency, or its ``HEADS``."""
HEADCOUNT = "customers"


@dataclass(frozen=True, slots=True)
class CohortMark:
    """A cohort at the end of a month; `percentage` is of its start, None for an empty cohort."""

    month: date
    value: Decimal
    percentage: Decimal | None


@dataclass(frozen=True, slots=True)
class Cohort:
    """Customers whose first active month end was that of `month`, followed to the last month.

    `start` is what they paid then, which is `new` in that month's row.
    """

    month: date
    start: Decimal
    marks: list[CohortMark]


def compute_cohorts(
    *,
    company: Company,
    months: Sequence[date],
    measure: Measure,
    rates: RateTable,
) -> list[Cohort]:
    """Compute a cohort for each of the months (first days, consecutive), in the base currency or in customers.

    Cached until events or rates change.

    Revenue is at each month's own rates; its percentage compares at the same rates, so that rates retain and
    lose nothing.

    Raises:
        MissingRate: a currency has no exchange rate.
    """

    def compute() -> list[Cohort]:
        return build_cohorts(company=company, months=months, measure=measure, rates=rates)

    parameters = ("cohorts", measure, months[0], months[-1])
    return get_or_compute(compute, company=company, rates=rates, parameters=parameters)


def build_cohorts(*, company: Company, months: Sequence[date], measure: Measure, rates: RateTable) -> list[Cohort]:
    """Build the cohorts from all events. Raises MissingRate."""
    last = months[-1]
    changes_by_cohort = list_cohort_changes(company, first=months[0], last=last, measure=measure)
    currencies = {
        name
        for changes in changes_by_cohort.values()
        for month in changes.values()
        for name in month
        if name != HEADCOUNT
    }
    get_factors = build_month_end_factors_lookup(
        rates, base=company.base_currency, currencies={company.base_currency, *currencies}
    )
    return [
        build_cohort(
            month,
            changes_by_cohort[month],
            last=last,
            measure=measure,
            base=company.base_currency,
            get_factors=get_factors,
        )
        for month in months
    ]


# Raw SQL: windows over windows, and a union of both ends of a price.
# An event is effective from the end of its month, if it is its subscription's last one of the month, to the month of
# the next one. Customers of these cohorts have a paid event in these months and none before.
_CONTRACT_CHANGES = """
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
_PRICES = f"""{_CONTRACT_CHANGES}
    SELECT cohort, at, amount_value, amount_currency, interval, interval_count, sum(change)
      FROM changes GROUP BY 1, 2, 3, 4, 5, 6
"""  # noqa: S608 - what stands above
_HEADS = f"""{_CONTRACT_CHANGES}
    SELECT cohort, at, sum((held > 0)::int - (held > change)::int) FROM (
        SELECT cohort, at, sum(change) AS change, sum(sum(change)) OVER (PARTITION BY customer_id ORDER BY at) AS held
          FROM changes GROUP BY customer_id, cohort, at
    ) AS customers GROUP BY 1, 2
"""  # noqa: S608


def list_cohort_changes(company: Company, *, first: date, last: date, measure: Measure) -> defaultdict[date, Changes]:
    """Return cohort month -> changes of its customers; one statement, which sums equal prices."""
    changes_by_cohort: defaultdict[date, Changes] = defaultdict(dict)
    parameters: dict[str, Any] = {"company": company.id, "first": first, "end": get_last_day_of_month(last)}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(SORT_MEMORY_SQL)
        cursor.execute(_HEADS if measure == "customers" else _PRICES, parameters)
        for cohort_month, month, *prices, change in cursor.fetchall():
            changes = changes_by_cohort[cohort_month].setdefault(month, {})
            amount, name, interval, count = prices or (Decimal(1), HEADCOUNT, "month", 1)
            changes[name] = MONEY_CONTEXT.fma(
                compute_monthly_value(amount, interval, count), change, changes.get(name, ZERO)
            )
    return changes_by_cohort


def build_cohort(
    cohort_month: date,
    changes: Changes,
    *,
    last: date,
    measure: Measure,
    base: str,
    get_factors: Callable[[int], Factors],
) -> Cohort:
    """Follow a cohort to the last month."""
    amounts: defaultdict[str, Decimal] = defaultdict(lambda: ZERO)
    marks, first_amounts = [], None
    for month in list_months(cohort_month, last):
        for name, amount in changes.get(month, {}).items():
            amounts[name] = MONEY_CONTEXT.add(amounts[name], amount)
        if first_amounts is None:
            first_amounts = dict(amounts)
        if measure == "customers":
            current, initial = amounts.get(HEADCOUNT, ZERO), first_amounts.get(HEADCOUNT, ZERO)
            value_shown = current
        else:
            rates = get_factors(to_month_number(month))
            current, initial = compute_cohort_value(amounts, rates), compute_cohort_value(first_amounts, rates)
            value_shown = round_half_up(current, base)
        marks.append(
            CohortMark(
                month=month, value=value_shown, percentage=compute_percentage(current, initial) if initial else None
            )
        )
    return Cohort(month=cohort_month, start=marks[0].value, marks=marks)


def compute_cohort_value(amounts: Mapping[str, Decimal], factors: Factors) -> Decimal:
    return drop_rounding_noise(compute_contract_value(amounts, factors))
