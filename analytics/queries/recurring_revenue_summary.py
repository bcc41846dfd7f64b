"""Recurring revenue over a span of months, each customer counted once, and retention and churn rates.

A customer is compared at both ends of the span, not between: who was there at both and pays more is one
upgrade. The database returns what customers held at both ends and counts equal ones, since price lists are
short.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from analytics.calc.mrr import (
    Contracts,
    History,
    MonthlyRow,
    MovementTotals,
    classify_customer_month,
    compute_contract_value,
    round_monthly_row,
    to_month_number,
)
from analytics.queries.cached_revenue import get_or_compute
from analytics.queries.profit_and_loss import compute_percentage
from analytics.queries.recurring_revenue import CMRR, MRR, build_month_end_factors_lookup
from companies.models import Company
from ledger.calc.months import MONTHS_PER_YEAR, get_last_day_of_month
from ledger.money.calc.fx import RateTable
from ledger.money.calc.money import MONEY_CONTEXT, round_half_up
from ledger.subscriptions.calc.monthly_value import compute_monthly_value, drop_rounding_noise

ZERO = Decimal(0)
DATE_COLUMN_BY_BASIS = {MRR: "effective_date", CMRR: "committed_date"}
_NOTHING: Contracts = {}


class CustomerSpan(NamedTuple):
    """Contracts before a span and at its end, and whether there were any at an earlier month's end.

    `times` is how many customers held these.
    """

    before: Contracts
    after: Contracts
    was_active_before: bool
    times: int = 1


@dataclass(frozen=True, slots=True)
class Span:
    """Several months as one: the closed row, and the amounts before rounding for rates.

    `exact` has `start` and each of MOVEMENTS.
    """

    row: MonthlyRow
    exact: Mapping[str, Decimal]


def measure_span(
    *,
    company: Company,
    first: date,
    last: date,
    rates: RateTable,
    basis: str = MRR,
    products: Sequence[UUID] = (),
) -> Span:
    """Compare each customer at the end of `last` with the end of the month before `first`.

    Cached until events or rates change, unless it is of some products, whose subscriptions change without an event.

    Args:
        first, last: first days of months.
        products: ids; empty: all.

    Raises:
        MissingRate: a currency has no exchange rate.
    """

    def compute() -> Span:
        return compute_span(company=company, first=first, last=last, rates=rates, basis=basis, products=products)

    if products:
        return compute()
    return get_or_compute(compute, company=company, rates=rates, parameters=("span", basis, first, last))


def compute_span(
    *, company: Company, first: date, last: date, rates: RateTable, basis: str, products: Sequence[UUID]
) -> Span:
    """Compute a span from all events; one statement. Raises MissingRate."""
    customer_spans = list(iter_customer_spans(company, first=first, last=last, basis=basis, products=products))
    currencies = {
        company.base_currency,
        *(currency for stay in customer_spans for currency in (*stay.before, *stay.after)),
    }
    get_factors = build_month_end_factors_lookup(rates, base=company.base_currency, currencies=currencies)
    factors_before = (
        get_factors(to_month_number(first) - 1) if any(stay.before for stay in customer_spans) else {}
    )  # only within the calendar
    factors_at_end = get_factors(to_month_number(last))
    totals, start, start_count = MovementTotals(), ZERO, 0
    for stay in customer_spans:
        reported = compute_contract_value(stay.before, factors_before)
        change = classify_customer_month(
            previous=stay.before,
            current=stay.after,
            reported=reported,
            factors=factors_at_end,
            was_active_before=stay.was_active_before,
        )
        totals.add_change(change, base=company.base_currency, times=stay.times)
        start, start_count = (
            MONEY_CONTEXT.fma(reported, stay.times, start),
            start_count + bool(stay.before) * stay.times,
        )
    end = start
    for amount in totals.amounts.values():
        end = MONEY_CONTEXT.add(end, amount)
    row = round_monthly_row(
        month=last,
        base=company.base_currency,
        start=start,
        start_count=start_count,
        end=end,
        amounts=totals.amounts,
        counts=totals.counts,
    )
    return Span(row, {"start": start, **totals.amounts})


# Raw SQL: counts of customers by two aggregated lists.
# An event is effective at the end of a month if it is its subscription's last one up to then.
CUSTOMER_ENDS_SQL = """
    WITH dated AS (
        SELECT s.customer_id, e.{date} AS date, lead(e.{date}) OVER later AS next, e.amount_value > 0 AS pays,
               concat_ws(' ', e.amount_currency, e.amount_value, e.interval, e.interval_count) AS price
          FROM ledger_subscriptionevent AS e
          JOIN ledger_subscription AS s ON s.company_id = e.company_id AND s.id = e.subscription_id
         WHERE e.company_id = %(company)s AND e.retracted_time IS NULL AND e.{date} <= %(end)s {which}
        WINDOW later AS (PARTITION BY e.subscription_id ORDER BY e.{date}, e.id)
    ), ends AS (
        SELECT customer_id,
               array_agg(price) FILTER (WHERE date < %(start)s AND (next IS NULL OR next >= %(start)s)) AS before,
               array_agg(price) FILTER (WHERE next IS NULL) AS now,
               bool_or(date < %(start)s AND (
                   next IS NULL OR date_trunc('month', next::timestamp) > date_trunc('month', date::timestamp)
               )) AS seen
          FROM dated WHERE pays GROUP BY customer_id
    )
