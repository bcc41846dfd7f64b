"""Committed recurring revenue at the end of a month: by product, in total, and the number of customers.

Read from the events, not from the precomputed months.
"""

from collections import defaultdict
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Count
from django.utils.translation import gettext as _

from ledger.models import SubscriptionEvent
from ledger.money.calc.fx import RateLookupError, RateTable, convert_currency
from ledger.money.calc.money import MONEY_CONTEXT, round_half_up
from ledger.recognition.actions.postings import MissingRateError
from ledger.subscriptions.calc.monthly_value import compute_monthly_value, drop_rounding_noise

ZERO = Decimal(0)
SORT_MEMORY_SQL = "SET LOCAL work_mem = '128MB'"  # a company's events are sorted in memory, not on disk

# Raw SQL: sums of rows of DISTINCT ON, and GROUPING SETS.
# The last event of each subscription committed up to a day.
_STANDING = """
    SELECT DISTINCT ON (subscription_id)
           company_id, subscription_id, amount_value, amount_currency, interval, interval_count
      FROM ledger_subscriptionevent
     WHERE company_id = %(company)s AND committed_date <= %(day)s AND retracted_time IS NULL
     ORDER BY subscription_id, committed_date DESC, id DESC
"""
_BY_PRODUCT = f"""
    SELECT s.product_id, e.amount_currency, e.interval, e.interval_count, sum(e.amount_value)
      FROM ({_STANDING}) AS e JOIN ledger_subscription AS s ON s.company_id = e.company_id AND s.id = e.subscription_id
     WHERE s.company_id = %(company)s AND e.amount_value > 0
     GROUP BY s.product_id, e.amount_currency, e.interval, e.interval_count
"""  # noqa: S608 - both parts stand above
_IN_ALL = f"""
    SELECT e.amount_currency, e.interval, e.interval_count, sum(e.amount_value), count(DISTINCT s.customer_id)
      FROM ({_STANDING}) AS e JOIN ledger_subscription AS s ON s.company_id = e.company_id AND s.id = e.subscription_id
     WHERE s.company_id = %(company)s AND e.amount_value > 0
     GROUP BY GROUPING SETS ((e.amount_currency, e.interval, e.interval_count), ())
"""  # noqa: S608


def compute_committed_revenue_by_product(
    *, company_id: UUID, month_end: date, base_currency: str, rates: RateTable
) -> dict[UUID | None, Decimal]:
    """Return the monthly value in the base currency, rounded, by product id; None: subscriptions without a product.

    Raises MissingRateError.
    """
    revenue_by_product: defaultdict[UUID | None, Decimal] = defaultdict(lambda: ZERO)
    for product_id, *price in fetch_committed_rows(_BY_PRODUCT, company_id=company_id, day=month_end):
        revenue_by_product[product_id] += convert_price_to_base_currency(
            *price, base_currency=base_currency, day=month_end, rates=rates
        )
    return {
        product_id: round_half_up(drop_rounding_noise(amount), base_currency)
        for product_id, amount in revenue_by_product.items()
    }


def compute_committed_revenue(
    *, company_id: UUID, month_end: date, base_currency: str, rates: RateTable
) -> tuple[Decimal, int]:
    """Return (monthly value in the base currency, rounded; number of customers with any). Raises MissingRateError."""
    revenue, customers = ZERO, 0
    for *price, customer_count in fetch_committed_rows(_IN_ALL, company_id=company_id, day=month_end):
        if price[0] is None:
            customers = customer_count
        else:
            revenue = MONEY_CONTEXT.add(
                revenue, convert_price_to_base_currency(*price, base_currency=base_currency, day=month_end, rates=rates)
            )
    return round_half_up(drop_rounding_noise(revenue), base_currency), customers


def count_events_by_product(*, company_id: UUID) -> dict[UUID | None, int]:
    """Return the number of live events by product id."""
    live_events = (
        SubscriptionEvent.objects.for_company(company_id)
        .not_retracted()
        .values_list("subscription__product_id")
        .order_by()
    )
    return dict(live_events.annotate(count=Count("*")))


def convert_price_to_base_currency(
    currency: str,
    interval: Any,
    interval_count: int,
    amount: Decimal,
    *,
    base_currency: str,
    day: date,
    rates: RateTable,
) -> Decimal:
    """Return the monthly value of a price in the base currency. Raises MissingRateError."""
    monthly = compute_monthly_value(amount, interval, interval_count)
    try:
        return convert_currency(monthly, source=currency, target=base_currency, day=day, rates=rates)
    except RateLookupError as error:
        raise MissingRateError(
            _("No exchange rate for {currency}. Ask the operator to load exchange rates.").format(
                currency=error.currency
            )
        ) from None


def fetch_committed_rows(statement: str, *, company_id: UUID, day: date) -> list[tuple[Any, ...]]:
    """Run a statement of this module with enough memory to sort a company's events."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(SORT_MEMORY_SQL)
        cursor.execute(statement, {"company": company_id, "day": day})
        return cursor.fetchall()
