"""Customers as a list: searched by name, sorted, each with its recurring revenue."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Count, Max

from analytics.calc.mrr import compute_contract_value, from_month_number, to_month_number
from analytics.queries.cached_revenue import get_or_compute
from analytics.queries.recurring_revenue import (
    MRR,
    EventSelection,
    build_month_end_factors_lookup,
    iter_customer_histories,
)
from analytics.queries.recurring_revenue_summary import get_contracts_at
from companies.models import Company, IdIn
from ledger.calc.months import get_last_day_of_month
from ledger.models import Counterparty, CounterpartyType, Subscription
from ledger.money.calc.fx import RateLookupError, RateTable
from ledger.money.calc.money import CURRENCIES, round_half_up
from ledger.subscriptions.calc.monthly_value import drop_rounding_noise
from ledger.subscriptions.queries.committed_revenue import SORT_MEMORY_SQL

PAGE_SIZE = 40
MAX_PAGE_NUMBER = 10_000
ORDER_BY = {
    "-mrr": "mrr DESC, c.name, c.id",
    "mrr": "mrr, c.name, c.id",
    "name": "c.name, c.id",
    "-name": "c.name DESC, c.id DESC",
}
ORDER_BY_WITHOUT_NAMES = {"-mrr": "mrr DESC, c.id", "mrr": "mrr, c.id"}  # for users who may not read names
STATUS_CONDITIONS = {"": "TRUE", "active": "p.is_active", "churned": "NOT p.is_active AND p.was_active"}
ID_LENGTH = 16  # bytes
_SEARCH = "strpos(lower(c.name), lower(%(text)s)) > 0 OR c.external_id = %(text)s"
# Raw SQL: a join with a list of rates, and windows over the events of each subscription.
# A price counts at the end of a month if the next event of its subscription is in a later one.
_CUSTOMERS = """
    WITH dated AS (
        SELECT s.customer_id, e.effective_date AS date, lead(e.effective_date) OVER later AS next,
               e.amount_value, e.amount_currency, e.interval, e.interval_count
          FROM ledger_subscriptionevent AS e
          JOIN ledger_subscription AS s ON s.company_id = e.company_id AND s.id = e.subscription_id {joined}
         WHERE e.company_id = %(company)s AND e.effective_date <= %(day)s AND e.retracted_time IS NULL
        WINDOW later AS (PARTITION BY e.subscription_id ORDER BY e.effective_date, e.id)
    ), paying AS (
        SELECT d.customer_id, bool_or(d.next IS NULL) AS is_active,
               bool_or(date_trunc('month', d.next::timestamp) > date_trunc('month', d.date::timestamp)) AS was_active,
               sum(d.amount_value * f.factor * CASE d.interval WHEN 'day' THEN 365 WHEN 'week' THEN 52
                   WHEN 'month' THEN 12 ELSE 1 END / (12 * d.interval_count)) FILTER (WHERE d.next IS NULL) AS mrr
          FROM dated AS d
          LEFT JOIN unnest(%(currencies)s::text[], %(factors)s::numeric[]) AS f (currency, factor)
            ON f.currency = d.amount_currency
         WHERE d.amount_value > 0
         GROUP BY d.customer_id
    )
    SELECT c.id, coalesce(p.mrr, 0) AS mrr
      FROM ledger_counterparty AS c LEFT JOIN paying AS p ON p.customer_id = c.id
     WHERE c.company_id = %(company)s AND c.type = 'customer' AND ({search}) AND ({status})
     ORDER BY {order}
"""  # sorted by nearly exact amounts; shown amounts are computed from the events
_SEARCH_JOIN = "JOIN ledger_counterparty AS c ON c.company_id = s.company_id AND c.id = s.customer_id AND ({search})"


@dataclass(frozen=True, slots=True)
class CustomerLine:
    """A customer of the list; `since` is the month at whose end they paid first."""

    id: UUID
    name: str
    external_id: str | None
    subscriptions: int
    mrr: Decimal
    since: date | None


@dataclass(frozen=True, slots=True)
class CustomerSelection:
    """Which customers to list.

    Args:
        text: part of a name, or an external id; empty: all.
        status: a key of STATUS_CONDITIONS; churned customers paid at the end of an earlier month.
        order: SQL of ORDER_BY.
    """

    text: str
    status: str
    order: str


def list_customer_ids(*, company: Company, today: date, selection: CustomerSelection, rates: RateTable) -> bytes:
    """Return the ids of the selected customers in their order, ID_LENGTH bytes each.

    Cached until events, rates or customers change, unless there is a text: those are too many to keep.
    """
    day = get_last_day_of_month(today)

    def query() -> bytes:
        return query_customer_ids(company=company, day=day, selection=selection, rates=rates)

    if selection.text:
        return query()
    customers = Counterparty.objects.for_company(company.id).filter(type=CounterpartyType.CUSTOMER)
    version = customers.aggregate(count=Count("id"), latest=Max("last_updated_time"))
    parameters = ("customers", day, selection.status, selection.order, version["count"], version["latest"])
    return get_or_compute(query, company=company, rates=rates, parameters=parameters)


def query_customer_ids(*, company: Company, day: date, selection: CustomerSelection, rates: RateTable) -> bytes:
    """Return the ids of the selected customers by their revenue on a day; one statement."""
    search = _SEARCH if selection.text else "TRUE"
    statement = _CUSTOMERS.format(
        order=selection.order,
        status=STATUS_CONDITIONS[selection.status],
        search=search,
        joined=_SEARCH_JOIN.format(search=search) if selection.text else "",
    )
    factors_by_currency = build_conversion_factors(rates, base=company.base_currency, day=day)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(SORT_MEMORY_SQL)
        cursor.execute(
            statement,
            {
                "company": company.id,
                "day": day,
                "text": selection.text,
                "currencies": list(factors_by_currency),
                "factors": list(factors_by_currency.values()),
            },
        )
        return b"".join(customer_id.bytes for customer_id, _ in cursor)


def list_customer_lines(
    *, company: Company, ids: bytes, start: int, count: int, today: date, rates: RateTable
) -> list[CustomerLine]:
    """Return some of the customers with their revenue at the end of the current month; three statements.

    Args:
        ids: as `list_customer_ids` returns them.
        start, count: which of them, from 0.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    part = ids[start * ID_LENGTH : (start + count) * ID_LENGTH]
    customer_ids = [UUID(bytes=part[place : place + ID_LENGTH]) for place in range(0, len(part), ID_LENGTH)]
    customers = Counterparty.objects.for_company(company.id).filter(IdIn("id", customer_ids))
    rows = {row[0]: row for row in customers.values_list("id", "name", "external_id")}
    subscriptions = Subscription.objects.for_company(company.id).filter(IdIn("customer_id", customer_ids))
    counts = dict(subscriptions.values_list("customer_id").annotate(Count("id")))
    revenue_by_customer = compute_mrr_by_customer(company, customer_ids, today=today, rates=rates)
    return [
        CustomerLine(
            row_id, name, external_id, counts.get(row_id, 0), *revenue_by_customer.get(row_id, (Decimal(0), None))
        )
        for row_id, name, external_id in (rows[customer_id] for customer_id in customer_ids if customer_id in rows)
    ]


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
        get_factors = build_month_end_factors_lookup(
            rates, base=company.base_currency, currencies={company.base_currency, *contracts}
        )
        first_month = next((from_month_number(number) for number, held in history[MRR] if held), None)
        revenue = round_half_up(
            drop_rounding_noise(compute_contract_value(contracts, get_factors(current_month))), company.base_currency
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
