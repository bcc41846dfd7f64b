"""What is committed at the end of a month: recurring revenue by product and in all, and for how many customers.

Read from the events, not from the months added up in advance, so it holds whatever became of those.
"""

from collections import defaultdict
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Count
from django.utils.translation import gettext as _

from ledger.calc.fx import MissingRate, RateTable, convert
from ledger.calc.money import WIDE, round_half_up
from ledger.models import SubscriptionEvent
from ledger.recognition.posting import NoRate
from ledger.subscriptions.calc import cut, monthly_value

ZERO = Decimal(0)
ROOM = "SET LOCAL work_mem = '128MB'"  # a company's events are sorted in memory, not on disk

# The last event of each subscription that was committed on or before a day.
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


def by_product(*, company_id: UUID, month_end: date, base: str, rates: RateTable) -> dict[UUID | None, Decimal]:
    """Product id -> monthly value in the base currency, rounded; None holds subscriptions without a product.

    Raises NoRate.
    """
    worth: defaultdict[UUID | None, Decimal] = defaultdict(lambda: ZERO)
    for product_id, *price in rows(_BY_PRODUCT, company_id=company_id, day=month_end):
        worth[product_id] += in_base(*price, base=base, day=month_end, rates=rates)
    return {product_id: round_half_up(cut(amount), base) for product_id, amount in worth.items()}


def in_all(*, company_id: UUID, month_end: date, base: str, rates: RateTable) -> tuple[Decimal, int]:
    """(monthly value in the base currency, rounded; customers with any). Raises NoRate."""
    worth, customers = ZERO, 0
    for *price, counted in rows(_IN_ALL, company_id=company_id, day=month_end):
        if price[0] is None:
            customers = counted
        else:
            worth = WIDE.add(worth, in_base(*price, base=base, day=month_end, rates=rates))
    return round_half_up(cut(worth), base), customers


def events_by_product(*, company_id: UUID) -> dict[UUID | None, int]:
    """Product id -> how many events of its subscriptions count."""
    counted = SubscriptionEvent.objects.of(company_id).live().values_list("subscription__product_id").order_by()
    return dict(counted.annotate(count=Count("*")))


def in_base(
    currency: str, interval: Any, interval_count: int, amount: Decimal, *, base: str, day: date, rates: RateTable
) -> Decimal:
    monthly = monthly_value(amount, interval, interval_count)
    try:
        return convert(monthly, source=currency, target=base, day=day, rates=rates)
    except MissingRate as missing:
        raise NoRate(_("There is no exchange rate for {currency}.").format(currency=missing.currency)) from None


def rows(statement: str, *, company_id: UUID, day: date) -> list[tuple[Any, ...]]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(ROOM)
        cursor.execute(statement, {"company": company_id, "day": day})
        return cursor.fetchall()
