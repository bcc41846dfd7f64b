"""Customers as a list: found by name, in order, each with what they pay a month."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import connection

from analytics.calc.movements import month_of, number_of
from analytics.calc.mrr import value
from analytics.queries.recurring import MRR, Chosen, by_customer, factors
from analytics.queries.retention import at
from companies.models import Company
from ledger.calc.fx import MissingRate, RateTable
from ledger.calc.money import CURRENCIES, round_half_up
from ledger.calc.months import last_of_month
from ledger.subscriptions.calc import cut

A_PAGE = 40
MOST_PAGES = 10_000
ORDERS = {
    "-mrr": "mrr DESC, c.name, c.id",
    "mrr": "mrr, c.name, c.id",
    "name": "c.name, c.id",
    "-name": "c.name DESC, c.id DESC",
}
UNNAMED = {"-mrr": "mrr DESC, c.id", "mrr": "mrr, c.id"}  # for those who may not see names
_FOUND = """
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
"""  # the order is by amounts as good as exact; what is shown is worked out from the events


@dataclass(frozen=True, slots=True)
class Line:
    """A customer of the list; ``since`` is the month at whose end they paid for the first time."""

    id: UUID
    name: str
    external_id: str | None
    subscriptions: int
    mrr: Decimal
    since: date | None


def customers(
    *, company: Company, today: date, text: str, order: str, page: int, rates: RateTable
) -> tuple[list[Line], bool]:
    """(a page of them, whether there are more), worth what they pay at the end of the running month.

    ``order`` is SQL of ``ORDERS``; pages count from 1. Two statements. Raises MissingRate.
    """
    day = last_of_month(today)
    known = known_factors(rates, base=company.base_currency, day=day)
    with connection.cursor() as cursor:
        cursor.execute(
            _FOUND.format(order=order),
            {
                "company": company.id,
                "day": day,
                "text": text,
                "currencies": list(known),
                "factors": list(known.values()),
                "limit": A_PAGE + 1,
                "offset": (page - 1) * A_PAGE,
            },
        )
        found = cursor.fetchall()
    worth = worth_of(company, [row[0] for row in found[:A_PAGE]], today=today, rates=rates)
    lines = [
        Line(row_id, name, external_id, subscriptions, *worth.get(row_id, (Decimal(0), None)))
        for row_id, name, external_id, subscriptions, _ in found[:A_PAGE]
    ]
    return lines, len(found) > A_PAGE


def worth_of(
    company: Company, customer_ids: list[UUID], *, today: date, rates: RateTable
) -> dict[UUID, tuple[Decimal, date | None]]:
    """Customer -> (recurring revenue at the end of the running month, first month of any); one statement."""
    running = number_of(today)
    found: dict[UUID, tuple[Decimal, date | None]] = {}
    for customer_id, history in by_customer(company.id, Chosen(customers=customer_ids), room=False):
        contracts = at(history[MRR], running)
        factors_of = factors(rates, base=company.base_currency, currencies={company.base_currency, *contracts})
        first = next((month_of(number) for number, held in history[MRR] if held), None)
        worth = round_half_up(cut(value(contracts, factors_of(running))), company.base_currency)
        found[customer_id] = (worth, first)
    return found


def known_factors(rates: RateTable, *, base: str, day: date) -> Mapping[str, Any]:
    """Currency -> units of the base currency for one of it, of those that have a rate."""
    found = {}
    for currency in CURRENCIES:
        try:
            found[currency] = rates.cross(currency, base, day)
        except MissingRate:
            continue
    return found
