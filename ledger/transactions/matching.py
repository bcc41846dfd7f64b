"""Which movements could be the other leg of a transfer."""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Any

from django.db.models import F, Q, Value
from django.db.models.functions import Greatest

from companies.models import Company
from ledger.calc.fx import MissingRate, RateTable, convert
from ledger.calc.money import CURRENCIES
from ledger.models import Transaction
from ledger.money.rates import rate_table
from ledger.transactions.transfers import TOLERANCE, differ

MOST_CANDIDATES = 50


def candidates(
    *, company: Company, source: Transaction, value: Decimal, days: int, any_amount: bool = False
) -> list[Transaction]:
    """Transactions whose open remainder could be the other leg of ``value`` of the source, the nearest day first.

    They are open, on another account, of the other sign, at most so many days away, and in amount what a link takes:
    equal, or within 10 % across currencies at the day's rate (``any_amount`` lifts this, as force does). Each has
    ``rest``, its open remainder. At most 50; one query. Raises NoRate for a currency without a rate among them.
    """
    rows = Transaction.objects.of(company.id).open()
    rows = rows.exclude(account_id=source.account_id).annotate(rest=F("amount_value") - F("categorized_value"))
    rows = rows.filter(date__range=around(source.date, days=days))
    rows = rows.filter(amount_value__gt=0) if value < 0 else rows.filter(amount_value__lt=0)
    if not any_amount:
        rows = rows.filter(fitting(source, value, rates=rate_table()))
    ordered = rows.annotate(away=days_away(source.date)).order_by("away", "id")[: 2 * MOST_CANDIDATES]
    found: Iterable[Any] = ordered
    if not any_amount:  # the database has found what may fit; the rule of links decides
        found = (row for row in found if not differ(source, value, row, row.rest))
    return list(found)[:MOST_CANDIDATES]


def around(day: date, *, days: int) -> tuple[date, date]:
    """So many days before and after, as far as the calendar goes.

    >>> around(date(1, 1, 2), days=3)
    (datetime.date(1, 1, 1), datetime.date(1, 1, 5))
    """
    place = day.toordinal()
    first, last = max(place - days, date.min.toordinal()), min(place + days, date.max.toordinal())
    return date.fromordinal(first), date.fromordinal(last)


def days_away(day: date) -> Greatest:
    """How long before or after the day."""
    return Greatest(F("date") - Value(day), Value(day) - F("date"))


def fitting(source: Transaction, value: Decimal, *, rates: RateTable) -> Q:
    """Remainders that may be close enough, currency by currency; one without a rate fits nothing."""
    found = Q(amount_currency=source.amount_currency, rest=-value)
    for currency in CURRENCIES:
        if currency == source.amount_currency:
            continue
        try:
            expected = convert(value, source=source.amount_currency, target=currency, day=source.date, rates=rates)
        except MissingRate:
            continue
        bounds = sorted((-expected * (1 - TOLERANCE), -expected * (1 + TOLERANCE)))
        found |= Q(amount_currency=currency, rest__range=bounds)
    return found