"""
_CUSTOMER_SPANS_SQL = f"""{CUSTOMER_ENDS_SQL}
    SELECT before, now, seen, count(*) FROM ends WHERE before IS NOT NULL OR now IS NOT NULL GROUP BY before, now, seen
"""  # noqa: S608 - built from constants


def iter_customer_spans(
    company: Company, *, first: date, last: date, basis: str, products: Sequence[UUID]
) -> Iterator[CustomerSpan]:
    """Yield the contracts of customers who were there before the span or are at its end."""
    for before, after, was_active_before, times in list_customer_ends(
        _CUSTOMER_SPANS_SQL, company=company, first=first, last=last, basis=basis, products=products
    ):
        yield CustomerSpan(
            sum_monthly_contracts(before or ()), sum_monthly_contracts(after or ()), was_active_before, times
        )


def list_customer_ends(
    sql: str, *, company: Company, first: date, last: date, basis: str, products: Sequence[UUID]
) -> list[tuple[Any, ...]]:
    """Return the rows of a statement that begins with CUSTOMER_ENDS_SQL."""
    which = "AND s.product_id = ANY(%(products)s)" if products else ""
    parameters: dict[str, Any] = {
        "company": company.id,
        "start": first,
        "end": get_last_day_of_month(last),
        "products": list(products),
    }
    with connection.cursor() as cursor:
        cursor.execute(sql.format(date=DATE_COLUMN_BY_BASIS[basis], which=which), parameters)
        return cursor.fetchall()


def sum_monthly_contracts(prices: Sequence[str]) -> Contracts:
    """Sum prices as monthly values by currency."""
    amounts: dict[str, Decimal] = {}
    for price in prices:
        currency, monthly = parse_price(price)
        amounts[currency] = MONEY_CONTEXT.add(amounts.get(currency, ZERO), monthly)
    return amounts


@lru_cache(maxsize=1 << 14)
def parse_price(price: str) -> tuple[str, Decimal]:
    """Return (currency, monthly value) of a price as the database returns it. Cached: price lists are short."""
    currency, amount, interval, count = price.split(" ")
    return currency, compute_monthly_value(Decimal(amount), interval, int(count))


def get_contracts_at(history: History, number: int) -> Contracts:
    """Return the contracts at the end of a month."""
    return next((contracts for changed, contracts in reversed(history) if changed <= number), _NOTHING)


@dataclass(frozen=True, slots=True)
class RecurringRevenueSummary:
    """Recurring revenue at the end of a month, and retention and churn over the twelve months up to it.

    Rates are percentages, half up to two decimals, None where nobody paid at the start. Retention and churn are
    of the customers who paid at the start. `quick_ratio` is new, reactivated and upgraded revenue by what was
    lost, None where nothing was lost; `arpa` is None without customers.
    """

    mrr: Decimal
    arr: Decimal
    customers: int
    arpa: Decimal | None
    net_revenue_retention: Decimal | None
    gross_revenue_retention: Decimal | None
    customer_churn_rate: Decimal | None
    revenue_churn_rate: Decimal | None
    quick_ratio: Decimal | None


def summarize_span(span: Span, *, base: str) -> RecurringRevenueSummary:
    """Compute retention and churn from the amounts before rounding.

    New and reactivated customers did not pay at the start: they count in the quick ratio only.
    """
    row, exact = span.row, span.exact
    start, upgraded = exact["start"], exact["upgrade"]
    lost = -MONEY_CONTEXT.add(exact["downgrade"], exact["cancel"])
    won = exact["new"] + exact["reactivate"] + upgraded
    return RecurringRevenueSummary(
        mrr=row.end,
        arr=row.end * MONTHS_PER_YEAR,
        customers=row.end_count,
        arpa=round_half_up(MONEY_CONTEXT.divide(row.end, Decimal(row.end_count)), base) if row.end_count else None,
        net_revenue_retention=compute_rate(start + upgraded - lost, start),
        gross_revenue_retention=compute_rate(start - lost, start),
        customer_churn_rate=compute_rate(Decimal(row.cancel_count), Decimal(row.start_count)),
        revenue_churn_rate=compute_rate(lost, start),
        quick_ratio=compute_rate(won / 100, lost),
    )


def compute_rate(part: Decimal, total: Decimal) -> Decimal | None:
    """Return `part` as a percentage of `total`, half up to two decimals; None where `total` is zero.

    >>> compute_rate(Decimal(120) / 12, Decimal(100) / 12)
    Decimal('120.00')
    """
    return (
        compute_percentage(drop_rounding_noise(MONEY_CONTEXT.divide(part, total)), Decimal(1))
        if drop_rounding_noise(total)
        else None
    )
