"""Customers as a list: searched by name, sorted, each with its recurring revenue."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import connection

from analytics.calc.mrr import compute_contract_value, from_month_number, to_month_number
from analytics.queries.recurring_revenue import (
    MRR,
    EventSelection,
    build_month_end_factors_lookup,
    iter_customer_histories,
)
from analytics.queries.recurring_revenue_summary import get_contracts_at
from companies.models import Company
from ledger.calc.months import get_last_day_of_month
from ledger.money.calc.fx import RateLookupError, RateTable
from ledger.money.calc.money import CURRENCIES, round_half_up
from ledger.subscriptions.calc.monthly_value import drop_rounding_noise

PAGE_SIZE = 40
MAX_PAGE_NUMBER = 10_000
ORDER_BY = {
    "-mrr": "mrr DESC, c.name, c.id",
    "mrr": "mrr, c.name, c.id",
    "name": "c.name, c.id",
    "-name": "c.name DESC, c.id DESC",
}
ORDER_BY_WITHOUT_NAMES = {"-mrr": "mrr DESC, c.id", "mrr": "mrr, c.id"}  # for users who may not read names
# Raw SQL: a join with a list of rates, and with the last event of each subscription.
_CUSTOMERS = """
    WITH standing AS (
        SELECT DISTINCT ON (subscription_id)
               subscription_id, amount_value, amount_currency, interval, interval_count
          FROM ledger_subscriptionevent
         WHERE company_id = %(company)s AND effective_date <= %(day)s AND retracted_time IS NULL
         ORDER BY subscription_id, effective_date DESC, id DESC
    ), paying AS (
        SELECT s.customer_id, count(*) AS subscriptions,
               sum(e.amount_value * f.factor * CASE e.interval WHEN 'day' THEN 365 WHEN 'week' THEN 52
                   WHEN 'month' THEN 12 ELSE 1 END / (12 * e.interval_count)) AS mrr
          FROM ledger_subscription AS s
          LEFT JOIN standing AS e ON e.subscription_id = s.id
          LEFT JOIN unnest(%(currencies)s::text[], %(factors)s::numeric[]) AS f (currency, factor)
            ON f.currency = e.amount_currency
         WHERE s.company_id = %(company)s
         GROUP BY s.customer_id
    )
    SELECT c.id, c.name, c.external_id, coalesce(p.subscriptions, 0), coalesce(p.mrr, 0) AS mrr
      FROM ledger_counterparty AS c LEFT JOIN paying AS p ON p.customer_id = c.id
     WHERE c.company_id = %(company)s AND c.type = 'customer'
       AND (%(text)s = '' OR strpos(lower(c.name), lower(%(text)s)) > 0 OR c.external_id = %(text)s)
     ORDER BY {order}
     LIMIT %(limit)s OFFSET %(offset)s
"""  # sorted by nearly exact amounts; shown amounts are computed from the events


@dataclass(frozen=True, slots=True)
class CustomerLine:
    """A customer of the list; `since` is the month at whose end they paid first."""

    id: UUID
    name: str
    external_id: str | None
    subscriptions: int
    mrr: Decimal
    since: date | None


def list_customer_revenue(
    *, company: Company, today: date, text: str, order: str, page_number: int, rates: RateTable
) -> tuple[list[CustomerLine], bool]:
    """Return (a page of customers, whether there are more) with their revenue at the end of the current month.

    Two statements.

    Args:
        order: SQL of ORDER_BY.
        page_number: counts from 1.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    day = get_last_day_of_month(today)
    factors_by_currency = build_conversion_factors(rates, base=company.base_currency, day=day)
    with connection.cursor() as cursor:
        cursor.execute(
            _CUSTOMERS.format(order=order),
            {
                "company": company.id,
                "day": day,
                "text": text,
                "currencies": list(factors_by_currency),
                "factors": list(factors_by_currency.values()),
                "limit": PAGE_SIZE + 1,
                "offset": (page_number - 1) * PAGE_SIZE,
            },
        )
        rows = cursor.fetchall()
    revenue_by_customer = compute_mrr_by_customer(
        company, [row[0] for row in rows[:PAGE_SIZE]], today=today, rates=rates
    )
    lines = [
        CustomerLine(row_id, name, external_id, subscriptions, *revenue_by_customer.get(row_id, (Decimal(0), None)))
        for row_id, name, external_id, subscriptions, _ in rows[:PAGE_SIZE]
    ]
    return lines, len(rows) > PAGE_SIZE


def compute_mrr_by_customer(
    company: Company, customer_ids: list[UUID], *, today: date, rates: RateTable
) -> dict[UUID, tuple[Decimal, date | None]]:
    """Return customer -> (revenue at the end of the current month, first month with any); one statement."""
    current_month = to_month_number(today)
    revenue_by_customer: dict[UUID, tuple[Decimal, date | None]] = {}
    for customer_id, history in iter_customer_histories(
        company.id, EventSelection(customers=customer_ids), more_memory=False
    ):
        contracts = get_contracts_at(history[MRR], current_month)
        factors_of = build_month_end_factors_lookup(
            rates, base=company.base_currency, currencies={company.base_currency, *contracts}
        )
        first_month = next((from_month_number(number) for number, held in history[MRR] if held), None)
        revenue = round_half_up(
            drop_rounding_noise(compute_contract_value(contracts, factors_of(current_month))), company.base_currency
        )
        revenue_by_customer[customer_id] = (revenue, first_month)
    return revenue_by_customer


def build_conversion_factors(rates: RateTable, *, base: str, day: date) -> Mapping[str, Any]:
    """Return currency -> units of the base currency for one of it, of currencies with a rate."""
    factors_by_currency = {}
    for currency in CURRENCIES:
        try:
            factors_by_currency[currency] = rates.get_cross_rate(currency, base, day)
        except RateLookupError:
            continue
    return factors_by_currency
